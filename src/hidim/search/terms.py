"""Starts by main effects: the coordinates that would gain most, each at its best value, moved together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidim._types import Array, Mask, Rng
from hidim.acquisition.base import Belief
from hidim.gp.kernels.effects import Effects

#: Points along every number, and functions that are drawn beside the mean. Both bound the time.
GRID, DRAWS = 41, 12

#: How many coordinates are moved together: from one to all, each so many times the last.
RATIO = 1.5


class _Best(NamedTuple):
    """Of every function and column (s, columns): where in [0, 1] its effect is lowest, and that effect."""

    value: Array
    effect: Array


def by_effects(belief: Belief, best: Array, rng: Rng) -> tuple[Array, Mask]:
    """Points of the unit cube (r, d) around the best ones (c, d), and which coordinates were moved.

    Under the mean of the main effects and under draws of them every coordinate has a best value of its own,
    and something to gain. The k coordinates with most of it are moved, for k = 1, 2, 3, …, all. Coordinates
    that do not exist in a best point, NaN, get their best value.
    """
    effects, coefficients = belief.effects(rng, DRAWS)
    lowest = _lowest(effects, coefficients, rng)
    now = effects.at(coefficients, best)  # (s, c, columns)
    missing = np.isnan(best[:, effects.columns])
    gains = np.where(missing, -np.inf, now - lowest.effect[:, None])
    rank = np.argsort(np.argsort(-gains, axis=2, kind="stable"), axis=2)
    sizes = _sizes(len(effects.columns))
    chosen = (rank < sizes[:, None, None, None]) & (gains > 0.0) | missing  # (k, s, c, columns)
    moved = np.zeros((*chosen.shape[:3], best.shape[1]), dtype=np.bool_)
    moved[..., effects.columns] = chosen
    values = np.zeros((len(coefficients), 1, best.shape[1]))
    values[..., effects.columns] = lowest.value[:, None]
    points = np.where(moved, values, best)
    return points.reshape(-1, best.shape[1]), moved.reshape(-1, best.shape[1])


def _lowest(effects: Effects, coefficients: Array, rng: Rng) -> _Best:
    grid = np.linspace(0.0, 1.0, GRID)
    along = effects.along(coefficients, grid)
    values = grid[along.argmin(axis=1)]
    values = np.clip(values + rng.uniform(-0.5, 0.5, values.shape) / (GRID - 1), 0.0, 1.0)
    labels = effects.of_labels(coefficients)
    if not labels:
        return _Best(values, along.min(axis=1))
    places = np.stack([(own.argmin(axis=1) + 0.5) / own.shape[1] for own in labels], axis=1)
    least = np.stack([own.min(axis=1) for own in labels], axis=1)
    return _Best(np.hstack([values, places]), np.hstack([along.min(axis=1), least]))


def _sizes(most: int) -> Array:
    sizes = [1]
    while sizes[-1] < most:
        sizes.append(min(max(sizes[-1] + 1, int(RATIO * sizes[-1])), most))
    return np.array(sizes)
