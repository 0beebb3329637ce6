"""The crew: trials that are being evaluated, on whatever executor there is.

Knows about futures, time-outs, lost workers and broken pools; knows nothing of suggestions or journals.
"""

from __future__ import annotations

import copy
import logging
import queue
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures.process import ProcessPoolExecutor
from concurrent.futures.thread import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pickle import PicklingError
from types import TracebackType
from typing import Any

from hidim.errors import MethodError
from hidim.run.evaluate import LONGEST, Call, Report, in_words, out_of_time
from hidim.run.executors import Threads, count_workers
from hidim.run.orphans import in_worker, prepare
from hidim.trial import Trial

logger = logging.getLogger("hidim")

#: A trial whose worker was lost this many times is to blame for it.
LOSSES = 3

#: The same if the executor lives on and says so: it may have tried several workers itself, as Dask does.
VERDICTS = 2

#: If so many trials are to blame and none ever came back, it is not the trials.
BLAMED = 3

#: Seconds that a worker which can interrupt itself is given before its trial is given up.
GRACE = 1.0

#: The same before the first report: workers must be started, and import what they need.
START_UP = 30.0

#: How many time-outs long a worker is waited for when all of them hang.
PATIENCE = 10.0

#: `Call` catches what the objective raises: these come from sending it, or its value, to and fro.
UNSENDABLE = (PicklingError, AttributeError, TypeError)


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
        workers: trials that may run at once; None: as many as the executor has workers.
    """

    def __init__(
        self, call: Call, executor: Executor | Callable[[], Executor], workers: int | None = None
    ) -> None:
        self._call = call
        self._make = None if isinstance(executor, Executor) else executor
        self._executor = _made(executor)
        self.workers = count_workers(self._executor, workers)
        self.again: deque[Trial] = deque()
        self._running: dict[Future[Report], Started] = {}
        self._ended: queue.SimpleQueue[Future[Report] | None] = queue.SimpleQueue()
        self._interrupted = False
        self._given_up: set[Future[Report]] = set()
        self._suspects: set[int] = set()
        self._losses: Counter[int] = Counter()
        self._blamed = 0
        self._proven = self._warm = False  # whether anything came back: ever, and from this executor

    @property
    def free(self) -> int:
        """How many trials can be started at once; workers that hang in a trial given up are not free."""
        able = self.workers - len(self._hanging())
        return (min(able, 1) if self._suspects else able) - len(self._running)

    @property
    def busy(self) -> int:
        """How many trials are running."""
        return len(self._running)

    def _hanging(self) -> set[Future[Report]]:
        if isinstance(self._executor, Threads):
            return set()  # there is always another thread
        self._given_up = {future for future in self._given_up if not future.done()}
        return self._given_up

    # -- starting ------------------------------------------------------------------------------------------

    def start(self, trial: Trial) -> None:
        try:
            future = self._submit(trial)
        except UNSENDABLE as error:
            raise _unsendable(error) from error
        except Exception as error:  # it is broken, shut down or gone
            self._replace(error)
            future = self._submit_to_new(trial)
        self._running[future] = Started(trial, time.monotonic())
        future.add_done_callback(self._ended.put)

    def _submit(self, trial: Trial) -> Future[Report]:
        # A copy: an objective may take its params apart. A ticket: Dask takes two calls with the same
        # arguments for one, and a noisy objective is evaluated twice on purpose.
        params, ticket = copy.deepcopy(dict(trial.params)), uuid.uuid4().hex
        if isinstance(self._executor, ProcessPoolExecutor):
            return self._executor.submit(in_worker, self._call, params, ticket, trial.number)
        return self._executor.submit(self._call, params, ticket, trial.number)

    def _submit_to_new(self, trial: Trial) -> Future[Report]:
        try:
            return self._submit(trial)
        except Exception as error:
            raise CrewLost(f"the executor that was made anew is broken too ({in_words(error)})") from error

    def relieve(self) -> None:
        """Find work for a crew that hangs: another executor, or the patience to wait for this one."""
        if self._make is not None and isinstance(self._executor, ThreadPoolExecutor | ProcessPoolExecutor):
            self._replace(TimeoutError("all workers hang"))  # others may get the same workers again
            return
        logger.warning("all workers are busy with trials that are out of time; waiting for one")
        if self.free < 1:
            self._wait(self._given_up, PATIENCE * (self._call.timeout or 0.0))
        if self.free < 1:
            raise CrewLost("all workers hang in trials that are out of time")

    def _replace(self, error: Exception) -> None:
        """Make another executor in the place of a broken one."""
        if self._make is None:
            raise CrewLost(
                f"the executor broke ({in_words(error)}); give a function that makes it, as in "
                "executor=lambda: ProcessPoolExecutor(4), and it will be made anew"
            ) from error
        self._abandon()
        try:
            self._executor, self._warm = _made(self._make), False
        except Exception as failure:
            raise CrewLost(f"no other executor could be made ({in_words(failure)})") from failure

    # -- collecting ----------------------------------------------------------------------------------------

    def collect(self) -> Iterator[tuple[Trial, Report]]:
        """Finished trials; waits until there is one, or one is out of time.

        Trials that were lost with their workers are in `again` afterwards.
        """
        limit, patience = self._limit, None
        if limit is not None:
            first = min(started.at for started in self._running.values())
            patience = max(first + limit - time.monotonic(), 0.0)
        yield from self._reports(self._wait(self._running, patience))
        if limit is not None:
            yield from self._out_of_time(limit)

    def _wait(self, futures: Container[Future[Report]], patience: float | None) -> set[Future[Report]]:
        """Those of `futures` that ended since the last call, once there is one or `patience` is over.

        Not by `concurrent.futures.wait`, which cannot be woken.
        """
        until = None if patience is None else time.monotonic() + min(patience, LONGEST)
        ended: set[Future[Report]] = set()
        while not ended or not self._ended.empty():
            left = None if until is None else max(until - time.monotonic(), 0.0)
            try:
                future = self._ended.get(timeout=left)
            except queue.Empty:
                break
            if future is None:
                break
            if future in futures:
                ended.add(future)
        return ended

    def wake(self) -> None:
        """End the waiting, as for a signal that is to be taken."""
        self._ended.put(None)

    def rest(self) -> Iterator[tuple[Trial, Report]]:
        """Trials that are finished already: what can still be had from a run that ends."""
        done = [f for f in self._running if f.done() and not f.cancelled() and f.exception() is None]
        yield from self._reports(done)

    def _reports(self, done: Iterable[Future[Report]]) -> Iterator[tuple[Trial, Report]]:
        for future in sorted(done, key=lambda f: self._running[f].trial.number):
            trial = self._running.pop(future).trial
            report = self._report(future, trial)
            if report is not None:
                self._suspects.discard(trial.number)
                yield trial, report

    @property
    def _limit(self) -> float | None:
        if self._call.timeout is None:
            return None
        if isinstance(self._executor, Threads | ThreadPoolExecutor):
            return self._call.timeout
        return self._call.timeout + (GRACE if self._warm else START_UP)

    def _out_of_time(self, limit: float) -> Iterator[tuple[Trial, Report]]:
        now = time.monotonic()
        for future, started in list(self._running.items()):
            if not future.done() and now >= started.at + limit:
                del self._running[future]
                self._suspects.discard(started.trial.number)
                self._given_up.add(future)
                yield started.trial, Report(reason=out_of_time(self._call.timeout), seconds=now - started.at)

    def _report(self, future: Future[Report], trial: Trial) -> Report | None:
        """What a finished future has to say; None if the trial is to be started again."""
        try:
            report = future.result()
        except UNSENDABLE as error:
            if not self._proven:
                raise _unsendable(error) from error
            return Report(reason=f"what it returned cannot be sent back: {in_words(error)}")
        except CancelledError as error:
            return self._lost(trial, error)
        except Exception as error:  # a broken pool, a killed worker: every kind says so in its own way
            self._suspects.add(trial.number)
            return self._lost(trial, error)
        self._proven = self._warm = True
        return report

    def _lost(self, trial: Trial, error: BaseException) -> Report | None:
        self._losses[trial.number] += 1
        most = LOSSES if isinstance(error, BrokenExecutor | CancelledError) else VERDICTS
        if self._losses[trial.number] < most:
            kind = type(error).__name__
            gone = self._make is None and isinstance(error, BrokenExecutor)
            again = " and is started again" + gone * ", if its executor still takes it"
            logger.warning("trial %d lost its worker (%s)%s", trial.number, kind, again)
            self.again.append(trial)
            return None
        self._blamed += 1
        if self._blamed >= BLAMED and not self._proven:
            raise CrewLost(f"workers die whatever they are given: {in_words(error)}")
        return Report(reason=f"its worker was lost {self._losses[trial.number]} times: {in_words(error)}")

    # -- leaving -------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Say that Ctrl-C came: it may have ended a worker that held a lock of its pool, for which the others
        would wait for ever, so that none of them is to be waited for."""
        self._interrupted = True

    def dismiss(self) -> None:
        """Stop whatever can be stopped."""
        for future in [*self._running, *self._given_up]:
            future.cancel()
        if self._make is None:
            return
        if self._interrupted or not all(future.done() for future in [*self._running, *self._given_up]):
            self._abandon()
        else:
            self._shut_down(wait=True)  # an idle pool must be waited for, or its threads outlive it

    def _abandon(self) -> None:
        """Leave an executor whose workers may hang; processes are killed, or the exit would wait for them."""
        processes: dict[int, Any] = getattr(self._executor, "_processes", None) or {}
        workers, manager = list(processes.values()), getattr(self._executor, "_executor_manager_thread", None)
        self._shut_down(wait=False)
        for worker in workers:
            with suppress(ValueError, ProcessLookupError):  # it is gone already
                worker.kill()
        if manager is not None:
            manager.join(GRACE)  # or it and the exit of Python would close the same pipe
        self._given_up.clear()

    def _shut_down(self, *, wait: bool) -> None:
        try:
            self._executor.shutdown(wait=wait)
        except Exception as error:  # no reason to lose a result
            logger.warning("the executor could not be shut down: %s", in_words(error))

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.interrupt()
        self.dismiss()


def _made(make: Executor | Callable[[], Executor]) -> Executor:
    executor = make if isinstance(make, Executor) or not callable(make) else make()
    if not isinstance(executor, Executor):
        raise MethodError(
            f"executor must be a concurrent.futures.Executor or a function that makes one, not {executor!r}"
        )
    prepare(executor)
    return executor


def _unsendable(error: BaseException) -> MethodError:
    return MethodError(
        f"the objective, or what it returns, cannot be sent to a worker: {error}; define it at the top level "
        "of a module, or run it in threads"
    )
