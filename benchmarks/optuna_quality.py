"""Objectives written with `trial.suggest_*`, no tree declared: hidim's sampler beside Optuna's own.

    python benchmarks/optuna_quality.py --out benchmarks/results/optuna-quality.jsonl
    python benchmarks/optuna_quality.py --table benchmarks/results/optuna-quality.jsonl

`jenatton` is the synthetic tree function of Add-Tree (§5.1), `jenatton-shifted` the same with minimisers off
the centres, `network` a stand-in for the error of a neural network of one to four layers (all are written
down in `optuna_objectives.py`). 60 trials, one at a time, storage in memory, one thread; every sampler has
its defaults but for the seed. Regret is the best value less the minimum. p is that of Wilcoxon's test,
two-sided, of hidim's regrets and the other's, paired by seed. Own time is that of `study.ask`, all
`suggest_*` and `study.tell`, with the objective's, which is nothing; the median of all trials.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import optuna
import optuna_objectives
from optuna_records import Record, document, read, surroundings
from scipy.stats import wilcoxon
from threadpoolctl import threadpool_limits

import hidim
from hidim.bench.tables import figure, render

PROBLEMS = ("jenatton", "jenatton_shifted", "network")
TRIALS, SEEDS = 60, 10
OURS = "hidim"

SAMPLERS: dict[str, Callable[[int], optuna.samplers.BaseSampler]] = {
    OURS: lambda seed: hidim.OptunaSampler(seed=seed),
    "TPE": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "TPE, multivariate, group": lambda seed: optuna.samplers.TPESampler(
        seed=seed, multivariate=True, group=True
    ),
    "GP": lambda seed: _gp(seed),
    "random": lambda seed: optuna.samplers.RandomSampler(seed=seed),
}


def _gp(seed: int) -> optuna.samplers.BaseSampler:
    import torch  # here, so that no trial pays for the import

    torch.set_num_threads(1)
    return optuna.samplers.GPSampler(seed=seed, warn_independent_sampling=False)


def run(problem: str, sampler: str, seed: int) -> Record:
    """All values of one run, and the seconds that each took."""
    objective = getattr(optuna_objectives, problem)
    study = optuna.create_study(sampler=SAMPLERS[sampler](seed))
    values, seconds = [], []
    for _ in range(TRIALS):
        start = time.perf_counter()
        trial = study.ask()
        value = objective(trial)
        study.tell(trial, value)
        seconds.append(round(time.perf_counter() - start, 6))
        values.append(value)
    asked = {"problem": problem, "sampler": sampler, "seed": seed}
    found = {"optimum": optuna_objectives.OPTIMA[problem], "values": values, "seconds": seconds}
    return asked | found | {"own_seconds": sum(seconds)} | surroundings()


def by_run(records: list[Record]) -> dict[tuple[str, str, int], Record]:
    """By problem, sampler and seed; the last line of a run is the one that counts."""
    return {(r["problem"], r["sampler"], r["seed"]): r for r in records}


def table(records: list[Record]) -> str:
    runs = by_run(records)
    rows = []
    for problem in dict.fromkeys(problem for problem, _, _ in runs):
        regrets = {name: _regrets(runs, problem, name) for name in SAMPLERS}
        for name, regret in regrets.items():
            if not regret:
                continue
            seconds = np.concatenate([runs[problem, name, seed]["seconds"] for seed in regret])
            column = np.array(list(regret.values()))
            rows.append(
                [
                    problem.replace("_", "-"),
                    name,
                    str(len(regret)),
                    figure(float(np.median(column)), 2),
                    figure(float(column.mean()), 2),
                    figure(float(column.max()), 2),
                    str(int((column <= 1e-6).sum())),
                    "" if name == OURS else _p(regrets[OURS], regret),
                    f"{1000 * np.median(seconds):.0f} ms",
                ]
            )
    header = [
        "problem",
        "sampler",
        "seeds",
        "median regret",
        "mean",
        "largest",
        "at most 1e-6",
        "p",
        "own time",
    ]
    return render(header, rows, left=2, markdown=True)


def _regrets(runs: dict, problem: str, sampler: str) -> dict[int, float]:
    found = [(seed, run) for (task, name, seed), run in runs.items() if (task, name) == (problem, sampler)]
    return {seed: max(min(run["values"]) - run["optimum"], 0.0) for seed, run in sorted(found)}


def _p(ours: dict[int, float], theirs: dict[int, float]) -> str:
    seeds = sorted(ours.keys() & theirs.keys())
    if len(seeds) < 5:
        return "–"
    with warnings.catch_warnings(action="ignore"):  # of ties
        return figure(float(wilcoxon([ours[s] for s in seeds], [theirs[s] for s in seeds]).pvalue), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=SAMPLERS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument(
        "--out", type=Path, default=Path("optuna-quality.jsonl"), help="runs in it are not repeated"
    )
    parser.add_argument("--table", type=Path, help="print what a file says, and run nothing")
    options = parser.parse_args()
    if options.table:
        records = read(options.table)
        print(document(__doc__, table(records), records))
        return
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    done = by_run(read(options.out)).keys()
    with threadpool_limits(1), options.out.open("a", encoding="utf-8") as lines:
        for seed in range(options.seeds):
            for problem in options.problems.split(","):
                for sampler in options.samplers:
                    if (problem, sampler, seed) in done:
                        continue
                    record = run(problem, sampler, seed)
                    lines.write(json.dumps(record) + "\n")
                    lines.flush()
                    regret = min(record["values"]) - record["optimum"]
                    print(
                        f"{problem} {sampler} {seed}: {regret:.3g}, {record['own_seconds']:.1f} s", flush=True
                    )


if __name__ == "__main__":
    main()
