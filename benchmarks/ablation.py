"""What every part of the default is worth: the same runs without it.

    python benchmarks/ablation.py --jobs 2 --out results/ablation.jsonl

No flat problem of these is in `hidim bench suite`. Regrets are geometric means over problems and seeds, shown
as multiples of those of the whole: above 1, the part pays. Pairs are tested by Wilcoxon's signed ranks.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from hidim.bench.report import final_regret
from hidim.bench.runner import Record, plan, read_records, sweep
from hidim.bench.suite import floor_of, paired
from hidim.bench.tables import figure, render

#: Evaluations of a run, by problem.
FLAT = {
    "levy-30-shifted": 200,
    "rosenbrock-30-shifted-rotated": 200,
    "rastrigin-6-shifted": 150,
    "ackley-10-shifted": 150,
    "hartmann6-50-shifted": 150,
    "rep-branin-6-shifted": 100,
    "levy10-100-shifted": 200,
    "styblinski-25-shifted": 200,
}
TREES = {"jenatton-shifted": 60, "training": 60, "pipeline": 80, "network": 100}

WHOLE = "hidim:mixed"

#: What is left out or done otherwise, and the method that says so.
PARTS = {
    "no part that adds up": "hidim:gp(toss=success, credit=gain)",
    "no simpler models beside it": "hidim:mixed(twins=false)",
    "models by a coin": "hidim:mixed(toss=even)",
    "ways by counts": "hidim:mixed(credit=count)",
    "no thorough starts": "hidim:mixed(thorough=false)",
    "no bold suggestions": "hidim:mixed(bold=0)",
    "never restless": "hidim:mixed(restless=0)",
    "no end game": "hidim:mixed(last=0)",
    "losses as they are": "hidim:mixed(outcome=identity)",
}


def table(records: Sequence[Record], problems: Mapping[str, int], title: str) -> str:
    """One row for every part, as Markdown."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        if not record["error"] and record["problem"] in problems:
            cell = found.setdefault((record["problem"], record["method"]), {})
            cell[int(record["seed"])] = final_regret(record)
    rows = []
    for about, method in PARTS.items():
        gaps = {name: _gaps(found, name, method) for name in problems}
        every = [gap for each in gaps.values() for gap in each]
        cells = [figure(math.exp(float(np.mean(each))), 2) if each else "–" for each in gaps.values()]
        total = figure(math.exp(float(np.mean(every))), 2) if every else "–"
        rows.append([about, total, paired(found, list(problems), WHOLE, method), *cells])
    return render([title, "all", "the whole wins (p)", *problems], rows, left=1, markdown=True)


def _gaps(found: Mapping[tuple[str, str], dict[int, float]], problem: str, method: str) -> list[float]:
    whole, other, least = (
        found.get((problem, WHOLE), {}),
        found.get((problem, method), {}),
        floor_of(found, problem),
    )
    seeds = whole.keys() & other.keys()
    return [math.log(max(other[seed], least) / max(whole[seed], least)) for seed in seeds]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("ablation.jsonl"))
    args = parser.parse_args()
    jobs = [
        job
        for name, count in (FLAT | TREES).items()
        for job in plan([name], [WHOLE, *PARTS.values()], range(args.seeds), count)
    ]
    sweep(sorted(jobs, key=lambda job: job.seed), args.out, args.jobs)
    records = read_records(args.out)
    print(table(records, FLAT, "flat"), table(records, TREES, "conditional"), sep="\n\n")


if __name__ == "__main__":
    main()
