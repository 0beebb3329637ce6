"""How high each maximiser climbs on frozen acquisition functions, against the points that it scored.

A frozen acquisition function is that of a Gaussian process with a squared exponential kernel after n = 4 D
trials (50 to 400) of a shifted function: half of them uniform, half of them around the best of these, as in
the middle of a run. It is frozen twice: with the length-scale 0.1 of Elastic GP, at which it is flat nearly
everywhere, and with √D/4, as a fit would have it. Points scored count at any length-scale; a maximiser that
ends before the budget does begins again. "near the best" starts from copies of the three best points, too,
with up to 20 coordinates moved, and so does not depend on finding a slope.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Rng
from hidim.acquisition.improvement import ExpectedImprovement, LogExpectedImprovement
from hidim.bench.base import BoxProblem
from hidim.bench.problems import problem
from hidim.bench.tables import render
from hidim.errors import HidimError
from hidim.gp.kernels import Scaled, SquaredExponential, Stationary
from hidim.gp.maps import Scale
from hidim.gp.model import Model
from hidim.gp.outcome import OUTCOMES
from hidim.gp.posterior import Posterior
from hidim.optim import CMAES, Direct, Elastic, Multistart
from hidim.optim.base import Maximiser, Objective, Optimum, Score
from hidim.optim.starts import perturbed
from hidim.plot.style import finish, heading, label, new_figure, quiet

ACQUISITIONS = {"EI": ExpectedImprovement, "log EI": LogExpectedImprovement}
SCALES: dict[str, Callable[[int], float]] = {
    "0.1": lambda dim: 0.1,
    "√D/4": lambda dim: 0.25 * math.sqrt(dim),
}

#: Of the noise of standardised outcomes; and how far half of the trials are from the best of the others.
NOISE, AROUND = 1e-4, 0.1

#: Beyond so many dimensions DIRECT is left out; the paper leaves it out beyond ten.
COVERED = 20

COLOURS = ("#1f6feb", "#6e7781", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#afb8c1", "#24292f")


class Climb(NamedTuple):
    """Of one maximiser on one frozen function.

    Args:
        scores: after every point that was scored, the best log EI so far at the target length-scale.
    """

    dim: int
    scale: str
    acquisition: str
    seed: int
    maximiser: str
    scores: Array


@dataclass(frozen=True)
class Scattered(Maximiser):
    """The best of uniform points."""

    count: int = 1000

    def __call__(
        self, objective: Objective, lower: Array, upper: Array, rng: Rng, starts: Array | None = None
    ) -> Optimum:
        points = lower + (upper - lower) * rng.random((self.count, len(lower)))
        values = objective(points).value
        best = int(np.argmax(values))
        return Optimum(points[best], float(values[best]), self.count)


@dataclass(frozen=True)
class Near(Maximiser):
    """Multistart, from copies of good points, too."""

    best: tuple[tuple[float, ...], ...]

    def __call__(
        self, objective: Objective, lower: Array, upper: Array, rng: Rng, starts: Array | None = None
    ) -> Optimum:
        return Multistart(raw=128)(objective, lower, upper, rng, perturbed(rng, np.array(self.best), 128)[0])


def maximisers(budget: int, posterior: Posterior) -> dict[str, Maximiser]:
    """Each with so many evaluations, or as often as they allow."""
    best = posterior.x[np.argsort(posterior.y)[:3]]
    found: dict[str, Maximiser] = {
        "elastic": Elastic(evaluations=budget),
        "random starts": Elastic(evaluations=budget, longest=1.0),
        "multistart": Multistart(),
        "near the best": Near(tuple(map(tuple, best.tolist()))),
        "Adam": Multistart(climber="adam"),
        "CMA-ES": CMAES(budget),
        "random points": Scattered(budget),
    }
    if posterior.dim <= COVERED:
        found["DIRECT"] = Direct(budget)
    return found


class _Scored(Exception):
    """The budget is spent."""


class _Meter:
    """Counts points, and keeps the best score of those at the target."""

    def __init__(self, posterior: Posterior, best: float, acquisition: str, budget: int) -> None:
        self.posterior, self.best, self.budget = posterior, best, budget
        self.make, self.exact = ACQUISITIONS[acquisition], LogExpectedImprovement(best).on(posterior)
        self.scores: list[Array] = []
        self.count, self.top = 0, -math.inf

    def family(self, factor: float) -> Objective:
        known = self.posterior if factor == 1.0 else self.posterior.stretched(factor)
        objective = self.make(self.best).on(known)

        def metered(u: Array) -> Score:
            if self.count >= self.budget:
                raise _Scored
            logs = self.exact(u).value if factor == 1.0 else np.full(len(u), -math.inf)
            so_far = np.maximum.accumulate(np.append(self.top, logs))[1:]
            self.scores.append(so_far)
            self.count, self.top = self.count + len(u), float(so_far[-1])
            return objective(u)

        return metered

    def climb(self, maximiser: Maximiser, rng: Rng) -> Array:
        dim = self.posterior.dim
        box, objective = (np.zeros(dim), np.ones(dim)), self.family(1.0)
        try:
            while True:
                before = self.count
                if isinstance(maximiser, Elastic):
                    maximiser.over(self.family, *box, rng)
                else:
                    maximiser(objective, *box, rng)
                if self.count == before:
                    break
        except _Scored:
            pass
        return np.concatenate(self.scores)[: self.budget]


def frozen(family: str, dim: int, lengthscale: float, seed: int) -> Posterior:
    """The process behind a frozen acquisition function."""
    task, rng = problem(f"{family}-{dim}-shifted"), np.random.default_rng([dim, seed])
    if not isinstance(task, BoxProblem):
        raise HidimError(f"{family!r} is not a family of box problems")
    n = int(np.clip(4 * dim, 50, 400))
    x = rng.random((n, dim))
    y = np.array([task.evaluate(point) for point in x])
    near = x[: n // 2]
    centre = near[int(np.argmin(y[: n // 2]))]
    x[n // 2 :] = np.clip(centre + AROUND * rng.standard_normal((n - n // 2, dim)), 0.0, 1.0)
    y[n // 2 :] = [task.evaluate(point) for point in x[n // 2 :]]
    model = Model(Scaled(Stationary(SquaredExponential(), Scale(dim, ard=False))))
    theta = np.where(model.holds("log_lengthscale"), math.log(lengthscale), 0.0)
    theta[-1] = math.log(NOISE)
    return Posterior(model, theta, x, OUTCOMES["identity"](y))


def measure(dims: Iterable[int], budget: int, seeds: int, family: str = "rosenbrock") -> list[Climb]:
    """Every maximiser on every frozen function."""
    climbs = []
    for dim, scale, seed in product(dims, SCALES, range(seeds)):
        posterior = frozen(family, dim, SCALES[scale](dim), seed)
        best = float(posterior.y.min())
        for acquisition, (name, maximiser) in product(ACQUISITIONS, maximisers(budget, posterior).items()):
            meter = _Meter(posterior, best, acquisition, budget)
            scores = meter.climb(maximiser, np.random.default_rng(seed))
            climbs.append(Climb(dim, scale, acquisition, seed, name, scores))
        print(f"D={dim}  length-scale {scale}  seed {seed}", file=sys.stderr, flush=True)
    return climbs


def shares(climbs: Sequence[Climb]) -> dict[tuple[int, str, str, str], Array]:
    """EI as a share of the best that any maximiser found, (seeds, budget), by cell and maximiser."""
    top: dict[tuple[int, str, int], float] = {}
    for climb in climbs:
        key = climb.dim, climb.scale, climb.seed
        top[key] = max(top.get(key, -math.inf), float(climb.scores[-1]))
    found: dict[tuple[int, str, str, str], list[Array]] = {}
    for climb in climbs:
        logs = climb.scores - top[climb.dim, climb.scale, climb.seed]
        found.setdefault((climb.dim, climb.scale, climb.acquisition, climb.maximiser), []).append(
            np.exp(logs)
        )
    return {key: np.array([_padded(row, values) for row in values]) for key, values in found.items()}


def _padded(row: Array, others: Sequence[Array]) -> Array:
    longest = max(map(len, others))
    return np.pad(row, (0, longest - len(row)), mode="edge")


def table(climbs: Sequence[Climb], *, markdown: bool = False) -> str:
    """Mean share of the best EI found, at the end of the budget."""
    found = shares(climbs)
    cells = list(dict.fromkeys(key[:3] for key in found))
    names = list(dict.fromkeys(key[3] for key in found))
    rows = [
        [f"{dim}", scale, acquisition]
        + [
            f"{found[dim, scale, acquisition, name][:, -1].mean():.3f}"
            if (dim, scale, acquisition, name) in found
            else "–"
            for name in names
        ]
        for dim, scale, acquisition in cells
    ]
    return render(["D", "length-scale", "climbed", *names], rows, left=3, markdown=markdown)


def plot(climbs: Sequence[Climb], path: Path) -> None:
    """Mean share of the best EI found against points scored: a row of panels for each length-scale."""
    found = shares(climbs)
    dims, scales = list(dict.fromkeys(key[0] for key in found)), list(dict.fromkeys(key[1] for key in found))
    names = list(dict.fromkeys(key[3] for key in found))
    figure = new_figure(3.0 * len(dims) + 0.6, 2.5 * len(scales) + 0.5)
    axes = np.atleast_2d(figure.subplots(len(scales), len(dims), sharey=True, squeeze=False))
    for (row, scale), (column, dim) in product(enumerate(scales), enumerate(dims)):
        axis = axes[row, column]
        quiet(axis)
        heading(axis, f"D = {dim}, length-scale {scale}")
        for place, name in enumerate(names):
            for acquisition, line in zip(ACQUISITIONS, ("-", ":"), strict=True):
                curve = found.get((dim, scale, acquisition, name))
                if curve is None:
                    continue
                colour = COLOURS[place % len(COLOURS)]
                shown = f"{name}, {acquisition}"
                mean = curve.mean(axis=0)
                axis.plot(np.arange(1, len(mean) + 1), mean, line, color=colour, linewidth=1.4, label=shown)
        axis.set_xscale("log")
        axis.set_ylim(-0.03, 1.03)
        label(
            axis,
            x="points scored" if row == len(scales) - 1 else None,
            y="EI, share of the best found" if column == 0 else None,
        )
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    finish(figure, path)
