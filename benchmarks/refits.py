"""Are refits felt? Own time of every ask along a run, of the first ask after trials from elsewhere, and of
random search.

    python benchmarks/refits.py --out before.json        in the tree of an earlier commit
    python benchmarks/refits.py --out after.json
    python benchmarks/refits.py --table before.json after.json > benchmarks/results/refits.md

A run asks and tells up to 700 trials. From there to 2,000 most trials are added, random ones, and after every
stretch within which hyperparameters are kept there are a few asks, the first of which fits them anew: so
every refit is met, and the asks between them are sampled. Seconds are those of the processor, on one
thread, so that other work on the machine hardly counts.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hidim import Optimizer
from hidim.belief.inference.peak import GROWTH
from hidim.bench.base import Problem
from hidim.bench.problems import problem
from hidim.bench.tables import render

#: Methods and problems of the runs, the trials that are asked for in turn, those at the end, and how many are
#: asked for after every stretch of added ones.
RUNS = [("auto", "levy-10-shifted"), ("gp", "levy-10-shifted"), ("auto", "ackley-40-shifted")]
ASKED, LAST, SAMPLED = 700, 2000, 8

#: Trials up to which the rows of the table of asks reach.
BANDS = (50, 100, 200, 400, 700, 1000, 1500, 2000)

#: Dimensions and trials for first asks; trials of random search.
FIRST, RANDOM = [(10, 700), (10, 2000), (10, 5000), (100, 1000)], 8000


def asks(method: str, name: str) -> Iterator[tuple[int, float]]:
    """The number of trials before each ask, and its seconds."""
    task = problem(name)
    optimizer = Optimizer(task.space(), method, seed=0)
    while (n := len(optimizer.history)) < LAST:
        if n >= ASKED:
            _add(optimizer, task, min(int(np.ceil(GROWTH * n)), LAST - n))
        for _ in range(SAMPLED):
            yield len(optimizer.history), _timed_step(optimizer, task)


def first_ask(method: str, dim: int, n: int) -> float:
    """Seconds of the first ask after `n` added trials."""
    task = problem(f"levy-{dim}-shifted")
    optimizer = Optimizer(task.space(), method, seed=0)
    _add(optimizer, task, n)
    return _timed_step(optimizer, task)


def whole_run(method: str, n: int) -> float:
    """Seconds of all asks and tells of a run."""
    task = problem("levy-10-shifted")
    optimizer = Optimizer(task.space(), method, seed=0)
    return sum(_timed_step(optimizer, task) for _ in range(n))


def _add(optimizer: Optimizer, task: Problem, count: int) -> None:
    rng = np.random.default_rng(len(optimizer.history))
    for params in task.space().sample(rng, count):
        optimizer.add(params, task.value(params))


def _timed_step(optimizer: Optimizer, task: Problem) -> float:
    start = time.process_time()
    trial = optimizer.ask()
    asked = time.process_time()
    value = task.value(trial.params)
    valued = time.process_time()
    optimizer.tell(trial, value)
    return asked - start + time.process_time() - valued


def measured(*, runs: bool) -> dict[str, Any]:
    whole_run("auto", 30)  # libraries put work off to their first use
    firsts = {f"{m}, D = {d}, n = {n}": first_ask(m, d, n) for d, n in FIRST for m in ("auto", "gp")}
    firsts |= {f"random, {RANDOM} trials in all": whole_run("random", RANDOM)}
    listed = {f"{m}, {name}": list(asks(m, name)) for m, name in (RUNS if runs else ())}
    return {"first": firsts, "asks": listed}


def table(before: dict[str, Any], after: dict[str, Any]) -> str:
    header = ["", "n", "asks", "median, s", "largest", "ratio", "median, now", "largest, now", "ratio, now"]
    rows = []
    for name, old in before["asks"].items():
        if name not in after["asks"]:
            continue
        for low, high in itertools.pairwise(BANDS):
            cells = [_told(listed, low, high) for listed in (old, after["asks"][name])]
            rows.append([name, f"{low} to {high}", cells[0][0], *cells[0][1:], *cells[1][1:]])
    firsts = [[name, f"{s:.2f}", f"{after['first'][name]:.2f}"] for name, s in before["first"].items()]
    return "\n\n".join(
        [
            "# Refits: own time of asks, before and after fits to a part of the trials",
            "Seconds of the processor on one thread. `python benchmarks/refits.py`, as it says.",
            render(header, rows, markdown=True),
            "The first ask after so many added trials; random search as a whole:",
            render(["", "s", "s, now"], firsts, markdown=True),
        ]
    )


def _told(listed: list[tuple[int, float]], low: int, high: int) -> list[str]:
    """How many asks there were with so many trials, their median, the largest, and the ratio of both."""
    seconds = np.array([s for n, s in listed if low <= n < high])
    median, largest = float(np.median(seconds)), float(seconds.max())
    return [f"{len(seconds)}", f"{median:.3f}", f"{largest:.2f}", f"{largest / median:.0f}×"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("refits.json"))
    parser.add_argument("--first", action="store_true", help="first asks and random search alone")
    parser.add_argument("--table", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args()
    if options.table:
        print(table(*(json.loads(path.read_text()) for path in options.table)))
    else:
        options.out.write_text(json.dumps(measured(runs=not options.first)) + "\n")


if __name__ == "__main__":
    main()
