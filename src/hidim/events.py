"""What each kind of event in a history says: the table by which everything that is read is checked.

A checksum shows that a line is as it was written, and not that it makes sense: it may be of another program,
or of somebody who mended a file by hand. A further kind of event, or a further field, is one line here.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hidim._limits import COORDINATES_AT_ALL
from hidim.errors import HistoryError

Event = dict[str, Any]


class Kind(NamedTuple):
    """What a field may hold: in words, and as a test."""

    words: str
    holds: Callable[[Any], bool]

    @property
    def or_null(self) -> Kind:
        return Kind(f"{self.words} or null", lambda value: value is None or self.holds(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


TABLE = Kind("a table", lambda value: isinstance(value, dict))
TEXT = Kind("a text", lambda value: isinstance(value, str))
TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
COUNT = Kind("an integer of at least 0", lambda value: _is_whole(value) and value >= 0)
NUMBER = Kind("a finite number", _is_finite)
AMOUNT = Kind("a finite number of at least 0", lambda value: _is_finite(value) and value >= 0)
LENGTH = Kind(
    f"an integer from 0 to {COORDINATES_AT_ALL}",
    lambda value: COUNT.holds(value) and value <= COORDINATES_AT_ALL,
)
DOUBLINGS = Kind("an integer from 0 to 64", lambda value: COUNT.holds(value) and value <= 64)
LIST = Kind("a list", lambda value: isinstance(value, list))
NUMBERS = Kind(
    "a list of finite numbers", lambda value: isinstance(value, list) and all(map(_is_finite, value))
)


def _is_matrix(value: Any) -> bool:
    rows = isinstance(value, list) and all(map(NUMBERS.holds, value))
    return rows and bool(value) and len({len(row) for row in value}) == 1


MATRIX = Kind("a list of equally long lists of finite numbers", _is_matrix)

#: Tables and lists within each other; what hidim writes is far from it.
DEEPEST = 400

MEND = "mend the file, or delete that line"

#: What an event of each kind must say.
FIELDS: dict[str, dict[str, Kind]] = {
    "run": {"space": TABLE},
    "ask": {"id": COUNT, "params": TABLE, "meta": TABLE},
    "tell": {"id": COUNT, "value": NUMBER, "variance": AMOUNT.or_null, "seconds": NUMBER.or_null},
    "fail": {"id": COUNT, "reason": TEXT, "seconds": NUMBER.or_null},
    "retry": {"id": COUNT},
}

#: What describes a run so that it can be made again.
DESCRIBED: dict[str, Kind] = {
    "method": TABLE,
    "seed": COUNT,
    "budget": Kind("a positive integer", lambda value: _is_whole(value) and value > 0).or_null,
    "maximize": TRUTH,
    "noisy": TRUTH.or_null,
}

#: What it may say besides; other fields are for newer versions, and not looked at.
FURTHER: dict[str, dict[str, Kind]] = {
    "run": DESCRIBED | {"about": TABLE, "objective": TABLE},
    "tell": {"attributes": TABLE},
    "fail": {"attributes": TABLE},
}

#: What may be remembered of a suggestion, where several methods look at it; others keep what they like.
META: dict[str, Kind] = {
    "way": TEXT,
    "instead": TEXT,
    "probe": NUMBER,
    "earlier": TRUTH,
    "window": NUMBER,
    "fit": TABLE,
    "feasible": TABLE,
}

#: What its "fit" may say.
FIT: dict[str, Kind] = {
    "by": TEXT,
    "prior": TEXT,
    "outcome": TEXT,
    "n": LENGTH,
    "cold": LENGTH,
    "learnt": LENGTH,
    "thetas": MATRIX,
    "scales": NUMBERS,
    "upper": NUMBERS,
    "calm": LENGTH,
}

#: What its "feasible" may say, a fit to failures.
FEASIBLE: dict[str, Kind] = {"prior": TEXT, "n": LENGTH, "theta": NUMBERS, "place": TRUTH}

#: What may be remembered besides of suggestions that come from an embedding.
META_OF_EMBEDDED: dict[str, Kind] = {"y": NUMBERS, "doublings": DOUBLINGS, "run": COUNT}


def is_deep(event: Event) -> bool:
    """Whether its tables and lists are nested so deeply that nobody could read them."""
    level: list[Any] = [event]
    for _ in range(DEEPEST):
        inner = [value.values() if isinstance(value, dict) else value for value in level]
        level = [entry for values in inner for entry in values if isinstance(entry, dict | list)]
        if not level:
            return False
    return True


def check(event: Event, place: str) -> None:
    """Refuse an event of a known kind that does not say what it must; `place` is the file and the line."""
    kind = event["event"]
    if kind not in FIELDS:
        return
    number = event.get("id")
    of = f"the {kind} of trial {number}" if "id" in FIELDS[kind] and COUNT.holds(number) else f"the {kind}"
    check_fields(event, FIELDS[kind], f"{place}, {of}")
    check_known(event, FURTHER.get(kind, {}), f"{place}, {of}")
    if kind == "ask":
        check_meta(event["meta"], f"{place}, meta of trial {number}")


def check_meta(meta: Mapping[str, Any], place: str) -> None:
    """Refuse what no method can have remembered."""
    check_known(meta, META | (META_OF_EMBEDDED if TEXT.holds(meta.get("embedding")) else {}), place)
    check_known(meta.get("fit", {}), FIT, f"{place}, fit")
    check_known(meta.get("feasible", {}), FEASIBLE, f"{place}, feasible")


def check_fields(table: Mapping[str, Any], wanted: Mapping[str, Kind], place: str) -> None:
    """Refuse a table in which one of these fields is missing or holds something else."""
    for field, kind in wanted.items():
        if field not in table:
            raise HistoryError(f"{place}: the field {field!r} is missing; {MEND}")
        if not kind.holds(table[field]):
            found = reprlib.repr(table[field])
            raise HistoryError(f"{place}: the field {field!r} must be {kind.words}, not {found}; {MEND}")


def check_known(table: Mapping[str, Any], known: Mapping[str, Kind], place: str) -> None:
    """The same of those that are there."""
    check_fields(table, {field: kind for field, kind in known.items() if field in table}, place)
