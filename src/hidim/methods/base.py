"""What a method is: a frozen configuration with a pure `suggest`.

The history is the only state. Whatever a method must remember of a suggestion goes into the suggestion's
`meta`, which is stored with the trial; everything else is a cache in `Task.memo`, which may vanish at any
time without changing a single suggestion.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hidim._types import Array, Params
from hidim.errors import MethodError
from hidim.space import Space
from hidim.trial import History, Trial, TrialState


class Suggestion(NamedTuple):
    """A configuration to evaluate, and what the method wants to remember of it (JSON-ready)."""

    params: Params
    meta: dict[str, Any]


@dataclass(frozen=True)
class Task:
    """What is being optimised.

    Args:
        space: where.
        maximize: whether large values are good; methods see losses, which are always to be minimised.
        seed: of the whole run.
        budget: how many trials there will be, if that is known.
        noisy: whether the same configuration may give different values; None if that is not known.
        memo: a cache for methods; it may be emptied at any time.
    """

    space: Space
    maximize: bool = False
    seed: int = 0
    budget: int | None = None
    noisy: bool | None = None
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def rng(self, number: int) -> np.random.Generator:
        """The generator for the suggestion of trial `number`: it depends on the seed and on nothing else."""
        return np.random.default_rng([self.seed, number])


class Method(ABC):
    """A way to choose the next configuration."""

    name: ClassVar[str]

    @abstractmethod
    def suggest(self, task: Task, history: History, rng: np.random.Generator) -> Suggestion:
        """The next configuration, given all trials so far; those still running are pending.

        A pure function of its arguments: the same history and generator give the same suggestion.
        """

    def means(self, task: Task, history: History) -> Array | None:
        """Mean losses (n,) of the complete trials by the method's model, on any scale; None without one."""
        return None


def at_least(settings: object, **least: float) -> None:
    """Raise `MethodError` unless every named setting is a number of at least so much."""
    for name, bound in least.items():
        value = getattr(settings, name)
        whole = isinstance(bound, int)
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not number or not value >= bound:
            kind = "an integer" if whole else "a number"
            owner = type(settings).__name__
            raise MethodError(f"{owner}({name}={value!r}): {name} must be {kind} of at least {bound}")


class Observations(NamedTuple):
    """The history as arrays, in the order of finishing; inactive columns are NaN.

    Args:
        x: points of the complete trials in the unit cube (n, D).
        y: their losses (n,).
        failed: points of failed trials (f, D).
        running: points of running trials (r, D).
        variances: of the noise in the losses (n,), zero where none was given; None if none was given at all.
    """

    x: Array
    y: Array
    failed: Array
    running: Array
    variances: Array | None = None


def observe(task: Task, history: History) -> Observations:
    """The history as arrays. Points are encoded from the stored params, so that a reload changes nothing."""
    task.space.check_dense()
    complete = history.complete
    sign = -1.0 if task.maximize else 1.0
    variances = np.array([t.variance or 0.0 for t in complete])
    return Observations(
        _encoded(task, complete),
        sign * np.array([t.value for t in complete], dtype=np.float64),
        _encoded(task, [t for t in history.finished if t.state is TrialState.FAILED]),
        _encoded(task, history.running),
        variances if np.any(variances) else None,
    )


def _encoded(task: Task, trials: list[Trial]) -> Array:
    rows: dict[int, tuple[Params, Array]] = task.memo.setdefault("rows", {})
    missing = [t for t in trials if t.number not in rows or rows[t.number][0] is not t.params]
    if missing:
        fresh = task.space.encode_all([t.params for t in missing])
        rows.update({t.number: (t.params, row) for t, row in zip(missing, fresh, strict=True)})
    if not trials:
        return np.empty((0, task.space.dim))
    return np.stack([rows[t.number][1] for t in trials])
