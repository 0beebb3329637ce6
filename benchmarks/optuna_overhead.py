"""What a suggestion costs inside Optuna: hidim's sampler beside Optuna's own, in a database with many trials.

    python benchmarks/optuna_overhead.py --out benchmarks/results/optuna-overhead.jsonl
    python benchmarks/optuna_overhead.py --table benchmarks/results/optuna-overhead.jsonl

One ask is `study.ask` and all `suggest_float`; values are told in between, which is not counted. The study is
filled with random trials first, D numbers each, as if it had begun with another sampler; they are written to
the tables directly, because Optuna's `add_trials` would take hours. For every cell a new process opens the
database and makes eleven asks on one thread: the first, which reads all trials, stands apart; of the rest
there are the median and the largest, *median (first; largest)*, in seconds. `random` is Optuna's
RandomSampler: what the storage takes. A cell ends after so many seconds of processor time (`--limit`), with
the asks that it has by then. PostgreSQL is a server on the same machine, started for this run with its
defaults, SQLite a file.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import optuna
import sqlalchemy
from optuna.distributions import FloatDistribution, distribution_to_json
from optuna.storages._rdb import models
from optuna.trial import TrialState
from optuna_records import Record, document, read, surroundings

from hidim.bench.runner import one_thread
from hidim.bench.tables import figure, render

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from postgres import postgres

SAMPLERS = ("random", "hidim", "TPE", "GP")
STORAGES = ("sqlite", "postgresql")
SIZES, DIMS = (100, 1000, 5000), (20, 200)
ASKS, LIMIT = 11, 60


def value(x: np.ndarray) -> float:
    """A bowl whose first numbers matter most, with a valley that is not along the axes."""
    z = x - 0.3
    return float((z**2 / (1 + np.arange(len(z)))).sum() + (z[0] - z[1]) ** 2)


# -- the study ---------------------------------------------------------------------------------------------


def fill(url: str, study: optuna.Study, dim: int, start: int, stop: int) -> None:
    """Give the study the random trials of these numbers."""
    points = np.random.default_rng(0).random((stop, dim))[start:]
    now, unit = datetime.now(UTC).replace(tzinfo=None), distribution_to_json(FloatDistribution(0.0, 1.0))
    trials, params, values = (
        model.__table__ for model in (models.TrialModel, models.TrialParamModel, models.TrialValueModel)
    )
    shared = {
        "study_id": study._study_id,
        "state": TrialState.COMPLETE,
        "datetime_start": now,
        "datetime_complete": now,
    }
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as link:
        link.execute(trials.insert(), [{"number": n, **shared} for n in range(start, stop)])
        since = sqlalchemy.select(trials.c.trial_id).where(trials.c.number >= start)
        of_study = since.where(trials.c.study_id == study._study_id).order_by(trials.c.number)
        numbers = link.execute(of_study).scalars().all()
        finite = models.TrialValueModel.TrialValueType.FINITE
        told = zip(numbers, points, strict=True)
        link.execute(
            values.insert(),
            [{"trial_id": n, "objective": 0, "value": value(x), "value_type": finite} for n, x in told],
        )
        for block in np.array_split(np.arange(len(points)), max(len(points) * dim // 50_000, 1)):
            rows = [
                {
                    "trial_id": numbers[i],
                    "param_name": f"x{j}",
                    "param_value": float(points[i, j]),
                    "distribution_json": unit,
                }
                for i in block
                for j in range(dim)
            ]
            link.execute(params.insert(), rows)
    with engine.begin() as link:
        link.execute(sqlalchemy.text("ANALYZE"))
    engine.dispose()


def shorten(url: str, study: optuna.Study, size: int) -> None:
    """Take away the trials from this number on."""
    engine, trials = sqlalchemy.create_engine(url), models.TrialModel.__table__
    added = sqlalchemy.select(trials.c.trial_id).where(trials.c.number >= size)
    added = added.where(trials.c.study_id == study._study_id)
    with engine.begin() as link:
        numbers = link.execute(added).scalars().all()
        for table in reversed(models.BaseModel.metadata.sorted_tables):
            if "trial_id" in table.c:
                link.execute(table.delete().where(table.c.trial_id.in_(numbers)))
    engine.dispose()


# -- one cell ----------------------------------------------------------------------------------------------


def sampler(name: str) -> optuna.samplers.BaseSampler:
    if name == "hidim":
        import hidim

        return hidim.OptunaSampler(seed=0)
    if name == "GP":
        import torch  # here, so that no ask pays for the import

        torch.set_num_threads(1)
    kind = {"random": "RandomSampler", "TPE": "TPESampler", "GP": "GPSampler"}[name]
    return getattr(optuna.samplers, kind)(seed=0)


def child(url: str, study: str, name: str, dim: int, limit: int) -> None:
    """Asks, each of which is a line on stdout: seconds by the clock, and of this process's computing."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    made = sampler(name)
    asked = optuna.load_study(study_name=study, storage=optuna.storages.get_storage(url), sampler=made)
    spent = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (spent + limit, spent + limit))  # the system ends it then
    for _ in range(ASKS):
        start, busy = time.perf_counter(), time.process_time()
        trial = asked.ask()
        x = np.array([trial.suggest_float(f"x{i}", 0.0, 1.0) for i in range(dim)])
        print(json.dumps([time.perf_counter() - start, time.process_time() - busy]), flush=True)
        asked.tell(trial, value(x))


