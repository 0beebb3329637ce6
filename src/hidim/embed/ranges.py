"""From the unit interval to the range of a real number; `hidim.space.scales` has the way back."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from hidim._types import Array, Indices, Mask

#: One bound for all coordinates, or one for each.
Bound: TypeAlias = float | Array

#: Lower bound, upper bound, and whether they are logarithmic: of all coordinates, or of each (m,).
Range: TypeAlias = tuple[Bound, Bound, bool | Mask]

#: Bounds closer than this share of them are joined by a straight line: their logarithms hardly differ.
NARROW = 1e-7


def from_unit(u: Array, low: Bound, high: Bound, log: bool | Mask) -> Array:
    """Values in [low, high] for u in [0, 1], elementwise: the bounds exactly at 0 and 1, and nothing beyond.

    Example:
        >>> from_unit(np.array([0.0, 0.5, 1.0]), 1.0, 100.0, True).round(6).tolist()
        [1.0, 10.0, 100.0]
    """
    if isinstance(log, np.ndarray):
        ratios = logarithmic(u, np.where(log, low, 1.0), np.where(log, high, 1.0))
        values = np.where(log, ratios, low + u * (high - low))
    else:
        values = logarithmic(u, low, high) if log else low + u * (high - low)
    inside = np.clip(values, low, high)  # rounding errors
    return np.where(u <= 0.0, low, np.where(u >= 1.0, high, inside))


def at(known: Range, places: int | Indices) -> Range:
    """The range of one coordinate, or those of some."""
    low, high, log = (_at(part, places) for part in known)
    return low, high, log


def _at(part: Any, places: int | Indices) -> Any:
    return part[places] if isinstance(part, np.ndarray) else part


def logarithmic(u: Array, low: Bound, high: Bound) -> Array:
    """low^(1 − u) high^u, which may pass the bounds by rounding."""
    # exp(log(high)) may pass the largest float; the caller clips.
    with np.errstate(over="ignore"):
        value = np.exp(np.log(low) + u * (np.log(high) - np.log(low)))
    return np.where(high - low > NARROW * low, value, low + u * (high - low))
