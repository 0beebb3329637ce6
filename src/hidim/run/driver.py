"""The driver of a run: asks, starts trials, tells, keeps the journal, calls back, and knows when to stop."""

from __future__ import annotations

import logging
import math
import reprlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from hidim._types import Params
from hidim.errors import TrialError
from hidim.optimizer import Optimizer
from hidim.run.crew import Crew, CrewLost
from hidim.run.earlier import is_earlier
from hidim.run.evaluate import Report, in_words
from hidim.run.interrupts import Interrupts, interruptible
from hidim.run.journal import Journal
from hidim.run.mistakes import CERTAIN, DOUBTFUL, Mistake, failed_alike
from hidim.run.progress import Progress, Standing
from hidim.trial import History, Trial, TrialState, alike

logger = logging.getLogger("hidim")

Stop = Callable[[History], bool]
Callback = Callable[[Trial, History], object]

#: A suggestion is made ahead if a free worker would wait for it longer than this share of a trial's time.
NEGLIGIBLE = 0.01


def all_done(count: float | None, run: int) -> str:
    """Why a run ended that has all of its trials, `run` of them by this call."""
    return f"all {count} trials {'are done' if run else 'were done already'}"


@dataclass(frozen=True)
class Limits:
    """When a run ends, and who is told of its trials."""

    n_trials: float
    timeout: float | None = None
    time_budget: float | None = None
    stop: Stop | None = None
    callbacks: tuple[Callback, ...] = ()
    fail_fast: int | None = None


