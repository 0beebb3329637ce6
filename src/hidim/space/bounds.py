"""Checks of what people write into a parameter's definition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from hidim._limits import COORDINATES_BOUNDED_SINGLY
from hidim._types import Mask
from hidim.embed.ranges import Bound
from hidim.errors import SpaceError
from hidim.space.scales import Spaced

#: One number for all coordinates of a vector, or one for each.
Numbers: TypeAlias = float | tuple[float, ...]

#: Steps that the larger bound may have, counted from zero: beyond, neighbours are hard to tell apart.
MOST_STEPS = 10**9

#: A bound that lies this close to a step, in steps, was meant to be one.
NEAR = 1e-6


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


def real_bounds(owner: str, low: Any, high: Any, *, equal: bool = False) -> tuple[float, float]:
    low, high = real(owner, "low", low), real(owner, "high", high)
    if low > high or (low == high and not equal):
        raise SpaceError(f"{owner} with low={low:g} and high={high:g} is empty: low must be less than high")
    if not math.isfinite(high - low):
        raise SpaceError(f"{owner}: the range from {low:g} to {high:g} overflows; narrow the bounds")
    return low, high


def spaced(kind: str, low: float, high: float, step: float, log: bool) -> Spaced:
    """The numbers from low to high in steps; `high` must be one of them."""
    owner, near = f"{kind}({low:.13g}, {high:.13g}, step={step:.13g})", 0.0 if kind == "Int" else NEAR
    if log:
        raise SpaceError(f"{owner[:-1]}, log=True): equal steps are not equal ratios; drop log=True or step")
    if step <= 0:
        raise SpaceError(f"{owner} needs step > 0; leave step out for all numbers in between")
    if low == high:
        return Spaced(low, high, 1, None)
    if near and max(abs(low), abs(high)) > MOST_STEPS * step:
        raise SpaceError(f"{owner} has steps too fine to tell neighbours apart; leave step out")
    first, last, each = (Decimal(repr(number)) for number in (low, high, step))
    steps = (last - first) / each
    whole = int(steps.to_integral_value())
    if whole == 0 or abs(steps - whole) > near:
        below, above = (first + each * place for place in (int(steps), int(steps) + 1))
        ends = " or ".join(f"high={float(end):.13g}" for end in (below, above) if end > first)
        raise SpaceError(f"{owner} does not come to high={high:.13g} from low in whole steps; set {ends}")
    decimals = max(0, *(-int(number.normalize().as_tuple().exponent) for number in (first, each)))
    exact = first + each * whole == last and max(abs(first), abs(last)).scaleb(decimals) < 2**51
    return Spaced(low, high, whole + 1, decimals if exact and decimals <= 22 else None)


def each_real(owner: str, field_name: str, value: Any, dim: int) -> Numbers:
    """One number, or one for each of `dim` coordinates as a tuple."""
    if not _is_listed(value):
        return real(owner, field_name, value)
    _check_length(owner, field_name, value, dim)
    try:
        array = np.asarray(value)
    except ValueError:  # ragged lists
        array = np.array([None])
    if array.dtype.kind not in "fiu" or array.ndim > 1:
        return tuple(real(owner, f"{field_name}[{place}]", entry) for place, entry in enumerate(value))
    if not np.all(np.isfinite(array)):
        place = int(np.argmin(np.isfinite(array)))
        real(owner, f"{field_name}[{place}]", array[place].item())
    return tuple(array.astype(np.float64).tolist())


def each_flag(owner: str, field_name: str, value: Any, dim: int) -> bool | tuple[bool, ...]:
    """One flag, or one for each of `dim` coordinates as a tuple."""
    if not _is_listed(value):
        check_flags(owner, **{field_name: value})
        return bool(value)
    _check_length(owner, field_name, value, dim)
    flags = value.tolist() if isinstance(value, np.ndarray) else [*value]
    if wrong := set(map(type, flags)) - {bool, np.bool_}:
        place = next(place for place, flag in enumerate(flags) if type(flag) in wrong)
        check_flags(owner, **{f"{field_name}[{place}]": flags[place]})
    return tuple(map(bool, flags))


def check_ranges(owner: str, low: Bound, high: Bound, log: bool | Mask) -> None:
    """Refuse coordinates without a range."""
    lows, highs, logs = np.broadcast_arrays(low, high, log)
    with np.errstate(over="ignore"):
        faults = ~((lows < highs) & np.isfinite(highs - lows)) | (logs & (lows <= 0.0))
    if np.any(faults):
        place = int(np.argmax(faults))
        where = f"{owner}: coordinate {place}" if faults.ndim else owner
        first, _ = real_bounds(where, float(lows.flat[place]), float(highs.flat[place]))
        raise SpaceError(f"{where} with low={first:g} and log=True needs low > 0; raise low or drop log=True")


def _is_listed(value: Any) -> bool:
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return listed or (isinstance(value, np.ndarray) and value.ndim > 0)


def _check_length(owner: str, field_name: str, value: Any, dim: int) -> None:
    if len(value) != dim:
        raise SpaceError(
            f"{owner}: {field_name} has {len(value)} entries for {dim} coordinates; "
            f"give one number for all of them, or {dim}"
        )
    if dim > COORDINATES_BOUNDED_SINGLY:
        raise SpaceError(
            f"{owner}: {field_name} is given for each of {dim} coordinates, and at most "
            f"{COORDINATES_BOUNDED_SINGLY} can differ; give one for all, or several vectors"
        )


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
