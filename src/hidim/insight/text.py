"""Names, counts and intervals that fit on a line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from hidim.space.render import printable

#: So many names are listed of those that there are.
LISTED = 6


def short(text: str, most: int, tail: float = 0.5) -> str:
    """One line of at most `most` characters, cut so that about a share `tail` of them is from the end.

    Example:
        >>> short("a_very_long_parameter_name", 11)
        'a_very…name'
    """
    text = printable(" ".join(text.split()))
    end = round((most - 1) * tail - 0.5)
    return text if len(text) <= most else f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def shortened(names: Sequence[str], most: int) -> list[str]:
    """Names of at most `most` characters, cut where it leaves them different, if there is such a place.

    Example:
        >>> shortened(["temperature_of_oven_1_in_kelvin", "temperature_of_oven_2_in_kelvin"], 16)
        ['tem…_1_in_kelvin', 'tem…_2_in_kelvin']
    """
    ways = [[short(name, most, tail) for name in names] for tail in (0.5, 0.8, 0.2)]
    return next((way for way in ways if len(set(way)) == len(set(names))), ways[0])


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    Example:
        >>> counted(1, "trial"), counted(3, "trial")
        ('1 trial', '3 trials')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def rounded(value: float, low: float, high: float) -> list[str]:
    """A value and its interval with as many digits as tell the ends apart.

    Example:
        >>> rounded(0.50012, 0.50003, 0.5004), rounded(0.5, -3.1415, 20.0)
        (['0.50012', '0.50003', '0.5004'], ['0.5', '-3.1', '20'])
    """
    largest, width = max(abs(low), abs(high)), high - low
    digits = 4 if not width > 0.0 else math.floor(math.log10(largest)) - math.floor(math.log10(width)) + 2
    return [f"{number:.{min(max(digits, 2), 9)}g}" for number in (value, low, high)]


def missing(kind: str, title: str, known: Iterable[str]) -> KeyError:
    """What to raise for a title that is not among the known ones: those that may have been meant come first.

    These are the parts of a vector, parameters that are called so under an option, and what is spelt alike.

    Example:
        >>> missing("parameter", "c", ["a", "m=b/c"])
        KeyError("no parameter has the title 'c': there are 'm=b/c', 'a'")
    """
    names = [name for name in known if name]
    parts = [name for name in names if title and name.startswith(title + "[")]
    ends = [name for name in names if title and name.endswith(("/" + title, "=" + title))]
    listed = list(dict.fromkeys([*parts, *ends, *get_close_matches(title, names), *names]))
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    there = ", ".join(map(repr, listed[:LISTED]))
    return KeyError(f"no {kind} has the title {title!r}: there are {there}{more}")