class Driver:
    """One run, from the first trial to the last.

    When suggestions take long in comparison with trials, one is made ahead while all workers are busy, so
    that whoever is free gets work at once; it does not know the value of the trial that has just ended.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        crew: Crew,
        limits: Limits,
        journal: Journal | None,
        progress: Progress,
        given: Iterable[Params] = (),
        interrupts: Interrupts | None = None,
    ) -> None:
        self._optimizer, self._crew, self._limits = optimizer, crew, limits
        self._journal, self._progress = journal, progress
        self._interrupts = interrupts or Interrupts()
        self._given = deque(given)
        self._unfinished = deque(trial.copied() for trial in optimizer.history.running)  # of a run that died
        self._asked = len(optimizer.history)
        self._ahead: Trial | None = None
        self._stopping: str | None = None
        self._started = time.monotonic()
        self._warned: set[str] = set()
        self._faults: Counter[str] = Counter()
        self.fault: Exception | None = None  # of `stop`, which ended the run
        self._asks, self._ask_seconds = 0, 0.0
        finished = [trial for trial in optimizer.history.finished if not is_earlier(trial)]
        self._finished = self.resumed = len(finished)
        self._reported, self._valued = 0, False  # in this process, and not by the journal
        self._mistakes: list[Mistake] = []
        self._failed = sum(trial.state is TrialState.FAILED for trial in finished)
        self.has_value = self._failed < len(finished)
        self._objective_seconds = sum(trial.seconds or 0.0 for trial in finished)
        self._best: float | None = None
        for trial in optimizer.history.finished:
            self._note_best(trial)
        self.own_seconds = 0.0

    def run(self) -> str:
        """Evaluate until the end, and say in a few words why it was the end."""
        self._interrupts.runs += 1
        try:
            with self._interrupts.noted(self._crew.wake):
                self._begin()
                self._loop()
        except KeyboardInterrupt:
            if self._interrupts.insisted:
                raise
            self._stopping = "interrupted"
            self._crew.interrupt()
            with suppress(KeyboardInterrupt):  # a callback may raise it again and again
                self._tell_rest()
            if not self.has_value or self._interrupts.runs > 1:
                raise  # there is no result to give, or it is no result for the run around this one
            logger.warning("interrupted after %d of %g trials", self._finished, self._limits.n_trials)
        except CrewLost as error:
            self._tell_rest()
            self._stopping = str(error)
            logger.error("ended after %d of %g trials: %s", self._finished, self._limits.n_trials, error)
        finally:
            self._interrupts.runs -= 1
            self._guarded("progress", self._progress.close)
            if self._ahead is not None:
                self._optimizer._withdraw(self._ahead)
            for name, count in self._faults.items():
                if count > 1:
                    logger.warning("%s failed %d times", name, count)
        return self._stopping or all_done(self._limits.n_trials, self._reported)

    def _begin(self) -> None:
        if self.resumed and self._journal is not None:
            self._heed_stop(self._optimizer.history)  # a resumed run may be over
            of = "" if self._limits.n_trials == math.inf else f" of {self._limits.n_trials:g}"
            none = "" if self._unfinished or self._next_exists() else ", none evaluated"
            logger.warning("%d%s trials from %s%s", self.resumed, of, self._journal.path.name, none)
        self._show()

    def _loop(self) -> None:
        while True:
            self._interrupts.take()
            if self._crew.free > 0 and (trial := self._next()) is not None:
                self._start(trial)
                continue
            if not self._crew.busy:
                if not self._next_exists():
                    return
                self._crew.relieve()
                continue
            if self._is_ahead_worthwhile():
                self._ahead = self._ask()
            for trial, report in self._crew.collect():
                try:
                    if (
                        self._ahead is not None
                        and self._crew.free > 0
                        and not (self._crew.again or self._is_over())
                    ):
                        self._start(self._ahead)
                finally:  # what came back must not be lost with a broken executor
                    self._tell(trial, report)

    # -- asking --------------------------------------------------------------------------------------------

    def _next(self) -> Trial | None:
        """The trial to be started next: one to be repeated, the one made ahead, or a new one."""
        if self._crew.again:
            return self._crew.again.popleft()
        if not self._next_exists():
            return None
        if self._unfinished:
            return self._unfinished.popleft()
        return self._ahead or self._ask()

    def _next_exists(self) -> bool:
        if self._crew.again:
            return True
        if self._is_over():
            return False
        left = self._limits.n_trials - self._finished - self._crew.busy
        return left > 0

    def _is_over(self) -> bool:
        budget = self._limits.time_budget
        if self._stopping is None and budget is not None and time.monotonic() >= self._started + budget:
            self._stopping = f"the time budget of {budget:g} s is spent"
        if self._stopping is None and self._is_exhausted():
            self._stopping = f"all {self._optimizer.space.size:.0f} configurations of the space were tried"
        return self._stopping is not None

    def _is_exhausted(self) -> bool:
        """Whether all configurations of a finite space have been started; noisy ones are worth repeating."""
        if self._unfinished or self._given or self._ahead is not None:
            return False
        history, size = self._optimizer.history, self._optimizer.space.size
        if len(history) < size or self._optimizer.noisy:
            return False
        return len({tuple(trial.params.items()) for trial in history if not is_earlier(trial)}) >= size

    def _is_ahead_worthwhile(self) -> bool:
        if self._ahead is not None or self._crew.workers == 1 or self._asks == 0 or self._finished == 0:
            return False
        if self._unfinished or self._crew.again or not self._next_exists():
            return False
        wait, trial = self._ask_seconds / self._asks, self._objective_seconds / self._finished
        return wait > NEGLIGIBLE * trial

    def _ask(self) -> Trial:
        start = time.perf_counter()
        trial = self._optimizer.add(self._given.popleft()) if self._given else self._optimizer.ask()
        seconds = time.perf_counter() - start
        self._asks, self._ask_seconds = self._asks + 1, self._ask_seconds + seconds
        self.own_seconds += seconds
        return trial

    def _start(self, trial: Trial) -> None:
        if trial is self._ahead:
            self._ahead = None
        with self._own_time():
            if self._journal is not None and trial.number >= self._asked:
                self._journal.ask(self._optimizer.history[trial.number])  # what was handed out may be longer
                self._asked = trial.number + 1
        self._crew.start(trial)

    # -- telling -------------------------------------------------------------------------------------------

    def _tell(self, trial: Trial, report: Report) -> None:
        with self._own_time():
            finished = self._entered(trial, report)
            if self._journal is not None:
                self._journal.finish(finished)
        self._finished, self._reported = self._finished + 1, self._reported + 1
        self._objective_seconds += report.seconds
        self._note_best(finished)
        if finished.state is TrialState.FAILED:
            self._failed += 1
            self._warn(finished, report)
            if self._stopping is None:
                self._heed_mistakes()
        else:
            self._valued = self.has_value = True
        if report.last:
            self._stopping = report.last
        self._show()
        self._call_back(finished.copied())

    def _tell_rest(self) -> None:
        for trial, report in self._crew.rest():
            self._tell(trial, report)

    def _entered(self, trial: Trial, report: Report) -> Trial:
        number, seconds = trial.number, round(report.seconds, 6)
        reason = report.reason
        if report.mistake is not None:
            self._mistakes.append(Mistake(alike(str(reason)), report.mistake))
        if reason is None:
            try:
                value, variance, attributes = report.value, report.variance, report.attributes
                self._optimizer.tell(number, value, variance=variance, seconds=seconds, attributes=attributes)
            except TrialError as error:
                reason = str(error) if report.variance is not None else _no_value(report.value)
                weight = DOUBTFUL if report.value is None else CERTAIN
                self._mistakes.append(Mistake(f"{type(report.value).__name__} is no value", weight))
            except Exception as error:  # what was returned cannot even be looked at
                reason = in_words(error)
        if reason is not None:
            self._optimizer.fail(number, reason, seconds=seconds, attributes=report.attributes)
        return self._optimizer.history[number]

    def _note_best(self, trial: Trial) -> None:
        if trial.value is not None:
            better = max if self._optimizer.maximize else min
            self._best = trial.value if self._best is None else better(self._best, trial.value)

    def _heed_mistakes(self) -> None:
        """Stop when there is one mistake again and again, and nothing else.

        What raises is a mistake, and so is what returns no number; NaN and time-outs are not.
        """
        why = None if self._valued else failed_alike(self._mistakes, self._reported, self._limits.fail_fast)
        if why is not None:
            self._stopping = f"{why}; fail_fast=None would go on"
            logger.error("ended: %s", why)

    def _warn(self, trial: Trial, report: Report) -> None:
        kind = alike(str(trial.reason))
        if kind not in self._warned:
            self._warned.add(kind)
            trace = "" if report.trace is None else f"\n{report.trace}"
            logger.warning("trial %d failed: %s%s", trial.number, trial.reason, trace)

    def _call_back(self, trial: Trial) -> None:
        history = self._optimizer.history
        for place, callback in enumerate(self._limits.callbacks):
            name = getattr(callback, "__name__", type(callback).__name__)
            self._guarded(f"callback {place} ({name})", partial(self._others, callback, trial, history))
        self._heed_stop(history)

    def _heed_stop(self, history: History) -> None:
        stop = self._limits.stop
        if stop is None or self._stopping is not None:
            return
        try:
            if bool(self._others(stop, history)):
                self._stopping = "the stop callback said so"
        except Exception as error:
            self.fault, self._stopping = error, f"the stop callback failed: {in_words(error)}"
            logger.error(self._stopping)

    def _others(self, call: Callable[..., Any], *args: Any) -> Any:
        """What code of the user's says; an interrupt is taken there, unless it has been taken already."""
        with interruptible() if self._stopping is None else nullcontext():
            return call(*args)

    def _guarded(self, name: str, call: Callable[[], object]) -> None:
        """Call what serves the run; its mistakes are told once, and do not end a run of two days."""
        try:
            call()
        except Exception as error:
            self._faults[name] += 1
            if self._faults[name] == 1:
                logger.warning("%s failed, and the run goes on: %s", name, in_words(error), exc_info=True)

    # -- looking -------------------------------------------------------------------------------------------

    def _show(self) -> None:
        self._guarded("progress", partial(self._progress.show, self._standing()))

    def _standing(self) -> Standing:
        return Standing(
            self._finished,
            self._limits.n_trials,
            self._failed,
            self._best,
            self.own_seconds,
            self._objective_seconds,
        )

    @contextmanager
    def _own_time(self) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.own_seconds += time.perf_counter() - start


def _no_value(returned: object) -> str:
    ways = 'a number, hidim.Measured(value, variance), or a dict with the key "value"'
    return f"the objective returned {reprlib.repr(returned)}: return {ways}"
