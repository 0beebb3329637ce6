"""What an embedding is: a matrix A (D, d), of which any rows can be had, and a box to search.

A point y of the box [-r, r]^d stands for x = clip(A y) in [-1, 1]^D. No method may need the whole of A or x:
coordinates are computed for the indices that are asked for. (The zonotope is the exception, and says so.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Indices, Pullback, Rng
from hidim.errors import MethodError


class Moved(NamedTuple):
    """Where points (n, d) were moved, and the pullback of a gradient there to the points."""

    value: Array
    to_inputs: Pullback


@dataclass(frozen=True)
class Embedding(ABC):
    """A random linear map from d to D dimensions, fixed by its seed.

    Args:
        high: D, the dimension of the space.
        low: d, the dimension of the search.
        seed: of the matrix; the same seed gives the same rows, in whatever order they are asked for.
    """

    high: int
    low: int
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise MethodError(
                f"an embedding of {self.low} in {self.high} dimensions: low must be from 1 to high"
            )
        if self.seed < 0:
            raise MethodError(f"the seed of an embedding must be at least 0, not {self.seed}")

    @abstractmethod
    def rows(self, indices: Indices) -> Array:
        """Rows (m, d) of A, for indices (m,) from 0 to D − 1."""

    @property
    def origin(self) -> int:
        """The dimension in which the matrix was drawn, of which this may be a refinement."""
        return self.low

    @property
    def fills_box(self) -> bool:
        """Whether every y of the box is where `settle` leaves it."""
        return True

    @property
    @abstractmethod
    def radius(self) -> float:
        """r: y is searched in [-r, r]^d."""

    def lift(self, y: Array, indices: Indices) -> Array:
        """Coordinates (n, m) of clip(A y), for points y (n, d).

        Dot products one by one: in a matrix product the last bit of a coordinate depends on its company.
        """
        return np.asarray(np.clip(np.vecdot(y[:, None], self.rows(indices)), -1.0, 1.0))

    def unit(self, y: Array, indices: Indices) -> Array:
        """The same coordinates (n, m) in the unit cube: (1 + clip(A y)) / 2."""
        return 0.5 * (1.0 + self.lift(y, indices))

    def settle(self, y: Array) -> Moved:
        """Points (n, d) of the box moved to where points with an image of their own are; here, they stay."""
        return Moved(y, lambda g: g)

    def sample(self, rng: Rng, n: int) -> Array:
        """Random points (n, d) to begin with."""
        return rng.uniform(-self.radius, self.radius, size=(n, self.low))
