"""The search of the default: starts, and ascents from the best of them.

    all       starts everywhere and around the best points; every coordinate climbs
    few       starts around the best points; only the coordinates that a start moved (about 1 to 20) climb
    effects   coordinates of the best points at their best values, if the model has main effects

While little is known suggestions start in the first way, since everything may be gained. Later every one
starts in one of these ways, by an even chance: smooth functions in which every coordinate matters like the
first, rugged or ill-conditioned ones the second, sums the third. On a plateau half of them start anywhere,
since close to the best points nothing is to be learnt. In a conditional
space the best settings of the nodes of the tree, put together along the best paths, are starts, too
(Add-Tree, Algorithm 2; see `hidim.search.paths`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hidim._settings import at_least
from hidim._types import Array, Indices, Mask, Rng
from hidim.acquisition.base import Belief
from hidim.frame import Ground
from hidim.optim.lbfgs import ascend
from hidim.optim.starts import perturbed
from hidim.search.base import Found, Search, Situation, Target
from hidim.search.discrete import jumped
from hidim.search.effects import by_effects
from hidim.search.paths import best_points
from hidim.search.refine import refined, stepped

#: Coordinates that are moved together at the most, the best points around which starts lie, how many climb,
#: and the gain of the logarithm of the acquisition function below which an ascent ends.
FEW, BEST, CLIMBING, TOLERANCE = 20, 3, 4, 1e-4

#: Of all starts in all coordinates one of so many lies anywhere.
SCATTERED = 3


class Starts(NamedTuple):
    """Starts (r, d), and the coordinates in which each may climb (r, d)."""

    points: Array
    free: Mask

    def joined(self, other: Starts) -> Starts:
        return Starts(*(np.vstack(pair) for pair in zip(self, other, strict=True)))

    def at(self, places: Indices) -> Starts:
        """Some of them."""
        return Starts(self.points[places], self.free[places])


@dataclass(frozen=True)
class Ascent(Search):
    """Ascents from the best of many starts.

    Args:
        starts: that are scored for a suggestion. More find more of what is far away, and take longer.
        climb: batched calls of the acquisition function for an ascent. Fewer are quicker; with 12 valleys
            were not followed.
    """

    starts: int = 384
    climb: int = 40

    def __post_init__(self) -> None:
        at_least(self, starts=3, climb=1)

    def __call__(self, target: Target, situation: Situation, rng: Rng) -> Found:
        ground, best = situation.scene.ground, situation.ranked[:BEST]
        ways = ("all", "few", *(["effects"] if target.belief.has_effects else []))
        if ground.is_unknown(len(situation.scene.seen.y)):
            ways = ("all",)
        way = ways[int(rng.integers(len(ways)))]
        if situation.is_flat and rng.random() < 0.5:
            way = "anywhere"
        starts = self._starts(way, target.belief, ground, best, rng)
        if ground.embedding is None and ground.space.is_conditional:
            paths = best_points(target.belief, situation, rng)
            starts = starts if paths is None else starts.joined(_free(paths))
        order = np.argsort(-target.scores(starts.points), kind="stable")
        chosen = starts.at(order[:CLIMBING])
        ranked = refined(ascend, target, ground, *chosen, self.climb, TOLERANCE)
        if not ground.is_continuous:
            ranked = stepped(target, ground, ranked, rng)
        return Found(np.vstack([ranked, ground.snap(starts.points[order])]), way)

    def _starts(self, way: str, belief: Belief, ground: Ground, best: Array, rng: Rng) -> Starts:
        if way == "effects":
            points, moved = by_effects(belief, best, rng)
            found = Starts(ground.snap(points), moved)
            # Where all of these have been tried, neighbours are left.
            return found if ground.varies_continuously else found.joined(self._near("few", ground, best, rng))
        return self._near(way, ground, best, rng)

    def _near(self, way: str, ground: Ground, best: Array, rng: Rng) -> Starts:
        """Copies of the best points with some coordinates moved, and points anywhere."""
        anywhere = {"all": self.starts // SCATTERED, "few": 0, "anywhere": self.starts}
        scattered = rng.random((anywhere[way], ground.dim))
        count, movable = self.starts - len(scattered), ground.levels > 1
        most = FEW if way == "few" else ground.dim
        near, moved = perturbed(rng, ground.to_unit(best), count, most=most, movable=movable)
        unit = np.vstack([scattered, jumped(ground, near, moved, rng)])
        points = ground.snap(ground.from_unit(unit))
        return Starts(points, moved) if way == "few" else _free(points)


def _free(points: Array) -> Starts:
    """Starts (r, d) that may climb in all coordinates."""
    return Starts(points, np.ones(points.shape, dtype=np.bool_))
