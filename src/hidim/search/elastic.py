"""Elastic GP's search (Rana et al. 2017, Algorithm 2): from flat ground by way of longer length-scales.

It asks for the utility at other length-scales and knows nothing else of the model: `hidim.optim.elastic` does
the walking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hidim._settings import at_least, of_type
from hidim._types import Array, Rng
from hidim.acquisition.base import Belief
from hidim.frame import Ground
from hidim.optim.base import Objective
from hidim.optim.elastic import Elastic, Start, Walk
from hidim.optim.starts import perturbed
from hidim.search.base import Found, Search, Situation, Target
from hidim.search.discrete import jumped
from hidim.search.refine import bounded, objective_in, stepped
from hidim.search.settings import Refine

#: How many of the best points are perturbed for starts near them.
INCUMBENTS = 3


#: Evaluations of the bounds of a group for each of its settings that walks.
EACH = 60


@dataclass(frozen=True)
class Walks(Search):
    """Walks from random points, and from perturbed copies of the best ones.

    Args:
        near: of the starts that advance together, how many are copies, half of them at most; the paper
            has none.
        walk: how they walk.
    """

    near: int = 10
    walk: Elastic = field(default_factory=Elastic)

    def __post_init__(self) -> None:
        at_least(self, near=0)
        of_type(self, walk=Elastic)

    @property
    def stretches(self) -> bool:
        return True

    def __call__(self, target: Target, situation: Situation, rng: Rng) -> Found:
        ground = situation.scene.ground

        def family(factor: float) -> Objective:
            return objective_in(target if factor == 1.0 else target.stretched(factor), ground)

        def begin(_: int) -> Start:
            starts = self._starts(ground, situation.ranked[:INCUMBENTS], rng)
            return Start(*bounded(target, ground, starts))

        found = self.walk.walks(family, begin)
        points = ground.snap(found.points[found.order])
        if not ground.is_continuous:
            points = stepped(target, ground, points, rng)
        return Found(np.vstack([points, ground.snap(found.starts)]), "elastic", {"elastic": told(found)})

    def _starts(self, ground: Ground, best: Array, rng: Rng) -> Array:
        near, moved = perturbed(
            rng, ground.to_unit(best), min(self.near, self.walk.abreast // 2), movable=ground.levels > 1
        )
        copies = ground.from_unit(jumped(ground, near, moved, rng))
        return ground.snap(np.vstack([copies, ground.sample(rng, self.walk.abreast - len(copies))]))


def walking(target: Target, record: Callable[[Walk], None], climb: Refine) -> Refine:
    """The same for the bounds of groups, all at once; each ends with a `climb` to the top."""

    def refine(
        bounds: Callable[[Belief], Objective], starts: Array, lower: Array, upper: Array
    ) -> tuple[Array, Array]:
        def family(factor: float) -> Objective:
            longer = target if factor == 1.0 else target.stretched(factor)
            part = longer.belief.additive()
            return bounds((longer.belief if part is None else part).unmixed()[0])

        walk = Elastic().walk(family, Start(starts, lower, upper), EACH * len(starts))
        record(walk)
        return climb(bounds, walk.points, lower, upper)

    return refine


def told(walk: Walk, lane: int | None = None) -> dict[str, Any]:
    """For the record: the share of starts on flat ground, the l of the best or given walk, points scored."""
    path = [round(scale, 3) for scale in walk.paths[int(walk.order[0]) if lane is None else lane]]
    return {"flat": round(float(walk.flat.mean()), 3), "path": path, "evaluations": walk.evaluations}
