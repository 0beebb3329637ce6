"""Maximisers that only look: Sobol points or uniform ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidim._types import Array
from hidim.optim.base import Maximiser, Objective, Optimum, best_of
from hidim.optim.starts import sobol


@dataclass(frozen=True)
class Scatter(Maximiser):
    """The best of `count` scattered points and the given starts.

    Args:
        count: points scored.
        uniform: independent uniform points instead of a Sobol sequence.
    """

    count: int = 1024
    uniform: bool = False

    def __call__(
        self,
        objective: Objective,
        lower: Array,
        upper: Array,
        rng: np.random.Generator,
        starts: Array | None = None,
    ) -> Optimum:
        dim = len(lower)
        unit = rng.random((self.count, dim)) if self.uniform else sobol(dim, self.count, rng)
        points = lower + (upper - lower) * unit
        if starts is not None:
            points = np.vstack([np.clip(starts, lower, upper), points])
        return best_of(points, objective(points).value, len(points))
