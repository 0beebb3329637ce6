"""The range of a parameter whose range was not always the same."""

from __future__ import annotations

import bisect
from itertools import pairwise
from typing import Any

from hidim.studies.coders import hull, kind

#: Trials that show whether a range was changed by hand, or changes all the time.
RECENT = 10


class Ranges:
    """The distributions that one parameter had, by the numbers of the trials.

    A range that was changed once in a while counts as it is now. One that changes from trial to trial, as
    where it depends on another parameter, counts as a whole.
    """

    def __init__(self) -> None:
        self.first = -1
        self._recent: list[tuple[int, Any]] = []
        self._different: dict[Any, Any] = {}

    def add(self, number: int, distribution: Any) -> None:
        self._different[_key(distribution)] = distribution
        self.first = number if self.first < 0 else min(self.first, number)
        bisect.insort(self._recent, (number, distribution), key=lambda pair: pair[0])
        del self._recent[:-RECENT]

    @property
    def whole(self) -> Any:
        """All ranges as one."""
        every = list(self._different.values())
        return every[0] if len(every) == 1 else hull(every)

    @property
    def current(self) -> Any:
        """What the next trial should have."""
        latest = self._recent[-1][1]
        if len(self._different) == 1 or kind(latest) == "categorical":
            return latest
        seen = [distribution for _, distribution in self._recent]
        changes = sum(before != after for before, after in pairwise(seen))
        return latest if changes <= 1 and seen[-1:] == seen[-2:-1] else self.whole


def _key(distribution: Any) -> Any:
    """By which ranges are told apart; categories never change."""
    if kind(distribution) == "categorical":
        return None
    return distribution.low, distribution.high, distribution.step
