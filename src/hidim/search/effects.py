"""Starts coordinate by coordinate: those that would gain most, each at its best value, moved together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidim._types import Array, Indices, Mask, Rng
from hidim.acquisition.base import Belief
from hidim.gp.posterior import DrawnEffects

#: Functions that are drawn beside the mean, and columns along which the rest of the model is asked, too. Both
#: bound the time.
DRAWS, MOST = 12, 256


class _Best(NamedTuple):
    """Of every function and column (s, columns): where in [0, 1] it is lowest, and how low it is there."""

    value: Array
    loss: Array

    def beside(self, other: _Best) -> _Best:
        return _Best(np.hstack([self.value, other.value]), np.hstack([self.loss, other.loss]))


def by_effects(belief: Belief, best: Array, rng: Rng) -> tuple[Array, Mask]:
    """Points of the unit cube (r, d) around the best ones (c, d), and which coordinates were moved.

    Along every coordinate the function is the main effect of that, the mean or a draw, and what the rest of
    the model says of points that differ from the best one there alone. So every coordinate has a best value
    and something to gain. The k coordinates with most of it are moved, for k = 1, 2, 4, …, all. Those that do
    not exist in one of the best points (NaN) have their best values, too, should a label be moved that brings
    them in.
    """
    known = belief.effects(rng, DRAWS)
    lowest = _lowest(known, best[0], rng)
    columns = known.kernel.columns
    gains = known.kernel.at(known.coefficients, best) - lowest.loss[:, None]  # (s, c, columns)
    missing = np.isnan(best)
    gains[:, missing[:, columns]] = -np.inf
    rank = np.argsort(np.argsort(-gains, axis=2, kind="stable"), axis=2)
    moved = np.zeros((len(_sizes(len(columns))), *gains.shape[:2], best.shape[1]), dtype=np.bool_)
    moved[..., columns] = (rank < _sizes(len(columns))[:, None, None, None]) & (gains > 0.0)
    values = np.zeros((len(gains), 1, best.shape[1]))
    values[..., columns] = lowest.value[:, None]
    moved |= missing
    points = np.where(moved, values, best)
    return points.reshape(-1, best.shape[1]), moved.reshape(-1, best.shape[1])


def _lowest(known: DrawnEffects, best: Array, rng: Rng) -> _Best:
    """The columns of the main effects: numbers, then labels."""
    kernel = known.kernel
    grid = np.linspace(0.0, 1.0, 2 * kernel.rank + 1)
    looked = kernel.columns
    if len(looked) > MOST:
        looked = np.sort(rng.choice(looked, MOST, replace=False))
    along = kernel.along(known.coefficients, grid)  # (s, G, numbers)
    along += _others(known, best, kernel.numbers, grid, looked)
    values = grid[along.argmin(axis=1)]
    values = np.clip(values + rng.uniform(-0.5, 0.5, values.shape) / (len(grid) - 1), 0.0, 1.0)
    found = _Best(values, along.min(axis=1))
    own = kernel.of_labels(known.coefficients)
    for column, level, effects in zip(kernel.labels, kernel.levels, own, strict=True):
        places = (np.arange(level) + 0.5) / level
        losses = effects + _others(known, best, np.array([column]), places, looked)[:, 0]
        lowest = losses.argmin(axis=1)[:, None]
        found = found.beside(_Best(places[lowest], np.take_along_axis(losses, lowest, axis=1)))
    return found


def _others(known: DrawnEffects, best: Array, columns: Indices, values: Array, looked: Indices) -> Array:
    """What the rest of the model adds (values, columns) where one of the columns has another value.

    It is 0 for columns that are not `looked` at.
    """
    places = np.flatnonzero(np.isin(columns, looked))
    points = np.tile(best, (len(values), len(places), 1))
    points[:, np.arange(len(places)), columns[places]] = values[:, None]
    change = np.zeros((len(values), len(columns)))
    found = known.others(points.reshape(-1, len(best))) - known.others(best[None])
    change[:, places] = found.reshape(len(values), len(places))
    return change


def _sizes(most: int) -> Indices:
    """How many coordinates are moved together: 1, 2, 4, …, all."""
    return np.append(1 << np.arange((most - 1).bit_length()), most)
