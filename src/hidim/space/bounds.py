"""Checks of what people write into a parameter's definition."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from hidim.errors import SpaceError


def real(owner: str, field_name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SpaceError(f"{owner}: {field_name} must be a number, not {value!r}")
    try:
        number = float(value)
    except OverflowError:  # an int beyond all floats
        number = math.inf
    if not math.isfinite(number):
        raise SpaceError(
            f"{owner}: {field_name} must be finite, not {number}; give the bound that you believe in"
        )
    return number


def real_bounds(owner: str, low: Any, high: Any) -> tuple[float, float]:
    low, high = real(owner, "low", low), real(owner, "high", high)
    if low >= high:
        raise SpaceError(f"{owner} with low={low:g} and high={high:g} is empty: low must be less than high")
    if not math.isfinite(high - low):
        raise SpaceError(f"{owner}: the range from {low:g} to {high:g} overflows; narrow the bounds")
    return low, high


def integer(owner: str, field_name: str, value: Any) -> int:
    number = real(owner, field_name, value)
    if not number.is_integer():
        raise SpaceError(f"{owner}: {field_name} must be an integer, not {value!r}")
    return int(value)


def check_flags(owner: str, **flags: Any) -> None:
    # A space file may say log = "false", which Python would take for true.
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise SpaceError(f"{owner}: {name} must be True or False, not {value!r}")
