"""Bins of equal size that can be split until every coordinate is alone.

As in HeSBO (Nayebi et al. 2019), coordinates are put into bins with random signs and move together; as in
BAxUS (Papenmeier et al. 2022), bins are equally full and are split. Coordinates are permuted at random, and
bin b of d holds those whose places r have ⌊r d / D⌋ = b. So the bins of 2 d are halves of those of d,
whatever D is, and with d = D every coordinate has one of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from hidim._types import Array, Indices
from hidim.embed.base import Embedding
from hidim.embed.counter import words
from hidim.embed.permutation import permuted
from hidim.errors import MethodError

#: Coordinates for which ⌊r d / D⌋ can be had, with up to 2¹³ bins.
MOST = 2**50


@dataclass(frozen=True)
class Bins(Embedding):
    """A with a single ±1 in every row: coordinate i of x is coordinate b(i) of y, or its negative.

    Nothing has to be clipped, and the box is the cube itself.

    Args:
        first: d before bins were split for the first time, if they have been.

    Example:
        >>> bins = Bins(high=10**9, low=4, seed=0)
        >>> y = np.array([[0.1, -0.2, 0.3, -0.4]])
        >>> places = np.array([5, 123_456_789])
        >>> finer = bins.grown()
        >>> carried = finer.carry(y)
        >>> carried.shape, bool(np.all(finer.lift(carried, places) == bins.lift(y, places)))
        ((1, 8), True)
    """

    first: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.high > MOST:
            raise MethodError(f"{self.high} coordinates are too many for bins: there may be {MOST}")

    def rows(self, indices: Indices) -> Array:
        bins, signs = self._placed(indices)
        rows = np.zeros((len(bins), self.low))
        rows[np.arange(len(bins)), bins] = signs
        return rows

    def lift(self, y: Array, indices: Indices) -> Array:
        bins, signs = self._placed(indices)
        return np.clip(y[:, bins] * signs, -1.0, 1.0)

    def _placed(self, indices: Indices) -> tuple[Indices, Array]:
        """The bin and the sign of each."""
        indices = np.asarray(indices, dtype=np.int64)
        bins = permuted(self.seed, indices, self.high) * self.low // self.high
        return bins, np.where(words(self.seed, indices) & np.uint64(1), 1.0, -1.0)

    @property
    def origin(self) -> int:
        return self.low if self.first is None else self.first

    @property
    def doublings(self) -> int:
        """How often bins have been split; the last time, some of them may have held a single coordinate."""
        return math.ceil(math.log2(self.low / self.origin))

    @property
    def radius(self) -> float:
        return 1.0

    def grown(self) -> Bins:
        """With every bin split in two, or every coordinate alone if there are fewer than twice as many."""
        return replace(self, low=min(2 * self.low, self.high), first=self.origin)

    def carry(self, y: Array) -> Array:
        """Points (n, d) of these bins that stand for the same x as points of fewer, from which they grew."""
        return y[:, np.arange(self.low) * y.shape[1] // self.low]
