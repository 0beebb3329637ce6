"""A vector that is too long to be written down: its coordinates are computed when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn, overload

import numpy as np

from hidim._limits import COORDINATES_HANDED_OUT
from hidim._types import Array, Indices, Mask
from hidim.embed.base import Embedding
from hidim.embed.ranges import Bound, Range, at, from_unit

#: Coordinates that are computed at a time when all are wanted.
CHUNK = 65_536


class LazyVector:
    """A point of [low, high]^m by the low-dimensional y that it stands for.

    `x[i]`, `x[[i, j]]`, `x[a:b]` and `x.chunk(a, b)` compute what is asked for; iteration goes by chunks
    inside; `np.asarray(x)` writes all of it down. numpy's functions refuse it, because for a billion
    coordinates they could not end well.

    Args:
        embedding: the map to all D columns of the unit cube.
        y: (d,).
        low, high: the range of every coordinate, or the ranges (m,) of each.
        start: the column of the first coordinate.
        size: m; by default all columns from `start` on.
        log: whether the range is logarithmic, of all coordinates or of each (m,).

    Example:
        >>> from hidim.embed.gaussian import Gaussian
        >>> x = LazyVector(Gaussian(high=10**9, low=2, seed=0), np.array([0.1, -0.2]), 0.0, 1.0)
        >>> len(x), bool(x[7] == x[[7, 123_456_789]][0] == x.chunk(0, 10)[7])
        (1000000000, True)
    """

    def __init__(
        self,
        embedding: Embedding,
        y: Array,
        low: Bound = -1.0,
        high: Bound = 1.0,
        start: int = 0,
        size: int | None = None,
        log: bool | Mask = False,
    ) -> None:
        self.embedding, self.y = embedding, np.asarray(y, dtype=np.float64)
        self.low, self.high, self.log = low, high, log
        self.start, self.size = start, embedding.high - start if size is None else size

    def __len__(self) -> int:
        return self.size

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)

    @overload
    def __getitem__(self, index: int | np.integer) -> float: ...
    @overload
    def __getitem__(self, index: slice | list[int] | Indices) -> Array: ...
    def __getitem__(self, index: int | np.integer | slice | list[int] | Indices) -> float | Array:
        if isinstance(index, slice):
            return self._at(np.arange(*index.indices(len(self))))
        if isinstance(index, int | np.integer):
            return float(self._at(np.array([index]))[0])
        indices = np.asarray(index)
        if indices.ndim == 0 and indices.dtype.kind in "iu":
            return self[int(indices)]
        if indices.dtype == np.bool_:
            if indices.shape != self.shape:
                raise IndexError(f"a mask must have shape {self.shape}, not {indices.shape}")
            indices = np.flatnonzero(indices)
        if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
            raise IndexError("a lazy vector is indexed by integers, slices, and flat lists or arrays of them")
        return self._at(indices.astype(np.int64))

    def _at(self, indices: Indices) -> Array:
        """Coordinates (m,); negative indices count from the end."""
        if len(indices) and not -len(self) <= indices.min() <= indices.max() < len(self):
            raise IndexError(f"an index is out of range for a vector of {len(self)} coordinates")
        places = np.where(indices < 0, indices + len(self), indices)
        unit = self.embedding.unit(self.y[None], self.start + places)[0]
        return from_unit(unit, *at(self.range, places))

    @property
    def range(self) -> Range:
        """Bounds, and whether they are logarithmic: of all coordinates, or of each (m,)."""
        return self.low, self.high, self.log

    @property
    def has_common_range(self) -> bool:
        """Whether all coordinates have the same one."""
        return not any(isinstance(part, np.ndarray) for part in self.range)

    @property
    def is_sound(self) -> bool:
        """Whether all coordinates can be computed."""
        inside = 0 <= self.start <= self.start + self.size <= self.embedding.high
        return inside and self.y.shape == (self.embedding.low,) and bool(np.all(np.isfinite(self.y)))

    def has_range(self, low: Bound, high: Bound, log: bool | Mask) -> bool:
        """Whether its coordinates have these ranges, as `range` gives them."""
        pairs = zip(self.range, (low, high, log), strict=True)
        return all(mine is its or np.array_equal(mine, its) for mine, its in pairs)

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

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            f"a lazy vector of {self.size} coordinates has no arithmetic: look at those that matter, as "
            "x[7], x[[3, 4]] or x[10:20], or write all of them down by np.asarray(x)"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __pow__ = __neg__ = _refuse
    __rtruediv__ = __rpow__ = __mod__ = __floordiv__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    sum = mean = std = min = max = dot = __matmul__ = __rmatmul__ = __abs__ = _refuse

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **_: object) -> bool:
        """`array == x` is answered as `x == array` is; all others, as np.exp(x), are refused."""
        if ufunc not in (np.equal, np.not_equal) or method != "__call__":
            self._refuse()
        other = inputs[0] if inputs[1] is self else inputs[1]
        return (self == other) is (ufunc is np.equal)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazyVector):
            mine, its = ((x.embedding, x.start, x.size) for x in (self, other))
            return mine == its and np.array_equal(self.y, other.y) and self.has_range(*other.range)
        if isinstance(other, np.ndarray):
            return other.shape == self.shape and np.array_equal(np.asarray(self), other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.embedding, self.y.tobytes(), self.start))

    def __repr__(self) -> str:
        low, high = float(np.min(self.low)), float(np.max(self.high))
        return f"LazyVector({len(self)} coordinates in [{low:g}, {high:g}])"


def handed_out(value: object) -> object:
    """A vector as objectives get it: a plain array, unless it has more than a million coordinates."""
    short = isinstance(value, LazyVector) and len(value) <= COORDINATES_HANDED_OUT
    return np.asarray(value) if short else value
