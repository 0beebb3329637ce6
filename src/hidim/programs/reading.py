"""The value in what a program printed or wrote: its last line, what a pattern finds, or a field of JSON."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hidim.errors import MethodError
from hidim.run.evaluate import NoValue
from hidim.run.mistakes import DOUBTFUL

#: Characters of what could not be read that a message shows.
SHOWN = 80


@dataclass(frozen=True)
class Reading:
    """Where the value is.

    Args:
        pattern: a regular expression, of which the last match counts: the group `value`, else the first
            group, else all of it.
        field: of a JSON object, levels parted by dots; the object is all of the output, or its last line.
        file: a path, with placeholders, of a file that is read in the place of standard output.

    Example:
        >>> Reading().value("warming up\\n0.25\\n")
        0.25
        >>> Reading(pattern=r"loss: (\\S+)").value("loss: 3\\nloss: 2.5 done")
        2.5
        >>> Reading(field="scores.0.loss").value('{"scores": [{"loss": 7}]}')
        7.0
    """

    pattern: str | None = None
    field: str | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if self.pattern is not None and self.field is not None:
            raise MethodError("a value is found by a pattern or by a field of JSON: leave one of them out")
        if self.pattern is not None:
            try:
                re.compile(self.pattern)
            except re.error as error:
                raise MethodError(f"the regular expression {self.pattern!r} is wrong: {error}") from error

    @property
    def source(self) -> str:
        return "standard output" if self.file is None else f"the file {self.file}"

    @property
    def in_words(self) -> str:
        """Where the value is, for the record."""
        if self.pattern is not None:
            return f"the last match of {self.pattern!r} in {self.source}"
        if self.field is not None:
            return f"the field {self.field!r} of the JSON in {self.source}"
        return f"the last line of {self.source}"

    def value(self, text: str) -> float:
        """The value in `text`, or `NoValue`; a NaN or an infinity that was printed is a value here."""
        if self.pattern is not None:
            return self._number(self._matched(text, re.compile(self.pattern)))
        if self.field is not None:
            return self._entry(text, self.field)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines:
            raise NoValue(f"there is nothing in {self.source}, where the value should be", mistake=DOUBTFUL)
        return self._number(lines[-1])

    def _matched(self, text: str, pattern: re.Pattern[str]) -> str:
        found = deque(pattern.finditer(text), maxlen=1)
        if not found:
            end = _shown(text.strip()[-SHOWN:])
            raise NoValue(
                f"{self.source} has no match of {self.pattern!r}; it ends in {end}", mistake=DOUBTFUL
            )
        group = "value" if "value" in pattern.groupindex else min(pattern.groups, 1)
        return (found[0].group(group) or "").strip()

    def _entry(self, text: str, field: str) -> float:
        found = self._parsed(text)
        for name in field.split("."):
            try:
                found = found[int(name)] if isinstance(found, list) else found[name]
            except (KeyError, IndexError, TypeError, ValueError):
                has = f"has {', '.join(map(repr, list(found)[:8]))}" if isinstance(found, Mapping) else ""
                where = f"the JSON of {self.source}"
                words = f"{where} has no field {field!r}; it {has or 'is no table there'}"
                raise NoValue(words, mistake=DOUBTFUL) from None
        if isinstance(found, bool) or not isinstance(found, int | float | str):
            raise NoValue(
                f"the field {field!r} is {_shown(json.dumps(found))}, and no number", mistake=DOUBTFUL
            )
        return self._number(found)

    def _parsed(self, text: str) -> Any:
        lines = [line for line in text.splitlines() if line.strip()]
        for candidate in (text, lines[-1] if lines else ""):
            try:
                return json.loads(candidate)
            except (ValueError, RecursionError):
                continue
        last = f": {_shown(lines[-1])}" if lines else ", for it is empty"
        raise NoValue(f"{self.source} is no JSON, and neither is its last line{last}", mistake=DOUBTFUL)

    def _number(self, found: Any) -> float:
        try:
            return float(found)
        except (ValueError, OverflowError):
            hint = "" if self.pattern or self.field else "; --regex or --json-field says where the value is"
            if self.pattern and not re.compile(self.pattern).groups:
                hint = "; put parentheses around the number, as in 'loss: (.*)'"
            place = "what was matched" if self.pattern else "the last line"
            said = f"{place} of {self.source} is no number: {_shown(str(found))}{hint}"
            raise NoValue(said, mistake=DOUBTFUL) from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