def measure(url: str, study: str, name: str, dim: int, limit: int) -> list[list[float]]:
    command = [sys.executable, __file__, "--child", url, study, name, str(dim), str(limit)]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in out.splitlines(keepends=True) if line.endswith("\n")]


# -- all cells ---------------------------------------------------------------------------------------------


def measured(url: str, storage: str, dim: int, options: argparse.Namespace) -> Iterator[Record]:
    """All sizes and samplers on one study, which grows."""
    name, filled = f"{storage}-{dim}", 0
    study = optuna.create_study(storage=url, study_name=name)
    for size in options.sizes:
        start = time.perf_counter()
        fill(url, study, dim, filled, size)
        filled = size
        print(f"{name}: {size} trials after {time.perf_counter() - start:.0f} s", flush=True)
        for who in options.samplers:
            asks = measure(url, name, who, dim, options.limit)
            shorten(url, study, size)
            cell = {"storage": storage, "dim": dim, "trials": size, "sampler": who}
            found = {"limit": options.limit, "seconds": [a for a, _ in asks], "cpu": [b for _, b in asks]}
            yield cell | found | surroundings()
            print(cell | {"seconds": [round(a, 3) for a, _ in asks]}, flush=True)


def cell(run: Record, clock: str) -> str:
    """The median, and in brackets the first ask and the largest of the others."""
    seconds = run[clock]
    if not seconds:
        return f"(> {run['limit']})"
    if len(seconds) == 1:
        return f"– ({figure(seconds[0], 2)}; –)"
    rest = np.array(seconds[1:])
    short = "" if len(seconds) == ASKS else f" in {len(rest)}"
    return f"{figure(np.median(rest), 2)} ({figure(seconds[0], 2)}; {figure(rest.max(), 2)}){short}"


def tables(records: list[Record]) -> str:
    by_clock, by_processor = table(records, "seconds"), table(records, "cpu")
    return f"By the clock:\n\n{by_clock}\n\nProcessor time of the process that asks:\n\n{by_processor}"


def table(records: list[Record], clock: str) -> str:
    runs = {(r["storage"], r["dim"], r["trials"], r["sampler"]): r for r in records}
    samplers = list(dict.fromkeys(r["sampler"] for r in records))
    rows = [
        [storage, str(dim), str(trials)]
        + [cell(runs[key], clock) if (key := (storage, dim, trials, who)) in runs else "" for who in samplers]
        for storage, dim, trials in dict.fromkeys(key[:3] for key in runs)
    ]
    return render(["storage", "D", "trials", *samplers], rows, markdown=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--storages", nargs="+", default=list(STORAGES), choices=STORAGES)
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=SAMPLERS)
    parser.add_argument("--dims", nargs="+", type=int, default=list(DIMS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="of the study, ascending")
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds of processor time for a cell")
    parser.add_argument("--out", type=Path, default=Path("optuna-overhead.jsonl"), help="lines are appended")
    parser.add_argument("--table", type=Path, help="print what a file says, and run nothing")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child[:3], *map(int, options.child[3:]))
        return
    if options.table:
        records = read(options.table)
        print(document(__doc__, tables(records), records))
        return
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with one_thread(), ExitStack() as stack, options.out.open("a", encoding="utf-8") as lines:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        for storage in options.storages:
            file = f"sqlite:///{folder}/study.db"
            url = file if storage == "sqlite" else stack.enter_context(postgres())
            for dim in options.dims:
                for record in measured(url, storage, dim, options):
                    lines.write(json.dumps(record) + "\n")
                    lines.flush()


if __name__ == "__main__":
    main()
