"""What is being optimised, what is suggested, and what may be remembered on the way."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hidim._types import Params, Rng
from hidim.space import Space


class Suggestion(NamedTuple):
    """A configuration to evaluate, and what the method wants to remember of it (JSON-ready)."""

    params: Params
    meta: dict[str, Any]


class Memo:
    """Caches, each under its owner: a frozen part, so that parts with other settings have others.

    It may be emptied at any time without changing a single suggestion.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, dict[Hashable, Any]] = {}

    def get(self, owner: Hashable, key: Hashable) -> Any:
        """What was kept, or None."""
        return self._kept.get(owner, {}).get(key)

    def keep(self, owner: Hashable, key: Hashable, value: Any, most: int = 16) -> Any:
        """Keep `value`, and of its owner's others the `most` latest; returns it."""
        kept = self._kept.setdefault(owner, {})
        kept.pop(key, None)
        kept[key] = value
        while len(kept) > most:
            del kept[next(iter(kept))]
        return value

    def clear(self) -> None:
        self._kept.clear()

    def __reduce__(self) -> tuple[type[Memo], tuple[()]]:
        """Copies and pickles begin empty: what is kept need not be of a kind that can be written down."""
        return Memo, ()


@dataclass(frozen=True)
class Task:
    """What is being optimised.

    Args:
        space: where.
        maximize: whether large values are good; methods see losses, which are always to be minimised.
        seed: of the whole run.
        budget: how many trials there will be, if that is known.
        noisy: whether the same configuration may give different values; None if that is not known.
        memo: caches of methods and their parts.
    """

    space: Space
    maximize: bool = False
    seed: int = 0
    budget: int | None = None
    noisy: bool | None = None
    memo: Memo = field(default_factory=Memo, compare=False, repr=False)

    def rng(self, number: int) -> Rng:
        """The generator for the suggestion of trial `number`: it depends on the seed and on nothing else."""
        return np.random.default_rng([self.seed, number])
