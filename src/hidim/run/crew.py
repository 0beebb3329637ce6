"""The crew: trials that are being evaluated, on whatever executor there is.

Knows about futures, time-outs, lost workers and broken pools; knows nothing of suggestions or journals.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from pickle import PicklingError

from hidim.errors import MethodError
from hidim.run.evaluate import Call, Report, out_of_time
from hidim.run.executors import Threads
from hidim.trial import Trial

logger = logging.getLogger("hidim")

#: A trial whose worker was lost this many times is to blame for it.
LOSSES = 3

#: Seconds that a worker which can interrupt itself is given before its trial is given up.
GRACE = 1.0


class CrewLost(Exception):
    """The executor cannot take work any more, and there is no way to make another one."""


@dataclass(frozen=True)
class Started:
    trial: Trial
    at: float


class Crew:
    """Evaluates trials on an executor.

    When a pool breaks, nobody knows which of its trials broke it. They are suspects then: each is started
    again alone, so that the guilty one is found and the others go free.

    Args:
        call: the objective.
        executor: where; or a function that makes an executor, and again when one breaks.
        workers: trials that may run at once.
    """

    def __init__(self, call: Call, executor: Executor | Callable[[], Executor], workers: int) -> None:
        self._call = call
        self._make = None if isinstance(executor, Executor) else executor
        self._executor = executor if isinstance(executor, Executor) else executor()
        self.workers = workers
        self.again: deque[Trial] = deque()
        self._running: dict[Future[Report], Started] = {}
        self._given_up: set[Future[Report]] = set()
        self._suspects: set[int] = set()
        self._losses: Counter[int] = Counter()

    @property
    def free(self) -> int:
        """How many trials can be started at once; workers that hang in a trial given up are not free."""
        if self._suspects:
            return 1 - len(self._running)
        self._given_up = {future for future in self._given_up if not future.done()}
        hanging = 0 if isinstance(self._executor, Threads) else len(self._given_up)
        return self.workers - len(self._running) - hanging

    @property
    def busy(self) -> int:
        """How many trials are running."""
        return len(self._running)

    def start(self, trial: Trial) -> None:
        try:
            future = self._submit(trial)
        except (BrokenExecutor, RuntimeError) as error:  # a RuntimeError: it was shut down
            self._replace(error)
            future = self._submit(trial)
        self._running[future] = Started(trial, time.monotonic())

    def _submit(self, trial: Trial) -> Future[Report]:
        return self._executor.submit(self._call, trial.params)

    def collect(self) -> Iterator[tuple[Trial, Report]]:
        """Finished trials; waits until there is one, or one is out of time.

        Trials that were lost with their workers are in `again` afterwards.
        """
        limit, patience = self._limit, None
        if limit is not None:
            first = min(started.at for started in self._running.values())
            patience = max(first + limit - time.monotonic(), 0.0)
        done, _ = wait(self._running, timeout=patience, return_when=FIRST_COMPLETED)
        for future in sorted(done, key=lambda f: self._running[f].trial.number):
            trial = self._running.pop(future).trial
            report = self._report(future, trial)
            if report is not None:
                self._suspects.discard(trial.number)
                yield trial, report
        if limit is not None:
            yield from self._out_of_time(limit)

    @property
    def _limit(self) -> float | None:
        if self._call.timeout is None:
            return None
        return self._call.timeout + (0.0 if isinstance(self._executor, Threads) else GRACE)

    def _out_of_time(self, limit: float) -> Iterator[tuple[Trial, Report]]:
        now = time.monotonic()
        for future, started in list(self._running.items()):
            if not future.done() and now >= started.at + limit:
                del self._running[future]
                if not future.cancel():
                    self._given_up.add(future)
                yield started.trial, Report(reason=out_of_time(self._call.timeout), seconds=now - started.at)

    def _report(self, future: Future[Report], trial: Trial) -> Report | None:
        """What a finished future has to say; None if the trial is to be started again."""
        try:
            return future.result()
        except (PicklingError, AttributeError, TypeError) as error:
            # `Call` catches what the objective raises: this came from sending it, or its value, to and fro.
            raise MethodError(
                f"the objective, or what it returns, cannot be sent to a worker: {error}; define it at the top "
                "level of a module, or run it in threads"
            ) from error
        except BrokenExecutor as error:
            self._suspects.add(trial.number)
            return self._lost(trial, error)
        except (CancelledError, Exception) as error:
            return self._lost(trial, error)

    def _lost(self, trial: Trial, error: BaseException) -> Report | None:
        self._losses[trial.number] += 1
        if self._losses[trial.number] >= LOSSES:
            return Report(reason=f"its worker died {LOSSES} times: {type(error).__name__}: {error}")
        logger.warning("trial %d lost its worker (%s) and is started again", trial.number, type(error).__name__)
        self.again.append(trial)
        return None

    def _replace(self, error: Exception) -> None:
        """Make another executor in the place of a broken one."""
        if self._make is None:
            raise CrewLost(
                f"the executor broke ({type(error).__name__}: {error}); give a function that makes it, as in "
                "executor=lambda: ProcessPoolExecutor(4), and it will be made anew"
            ) from error
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._make()

    def dismiss(self) -> None:
        """Stop whatever can be stopped."""
        for future in self._running:
            future.cancel()
        if self._make is not None:
            # Whoever still runs must not be waited for; an idle pool must, or its threads outlive it.
            self._executor.shutdown(wait=not self._running, cancel_futures=True)
