"""The last steps of a search: along the gradient, then from level to level."""

from __future__ import annotations

import numpy as np

from hidim._types import Array, Mask, Rng
from hidim.frame import Ground
from hidim.optim.climb import Climber
from hidim.search.base import Target
from hidim.search.discrete import neighbours, smooth

#: Discrete steps from the best point, and how many points are kept of each; choices that were not varied.
STEPS, KEPT = 3, 16


def refined(
    climb: Climber,
    target: Target,
    ground: Ground,
    starts: Array,
    free: Mask,
    lower: Array,
    upper: Array,
    max_calls: int,
    tolerance: float = 1e-3,
) -> Array:
    """Where ascents from `starts` (r, d) lead, on their levels, best first.

    Args:
        free: coordinates (r, d) that may be moved; those that do not exist or have few levels stay.
        lower, upper: the box (r, d) of each start.
        max_calls, tolerance: of the ascents.
    """
    free = free & ~np.isnan(starts) & smooth(ground)
    inputs = target.inputs(starts)
    lower, upper = np.where(free, lower, inputs), np.where(free, upper, inputs)
    plain = ground.embedding is None and ground.fills_box
    objective = target.objective if plain else target.settled(ground)
    found, values, _ = climb(objective, inputs, lower, upper, max_calls=max_calls, tolerance=tolerance)
    return ground.snap(found[np.argsort(-values, kind="stable")])


def stepped(target: Target, ground: Ground, ranked: Array, rng: Rng) -> Array:
    """Move the best point to its best discrete neighbour while that helps, thrice at most; best first."""
    points = ranked
    for _ in range(STEPS):
        candidates = np.vstack([points, neighbours(ground, points[0], rng)])
        order = np.argsort(-target.scores(candidates), kind="stable")
        points = candidates[order[:KEPT]]
        if order[0] == 0:
            break
    return points
