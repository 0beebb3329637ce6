"""The last steps of a search: along the gradient, then from level to level."""

from __future__ import annotations

import numpy as np

from hidim._types import Array, Mask, Rng
from hidim.frame import Ground
from hidim.optim.base import Objective
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
    free: Mask | None,
    max_calls: int,
    tolerance: float = 1e-3,
) -> Array:
    """Where ascents from `starts` (r, d) lead, on their levels, best first.

    Args:
        free: coordinates (r, d) that may be moved, by default all; those that do not exist or have few
            levels stay.
        max_calls, tolerance: of the ascents.
    """
    inputs, lower, upper = bounded(target, ground, starts, free)
    found, values, _ = climb(
        objective_in(target, ground), inputs, lower, upper, max_calls=max_calls, tolerance=tolerance
    )
    return ground.snap(found[np.argsort(-values, kind="stable")])


def bounded(
    target: Target, ground: Ground, starts: Array, free: Mask | None = None
) -> tuple[Array, Array, Array]:
    """Starts (r, d) as inputs of the kernel, and the box (r, d) in which gradients may move each.

    Args:
        free: coordinates (r, d) that may be moved, by default all; those that do not exist or have few levels
            stay.
    """
    movable = ~np.isnan(starts) & smooth(ground)
    free = movable if free is None else free & movable
    inputs = target.inputs(starts)
    return inputs, np.where(free, ground.lower, inputs), np.where(free, ground.upper, inputs)


def objective_in(target: Target, ground: Ground) -> Objective:
    """The target's objective of inputs anywhere in the box of the ground."""
    plain = ground.embedding is None and ground.fills_box
    return target.objective if plain else target.settled(ground)


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
