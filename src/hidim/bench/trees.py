"""`hidim bench conditional`: spaces with conditions, who finds the right branch and who the best setting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from hidim.bench.report import final_regret
from hidim.bench.runner import Job, Record, plan
from hidim.bench.suite import paired
from hidim.bench.tables import figure, render

#: The problems, and evaluations of a run. Tasks with data of their own are run by `benchmarks/fc3.py` and
#: `cash.py`, and join the table.
EVALUATIONS = {
    "jenatton": 60,
    "jenatton-shifted": 60,
    "training": 60,
    "pipeline": 80,
    "network": 100,
    "tree-56": 150,
}


def plan_trees(methods: Sequence[str], seeds: Iterable[int]) -> list[Job]:
    """All runs."""
    seeds = list(seeds)
    return [job for name, count in EVALUATIONS.items() for job in plan([name], methods, seeds, count)]


def table(records: Sequence[Record], ours: str) -> str:
    """Medians, shares of runs that end in a wrong branch, and paired tests by problem, as Markdown.

    Args:
        ours: the method that all others are compared with.
    """
    good = [record for record in records if not record["error"]]
    names = list(dict.fromkeys(record["problem"] for record in good))
    methods = sorted({record["method"] for record in good}, key=lambda method: (method != ours, method))
    cells = {
        (name, method): [r for r in good if (r["problem"], r["method"]) == (name, method)]
        for name in names
        for method in methods
    }
    regrets = {cell: {int(run["seed"]): final_regret(run) for run in runs} for cell, runs in cells.items()}
    told = {name: _about(cells, name, methods) for name in names}
    medians = [[told[name], *(_median(regrets[name, method]) for method in methods)] for name in names]
    wrong = [[name, *(_wrong(cells[name, method]) for method in methods)] for name in names]
    wrong = [row for row in wrong if set(row[1:]) != {"–"}]
    others = [method for method in methods if method != ours]
    tests = [[name, *(paired(regrets, [name], ours, other) for other in others)] for name in names]
    return "\n\n".join(
        [
            "Median regret; where the optimum is not known, the median of the best value:",
            render(["problem", *methods], medians, left=1, markdown=True),
            "Runs whose best configuration has a wrong label, where the right ones are known:",
            render(["problem", *methods], wrong, left=1, markdown=True),
            "Paired runs that are better, and the p-value of Wilcoxon's signed-rank test of logarithms, not "
            "corrected for the number of tests:",
            render([f"{ours} wins (p)", *others], tests, left=1, markdown=True),
        ]
    )


def _about(cells: dict[tuple[str, str], list[Record]], name: str, methods: Sequence[str]) -> str:
    counts = sorted({run["evaluations"] for method in methods for run in cells[name, method]})
    return f"{name}, n = {' and '.join(map(str, counts))}"


def _median(regrets: dict[int, float]) -> str:
    return figure(float(np.median(list(regrets.values())))) if regrets else "–"


def _wrong(runs: Sequence[Record]) -> str:
    known = [run["best_branch"] for run in runs if run.get("best_branch") is not None]
    return f"{known.count(False)} of {len(known)}" if known else "–"
