"""Ask and tell: for people who own the loop."""

from __future__ import annotations

import logging
import math
import os
import reprlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import Any, overload

import numpy as np

from hidim import _files, lines, serial
from hidim._lock import lock
from hidim._threads import single_threaded
from hidim.errors import HidimError, HistoryError, MethodError, SpaceError, TrialError
from hidim.frame.noise import is_noisy
from hidim.methods import Method, Suggestion, Task, make_method
from hidim.result import Result, best_of, result_of
from hidim.space import Space
from hidim.trial import A_PAIR, CompleteTrial, Frozen, History, Measured, Trial, TrialState, same_params

logger = logging.getLogger("hidim")

#: That no value was given, which is not the same as None.
MISSING: Any = object()


class Optimizer:
    """Suggests configurations of a space and learns from their values.

    Args:
        space: what can vary.
        method: a name (see `hidim.METHODS`) or a configured method.
        seed: the same seed and the same values give the same suggestions; None draws one.
        budget: number of trials planned, added ones included, if known; one too small for a model is told.
        maximize: whether large values are good.
        noisy: whether the same configuration may give different values; None: hidim finds out.

    Example:
        >>> from hidim import Float, Space
        >>> optimizer = Optimizer(Space(x=Float(-1, 1)), seed=0)
        >>> for _ in range(15):
        ...     trial = optimizer.ask()
        ...     optimizer.tell(trial, trial.params["x"] ** 2)
        >>> round(abs(optimizer.best.params["x"]), 1)
        0.0
    """

    def __init__(
        self,
        space: Space,
        method: str | Method = "auto",
        seed: int | None = 0,
        budget: int | None = None,
        *,
        maximize: bool = False,
        noisy: bool | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise SpaceError(
                f"space must be a hidim.Space, not {type(space).__name__}: wrap it as Space({{...}})"
            )
        if len(space) == 0:
            raise SpaceError("the space is empty: give it at least one parameter, as in Space(x=Float(0, 1))")
        seed = drawn_seed() if seed is None else seed
        if not is_whole(seed) or seed < 0:
            raise MethodError(f"seed must be an integer of at least 0, or None, not {seed!r}")
        if budget is not None and (not is_whole(budget) or budget < 1):
            raise MethodError(f"budget must be a positive integer or None, not {budget!r}")
        if not isinstance(maximize, bool):
            raise MethodError(f"maximize must be True or False, not {maximize!r}")
        if not isinstance(noisy, bool | None):
            raise MethodError(f"noisy must be True, False or None, not {noisy!r}")
        self._method = make_method(method)
        planned = None if budget is None else int(budget)
        self._task = Task(space, maximize=maximize, seed=int(seed), budget=planned, noisy=noisy)
        self._method.check(self._task)
        self._trials: list[Trial] = []
        self._finished = 0
        self._exhausted = False

    @property
    def space(self) -> Space:
        return self._task.space

    @property
    def method(self) -> Method:
        return self._method

    @property
    def chosen(self) -> Method:
        """The method at work: what `auto` chose for this space, or `method` itself."""
        return self._method.chosen(self._task)

    @property
    def seed(self) -> int:
        """As it was given, or drawn."""
        return self._task.seed

    @property
    def history(self) -> History:
        """All trials in the order of asking."""
        return History(self._trials, maximize=self.maximize)

    @property
    def maximize(self) -> bool:
        return self._task.maximize

    @property
    def noisy(self) -> bool:
        """Whether the objective is noisy, as was said or as the history shows."""
        return is_noisy(self._task, self.history)

    @property
    def best(self) -> CompleteTrial:
        """The complete trial with the best value; the first of equals.

        Of a noisy objective, the trial with the best mean by the method's model: the best of many noisy
        values was mostly lucky.
        """
        return best_of(self._task, self.method, self.history)[0]

    def result(self, stopped: str = "as asked", own_seconds: float = 0.0) -> Result:
        """What the trials amount to, as `minimize` gives it: the best one, `explain()`, plots.

        Args:
            stopped: why there are no further ones, for the record.
            own_seconds: how long hidim took for itself, for the record.
        """
        return result_of(self._task, self.method, self.history, stopped, own_seconds)

    # -- ask -----------------------------------------------------------------------------------------------

    @overload
    def ask(self) -> Trial: ...
    @overload
    def ask(self, n: int) -> list[Trial]: ...
    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next trial, or a batch of `n`; trials that were asked for and not told yet are pending.

        A batch is `n` single suggestions in a row, each of which takes those before it as pending.
        """
        if n is None:
            return self._ask()
        if not is_whole(n) or n < 1:
            raise TrialError(f"ask(n) wants a positive integer, not {n!r}")
        return [self._ask() for _ in range(n)]

    @single_threaded
    def _ask(self) -> Trial:
        suggestion = self.method.suggest(self._task, self.history, len(self._trials))
        if not isinstance(suggestion, Suggestion):
            raise MethodError(
                f"{type(self.method).__name__}.suggest must return a hidim.methods.Suggestion(params, meta), "
                f"not {suggestion!r}"
            )
        if suggestion.meta.get("instead") == "repetition" and not self._exhausted:
            self._exhausted = True
            logger.warning(
                "trial %d repeats another one: there is nothing new left to try", len(self._trials)
            )
        return self._enter(suggestion.params, suggestion.meta).copied()

    def _rehearse(self) -> None:
        """Raise what the method refuses at its first suggestion, before anything else is evaluated."""
        self._method.suggest(self._task, History(), 0)

    def _enter(self, params: Mapping[str, Any], meta: dict[str, Any]) -> Trial:
        trial = Trial(self.space.validate(params), len(self._trials), meta=meta).frozen()
        self._trials.append(trial)
        return trial

    # -- tell ----------------------------------------------------------------------------------------------

    def tell(
        self,
        trial: Trial | int,
        value: float | Measured,
        *,
        variance: float | None = None,
        seconds: float | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Give the value of a trial, in any order; NaN and infinities make it a failed trial.

        Args:
            trial: what `ask` returned, or its number.
            value: what the objective returned, a number or `Measured`.
            variance: of the noise in `value`, if it is known.
            seconds: how long the objective took; kept, and of no influence.
            attributes: what else is to be remembered of the trial, by name; kept as plain JSON data, and of
                no influence.
        """
        known = replace(self._running(trial), attributes=Frozen(serial.plain(attributes or {})))
        (number, noise), seconds = _measured(value, variance), _as_seconds(seconds)
        if not math.isfinite(number):
            self._finish(known.failed(f"the value is {number}", self._finished, seconds=seconds))
        else:
            self._finish(known.completed(number, self._finished, variance=noise, seconds=seconds))

    def fail(
        self,
        trial: Trial | int,
        reason: str = "told to fail",
        *,
        seconds: float | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Say that a trial has no value: the objective crashed, was killed, or makes no sense there."""
        known = replace(self._running(trial), attributes=Frozen(serial.plain(attributes or {})))
        self._finish(known.failed(serial.text(reason), self._finished, seconds=_as_seconds(seconds)))

    def retry(self, trial: Trial | int) -> Trial:
        """Take back that a trial failed, so that it is told once more: the fault was not the function's.

        Returns the trial, which is running again.
        """
        number = trial.number if isinstance(trial, Trial) else trial
        if not is_whole(number) or not 0 <= number < len(self._trials):
            raise TrialError(f"retry wants a trial of this optimizer or its number, not {trial!r}")
        known = self._trials[number]
        if known.state is not TrialState.FAILED:
            raise TrialError(f"trial {number} is {known.state}: only failed trials can be tried again")
        self._trials = serial.retried(self._trials, number)
        self._finished -= 1
        return self._trials[number].copied()

    def add(
        self,
        params: Mapping[str, Any],
        value: Any = MISSING,
        *,
        variance: float | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Trial:
        """Enter a trial of your own choice: one from elsewhere with its value, or one that is to be told.

        Example:
            >>> from hidim import Float, Space
            >>> optimizer = Optimizer(Space(x=Float(0, 1)))
            >>> optimizer.add({"x": 0.5}, 0.25).state.name  # an evaluation that is known
            'COMPLETE'
            >>> trial = optimizer.add({"x": 0.3})  # settings that may be good, to be evaluated
            >>> optimizer.tell(trial, 0.09)
        """
        if value is MISSING:
            if variance is not None or attributes is not None:
                raise TrialError("variance and attributes go with a value: tell them with it")
            return self._enter(params, {"way": "given"}).copied()
        number, noise = _measured(value, variance)
        kept = serial.plain(attributes or {})
        trial = self._enter(params, {"way": "added"})
        self.tell(trial, number, variance=noise, attributes=kept)
        return self._trials[-1].copied()

    def _take(self, trial: Trial, meta: Mapping[str, Any]) -> Trial:
        """Enter a finished trial of another run, value or failure; returns it as it is kept."""
        params, number = self.space.validate(trial.params), len(self._trials)
        kept = replace(trial, params=params, number=number, meta=dict(meta), rank=self._finished).frozen()
        self._trials.append(kept)
        self._finished += 1
        return kept

    def _running(self, trial: Trial | int) -> Trial:
        number = trial.number if isinstance(trial, Trial) else trial
        if not is_whole(number):
            raise TrialError(
                f"tell wants a trial or its number, not {trial!r}; "
                "use add(params, value) for evaluations from elsewhere"
            )
        if not 0 <= number < len(self._trials):
            raise TrialError(
                f"trial {number} was not asked for: this optimizer has asked for {len(self._trials)} trials; "
                "use add(params, value) for evaluations from elsewhere"
            )
        known = self._trials[number]
        if isinstance(trial, Trial) and not same_params(trial.params, known.params):
            raise TrialError(
                f"the parameters of trial {number} are not those asked for: it belongs to another optimizer "
                f"(use add(params, value)), or they were changed since (tell by number: tell({number}, …))"
            )
        if known.state is not TrialState.RUNNING:
            result = known.value if known.state is TrialState.COMPLETE else known.reason
            raise TrialError(
                f"trial {number} was told already ({known.state}: {result}); a trial is told once"
            )
        return known

    def _finish(self, trial: Trial) -> None:
        self._trials[trial.number] = trial
        self._finished += 1

    def _withdraw(self, trial: Trial) -> None:
        """Take back the trial that was asked for last, as if it had not been; it must not be told yet."""
        number = self._running(trial).number
        if number != len(self._trials) - 1:
            raise TrialError(f"trial {number} is not the last one asked for: fail it instead")
        self._trials.pop()

    def _restore(self, trials: Sequence[Trial]) -> None:
        """Take over the trials of an earlier run of the same space, numbers and ranks as they are."""
        if self._trials:
            raise TrialError("trials are restored before anything is asked for; use add")
        serial.check_trials(list(trials))
        self._trials = [trial.frozen() for trial in trials]
        self._finished = sum(t.rank is not None for t in trials)

    # -- keep ----------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Method, seed, budget, direction and noise, as plain JSON data."""
        return {
            "method": serial.write_method(self.method),
            "seed": self._task.seed,
            "budget": self._task.budget,
            "maximize": self._task.maximize,
            "noisy": self._task.noisy,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything that the next suggestion depends on. A crash on the way leaves the old file whole.

        The file is a journal: `minimize(…, journal=path)` goes on from it, too.
        """
        serial.check_method(self.method)
        data, target = lines.whole(self.space, self.settings(), self._trials), _files.path_of(path)
        with nullcontext() if not _files.exists(target, "written") else _opened(target) as old:
            if old is not None and not lock(old):
                raise HistoryError(f"{target} is the journal of a run that goes on: give another path")
            _files.write_whole(target, data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Optimizer:
        """The optimizer that `save`, or the journal of a run, described; its next suggestion is the same."""
        name, data = str(path), _files.read_bytes(_files.path_of(path))
        try:
            space, method, settings, trials = _read(name, data)
            optimizer = cls(space, method, **settings)
            optimizer._restore(trials)
        except HidimError as error:
            text = str(error) if str(error).startswith(name) else f"{name}: {error}"
            raise HistoryError(text) from error
        return optimizer

    def __repr__(self) -> str:
        method, chosen = self.method.name, self.chosen.name
        how = f"{method!r}" if chosen == method else f"{method!r} → {chosen!r}"
        return f"Optimizer(method={how}, seed={self._task.seed}, {self.history.counted})"


def _read(name: str, data: bytes) -> tuple[Space, Method, dict[str, Any], list[Trial]]:
    """Space, method, further arguments and trials of the optimizer that a file describes."""
    run, space, settings = lines.described(name, data)
    contents = lines.read(name, data, space)
    for damage in contents.damage:
        logger.warning("%s: %s", name, damage)
    return space, lines.method_of(run), settings, lines.renumbered(contents.trials)[0]


def _opened(path: Path) -> FileIO:
    with _files.said(path, "written"):
        return FileIO(path, "a")


def drawn_seed() -> int:
    """A seed that nobody has chosen."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def is_whole(value: Any) -> bool:
    """Whether `value` is an integer, Python's or numpy's, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _measured(value: Any, variance: float | None) -> tuple[float, float | None]:
    if isinstance(value, Measured):
        value, variance = value.value, value.variance if variance is None else variance
    return _as_float(value), _as_variance(variance)


def _as_variance(variance: float | None) -> float | None:
    if variance is None:
        return None
    number = _as_float(variance)
    if not 0.0 <= number < math.inf:
        raise TrialError(f"a noise variance must be a number of at least 0, not {variance!r}")
    return number


def _as_seconds(seconds: float | None) -> float | None:
    if seconds is None:
        return None
    number = _as_float(seconds)
    if not math.isfinite(number):
        raise TrialError(f"seconds must be a finite number or None, not {seconds!r}")
    return number


def _as_float(value: Any) -> float:
    try:
        # Not by numpy's own functions, which take lists apart, and a list may hold itself.
        real = getattr(getattr(value, "dtype", None), "kind", "f") in "iuf"
        if real and getattr(value, "ndim", 0) == 0 and not isinstance(value, bool | str | bytes | bytearray):
            return float(value)
    except OverflowError:  # an integer beyond all floats
        return math.inf
    except Exception:  # what is ragged, or objects to being looked at
        pass
    mend = A_PAIR if isinstance(value, tuple) and len(value) == 2 else "use fail(trial) if there is none"
    raise TrialError(f"a value must be a number, not {reprlib.repr(value)}; {mend}")
