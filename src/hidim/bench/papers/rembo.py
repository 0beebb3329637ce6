"""REMBO (Wang et al. 2013): table 1, and the comparison of figure 3."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import pi

import numpy as np

from hidim._types import Array, Indices
from hidim.bench.papers.base import Study
from hidim.bench.problems import active_coordinates
from hidim.bench.report import final_regret, regret_curve
from hidim.bench.runner import Record
from hidim.bench.tables import figure, render
from hidim.embed import Embedding

#: Mean and standard deviation of the optimality gap of 50 runs, by (d, k).
PAPER = {
    (2, 10): (0.0022, 0.0035), (4, 10): (0.1553, 0.1601), (6, 10): (0.4865, 0.4769),
    (2, 5): (0.0004, 0.0011), (4, 5): (0.0908, 0.1252), (6, 5): (0.2586, 0.3702),
    (2, 4): (0.0001, 0.0003), (4, 4): (0.0654, 0.0877), (6, 4): (0.3379, 0.3170),
    (2, 2): (0.1514, 0.9154), (4, 2): (0.0309, 0.0687), (6, 2): (0.1643, 0.1877),
    (2, 1): (0.7406, 1.8996), (4, 1): (0.0143, 0.0406), (6, 1): (0.1137, 0.1202),
}  # fmt: skip

#: The three minimisers of Branin, in the cube [-1, 1]² that stands for its box.
MINIMISERS = (np.array([[-pi, 12.275], [pi, 2.275], [3 * pi, 2.475]]) - [2.5, 7.5]) / 7.5


def holds_minimiser(embedding: Embedding, active: Indices) -> bool:
    """Whether some y of the embedding's box stands for a minimiser of Branin.

    Only the two active rows of A count: A y = x* there, with y in the box, is a linear programme.
    """
    from scipy.optimize import linprog

    rows, side = embedding.rows(active), embedding.radius
    return any(
        linprog(np.zeros(embedding.low), A_eq=rows, b_eq=target, bounds=(-side, side)).status == 0
        for target in MINIMISERS
    )


@cache
def boxes_with_minimiser(problem: str, low: int, runs: int, seed: int) -> int:
    """In how many of the embeddings of a run some y stands for a minimiser."""
    from hidim.bench.problems import problem as named
    from hidim.frame import Subspaces
    from hidim.task import Task

    frame, task = Subspaces(low=low, runs=runs), Task(named(problem).space(), seed=seed)
    active = active_coordinates(problem)
    return sum(holds_minimiser(frame.embedding(task, run), active) for run in range(runs))


def _cell(low: int, runs: int) -> str:
    return f"hidim:rembo-paper(low={low},runs={runs})"


def _table_1(records: Sequence[Record]) -> str:
    rows, misses = [], {}
    for (low, runs), (mean, spread) in PAPER.items():
        cell = [r for r in records if r["method"] == _cell(low, runs) and not r["error"]]
        if not cell:
            continue
        gaps = np.array([final_regret(record) for record in cell])
        held = np.array([boxes_with_minimiser(r["problem"], low, runs, r["seed"]) > 0 for r in cell])
        misses[low, runs] = (~held).sum(), len(held)
        best = np.median(gaps)
        here = [f"{len(gaps)}", figure(best), f"{gaps.mean():.4f} ± {gaps.std():.4f}", f"{(~held).sum()}"]
        others = f"{gaps[held].mean():.4f}" if held.any() else "–"
        theirs = [f"{mean:.4f} ± {spread:.4f}", "yes" if gaps.mean() <= mean else "no"]
        rows.append([f"{low}", f"{runs}", *here, others, *theirs])
    rows.sort(key=lambda row: (int(row[0]), int(row[1])))
    header = ["d", "k", "runs", "median gap", "mean ± sd", "no box holds a minimiser", "mean of the others"]
    table = render([*header, "paper: mean ± sd", "mean ≤ paper's"], rows, left=2, markdown=True)
    return "\n\n".join(["# REMBO, table 1: Branin in 25 dimensions, 500 evaluations", table, *_rate(misses)])


def _rate(misses: dict[tuple[int, int], tuple[int, int]]) -> list[str]:
    """How often the box of a single embedding holds no minimiser, beside the paper's 13 of 50."""
    if (2, 1) not in misses:
        return []
    count, runs = misses[2, 1]
    expected, error = 13 / 50, np.sqrt(0.26 * 0.74 * (1 / runs + 1 / 50))
    return [
        f"With d = 2 and k = 1 the box holds no minimiser in {count} of {runs} runs ({count / runs:.2f}); "
        f"in the paper it was 13 of 50 ({expected:.2f}). The standard error of the difference is {error:.2f}."
    ]


#: After how many evaluations curves are compared.
STOPS = (50, 100, 200, 300, 400, 500)


def _figure_3(records: Sequence[Record]) -> str:
    rows = []
    for problem, method in FIGURE_3.pairs:
        runs = [r for r in records if (r["problem"], r["method"]) == (problem, method) and not r["error"]]
        if runs:
            curves = np.array([regret_curve(record) for record in runs])
            own = np.array([np.mean(record["ask_seconds"]) for record in runs])
            rows.append([problem, method, f"{len(runs)}", *_at_stops(curves), f"{1e3 * np.median(own):.1f}"])
    header = ["problem", "method", "runs", *(f"n = {stop}" for stop in STOPS), "own ms per trial"]
    return "\n\n".join(
        ["# REMBO, figure 3: median [quartiles] of the gap", render(header, rows, left=2, markdown=True)]
    )


def _at_stops(curves: Array) -> list[str]:
    quartiles = (np.quantile(curves[:, stop - 1], [0.25, 0.5, 0.75]) for stop in STOPS)
    return [f"{figure(middle, 2)} [{figure(low, 2)}, {figure(high, 2)}]" for low, middle, high in quartiles]


TABLE_1 = Study(
    name="rembo-table1",
    about="REMBO, table 1: Branin in 25 dimensions, by d and k",
    pairs=tuple(("branin-25", _cell(low, runs)) for low, runs in product((2, 4, 6), (1, 2, 4, 5, 10))),
    evaluations=500,
    seeds=20,
    report=_table_1,
)

FIGURE_3 = Study(
    name="rembo-figure3",
    about="REMBO, figure 3: 25 dimensions, a billion, and 25 turned about the centre",
    pairs=(
        *product(
            ("branin-25", "branin-1000000000", "branin-25-turned"),
            ("hidim:rembo(low=2,runs=4)", "hidim:random"),
        ),
        *product(("branin-25", "branin-25-turned"), ("hidim:gp",)),
        ("branin-1000000000", "hidim:baxus"),
    ),
    evaluations=500,
    seeds=20,
    report=_figure_3,
)
