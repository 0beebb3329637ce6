"""Add-Tree (Ma and Blaschko 2020): the synthetic function of §5.1, figure 4a and table 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hidim._types import Array
from hidim.bench.papers.base import Study
from hidim.bench.report import regret_curve
from hidim.bench.runner import Record
from hidim.bench.tables import render

OURS = "hidim:addtree"
METHODS = (
    OURS,
    "hidim:addtree-paper",
    "hidim:leaves",
    "hidim:gp",
    "hidim:flat",
    "optuna-tpe",
    "smac",
    "random",
)
PROBLEMS = ("jenatton", "jenatton-shifted")
STOPS = (20, 40, 60, 80, 100)

#: log10 of the mean gap of ten runs, read off figure 4a, after 20, 40, 60 and 100 evaluations.
PAPER: dict[str, tuple[float | None, ...]] = {
    "add-tree": (-6.6, -9.2, -10.9, None, -11.7),
    "tree (Jenatton et al.)": (None, None, None, None, -4.0),
    "tpe": (None, None, None, None, -2.3),
    "random": (None, None, None, None, -1.5),
    "smac": (None, None, None, None, -1.1),
    "gpyopt": (None, None, None, None, -0.6),
}

#: p of the paper's table 1: Add-Tree against others on this function, after 40, 60 and 80 evaluations.
PAPER_WILCOXON = {"smac": (0.003,) * 3, "optuna-tpe": (0.030, 0.003, 0.003), "random": (0.005, 0.003, 0.003)}

#: A run with a gap above this ends in a wrong leaf: the second best one is worse than the best by as much.
WRONG_LEAF = 0.1 - 1e-6

#: Gaps below this are rounding errors.
ROUNDING = 1e-16


def _curves(records: Sequence[Record], problem: str, method: str) -> Array:
    found = [r for r in records if (r["problem"], r["method"]) == (problem, method) and not r["error"]]
    found.sort(key=lambda record: int(record["seed"]))
    return np.array([regret_curve(record) for record in found])


def _gaps(records: Sequence[Record], problem: str) -> str:
    rows = []
    for method in METHODS:
        curves = _curves(records, problem, method)
        if len(curves):
            gaps = np.maximum(curves, ROUNDING)
            means, medians = np.log10(gaps.mean(axis=0)), np.median(np.log10(gaps), axis=0)
            shown = [f"{means[stop - 1]:.1f} ({medians[stop - 1]:.1f})" for stop in STOPS]
            lost = int((curves[:, STOPS[2] - 1] >= WRONG_LEAF).sum())
            rows.append([method, f"{len(curves)}", *shown, f"{lost}"])
    if problem == PROBLEMS[0]:
        for name, values in PAPER.items():
            shown = ["–" if value is None else f"{value:.1f}" for value in values]
            rows.append([f"paper: {name}", "10", *shown, "–"])
    header = ["method", "runs", *(f"n = {stop}" for stop in STOPS), "in a wrong leaf at 60"]
    return render(header, rows, left=1, markdown=True)


def _wilcoxon(records: Sequence[Record], problem: str) -> str:
    """p of the hypothesis that another method's gap is not greater than that of Add-Tree, seed by seed."""
    from scipy.stats import wilcoxon

    ours, stops = _curves(records, problem, OURS), STOPS[1:4]
    rows = []
    for method in METHODS[1:]:
        theirs = _curves(records, problem, method)
        if len(ours) and len(theirs) == len(ours):
            shown = []
            for place, stop in enumerate(stops):
                p = wilcoxon(theirs[:, stop - 1], ours[:, stop - 1], alternative="greater").pvalue
                known = PAPER_WILCOXON.get(method) if problem == PROBLEMS[0] else None
                shown.append(f"{p:.3f}" + (f" ({known[place]:.3f})" if known else ""))
            rows.append([method, *shown])
    return render(["against", *(f"n = {stop}" for stop in stops)], rows, left=1, markdown=True)


def _report(records: Sequence[Record]) -> str:
    parts = ["# Add-Tree, §5.1: the synthetic function"]
    for problem in PROBLEMS:
        parts += [f"## {problem}: log10 of the mean gap (of the median)", _gaps(records, problem)]
        parts += [
            f"p of a Wilcoxon signed-rank test that the gaps are greater than those of {OURS} "
            "(the paper's in brackets):",
            _wilcoxon(records, problem),
        ]
    return "\n\n".join(parts)


SYNTHETIC = Study(
    name="addtree-synthetic",
    about="Add-Tree, figure 4a and table 1: a conditional function, and the same shifted",
    pairs=tuple((problem, method) for problem in PROBLEMS for method in METHODS),
    evaluations=100,
    seeds=10,
    report=_report,
)
