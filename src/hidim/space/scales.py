"""Monotone maps between the values of a parameter and the unit interval.

| scale          | values        | u for a value v                                                |
|----------------|---------------|----------------------------------------------------------------|
| `LinearScale`  | [low, high]   | (v - low) / (high - low)                                       |
| `LogScale`     | [low, high]   | log(v / low) / log(high / low)                                 |
| `LinearSteps`  | low, …, high  | (v - low + 1/2) / (high - low + 1)                             |
| `LogSteps`     | low, …, high  | as `LogScale`, on the range widened to [low - 1/2, high + 1/2] |

A step scale gives every integer a cell of its own, so that a uniform u is a uniform (or log-uniform) integer
and the encoded value lies inside the cell. Bounds may be arrays: one scale then serves many columns at once.
`from_unit` takes u in [0, 1] and never leaves the bounds. The two maps undo each other up to the spacing of
floats between the bounds, which is coarse for a range like [1e9, 1e9 + 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from hidim._types import Array

Bound: TypeAlias = float | Array


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
        return _between(self.low + u * (self.high - self.low), u, self.low, self.high)


@dataclass(frozen=True, eq=False)
class LogScale:
    low: Bound
    high: Bound

    def to_unit(self, values: Array) -> Array:
        return _log_to_unit(values, self.low, self.high)

    def from_unit(self, u: Array) -> Array:
        return _between(_log_from_unit(u, self.low, self.high), u, self.low, self.high)


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
        return np.clip(np.rint(_log_from_unit(u, self.low - 0.5, self.high + 0.5)), self.low, self.high)


def _log_to_unit(values: Array, low: Bound, high: Bound) -> Array:
    # Outside the domain of log, -inf and NaN are what we want: the caller sees that they are not in [0, 1].
    with np.errstate(divide="ignore", invalid="ignore"):
        unit: Array = (np.log(values) - np.log(low)) / (np.log(high) - np.log(low))
    return unit


def _log_from_unit(u: Array, low: Bound, high: Bound) -> Array:
    # exp(log(high)) may pass the largest float; the caller clips.
    with np.errstate(over="ignore"):
        value: Array = np.exp(np.log(low) + u * (np.log(high) - np.log(low)))
    return value


def _between(values: Array, u: Array, low: Bound, high: Bound) -> Array:
    """Clip rounding errors away, and reproduce the bounds exactly at u = 0 and u = 1."""
    inside = np.clip(values, low, high)
    return np.where(u <= 0.0, low, np.where(u >= 1.0, high, inside))
