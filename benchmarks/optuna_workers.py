"""Eight plain processes on one Optuna study in PostgreSQL, three of them killed: is anything lost or doubled?

    python benchmarks/optuna_workers.py --out benchmarks/results/optuna-workers.jsonl
    python benchmarks/optuna_workers.py --table benchmarks/results/optuna-workers.jsonl

Every worker is a process that does `optuna.load_study(…).optimize(…)` until the study has 60 complete trials;
those in work are then brought to their end. A trial takes 0.2 to 1 seconds. Two workers are killed (SIGKILL)
in the midst of a trial, at a quarter and at a half of the trials, and one between two trials, while it asks;
each is started again at once. hidim's samplers all have the same seed; TPE's would suggest the same then, and
have their own. Signs of life (`heartbeat_interval`) come every 15 seconds. The server is PostgreSQL from
Debian's package, started for this run by an ordinary user.

Checked after every run: each trial that a worker noted down as finished is complete in the storage, once,
with its value to the bit; no others are; the two trials that were lost have no value. *Pairs* are trials that
were running at the same time. Those *at once* were asked for at the same moment: when the later one began,
the parameters of the earlier one were not yet known to anybody. *Closest* is the smallest distance of a pair,
in root mean square over the unit cube. Quality is the best of the first 60 complete trials, less the minimum,
beside that of one process with 60 trials.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import optuna
import optuna_objectives
from optuna.trial import FrozenTrial, TrialState
from optuna_records import Record, document, read, surroundings

from hidim.bench.tables import figure, render

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from crew import Crew, Work, check, crew, pairs
from postgres import postgres

WORKERS, TRIALS, SEEDS = 8, 60, 3
SECONDS, HEARTBEAT = (0.2, 1.0), 15
PROBLEMS = ("jenatton_shifted", "network", "labels")
SAMPLERS = ("hidim", "TPESampler")


def in_parallel(work: Work, folder: Path) -> dict[str, object]:
    """A run of the crew, with what was checked and what was found."""
    start = time.monotonic()
    with crew(work, WORKERS, folder) as workers:
        strikes: dict[float, tuple[int, Callable[[int], object]]] = {
            0.25: (0, workers.kill),
            0.5: (1, workers.kill),
            0.65: (2, workers.kill_asking),
        }
        for share, (place, strike) in strikes.items():
            workers.wait_for(int(share * TRIALS))
            strike(place)
            workers.hire(place)
        workers.wait()
        seconds = time.monotonic() - start
        if work.heartbeat:
            wait_for_the_lost(workers)
        check(workers)
        trials = workers.study.get_trials()
        states = {state.name.lower(): sum(t.state == state for t in trials) for state in TrialState}
        kills = {"lost": workers.lost, "lost_states": [trials[n].state.name for n in workers.lost]}
        said = "".join(path.read_text() for path in folder.glob("errors-*"))
        kills["gave_up"] = said.count("no longer waits")
        return {"best": best(trials), "seconds": seconds, **states, **kills, **asdict(pairs(workers))}


def wait_for_the_lost(workers: Crew) -> None:
    """A trial whose worker was killed has failed when its signs of life have been missing for long enough."""
    deadline = time.monotonic() + 6 * HEARTBEAT
    while any(t.state == TrialState.RUNNING for t in workers.study.trials) and time.monotonic() < deadline:
        optuna.storages.fail_stale_trials(workers.study)
        time.sleep(0.2)


def best(trials: list[FrozenTrial]) -> float:
    """Of those that were complete first."""
    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    complete.sort(key=lambda trial: trial.datetime_complete)
    return min(trial.value for trial in complete[:TRIALS])


def alone(work: Work) -> float:
    study = optuna.create_study(sampler=work.sample(0))
    study.optimize(work.function(), n_trials=TRIALS)
    return study.best_value


def compare(storage: str, problem: str, sampler: str, seed: int, heartbeat: int | None) -> dict[str, object]:
    objective = f"{optuna_objectives.__file__}:{problem}"
    name = f"{problem}-{sampler}-{seed}-{heartbeat}"
    work = Work(storage, objective, sampler, seed, TRIALS, SECONDS, heartbeat, name)
    with tempfile.TemporaryDirectory() as folder:
        record = in_parallel(work, Path(folder))
    optimum = optuna_objectives.OPTIMA[problem]
    found = {"regret": record.pop("best") - optimum, "sequential": alone(work) - optimum}
    asked = {"problem": problem, "sampler": sampler, "seed": seed, "heartbeat": heartbeat}
    return asked | found | record | surroundings()


def _row(record: Record) -> tuple:
    return record["problem"], record["sampler"], record["heartbeat"], record.get("code")


def table(records: list[dict]) -> str:
    rows = []
    for problem, sampler, beats, code in dict.fromkeys(_row(r) for r in records):
        runs = [r for r in records if _row(r) == (problem, sampler, beats, code)]
        column = {key: np.array([run[key] for run in runs]) for key in ("regret", "sequential", "seconds")}
        rows.append(
            [
                problem.replace("_", "-"),
                sampler + ("" if beats else ", no heartbeat") + (f", {code}" if code else ""),
                str(len(runs)),
                figure(np.median(column["sequential"]), 2),
                figure(np.median(column["regret"]), 2),
                f"{sum(r['complete'] for r in runs)}",
                f"{sum(r['fail'] for r in runs)}, {sum(r['running'] for r in runs)}",
                f"{sum(r['duplicates'] for r in runs)} of {sum(r['count'] for r in runs)}",
                figure(min(r["closest"] for r in runs), 2),
                f"{sum(r['blind'] for r in runs)}",
                figure(min(r["closest_blind"] for r in runs), 2),
                f"{np.median(column['seconds']):.0f} s",
            ]
        )
    header = [
        "problem",
        "sampler",
        "runs",
        "median regret, one process",
        "eight",
        "complete",
        "failed, left running",
    ]
    header += ["duplicates of pairs", "closest", "at once", "closest", "wall clock"]
    return render(header, rows, left=2, markdown=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--samplers", default=",".join(SAMPLERS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--no-heartbeat", action="store_true", help="signs of life are not given")
    parser.add_argument("--out", type=Path, default=Path("optuna-workers.jsonl"), help="lines are appended")
    parser.add_argument("--table", type=Path, help="print what a file says, and run nothing")
    options = parser.parse_args()
    if options.table:
        records = read(options.table)
        print(document(__doc__, table(records), records))
        return
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    heartbeat = None if options.no_heartbeat else HEARTBEAT
    with postgres() as url, options.out.open("a", encoding="utf-8") as lines:
        for seed in range(options.seeds):
            for problem in options.problems.split(","):
                for sampler in options.samplers.split(","):
                    record = compare(url, problem, sampler, seed, heartbeat)
                    lines.write(json.dumps(record) + "\n")
                    lines.flush()
                    print({k: v for k, v in record.items() if k not in ("versions", "platform")}, flush=True)


if __name__ == "__main__":
    main()
