"""`hidim bench suite`: problems of many kinds, and who is best at which.

Mean ranks and geometric means are over problems, so that no scale of values counts more than another; paired
tests are Wilcoxon's signed ranks of logarithms of regret, over problems and seeds of a class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.stats import rankdata, wilcoxon

from hidim._types import Array
from hidim.bench.naming import PREFIX
from hidim.bench.report import regret_curve
from hidim.bench.runner import Job, Record, plan
from hidim.bench.tables import figure, render

#: The problems of every class; `benchmarks/README.md` says what was chosen on some of them.
CLASSES: dict[str, tuple[str, ...]] = {
    "small": ("levy-5-shifted", "rosenbrock-5-shifted", "hartmann6-6-rotated", "rastrigin-5-shifted"),
    "interacting": (
        "rosenbrock-20-shifted",
        "rep-branin-20-shifted",
        "rep-hartmann6-20-shifted",
        "zakharov-20-shifted",
        "rosenbrock-100-shifted",
        "rep-branin-100-shifted",
    ),
    "additive": (
        "levy-20-shifted",
        "levy-40-shifted",
        "styblinski-40-shifted",
        "ellipsoid-100-shifted",
        "levy-300-shifted",
    ),
    "rotated": ("levy-20-shifted-rotated", "ellipsoid-40-shifted-rotated", "rosenbrock-40-shifted-rotated"),
    "many basins": ("ackley-20-shifted", "ackley-40-shifted", "rastrigin-20-shifted", "griewank-20-shifted"),
    "sparse": (
        "branin-200",
        "hartmann6-300-shifted",
        "levy10-200-shifted",
        "ackley8-300-shifted",
        "rosenbrock6-1000",
    ),
    "binary": ("switches-60", "switches-200", "discrete-47"),
}

#: Regrets below this share of the largest of any run, or below the last number, are called solved.
SOLVED, TINY = 1e-9, 1e-12


#: Evaluations after which methods are compared.
STOPS = (100, 200, 1000)

#: Methods that can do with numbers of a box alone.
BOXES = ("botorch", "botorch-noisy", "pycma", "turbo")


def problems() -> list[str]:
    """The names of all."""
    return [name for names in CLASSES.values() for name in names]


def stops(evaluations: int) -> list[int]:
    """The numbers of evaluations of a run at which to look."""
    return [stop for stop in STOPS if stop <= evaluations] or [evaluations]


def plan_suite(methods: Sequence[str], seeds: Iterable[int], evaluations: int) -> list[Job]:
    """All runs of the methods on the problems that they can take."""
    jobs = plan(problems(), methods, seeds, evaluations)
    return [job for job in jobs if takes(job.method, job.problem)]


def takes(method: str, name: str) -> bool:
    """Whether the method can run the problem."""
    return method not in BOXES or name not in CLASSES["binary"]


def regrets(records: Sequence[Record], at: int) -> dict[tuple[str, str], dict[int, float]]:
    """Regret after `at` evaluations by problem and method, then by seed; of runs that went so far."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        curve = regret_curve(record)
        if not record["error"] and len(curve) >= at:
            known = found.setdefault((record["problem"], record["method"]), {})
            known[int(record["seed"])] = float(curve[at - 1])
    return found


def floor_of(found: Mapping[tuple[str, str], dict[int, float]], problem: str) -> float:
    """What counts as solved."""
    worst = [max(runs.values()) for (name, _), runs in found.items() if name == problem and runs]
    return max(SOLVED * max(worst, default=1.0), TINY)


def table(records: Sequence[Record], ours: str, at: int) -> str:
    """Ranks, ratios and tests after `at` evaluations, as Markdown.

    Args:
        ours: the method that all others are compared with; those of hidim are shown, but are no peers.
    """
    found = regrets(records, at)
    methods = sorted({method for _, method in found}, key=lambda name: (name != ours, name))
    parts = [f"## After {at} evaluations"]
    parts.append(_ranks(found, methods))
    parts.append(_ratios(found, ours, [method for method in methods if not method.startswith(PREFIX)]))
    parts.append(_tests(found, ours, [m for m in methods if m != ours]))
    parts.append(_profile(found, methods))
    return "\n\n".join(parts)


