"""Monotone maps between the values of a parameter and the unit interval.

| scale            | values                 | u for a value v                                                |
|------------------|------------------------|----------------------------------------------------------------|
| `LinearScale`    | [low, high]            | (v - low) / (high - low)                                       |
| `LogScale`       | [low, high]            | log(v / low) / log(high / low)                                 |
| `PartlyLogScale` | [low, high]            | either, by coordinate                                          |
| `LinearSteps`    | low, …, high           | (v - low + 1/2) / (high - low + 1)                             |
| `LogSteps`       | low, …, high           | as `LogScale`, on the range widened to [low - 1/2, high + 1/2] |
| `Spaced`         | low, low + step, …     | (k + 1/2) / n for the k-th of n values, from 0 on              |

A step scale gives every value a cell of its own, so that a uniform u is a uniform (or log-uniform) value
and the encoded value lies inside the cell. Bounds may be arrays: one scale then serves many columns at once.
`from_unit` takes u in [0, 1] and never leaves the bounds. The two maps undo each other up to the spacing of
floats between the bounds, which is coarse for a range like [1e9, 1e9 + 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hidim._types import Array, Mask
from hidim.embed import ranges
from hidim.embed.ranges import Bound


class UnitScale(Protocol):
    """Both maps act elementwise on arrays of any shape."""

    def to_unit(self, values: Array) -> Array: ...
    def from_unit(self, u: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class LinearScale:
    low: Bound
    high: Bound

    def to_unit(self, values: Array) -> Array:
        return (values - self.low) / (self.high - self.low)

    def from_unit(self, u: Array) -> Array:
        return ranges.from_unit(u, self.low, self.high, False)


@dataclass(frozen=True, eq=False)
class LogScale:
    low: Bound
    high: Bound

    def to_unit(self, values: Array) -> Array:
        return _log_to_unit(values, self.low, self.high)

    def from_unit(self, u: Array) -> Array:
        return ranges.from_unit(u, self.low, self.high, True)


@dataclass(frozen=True, eq=False)
class PartlyLogScale:
    """Real numbers side by side, some of them at equal ratios.

    Args:
        log: which are (m,), of the last axis of what is mapped.
    """

    low: Bound
    high: Bound
    log: Mask

    def to_unit(self, values: Array) -> Array:
        ratios = _log_to_unit(values, np.where(self.log, self.low, 1.0), np.where(self.log, self.high, 2.0))
        return np.where(self.log, ratios, (values - self.low) / (self.high - self.low))

    def from_unit(self, u: Array) -> Array:
        return ranges.from_unit(u, self.low, self.high, self.log)


@dataclass(frozen=True, eq=False)
class LinearSteps:
    """Integers at equal distances.

    Example:
        >>> LinearSteps(0, 3).to_unit(np.arange(4.0)).tolist()
        [0.125, 0.375, 0.625, 0.875]
    """

    low: Bound
    high: Bound

    def to_unit(self, values: Array) -> Array:
        return (values - self.low + 0.5) / (self.high - self.low + 1.0)

    def from_unit(self, u: Array) -> Array:
        steps = np.floor(u * (self.high - self.low + 1.0))
        return np.clip(self.low + steps, self.low, self.high)


@dataclass(frozen=True, eq=False)
class LogSteps:
    """Positive integers at equal ratios."""

    low: Bound
    high: Bound

    def to_unit(self, values: Array) -> Array:
        return _log_to_unit(values, self.low - 0.5, self.high + 0.5)

    def from_unit(self, u: Array) -> Array:
        return np.clip(np.rint(ranges.logarithmic(u, self.low - 0.5, self.high + 0.5)), self.low, self.high)


@dataclass(frozen=True, eq=False)
class Spaced:
    """Numbers at equal distances, as a person would write them: 0.3, and not 0.1 + 2 × 0.1.

    Args:
        low, high: the first and the last of them.
        levels: how many they are; one if both are the same.
        decimals: that all of them have; None if they have too many to be exact.

    Example:
        >>> Spaced(0.1, 0.4, 4, decimals=1).from_unit(np.array([0.1, 0.6, 0.9])).tolist()
        [0.1, 0.3, 0.4]
    """

    low: float
    high: float
    levels: int
    decimals: int | None

    def to_unit(self, values: Array) -> Array:
        return (np.rint(self.positions(values)) + 0.5) / self.levels

    def from_unit(self, u: Array) -> Array:
        return self.at(np.clip(np.floor(u * self.levels), 0.0, self.levels - 1.0))

    def positions(self, values: Array) -> Array:
        """Where values are, in steps from the first; whole numbers on the levels, up to rounding."""
        return (values - self.low) / (self.high - self.low or 1.0) * (self.levels - 1)

    def at(self, positions: Array) -> Array:
        """The numbers at whole positions, from 0 on."""
        if self.decimals is None:
            step = (self.high - self.low) / max(self.levels - 1, 1)
            return np.where(positions >= self.levels - 1, self.high, self.low + positions * step)
        # Exact integers over an exact power of ten: the quotient is the float nearest to the decimal.
        unit = 10.0**self.decimals
        first, last = np.rint(self.low * unit), np.rint(self.high * unit)
        return np.asarray((first + positions * ((last - first) / (self.levels - 1))) / unit)


def _log_to_unit(values: Array, low: Bound, high: Bound) -> Array:
    # Outside the domain of log, -inf and NaN are what we want: the caller sees that they are not in [0, 1].
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = (np.log(values) - np.log(low)) / (np.log(high) - np.log(low))
        return np.where(high - low > ranges.NARROW * low, unit, (values - low) / (high - low))
