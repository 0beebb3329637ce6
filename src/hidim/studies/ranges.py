"""The range of a parameter whose range, or kind, was not always the same."""

from __future__ import annotations

import bisect
from itertools import pairwise
from typing import Any

from hidim.studies.coders import Coder, hull, kind

#: Trials that show whether a range was changed by hand, or changes all the time.
RECENT = 10


class Ranges:
    """The distributions that one parameter had, by the numbers of the trials.

    A range that was changed once in a while counts as it is now. One that changes from trial to trial, as
    where it depends on another parameter, counts as a whole. Of several kinds, as linear and logarithmic, the
    latest trial's counts.
    """

    def __init__(self) -> None:
        self.first = -1
        self._recent: list[tuple[int, Any]] = []
        self._different: dict[str, Any] = {}

    def add(self, number: int, distribution: Any) -> None:
        """That of a trial; a `SpaceError` says why no parameter can have it."""
        if repr(distribution) not in self._different:
            _ = distribution.single() or Coder(distribution).parameter
            self._different[repr(distribution)] = distribution
        self.first = number if self.first < 0 else min(self.first, number)
        bisect.insort(self._recent, (number, distribution), key=lambda pair: pair[0])
        del self._recent[:-RECENT]

    @property
    def kind(self) -> Any:
        """Of what kind it is now."""
        return kind_of(self._recent[-1][1])

    @property
    def whole(self) -> Any:
        """All ranges of this kind as one."""
        now = self.kind
        every = [each for each in self._different.values() if kind_of(each) == now]
        return every[0] if len(every) == 1 else hull(every)

    @property
    def current(self) -> Any:
        """What the next trial should have."""
        latest = self._recent[-1][1]
        if len(self._different) == 1:
            return latest
        seen = [each for _, each in self._recent if kind_of(each) == self.kind]
        changes = sum(before != after for before, after in pairwise(seen))
        return latest if changes <= 1 and seen[-1:] == seen[-2:-1] else self.whole


def kind_of(distribution: Any) -> tuple[str, Any]:
    """What ranges have in common that can be one: there is none around numbers and categories."""
    of = kind(distribution)
    return of, repr(distribution.choices) if of == "categorical" else distribution.log
