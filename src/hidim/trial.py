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
from typing import Any, NoReturn, Self, cast, overload

import numpy as np

from hidim._html import sparkline, table
from hidim._limits import COORDINATES_TABULATED
from hidim._optional import require
from hidim._types import Array, Params
from hidim.embed import LazyVector
from hidim.embed.lazy import handed_out
from hidim.errors import TrialError

#: Values of a vector that are printed; of longer ones the first three and the last.
SHOWN = 20


class TrialState(StrEnum):
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


#: What is said to a value that is two.
A_PAIR = (
    "write hidim.Measured(value, variance) if the second is the variance of the noise in the first; two "
    "objectives must be weighed into one number"
)


@dataclass(frozen=True)
class Measured:
    """What an objective returns that knows how noisy its value is.

    Args:
        value: the number.
        variance: of the noise in it; None if it is not known.

    Example:
        >>> Measured(0.3, variance=0.01)
        Measured(value=0.3, variance=0.01)
    """

    value: float
    variance: float | None = None


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


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        """What a person asks of it, in one line."""
        with np.printoptions(threshold=SHOWN, linewidth=sys.maxsize):
            return f"trial {self.number}{self._told} at {dict(self.params)!r}"

    def _repr_html_(self) -> str:
        return table(f"trial {self.number}{self._told}", self.params.items())

    @property
    def _told(self) -> str:
        reason = " ".join((self.reason or "").split())
        told = {TrialState.COMPLETE: f": {self.value!r}", TrialState.FAILED: f" failed ({reason})"}
        return told.get(self.state, " is running")

    def loss(self, *, maximize: bool) -> float:
        """What is to be minimised: the value, with the other sign if it is maximised; inf without one."""
        if self.value is None:
            return math.inf
        return -self.value if maximize else self.value

    def frozen(self) -> Self:
        """The trial as histories keep it: nobody to whom it is shown can change it."""
        for value in self.params.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # what was told of must stay what it was
        return replace(
            self, params=Frozen(self.params), meta=Frozen(self.meta), attributes=Frozen(self.attributes)
        )

    def copied(self) -> Self:
        """The trial as it is handed out: a copy, dense, that may be taken apart."""
        known = self.dense()
        params, meta, attributes = map(copy.deepcopy, (known.params, known.meta, known.attributes))
        return replace(known, params=params, meta=meta, attributes=attributes)

    def dense(self) -> Self:
        """The trial as objectives get it: vectors of up to a million coordinates are plain arrays.

        A history keeps vectors of more than a thousand coordinates by what they were made from, if they come
        from an embedding.
        """
        if not any(isinstance(value, LazyVector) for value in self.params.values()):
            return self
        return replace(self, params={name: handed_out(value) for name, value in self.params.items()})

    def completed(
        self, value: float, rank: int, *, variance: float | None = None, seconds: float | None = None
    ) -> CompleteTrial:
        told = {"value": value, "rank": rank, "variance": variance, "seconds": seconds}
        return CompleteTrial(**vars(self) | told | {"state": TrialState.COMPLETE})

    def again(self) -> Trial:
        """The trial before it was finished."""
        return Trial(self.params, self.number, meta=self.meta)

    def failed(self, reason: str, rank: int, *, seconds: float | None = None) -> Trial:
        return replace(self, state=TrialState.FAILED, reason=reason, rank=rank, seconds=seconds)


@dataclass(frozen=True, eq=False, repr=False)
class CompleteTrial(Trial):
    """A trial that has a value."""

    value: float


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
        best = f"; best {self.best.value!r}, trial {self.best.number}" if self.complete else ""
        return f"History: {self.counted}{best}"

    def _repr_html_(self) -> str:
        rows = [(str(trial.number), trial._told.removeprefix(": ")) for trial in self._trials[-SHOWN:]]
        return table(f"{self.counted}, the last {len(rows)}", rows) + self.sparkline

    @property
    def counted(self) -> str:
        """How many trials there are of each kind."""
        counts = {state: sum(t.state is state for t in self._trials) for state in TrialState}
        return ", ".join(f"{n} {state}" for state, n in counts.items() if n) or "no trial"

    @property
    def sparkline(self) -> str:
        """The best value so far, drawn for a notebook."""
        best = np.maximum.accumulate if self.maximize else np.minimum.accumulate
        return sparkline(best([trial.value for trial in self.complete]).tolist())

    @property
    def best(self) -> CompleteTrial:
        """The trial with the best value, the first of equals.

        Example:
            >>> trials = [Trial({"x": x}, n).completed(x, rank=n) for n, x in enumerate([3.0, 1.0, 2.0])]
            >>> History(trials).best
            trial 1: 1.0 at {'x': 1.0}
        """
        if not self.complete:
            raise TrialError("no trial is complete yet: the best one is known when one has a finite value")
        return self.complete[int(np.argmin(self.losses(maximize=self.maximize)))]

    @cached_property
    def finished(self) -> list[Trial]:
        """Complete and failed trials in the order of finishing."""
        done = [t for t in self._trials if t.rank is not None]
        return sorted(done, key=lambda t: t.rank or 0)

    @cached_property
    def complete(self) -> list[CompleteTrial]:
        """Trials with a value, in the order of finishing."""
        return [cast(CompleteTrial, t) for t in self.finished if t.state is TrialState.COMPLETE]

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
        if not rows:
            return pandas.DataFrame()
        return pandas.DataFrame(rows).astype(_types(rows)).set_index("number")


def _types(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Of columns with missing values, which would lose them: numbers, whole numbers and truth values."""
    found: dict[str, str] = dict.fromkeys(("value", "variance", "seconds"), "float64") | {"rank": "Int64"}
    for name in dict.fromkeys(name for row in rows for name in row if name not in found):
        known = [row[name] for row in rows if row.get(name) is not None]
        kinds = set(map(type, known))
        if len(known) < len(rows) and kinds == {bool}:
            found[name] = "boolean"
        elif len(known) < len(rows) and kinds == {int} and max(map(abs, known)) < 2**63:
            found[name] = "Int64"
    return found


def _flat(params: Params) -> Iterator[tuple[str, Any]]:
    for name, value in params.items():
        if isinstance(value, np.ndarray) and len(value) <= COORDINATES_TABULATED:
            yield from ((f"{name}[{place}]", entry) for place, entry in enumerate(value.tolist()))
        else:
            yield name, value
