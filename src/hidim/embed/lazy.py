"""A vector that is too long to be written down: its coordinates are computed when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import overload

import numpy as np

from hidim._types import Array, Indices
from hidim.embed.base import Embedding

#: Coordinates that are computed at a time when all are wanted.
CHUNK = 65_536


class LazyVector:
    """The point of [low, high]^D that stands for y.

    `x[i]`, `x[[i, j]]`, `x[a:b]` and `x.chunk(a, b)` compute what is asked for; iteration goes by chunks
    inside; `np.asarray(x)` writes all of it down.

    Args:
        embedding: the map.
        y: (d,).
        low, high: the range of every coordinate; the embedding's own is [-1, 1].

    Example:
        >>> from hidim.embed.gaussian import Gaussian
        >>> x = LazyVector(Gaussian(high=10**9, low=2, seed=0), np.array([0.1, -0.2]), 0.0, 1.0)
        >>> len(x), bool(x[7] == x[[7, 123_456_789]][0] == x.chunk(0, 10)[7])
        (1000000000, True)
    """

    def __init__(self, embedding: Embedding, y: Array, low: float = -1.0, high: float = 1.0) -> None:
        self.embedding, self.y, self.low, self.high = embedding, y, low, high

    def __len__(self) -> int:
        return self.embedding.high

    @overload
    def __getitem__(self, index: int | np.integer) -> float: ...
    @overload
    def __getitem__(self, index: slice | list[int] | Indices) -> Array: ...
    def __getitem__(self, index: int | np.integer | slice | list[int] | Indices) -> float | Array:
        if isinstance(index, slice):
            return self._at(np.arange(*index.indices(len(self))))
        if isinstance(index, int | np.integer):
            return float(self._at(np.array([index]))[0])
        return self._at(np.asarray(index, dtype=np.int64))

    def _at(self, indices: Indices) -> Array:
        """Coordinates (m,); negative indices count from the end."""
        if len(indices) and not -len(self) <= indices.min() <= indices.max() < len(self):
            raise IndexError(f"an index is out of range for a vector of {len(self)} coordinates")
        unit = self.embedding.lift(self.y[None], np.where(indices < 0, indices + len(self), indices))[0]
        coordinates: Array = self.low + 0.5 * (self.high - self.low) * (1.0 + unit)
        return coordinates

    def chunk(self, start: int, stop: int) -> Array:
        """Coordinates `start` to `stop` − 1."""
        return self[start:stop]

    def __iter__(self) -> Iterator[float]:
        for start in range(0, len(self), CHUNK):
            yield from self.chunk(start, start + CHUNK).tolist()

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> Array:
        dense = np.empty(len(self))
        for start in range(0, len(self), CHUNK):
            dense[start : start + CHUNK] = self.chunk(start, start + CHUNK)
        return dense if dtype is None else dense.astype(dtype)

    def __repr__(self) -> str:
        return f"LazyVector({len(self)} coordinates in [{self.low:g}, {self.high:g}])"
