"""Trials and their history: plain data, no behaviour of any method."""

from __future__ import annotations

import copy
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NoReturn, overload

import numpy as np

from hidim._limits import COORDINATES_TABULATED
from hidim._optional import require
from hidim._types import Array, Params
from hidim.embed import LazyVector
from hidim.embed.lazy import handed_out

#: Values of a vector that are printed; of longer ones the first three and the last.
SHOWN = 20


class TrialState(StrEnum):
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


class Frozen(dict[str, Any]):
    """A dict that stays as it is, to be read like any other.

    Example:
        >>> params = Frozen(x=0.5)
        >>> params["x"] = 0.7
        Traceback (most recent call last):
        TypeError: what is in a history stays as it is: change a copy, as dict(trial.params)
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("what is in a history stays as it is: change a copy, as dict(trial.params)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return copy.deepcopy(dict(self), memo)

    def __reduce__(self) -> tuple[type[Frozen], tuple[dict[str, Any]]]:
        return Frozen, (dict(self),)


@dataclass(frozen=True, eq=False)
class Trial:
    """One evaluation of the objective, asked for or already finished.

    Args:
        params: the configuration; parameters that are inactive in it are absent.
        number: position in the order of asking, from 0.
        value: what the objective returned; None unless the trial is complete.
        state: running, complete or failed.
        meta: what the method must remember of its suggestion (JSON-ready).
        reason: why the trial failed.
        rank: position in the order of finishing, from 0; None while running.
        variance: of the noise in `value`, where the objective gave one.
        seconds: how long the objective took, where that is known; trials are equal whatever it is.
        attributes: what the user wants to remember of it (JSON-ready); no method looks at them.
    """

    params: Params
    number: int
    value: float | None = None
    state: TrialState = TrialState.RUNNING
    meta: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    rank: int | None = None
    variance: float | None = None
    seconds: float | None = None
    attributes: dict[str, Any] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        # The generated one would ask arrays for their truth value.
        if not isinstance(other, Trial):
            return NotImplemented
        rest = [f.name for f in fields(self) if f.name not in ("params", "seconds")]
        return same_params(self.params, other.params) and all(
            getattr(self, name) == getattr(other, name) for name in rest
        )

    def __hash__(self) -> int:
        return hash(self.number)

    def __str__(self) -> str:
        """What a person asks of it, in one line; `repr` has all, what the method remembers, too."""
        reason = " ".join((self.reason or "").split())
        told = {TrialState.COMPLETE: f": {self.value!r}", TrialState.FAILED: f" failed ({reason})"}
        with np.printoptions(threshold=SHOWN, linewidth=sys.maxsize):
            return f"trial {self.number}{told.get(self.state, ' is running')} at {dict(self.params)!r}"

    def loss(self, *, maximize: bool) -> float:
        """What is to be minimised: the value, with the other sign if it is maximised; inf without one."""
        if self.value is None:
            return math.inf
        return -self.value if maximize else self.value

    def frozen(self) -> Trial:
        """The trial as histories keep it: nobody to whom it is shown can change it."""
        for value in self.params.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # what was told of must stay what it was
        return replace(
            self, params=Frozen(self.params), meta=Frozen(self.meta), attributes=Frozen(self.attributes)
        )

    def copied(self) -> Trial:
        """The trial as it is handed out: a copy, dense, that may be taken apart."""
        known = self.dense()
        params, meta, attributes = map(copy.deepcopy, (known.params, known.meta, known.attributes))
        return replace(known, params=params, meta=meta, attributes=attributes)

    def dense(self) -> Trial:
        """The trial as objectives get it: vectors of up to a million coordinates are plain arrays.

        A history keeps vectors of more than a thousand coordinates by what they were made from, if they come
        from an embedding.
        """
        if not any(isinstance(value, LazyVector) for value in self.params.values()):
            return self
        return replace(self, params={name: handed_out(value) for name, value in self.params.items()})

    def completed(
        self, value: float, rank: int, *, variance: float | None = None, seconds: float | None = None
    ) -> Trial:
        state = TrialState.COMPLETE
        return replace(self, value=value, state=state, rank=rank, variance=variance, seconds=seconds)

    def again(self) -> Trial:
        """The trial before it was finished."""
        return Trial(self.params, self.number, meta=self.meta)

    def failed(self, reason: str, rank: int, *, seconds: float | None = None) -> Trial:
        return replace(self, state=TrialState.FAILED, reason=reason, rank=rank, seconds=seconds)


def same_params(left: Params, right: Params) -> bool:
    """Equality of configurations that may hold arrays."""
    return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, LazyVector) or isinstance(right, LazyVector):
        return bool(left == right)  # without writing both down
    if isinstance(left, tuple) or isinstance(right, tuple):
        return bool(left == right)  # labels, which arrays would flatten
    return np.array_equal(left, right)


def alike(reason: str) -> str:
    """What reasons have in common that differ in numbers only.

    Example:
        >>> alike("took 31.2 s, more than 30 s") == alike("took 45 s, more than 30 s")
        True
    """
    return re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", " ".join(reason[:400].split()))


class History(Sequence[Trial]):
    """All trials in the order of asking: the only state of an optimisation.

    Args:
        trials: by their numbers.
        maximize: whether large values are good.

    Example:
        >>> history = History([Trial({"x": 1.0}, number=0).completed(3.0, rank=0)])
        >>> len(history), history[0].value
        (1, 3.0)
    """

    def __init__(self, trials: Sequence[Trial] = (), *, maximize: bool = False) -> None:
        self._trials = tuple(trials)
        self.maximize = maximize

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: int | slice) -> Trial | History:
        if isinstance(index, slice):
            return History(self._trials[index], maximize=self.maximize)
        return self._trials[index]

    def __len__(self) -> int:
        return len(self._trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._trials)

    def __repr__(self) -> str:
        counts = {state: sum(t.state is state for t in self._trials) for state in TrialState}
        return f"History({', '.join(f'{n} {state}' for state, n in counts.items() if n) or 'empty'})"

    @cached_property
    def finished(self) -> list[Trial]:
        """Complete and failed trials in the order of finishing."""
        done = [t for t in self._trials if t.rank is not None]
        return sorted(done, key=lambda t: t.rank or 0)

    @cached_property
    def complete(self) -> list[Trial]:
        """Trials with a value, in the order of finishing."""
        return [t for t in self.finished if t.state is TrialState.COMPLETE]

    @cached_property
    def failed(self) -> list[Trial]:
        """Trials without a value, in the order of finishing."""
        return [t for t in self.finished if t.state is TrialState.FAILED]

    def losses(self, *, maximize: bool) -> Array:
        """Of the complete trials (n,), in the order of finishing."""
        return np.array([trial.loss(maximize=maximize) for trial in self.complete], dtype=np.float64)

    @property
    def running(self) -> list[Trial]:
        """Trials that were asked for and not told yet, in the order of asking."""
        return [t for t in self._trials if t.state is TrialState.RUNNING]

    def to_pandas(self) -> Any:
        """A DataFrame with a row for every trial and a column for every parameter; needs pandas.

        Inactive parameters are missing values. A vector has a column for every coordinate, named `w[0]`,
        `w[1]`, …; one of more than a thousand coordinates stays an array in a single column. A parameter that
        is called like a column of every trial, as `value`, becomes `params.value`. Attributes of trials have
        columns named `attributes.…`.
        """
        pandas = require("pandas", extra="pandas")
        rows = []
        for trial in self._trials:
            apart = ("params", "meta", "attributes")
            known = {f.name: getattr(trial, f.name) for f in fields(trial) if f.name not in apart}
            known["state"] = str(trial.state)
            known |= {f"attributes.{name}": value for name, value in trial.attributes.items()}
            params = _flat(trial.params)
            rows.append(known | {f"params.{name}" if name in known else name: v for name, v in params})
        return pandas.DataFrame(rows).set_index("number") if rows else pandas.DataFrame()


def _flat(params: Params) -> Iterator[tuple[str, Any]]:
    for name, value in params.items():
        if isinstance(value, np.ndarray) and len(value) <= COORDINATES_TABULATED:
            yield from ((f"{name}[{place}]", entry) for place, entry in enumerate(value.tolist()))
        else:
            yield name, value
