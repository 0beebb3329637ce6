"""Count-sketch embeddings (HeSBO; Nayebi et al. 2019), which can grow: of runs before `hidim.embed.bins`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hidim._types import Array, Indices
from hidim.embed.base import Embedding
from hidim.embed.counter import words


@dataclass(frozen=True)
class CountSketch(Embedding):
    """A with a single ±1 in every row: coordinate i of x is coordinate b(i) of y, or its negative.

    Nothing has to be clipped, and the box is the cube itself.

    Args:
        doublings: how often d has been doubled. Every bin was then split in two, by a further random bit of
            each coordinate; signs stay. So whatever could be reached before can still be reached.

    Example:
        >>> sketch = CountSketch(high=10**9, low=4, seed=0)
        >>> y = np.array([[0.1, -0.2, 0.3, -0.4]])
        >>> places = np.array([5, 123_456_789])
        >>> grown = sketch.grown()
        >>> carried = grown.carry(y)
        >>> carried.shape, bool(np.all(grown.lift(carried, places) == sketch.lift(y, places)))
        ((1, 8), True)
    """

    doublings: int = 0

    def rows(self, indices: Indices) -> Array:
        bits = words(self.seed, np.asarray(indices, dtype=np.int64))
        bins = (bits >> np.uint64(32)) % np.uint64(self.origin)
        for level in range(self.doublings):
            bins = 2 * bins + ((bits >> np.uint64(level + 1)) & np.uint64(1))
        rows = np.zeros((len(bins), self.low))
        signs = np.where(bits & np.uint64(1), 1.0, -1.0)
        rows[np.arange(len(bins)), bins.astype(np.intp)] = signs
        return rows

    @property
    def origin(self) -> int:
        return self.low >> self.doublings

    @property
    def radius(self) -> float:
        return 1.0

    def grown(self) -> CountSketch:
        """The sketch with twice as many bins."""
        return replace(self, low=2 * self.low, doublings=self.doublings + 1)

    def carry(self, y: Array) -> Array:
        """Points (n, d) of this sketch that stand for the same x as points of one from which it has grown."""
        return np.repeat(y, self.low // y.shape[1], axis=1)
