"""What options mean: each reads a text, and says what is wrong with it."""

from __future__ import annotations

import argparse
import re

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}

DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|min|m|h|d)?\s*")


def seconds(text: str) -> float:
    """A duration.

    Example:
        >>> seconds("90"), seconds("1h30m"), seconds("2 min")
        (90.0, 5400.0, 120.0)
    """
    parts = DURATION.findall(text.strip())
    if not parts or DURATION.sub("", text.strip()) or (len(parts) > 1 and not all(unit for _, unit in parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is no duration: write 90s, 10m, 2h or 1h30m")
    total = sum(float(number) * UNITS[unit or "s"] for number, unit in parts)
    if total <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time at all")
    return total


def positive(text: str) -> int:
    number = _whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be at least 1")
    return number


def count(text: str) -> int:
    number = _whole(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} must be at least 0")
    return number


def count_or_never(text: str) -> int | None:
    return None if text in ("never", "none") else positive(text)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