def _mean(found: Mapping[tuple[str, str], dict[int, float]], problem: str, method: str) -> float:
    runs = found.get((problem, method))
    return max(float(np.mean(list(runs.values()))), floor_of(found, problem)) if runs else math.nan


def _ranks(found: Mapping[tuple[str, str], dict[int, float]], methods: Sequence[str]) -> str:
    """Mean ranks of mean regrets, over the problems that a method can run."""
    rows, every = [], []
    for name, names in CLASSES.items():
        ranks = np.array(
            [_ranked([_mean(found, problem, method) for method in methods]) for problem in names]
        )
        every.append(ranks)
        rows.append([f"{name} ({len(names)})", *map(_shown, _column_means(ranks))])
    rows.append(["**all**", *map(_shown, _column_means(np.vstack(every)))])
    return render(["mean rank", *methods], rows, left=1, markdown=True)


def _ranked(means: Sequence[float]) -> Array:
    values = np.array(means)
    ranks = np.full(len(values), np.nan)
    known = ~np.isnan(values)
    ranks[known] = rankdata(values[known])
    return ranks


def _column_means(ranks: Array) -> list[float]:
    counts = (~np.isnan(ranks)).sum(axis=0)
    means = np.where(counts > 0, np.nansum(ranks, axis=0) / np.maximum(counts, 1), np.nan)
    return [float(mean) for mean in means]


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _ratios(found: Mapping[tuple[str, str], dict[int, float]], ours: str, peers: Sequence[str]) -> str:
    """Mean regret of ours over that of the best peer, by problem, and their geometric means."""
    rows, every = [], []
    for name, names in CLASSES.items():
        for problem in names:
            own, others = _mean(found, problem, ours), [_mean(found, problem, peer) for peer in peers]
            known = [
                (value, peer) for value, peer in zip(others, peers, strict=True) if not math.isnan(value)
            ]
            if math.isnan(own) or not known:
                continue
            best, peer = min(known)
            every.append(math.log(own / best))
            rows.append([name, problem, figure(own), figure(best), peer, f"{own / best:.2g}"])
    if every:
        rows.append(["**geometric mean**", "", "", "", "", f"**{math.exp(float(np.mean(every))):.2g}**"])
    return render(["class", "problem", ours, "best peer", "which", "ratio"], rows, left=2, markdown=True)


def _tests(found: Mapping[tuple[str, str], dict[int, float]], ours: str, others: Sequence[str]) -> str:
    """Share of paired runs that ours wins against each other, by class, and the p of a signed-rank test."""
    rows = []
    for name, names in (*CLASSES.items(), ("**all**", tuple(problems()))):
        rows.append([name, *(paired(found, names, ours, other) for other in others)])
    return render([f"{ours} wins (p)", *others], rows, left=1, markdown=True)


def paired(
    found: Mapping[tuple[str, str], dict[int, float]], names: Sequence[str], ours: str, other: str
) -> str:
    gaps = []
    for problem in names:
        own, theirs = found.get((problem, ours), {}), found.get((problem, other), {})
        least = floor_of(found, problem)
        gaps += [
            math.log(max(own[seed], least)) - math.log(max(theirs[seed], least))
            for seed in own.keys() & theirs.keys()
        ]
    if not gaps:
        return "–"
    wins = float(np.mean([0.5 * (gap == 0.0) + (gap < 0.0) for gap in gaps]))
    if len(gaps) < 5 or not any(gaps):
        return f"{100 * wins:.0f} %"
    return f"{100 * wins:.0f} % ({wilcoxon(gaps).pvalue:.1g})"


def _profile(found: Mapping[tuple[str, str], dict[int, float]], methods: Sequence[str]) -> str:
    """The share of problems on which a method is within a factor of the best."""
    factors = (1.0, 2.0, 10.0, 100.0)
    rows = []
    for method in methods:
        ratios = []
        for problem in problems():
            means = [_mean(found, problem, other) for other in methods]
            own = _mean(found, problem, method)
            if not math.isnan(own):
                ratios.append(own / np.nanmin(means))
        shares = [
            f"{100 * np.mean(np.array(ratios) <= factor):.0f} %" if ratios else "–" for factor in factors
        ]
        rows.append([method, *shares, str(len(ratios))])
    header = ["within a factor of the best", *(f"{factor:g}" for factor in factors), "problems"]
    return render(header, rows, left=1, markdown=True)
