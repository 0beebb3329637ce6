"""Three ways to propose the next point, mixed by their own success in the run.

    all   starts everywhere and around the best points; every coordinate is refined
    few   starts around the best points; only the coordinates that a start moved (1 to 20) are refined
    box   one random set of up to 20 coordinates, inside a box around the best point whose length adapts

No single way wins everywhere: smooth functions in which every coordinate matters like the first, rugged or
ill-conditioned ones the second, few active coordinates among hundreds the third. Each way is one call of
the same batched ascent and differs only in the starts and in the box of each start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Mask
from hidim.methods.surrogate import blanked
from hidim.optim.base import Objective
from hidim.optim.lbfgs import ascend
from hidim.optim.starts import coordinate_masks, perturbed
from hidim.space import Space
from hidim.space.columns import Kind
from hidim.trial import Trial

WAYS = ("all", "few", "box")

#: Integers with at least this many levels are refined like real numbers.
FINE = 32


class Region(NamedTuple):
    """Starts (r, D), and the coordinates and box in which each may be refined (r, D)."""

    starts: Array
    free: Mask
    lower: Array
    upper: Array


@dataclass(frozen=True)
class Proposer:
    """Finds points with a high acquisition score.

    Args:
        raw: starts that are scored for a suggestion.
        refined: how many of the best are refined.
        max_calls: batched calls of the acquisition function for the refinement.
        few: coordinates moved at the most by the ways "few" and "box".
        incumbents: how many of the best points are perturbed.
        tolerance: gain of the acquisition score below which a refinement stops.
        forget: factor by which a way's credit decays with every suggestion.
    """

    raw: int = 384
    refined: int = 4
    max_calls: int = 40
    tolerance: float = 1e-3
    few: int = 20
    incumbents: int = 3
    forget: float = 0.95

    def choose(self, trials: Sequence[Trial], rng: np.random.Generator, *, maximize: bool) -> str:
        """A way, drawn with a tenth for each and the rest by decayed counts of improvements."""
        credit = np.zeros(len(WAYS))
        for trial, improved in zip(trials, _improvements(trials, maximize=maximize), strict=True):
            way = trial.meta.get("way")
            if way in WAYS:
                credit *= self.forget
                credit[WAYS.index(way)] += improved
        total = credit.sum()
        share = credit / total if total > 0.0 else np.full(len(WAYS), 1.0 / len(WAYS))
        return WAYS[int(rng.choice(len(WAYS), p=0.1 + 0.7 * share))]

    def propose(
        self,
        way: str,
        objective: Objective,
        space: Space,
        best: Array,
        length: float,
        rng: np.random.Generator,
    ) -> Array:
        """Points (k, D) in the order of their score, best first, snapped to the space.

        Args:
            objective: scores points as the kernel wants them (see `blanked`).
            best: (c, D), the best points so far, best first; inactive columns NaN.
            length: edge of the box of the way "box".
        """
        region = self._region(way, space, best, length, rng)
        points = region.starts
        scores = objective(blanked(space, points)).value
        order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[: self.refined]
        active = ~np.isnan(points[order])
        free = region.free[order] & active & _smooth(space)
        inputs = blanked(space, points[order])
        lower, upper = (
            np.where(free, region.lower[order], inputs),
            np.where(free, region.upper[order], inputs),
        )
        refined, values, _ = ascend(
            objective, inputs, lower, upper, max_calls=self.max_calls, tolerance=self.tolerance
        )
        ranked = refined[np.argsort(-values, kind="stable")]
        if not np.all(space.columns.kind == Kind.CONTINUOUS):
            ranked = self._stepped(objective, space, space.snap(ranked), rng)
        return np.vstack([space.snap(ranked), points[order]])

    def _region(self, way: str, space: Space, best: Array, length: float, rng: np.random.Generator) -> Region:
        dim = space.dim
        centres = np.where(np.isnan(best), rng.random(best.shape), best)
        zeros, ones = np.zeros(dim), np.ones(dim)
        if way == "box":
            return self._box(space, centres[0], length, rng)
        scattered = rng.random((self.raw // 3 if way == "all" else 0, dim))
        near, moved = perturbed(rng, centres, self.raw - len(scattered), most=self.few)
        near = _jumped(space, near, moved, rng)
        starts = space.snap(np.vstack([scattered, near]))
        free = np.ones(starts.shape, dtype=np.bool_) if way == "all" else moved
        return Region(starts, free, np.broadcast_to(zeros, free.shape), np.broadcast_to(ones, free.shape))

    def _box(self, space: Space, centre: Array, length: float, rng: np.random.Generator) -> Region:
        dim = space.dim
        chosen = coordinate_masks(rng, 1, dim, np.array([min(self.few, dim)]))
        lower = np.maximum(centre - 0.5 * length, 0.0)
        upper = np.minimum(centre + 0.5 * length, 1.0)
        # From one of the chosen coordinates to all of them, log-uniformly.
        share = np.exp(rng.uniform(-math.log(chosen.sum()), 0.0, size=(self.raw, 1)))
        moved = chosen & (rng.random((self.raw, dim)) < share)
        uniform = lower + (upper - lower) * rng.random((self.raw, dim))
        starts = space.snap(_jumped(space, np.where(moved, uniform, centre), moved, rng))
        shape = starts.shape
        boxes = (np.broadcast_to(edge, shape) for edge in (chosen[0], lower, upper))
        return Region(starts, *boxes)

    def _stepped(self, objective: Objective, space: Space, ranked: Array, rng: np.random.Generator) -> Array:
        """Move the best point to its best discrete neighbour as long as that helps; (k, D), best first."""
        points = ranked
        for _ in range(3):
            candidates = np.vstack([points, _neighbours(space, points[0], rng)])
            scores = np.nan_to_num(objective(blanked(space, candidates)).value, nan=-np.inf)
            order = np.argsort(-scores, kind="stable")
            points = candidates[order[:16]]
            if order[0] == 0:
                break
        return points


def box_length(trials: Sequence[Trial], *, maximize: bool, patience: int = 10) -> float:
    """Edge of the box: doubled after three successes in a row, halved after `patience` failures, restarted
    when it has become tiny. Folded from the trials that the way "box" suggested."""
    length, successes, failures = 0.8, 0, 0
    for trial, improved in zip(trials, _improvements(trials, maximize=maximize), strict=True):
        if trial.meta.get("way") != "box":
            continue
        successes, failures = (successes + 1, 0) if improved else (0, failures + 1)
        if successes == 3:
            length, successes = min(2.0 * length, 1.6), 0
        if failures == patience:
            length, failures = 0.5 * length, 0
        if length < 0.5**7:
            length = 0.8
    return length


def _improvements(trials: Sequence[Trial], *, maximize: bool) -> list[bool]:
    """Whether each complete trial, in the order of finishing, was better than all before."""
    if not trials:
        return []
    losses = np.array([t.value for t in trials], dtype=np.float64) * (-1.0 if maximize else 1.0)
    before = np.concatenate([[losses[0]], np.minimum.accumulate(losses)[:-1]])
    return [bool(better) for better in losses < before]


def _smooth(space: Space) -> Mask:
    kind, levels = space.columns.kind, space.columns.levels
    return np.asarray((kind == Kind.CONTINUOUS) | ((kind == Kind.INTEGER) & (levels >= FINE)))


def _jumped(space: Space, points: Array, moved: Mask, rng: np.random.Generator) -> Array:
    """Give moved labels a random label, and moved coarse integers a step of at least about one level."""
    kind, levels = space.columns.kind, space.columns.levels
    labels = kind == Kind.LABEL
    coarse = (kind == Kind.INTEGER) & (levels < FINE)
    if not (labels.any() or coarse.any()):
        return points
    points = np.where(moved & labels, rng.random(points.shape), points)
    steps = rng.standard_normal(points.shape) / np.where(coarse, levels, 1.0)
    return np.clip(np.where(moved & coarse, points + steps, points), 0.0, 1.0)


def _neighbours(space: Space, point: Array, rng: np.random.Generator, *, most: int = 256) -> Array:
    """Points (k, D) that differ from `point` in one discrete column, by any label or by one integer step."""
    kind, levels = space.columns.kind, space.columns.levels
    columns = np.flatnonzero((kind != Kind.CONTINUOUS) & ~np.isnan(point) & (levels > 1))
    steps: list[tuple[int, float]] = []
    for column in columns.tolist():
        size = int(levels[column])
        if kind[column] == Kind.LABEL:
            steps += [(column, (index + 0.5) / size) for index in range(size)]
        else:
            steps += [(column, float(point[column]) + step / size) for step in (-1.0, 1.0)]
    if len(steps) > most:
        steps = [steps[i] for i in rng.choice(len(steps), most, replace=False)]
    moved = np.repeat(point[None], len(steps), axis=0)
    if steps:
        changed, levels_there = zip(*steps, strict=True)
        moved[np.arange(len(steps)), changed] = levels_there
    snapped = space.snap(np.clip(moved, 0.0, 1.0))
    return snapped[np.any(snapped != point, axis=1)] if len(snapped) else snapped
