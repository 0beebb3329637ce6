"""Numbers and names in the form in which the page gets them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from hidim._types import Array
from hidim.space.render import printable

#: Powers of ten up to which a division rounds to the nearest decimal.
EXACT = 22


def clipped(text: str, most: int) -> str:
    """One that is printable and not too long; what was cut is said.

    Example:
        >>> clipped("a" * 30, 8)
        'aaaaa…aa (30 characters)'
    """
    shown = printable(text[: 2 * most] + text[-most:] if len(text) > 3 * most else text)
    if len(shown) <= most:
        return shown
    tail = most // 4
    return f"{shown[: most - 1 - tail]}…{shown[len(shown) - tail :]} ({len(text)} characters)"


def paragraph(text: str, most: int) -> str:
    """Lines of text, each printable, cut at the end if they are too long together."""
    kept = "\n".join(map(printable, text[:most].replace("\t", "    ").splitlines()))
    return kept if len(text) <= most else f"{kept}\n… ({len(text)} characters)"


def number(value: float | None, digits: int = 7) -> float | None:
    """One with so many significant digits; None where there is none that JSON has."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def numbers(values: Array, digits: int = 7) -> list[float | None]:
    """Numbers (n,) with so many significant digits; None where they are not finite.

    Example:
        >>> numbers(np.array([0.1234567, 2.0, np.nan, 123456.0]), 3)
        [0.123, 2, None, 123000]
    """
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        place = digits - 1 - np.floor(np.log10(np.abs(values)))
        place = np.where(np.isfinite(place), place, 0.0)
        up, down = 10.0 ** np.clip(place, 0, EXACT), 10.0 ** np.clip(-place, 0, EXACT)
        rounded = np.round(values * up / down) / up * down
    listed: list[Any] = rounded.tolist()
    for odd in np.flatnonzero((np.abs(place) > EXACT) | ~np.isfinite(values)):
        listed[odd] = number(float(values[odd]), digits)
    for whole in np.flatnonzero((rounded == np.round(rounded)) & (np.abs(rounded) < 1e15)):
        listed[whole] = int(rounded[whole])  # two characters less
    return listed


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element, whatever is in it.

    Example:
        >>> print(embedded("</script>&"))
        "\\u003c/script\\u003e\\u0026"
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
