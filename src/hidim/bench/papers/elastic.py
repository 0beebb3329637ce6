"""Elastic GP (Rana et al. 2017), figures 3 and 4: ways to maximise one and the same acquisition function.

The paper gives each way to maximise the acquisition function the same seconds, and shows curves alone. Here
each may score the same number of points, at any length-scale, and nobody begins at the centre, where the
Gaussian has its peak.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from hidim._types import Array
from hidim.bench.papers.base import Study
from hidim.bench.report import regret_curve
from hidim.bench.runner import Record
from hidim.bench.tables import figure, render

#: Evaluations of a run; of the paper's figures only the 20 runs are told.
EVALUATIONS = {
    "hartmann6-6": 100,
    "gaussian-20": 150,
    "gaussian-50": 250,
    "rosenbrock-20": 150,
    "rosenbrock-50": 250,
}

#: Runs of every cell; the paper has 20.
SEEDS = 10

#: Points that may be scored for a suggestion: figure 3 has a small and a large budget, figure 4 a large one.
SMALL, LARGE = 200, 1000


def _egp(budget: int, more: str = "") -> str:
    return f"hidim:elastic(evaluations={budget}{more})"


def _ways(budget: int) -> dict[str, str]:
    """Ways to maximise one and the same acquisition function."""
    return {
        "EGP": _egp(budget),
        "EGP, log EI": _egp(budget, ",logarithm=True"),
        "multistart": _egp(budget, ",longest=1"),
        "multistart, log EI": _egp(budget, ",longest=1,logarithm=True"),
    }


DIRECT = "hidim:elastic(search=direct,evaluations={})"
RANDOM = "random"
DEFAULT, DEFAULT_ELASTIC, DEFAULT_MULTISTART = (
    "hidim:gp(frame=cube,scattered=True)",
    "hidim:gp(frame=cube,scattered=True,search=elastic)",
    "hidim:gp(frame=cube,scattered=True,search=multistart)",
)
NAMES = {
    **_ways(LARGE),
    **{f"{name}, {SMALL} points": method for name, method in _ways(SMALL).items()},
    "DIRECT": DIRECT.format(LARGE),
    f"DIRECT, {SMALL} points": DIRECT.format(SMALL),
    "2 × random": RANDOM,
    "gp": DEFAULT,
    "gp, elastic search": DEFAULT_ELASTIC,
    "gp, multistart": DEFAULT_MULTISTART,
}

_EVERYWHERE = [*_ways(LARGE).values(), RANDOM, DEFAULT, DEFAULT_ELASTIC, DEFAULT_MULTISTART]
PAIRS = (
    *product(EVALUATIONS, _EVERYWHERE),
    *product(("hartmann6-6", "gaussian-20"), _ways(SMALL).values()),
    *product(("hartmann6-6",), (DIRECT.format(SMALL), DIRECT.format(LARGE))),
)


def _regrets(records: Sequence[Record], problem: str, method: str) -> dict[int, float]:
    """Of the runs of a cell, by seed."""
    found = [r for r in records if (r["problem"], r["method"]) == (problem, method) and not r["error"]]
    return {record["seed"]: float(regret_curve(record)[-1]) for record in found}


def _cell(records: Sequence[Record], problem: str, method: str) -> str:
    regrets: Array = np.array(list(_regrets(records, problem, method).values()))
    if not len(regrets):
        return "–"
    error = float(np.std(regrets, ddof=1)) / len(regrets) ** 0.5 if len(regrets) > 1 else 0.0
    few = "" if len(regrets) >= SEEDS else f" ({len(regrets)})"
    return f"{figure(float(regrets.mean()))} ± {figure(error, 2)}{few}"


def compared(records: Sequence[Record], problem: str, ours: str, other: str) -> tuple[int, int, float]:
    """On how many of the common seeds `ours` is better, how many there are, and Wilcoxon's p (two-sided)."""
    from scipy.stats import wilcoxon

    left, right = _regrets(records, problem, ours), _regrets(records, problem, other)
    seeds = sorted(left.keys() & right.keys())
    gaps = np.array([right[seed] - left[seed] for seed in seeds])
    p = float(wilcoxon(gaps).pvalue) if np.any(gaps) else 1.0
    return int((gaps > 0).sum()), len(seeds), p


def _verdicts(records: Sequence[Record]) -> list[str]:
    questions = (
        ("EGP", "multistart"),
        ("EGP, log EI", "multistart, log EI"),
        ("EGP", "EGP, log EI"),
        ("gp", "gp, elastic search"),
        ("gp", "gp, multistart"),
        ("gp, multistart", "gp, elastic search"),
        ("gp", "EGP"),
    )
    lines = []
    for ours, other in questions:
        told = []
        for problem in EVALUATIONS:
            wins, count, p = compared(records, problem, NAMES[ours], NAMES[other])
            if count:
                told.append(f"{problem} {wins} of {count} (p = {figure(p, 2)})")
        if told:
            lines.append(f"- {ours} better than {other}: {', '.join(told)}")
    return lines


def _figures(records: Sequence[Record]) -> str:
    methods = [name for name, method in NAMES.items() if any(r["method"] == method for r in records)]
    rows = [[name, *(_cell(records, problem, NAMES[name]) for problem in EVALUATIONS)] for name in methods]
    budgets = ", ".join(f"{count} on {problem}" for problem, count in EVALUATIONS.items())
    return "\n\n".join(
        [
            "# Elastic GP, figures 3 and 4: mean regret ± standard error of ten runs",
            f"Evaluations: {budgets}; twice as many for 2 × random. Points scored for a suggestion: {LARGE}, "
            f"or {SMALL} where that is said; `gp` scores as many as it does, with the elastic search 2000.",
            render(["method", *EVALUATIONS], rows, left=1, markdown=True),
            "On how many common seeds, and the p-value of Wilcoxon's signed-rank test:",
            "\n".join(_verdicts(records)),
        ]
    )


FIGURES = Study(
    name="elastic-figures",
    about="Elastic GP, figures 3 and 4: ways to maximise a flat acquisition function",
    pairs=PAIRS,
    evaluations=EVALUATIONS,
    seeds=SEEDS,
    report=_figures,
    doubled=frozenset({RANDOM}),
)
