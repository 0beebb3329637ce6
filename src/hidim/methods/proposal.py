"""Ways to propose the next point, mixed by their own success in the run.

    all   starts everywhere and around the best points; every coordinate is refined
    few   starts around the best points; only the coordinates that a start moved (1 to 20) are refined
    box   one random set of up to 20 coordinates, inside a box around the best point whose length adapts
    far   random points, to leave a plateau; never by success, only when `gp` asks for it

No single way wins everywhere: smooth functions in which every coordinate matters like the first, rugged or
ill-conditioned ones the second, few active coordinates among hundreds the third. Each way is one call of
the same batched ascent and differs only in the starts and in the box of each start.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Mask
from hidim.methods.base import at_least
from hidim.methods.discrete import jumped, neighbours, smooth
from hidim.optim.base import Objective
from hidim.optim.lbfgs import ascend
from hidim.optim.starts import coordinate_masks, perturbed
from hidim.space import Space
from hidim.space.columns import Kind

#: The share of starts that lie anywhere, by way; the others are around the best points.
SCATTERED = {"all": 1 / 3, "few": 0.0, "far": 1.0}


class Target(NamedTuple):
    """What is maximised.

    Args:
        objective: scores points as the kernel wants them.
        blanked: makes them of points of the space.
        best: if the score is at most the log expected improvement below a value under one posterior, this
            value; None for other scores.
    """

    objective: Objective
    blanked: Callable[[Array], Array]
    best: float | None = None

    def scores(self, points: Array) -> Array:
        """Of points (r, D) of the space, as (r,)."""
        return np.nan_to_num(self.objective(self.blanked(points)).value, nan=-np.inf)


class Region(NamedTuple):
    """Starts (r, D), and the coordinates and box in which each may be refined (r, D)."""

    starts: Array
    free: Mask
    lower: Array
    upper: Array

    def joined(self, starts: Array) -> Region:
        """With further starts (s, D), to be refined everywhere."""
        ones = np.ones(starts.shape)
        more = (starts, ones.astype(np.bool_), np.zeros(starts.shape), ones)
        return Region(*(np.vstack(pair) for pair in zip(self, more, strict=True)))


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
    """

    raw: int = 384
    refined: int = 4
    max_calls: int = 40
    tolerance: float = 1e-3
    few: int = 20
    incumbents: int = 3

    def __post_init__(self) -> None:
        at_least(self, raw=3, refined=1, max_calls=1, tolerance=0.0, few=1, incumbents=1)

    def propose(
        self,
        way: str,
        target: Target,
        space: Space,
        best: Array,
        length: float,
        rng: np.random.Generator,
        promising: Array | None = None,
    ) -> Array:
        """Points (k, D) of the space: the refined ones, best first, then all starts, best first.

        Args:
            best: (c, D), the best points so far, best first; inactive columns NaN.
            length: edge of the box of the way "box".
            promising: (s, D), starts besides those of the way; all of their coordinates are refined.
        """
        region = self._region(way, space, best, length, rng)
        if promising is not None:
            region = region.joined(promising)
        points = region.starts
        ranking = np.argsort(-target.scores(points), kind="stable")
        order = ranking[: self.refined]
        free = region.free[order] & ~np.isnan(points[order]) & smooth(space)
        inputs = target.blanked(points[order])
        lower = np.where(free, region.lower[order], inputs)
        upper = np.where(free, region.upper[order], inputs)
        refined, values, _ = ascend(
            target.objective, inputs, lower, upper, max_calls=self.max_calls, tolerance=self.tolerance
        )
        ranked = refined[np.argsort(-values, kind="stable")]
        if way != "far" and not np.all(space.columns.kind == Kind.CONTINUOUS):
            ranked = self._stepped(target, space, space.snap(ranked), rng)
        return np.vstack([space.snap(ranked), points[ranking]])

    def _region(self, way: str, space: Space, best: Array, length: float, rng: np.random.Generator) -> Region:
        if way == "box":
            return self._box(space, best[0], length, rng)
        scattered = rng.random((int(SCATTERED[way] * self.raw), space.dim))
        count = self.raw - len(scattered)
        near, moved = perturbed(rng, best, count, most=self.few, movable=space.columns.levels > 1)
        starts = space.snap(np.vstack([scattered, jumped(space, near, moved, rng)]))
        free = moved if way == "few" else np.ones(starts.shape, dtype=np.bool_)
        return Region(starts, free, np.zeros(free.shape), np.ones(free.shape))

    def _box(self, space: Space, centre: Array, length: float, rng: np.random.Generator) -> Region:
        shape = (self.raw, space.dim)
        missing = np.isnan(centre)
        allowed = ~missing & (space.columns.levels > 1)
        chosen = coordinate_masks(rng, allowed[None], np.array([min(self.few, allowed.sum())]))
        lower = np.where(missing, 0.0, np.maximum(centre - 0.5 * length, 0.0))
        upper = np.where(missing, 1.0, np.minimum(centre + 0.5 * length, 1.0))
        # From one of the chosen coordinates to all of them, log-uniformly.
        share = np.exp(rng.uniform(-math.log(max(chosen.sum(), 1)), 0.0, size=(self.raw, 1)))
        moved = (chosen & (rng.random(shape) < share)) | missing
        starts = np.where(moved, lower + (upper - lower) * rng.random(shape), centre)
        starts = space.snap(jumped(space, starts, moved, rng))
        boxes = (np.broadcast_to(edge, shape) for edge in (chosen[0] | missing, lower, upper))
        return Region(starts, *boxes)

    def _stepped(self, target: Target, space: Space, ranked: Array, rng: np.random.Generator) -> Array:
        """Move the best point to its best discrete neighbour while that helps, thrice at most; best first."""
        points = ranked
        for _ in range(3):
            candidates = np.vstack([points, neighbours(space, points[0], rng)])
            order = np.argsort(-target.scores(candidates), kind="stable")
            points = candidates[order[:16]]
            if order[0] == 0:
                break
        return points
