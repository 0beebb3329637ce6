"""BOCK's search (§4): many scattered points, the data and a spray about the best one; the best are refined.

A fresh scramble of the Sobol sequence for every suggestion: a fixed grid is too coarse a sieve in many
dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from hidim._settings import at_least, one_of
from hidim._types import Array, Rng
from hidim.optim.base import Objective
from hidim.optim.climb import CLIMBERS, ClimberName
from hidim.optim.starts import perturbed, sobol
from hidim.search.base import Found, Search, Situation, Target
from hidim.search.discrete import jumped
from hidim.search.refine import refined, stepped

#: Points that are scored at once: their covariances with the data then stay in the cache.
BLOCK = 1024

#: Coordinates of all scattered points together, and points at the least: for memory, beyond 200 dimensions.
NUMBERS, LEAST = 4_000_000, 1_000


#: How many of the best points are jumped from.
INCUMBENTS = 3


@dataclass(frozen=True)
class Sprays(Search):
    """Scattered points, sprays and the data; the best are refined.

    Args:
        raw: Sobol points; fewer beyond 200 dimensions.
        sprays: points about the best one.
        width: their standard deviation, as a share of the range.
        jumps: copies of the best three with a few coordinates moved, by little or by much. The paper has
            none; from one valley to the next, sprays are too narrow and Sobol points too far away.
        sifted: Sobol points that are left after a first look (`Target.rough`).
        refined: how many of the best are refined.
        climber: "l-bfgs", or the paper's "adam".
        max_calls: batched calls of the utility for the refinement.
    """

    raw: int = 20_000
    sprays: int = 10
    width: float = 0.001
    jumps: int = 200
    sifted: int = 100
    refined: int = 20
    climber: ClimberName = "l-bfgs"
    max_calls: int = 20

    def __post_init__(self) -> None:
        at_least(self, raw=1, sprays=0, width=0.0, jumps=0, sifted=1, refined=1, max_calls=1)
        one_of(self, climber=get_args(ClimberName))

    def __call__(self, target: Target, situation: Situation, rng: Rng) -> Found:
        ground = situation.scene.ground
        starts = self._starts(target, situation, rng)
        starts = starts[np.argsort(-_scores(target.objective, target, starts), kind="stable")]
        climb = CLIMBERS[self.climber]
        best = refined(climb, target, ground, starts[: self.refined], None, self.max_calls)
        if not ground.is_continuous:
            best = stepped(target, ground, best, rng)
        return Found(np.vstack([best, starts]), "spray")

    def _starts(self, target: Target, situation: Situation, rng: Rng) -> Array:
        ground, best = situation.scene.ground, situation.ranked
        count = min(self.raw, max(LEAST, NUMBERS // ground.dim))
        scattered = ground.from_unit(sobol(ground.dim, count, rng))
        if not ground.is_continuous:
            scattered = ground.snap(scattered)
        order = np.argsort(-_scores(target.rough(), target, scattered), kind="stable")
        scattered = scattered[order[: self.sifted]]
        near, moved = perturbed(rng, ground.to_unit(best[:INCUMBENTS]), self.jumps, movable=ground.levels > 1)
        jumps = ground.snap(ground.from_unit(jumped(ground, near, moved, rng)))
        wide = self.width * (ground.upper - ground.lower)
        spray = best[0] + wide * rng.standard_normal((self.sprays, ground.dim))
        spray = ground.snap(np.clip(spray, ground.lower, ground.upper))
        known = best if ground.branch is None else best[ground.branch.holds(best)]
        return np.vstack([known[: self.sifted], spray, jumps, scattered])


def _scores(objective: Objective, target: Target, points: Array) -> Array:
    """Of points (r, d) of the ground, block by block."""
    parts = [
        objective(target.inputs(points[start : start + BLOCK])).value
        for start in range(0, len(points), BLOCK)
    ]
    return np.nan_to_num(np.concatenate(parts), nan=-np.inf)
