"""Uniform random vectors as embeddings of a single dimension, so that they need not be written down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidim._types import Array, Indices
from hidim.embed.base import Embedding
from hidim.embed.counter import words


@dataclass(frozen=True)
class Uniform(Embedding):
    """A with independent entries, uniform in [−1, 1]; with d = 1 and y = 1, x is a random point of the cube.

    Example:
        >>> x = Uniform(high=10**9, low=1, seed=3).unit(np.ones((1, 1)), np.array([7, 123_456_789]))
        >>> x.shape, bool(0 < x.min() < x.max() < 1)
        ((1, 2), True)
    """

    def rows(self, indices: Indices) -> Array:
        places = np.asarray(indices, dtype=np.int64)[:, None] * self.low + np.arange(self.low)
        return (words(self.seed, places) >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0

    @property
    def radius(self) -> float:
        return 1.0
