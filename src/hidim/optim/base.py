"""What a maximiser is: it finds a good point of a box, and knows nothing of Gaussian processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from hidim._types import Array, Pullback, Rng


class Score(NamedTuple):
    """Scores (r,) of r points, and the pullback of ∂L/∂score (r,) to the points (r, p).

    Gradient-free maximisers never call the pullback, and so never pay for it.
    """

    value: Array
    to_inputs: Pullback


#: Scores the rows of (r, p) in one batch; larger is better.
Objective: TypeAlias = Callable[[Array], Score]


class Optimum(NamedTuple):
    """The best point (p,), its score, and the number of points that were scored."""

    point: Array
    value: float
    evaluations: int


class Maximiser(ABC):
    """Maximises an objective over a box. The same generator state gives the same answer."""

    @abstractmethod
    def __call__(
        self, objective: Objective, lower: Array, upper: Array, rng: Rng, starts: Array | None = None
    ) -> Optimum:
        """The best point found in [lower, upper] (p,); `starts` (s, p) are points worth trying."""


def best_of(points: Array, values: Array, evaluations: int) -> Optimum:
    """The best row; a NaN counts as worse than anything."""
    order = np.where(np.isnan(values), -np.inf, values)
    index = int(np.argmax(order))
    return Optimum(points[index].copy(), float(order[index]), evaluations)
