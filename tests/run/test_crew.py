"""Workers that hang, die or cannot be reached."""

from __future__ import annotations

import functools
import logging
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)

import pytest

from hidim import Float, HidimError, Optimizer, Space, TrialState, minimize
from hidim.errors import MethodError
from hidim.run import crew as crew_module
from hidim.run.crew import Crew
from hidim.run.evaluate import Call
from hidim.run.executors import Threads
from hidim.trial import Trial

SPACE = Space(x=Float(0, 1))
FORK = multiprocessing.get_context("fork")

# From Python 3.12 on, forking a process that has threads is warned of.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def forks(n: int, **options) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(n, mp_context=FORK, **options)


def places(n: int) -> list[float]:
    """Where the first trials of a random run with seed 0 are, whatever their values."""
    return [trial.params["x"] for trial in Optimizer(SPACE, method="random", seed=0).ask(n)]


def at(guilty, act, params):
    """The objective x, but for the guilty places, where `act` is done."""
    if params["x"] in guilty:
        act()
    return params["x"]


def die():
    os._exit(7)


def sleep_long():
    time.sleep(60)


def sleep_deaf():
    """Sleep as C code does that listens to no signal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(60)


def x_or_lock(guilty, params):
    return threading.Lock() if params["x"] in guilty else params["x"]


def fail_to_start():
    raise RuntimeError("no license for this worker")


def states(result) -> list[TrialState]:
    return [trial.state for trial in result.history]


def run(objective, n_trials=8, **options):
    return minimize(objective, SPACE, n_trials, method="random", **options)


# -- processes ---------------------------------------------------------------------------------------------


def test_a_process_pool_evaluates_everything():
    with forks(2) as pool:
        result = run(functools.partial(at, [], die), executor=pool)
        assert pool.submit(abs, -1).result() == 1, "a given pool is not shut down"
    assert states(result) == [TrialState.COMPLETE] * 8
    assert {t.params["x"] for t in result.history} == {t.value for t in result.history}


def test_a_lambda_cannot_be_sent_to_a_process():
    with (
        forks(1) as pool,
        pytest.raises(MethodError, match=r"cannot be sent to a worker: .*top level of a module"),
    ):
        run(lambda p: p["x"], executor=pool)


def test_a_value_that_cannot_be_sent_back_fails_its_trial_alone():
    guilty = places(8)[3:4]
    with forks(1) as pool:
        result = run(functools.partial(x_or_lock, guilty), executor=pool)
    assert [t.number for t in result.history if t.state is TrialState.FAILED] == [3]
    assert "cannot be sent back: TypeError: cannot pickle" in result.history[3].reason


def test_if_no_value_can_be_sent_back_the_run_ends():
    with forks(1) as pool, pytest.raises(MethodError, match="or what it returns, cannot be sent"):
        run(functools.partial(x_or_lock, places(8)), executor=pool)


def test_a_given_pool_that_breaks_ends_the_run_with_the_result_so_far(caplog):
    with forks(1) as pool:
        result = run(functools.partial(at, places(8)[3:4], die), executor=pool)
    assert states(result) == [TrialState.COMPLETE] * 3 + [TrialState.RUNNING]
    assert result.stopped.startswith("the executor broke (BrokenProcessPool: ")
    assert "executor=lambda: ProcessPoolExecutor(4)" in result.stopped
    assert "ended after 3 of 8 trials: the executor broke" in caplog.text
    assert "is started again, if its executor still takes it" in caplog.text


def test_a_given_pool_that_breaks_at_once_is_an_error():
    with forks(1) as pool, pytest.raises(HidimError, match="no trial was finished: the executor broke"):
        run(functools.partial(at, places(1), die), executor=pool)


def test_a_pool_that_was_shut_down_is_an_error():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(HidimError, match=r"no trial was finished: the executor broke .*shutdown"):
        run(lambda p: p["x"], executor=pool)


def test_a_pool_is_made_anew_and_the_guilty_trial_alone_fails(caplog):
    made = []

    def make():
        made.append(forks(3))
        return made[-1]

    result = run(functools.partial(at, places(10)[4:5], die), 10, executor=make)
    assert [t.number for t in result.history if t.state is not TrialState.COMPLETE] == [4]
    assert result.history[4].reason.startswith("its worker was lost 3 times: BrokenProcessPool: ")
    assert len(made) in (3, 4), "none after the last loss if that was the last trial"
    assert "lost its worker (BrokenProcessPool) and is started again" in caplog.text
    with pytest.raises(RuntimeError):
        made[-1].submit(abs, -1)  # it was shut down in the end


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (lambda first: first, "the executor that was made anew is broken too (BrokenProcessPool"),
        (lambda first: 1 / 0, "no other executor could be made (ZeroDivisionError"),
        (lambda first: None, "no other executor could be made (MethodError"),
    ],
)
def test_a_function_that_makes_no_second_pool_ends_the_run_with_the_result_so_far(second, reason):
    made = []

    def make():
        made.append(second(made[0]) if made else forks(1))
        return made[-1]

    result = run(functools.partial(at, places(8)[3:4], die), executor=make)
    assert len(result.history.complete) == 3
    assert result.stopped.startswith(reason)


def test_if_workers_die_of_everything_the_run_ends_soon():
    made = []

    def make():
        made.append(forks(2, initializer=fail_to_start))
        return made[-1]

    with pytest.raises(HidimError, match=r"the run ended early: workers die whatever they are given: Broken"):
        run(functools.partial(at, [], die), 200, executor=make)
    assert len(made) < 12


# -- time-outs ---------------------------------------------------------------------------------------------


def test_a_trial_that_is_out_of_time_fails_and_its_process_is_freed_by_an_alarm():
    guilty = places(6)[1:3]
    with forks(1) as pool:
        before = pool.submit(os.getpid).result()
        start = time.monotonic()
        result = run(functools.partial(at, guilty, sleep_long), 6, executor=pool, timeout=0.2)
        assert time.monotonic() - start < 15
        assert pool.submit(os.getpid).result() == before
    assert [t.number for t in result.history if t.state is TrialState.FAILED] == [1, 2]
    assert {t.reason for t in result.history[1:3]} == {"timed out after 0.2 s"}


def test_processes_that_hear_no_alarm_are_replaced_and_do_not_hold_up_the_end(monkeypatch):
    monkeypatch.setattr(crew_module, "GRACE", 0.1)
    monkeypatch.setattr(crew_module, "START_UP", 5.0)
    made = []

    def make():
        made.append(forks(2))
        return made[-1]

    start = time.monotonic()
    guilty = [*places(12)[2:5], places(12)[11]]
    result = run(functools.partial(at, guilty, sleep_deaf), 12, executor=make, timeout=0.2)
    assert time.monotonic() - start < 30
    assert [t.number for t in result.history if t.state is TrialState.FAILED] == [2, 3, 4, 11]
    assert len(made) >= 2


def test_a_thread_that_hangs_is_left_behind_and_another_one_takes_its_place():
    release = threading.Event()
    guilty = places(8)[:3]
    try:
        result = run(functools.partial(at, guilty, lambda: release.wait(60)), workers=2, timeout=0.1)
    finally:
        release.set()
    assert [t.number for t in result.history if t.state is TrialState.FAILED] == [0, 1, 2]
    assert {t.reason for t in result.history[:3]} == {"timed out after 0.1 s"}
    assert all(0.1 <= t.seconds < 10 for t in result.history[:3])


def test_one_worker_can_be_out_of_time_too():
    release = threading.Event()
    try:
        result = run(functools.partial(at, places(8)[:1], lambda: release.wait(60)), 3, timeout=0.1)
    finally:
        release.set()
    assert [t.state.value for t in result.history] == ["failed", "complete", "complete"]


def test_a_worker_of_a_pool_that_overruns_is_waited_for(caplog):
    guilty = places(6)[1:3]
    with ThreadPoolExecutor(1) as pool:
        result = run(functools.partial(at, guilty, lambda: time.sleep(0.5)), 6, executor=pool, timeout=0.2)
    assert [t.number for t in result.history if t.state is TrialState.FAILED] == [1, 2]
    assert len(result.history.complete) == 4
    assert "all workers are busy with trials that are out of time" in caplog.text


def test_a_worker_of_a_pool_that_overruns_is_not_counted_as_free():
    at_once, most = [], []

    def objective(params):
        at_once.append(params)
        most.append(len(at_once))
        time.sleep(1.0 if params["x"] in guilty else 0.01)
        at_once.remove(params)
        return params["x"]

    guilty = places(10)[:1]
    with ThreadPoolExecutor(2) as pool:
        result = run(objective, 10, executor=pool, timeout=0.5)
    assert [t.number for t in result.history if t.state is TrialState.FAILED] == [0]
    assert max(most) == 2


def test_a_pool_whose_workers_all_hang_ends_the_run_with_the_result_so_far(monkeypatch):
    monkeypatch.setattr(crew_module, "PATIENCE", 2.0)
    release = threading.Event()
    guilty = places(9)[3:]
    with ThreadPoolExecutor(2) as pool:
        try:
            objective = functools.partial(at, guilty, lambda: release.wait(60))
            result = run(objective, 9, executor=pool, timeout=0.1)
        finally:
            release.set()
    assert result.stopped == "all workers hang in trials that are out of time"
    assert len(result.history.complete) == 3
    assert result.history.running == []


def test_suspects_that_run_out_of_time_do_not_leave_the_crew_with_one_worker(monkeypatch):
    """After a pool broke, its trials are started one by one; then all workers are used again."""
    monkeypatch.setattr(crew_module, "START_UP", 0.0)
    pairs = threading.Barrier(2, timeout=30)

    class Breaking(Executor):
        """Breaks with the first three trials; the first of them hangs when it is started again."""

        def __init__(self):
            self.threads, self.calls = Threads(), 0

        def submit(self, call, /, *args):
            self.calls += 1
            future: Future = Future()
            if self.calls <= 3:
                future.set_exception(BrokenExecutor("broken"))
            return future if self.calls <= 4 else self.threads.submit(call, *args)

    def objective(params):
        if params["x"] in places(7)[3:]:
            pairs.wait()
        return params["x"]

    result = run(objective, 7, executor=Breaking(), workers=3, timeout=1.0)
    assert [t.number for t in result.history if t.state is TrialState.FAILED] == [0]


# -- other executors ---------------------------------------------------------------------------------------


class Cluster(Executor):
    """As those of distributed systems: futures that never say that they run, and errors of its own."""

    def __init__(self, losing=(), gone_after=None):
        self.threads, self.losing, self.gone_after = Threads(), dict(losing), gone_after
        self.tickets, self.calls = [], 0

    def submit(self, call, /, params, ticket, number):
        self.calls += 1
        self.tickets.append(ticket)
        if self.gone_after is not None and self.calls > self.gone_after:
            raise OSError("the scheduler is gone")
        error = self.losing.get(self.calls)
        if error is None:
            return self.threads.submit(call, params, ticket, number)
        future: Future = Future()
        if isinstance(error, CancelledError):
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True):  # no `cancel_futures`
        self.closed = True


def test_a_trial_that_is_lost_with_its_worker_is_started_again(caplog):
    cluster = Cluster({2: RuntimeError("killed worker"), 5: CancelledError()})
    result = run(lambda p: p["x"], executor=cluster, workers=1)
    assert states(result) == [TrialState.COMPLETE] * 8
    assert cluster.calls == 10
    assert "trial 1 lost its worker (RuntimeError) and is started again" in caplog.text


@pytest.mark.parametrize(
    ("error", "times"),
    [(RuntimeError("killed worker"), 2), (BrokenExecutor("broken"), 3), (CancelledError(), 3)],
)
def test_a_trial_that_loses_its_worker_too_often_fails(error, times):
    cluster = Cluster(dict.fromkeys(range(2, 2 + times), error))
    result = run(lambda p: p["x"], executor=cluster, workers=1)
    assert result.history[1].reason.startswith(f"its worker was lost {times} times: {type(error).__name__}")
    assert len(result.history.complete) == 7


def test_a_cluster_that_is_gone_ends_the_run_with_the_result_so_far():
    result = run(lambda p: p["x"], executor=Cluster(gone_after=3), workers=1)
    assert result.stopped.startswith("the executor broke (OSError: the scheduler is gone)")
    assert len(result.history.complete) == 3


def test_an_objective_that_cannot_be_sent_at_all_is_refused():
    class Picky(Executor):
        def submit(self, call, /, *args):
            raise TypeError("cannot pickle '_thread.lock' object")

    with pytest.raises(MethodError, match=r"cannot be sent to a worker: cannot pickle '_thread\.lock'"):
        run(lambda p: p["x"], executor=Picky(), workers=2)


def test_no_two_calls_are_alike_because_some_clusters_take_them_for_one():
    cluster = Cluster()
    run(lambda p: p["x"], executor=cluster, workers=2)
    assert len(set(cluster.tickets)) == 8


def test_what_a_function_made_is_shut_down_whatever_its_shutdown_takes():
    made = []

    def make():
        made.append(Cluster())
        return made[-1]

    assert len(run(lambda p: p["x"], executor=make, workers=2).history) == 8
    assert made[0].closed


def test_an_executor_that_cannot_be_shut_down_does_not_cost_the_result(caplog):
    class Stuck(Cluster):
        def shutdown(self, wait=True):
            raise OSError("the scheduler is gone")

    made = []

    def make():
        made.append(Stuck(gone_after=3))
        return made[-1]

    assert len(run(lambda p: p["x"], executor=make, workers=2).history.complete) == 8
    assert len(made) == 3
    assert "could not be shut down: OSError: the scheduler is gone" in caplog.text


def test_values_that_are_there_are_told_before_a_broken_executor_ends_the_run():
    """The second of two trials that end together breaks the pool; the value of the first is not lost."""

    class Fragile(Executor):
        def __init__(self):
            self.calls = 0

        def submit(self, call, /, *args):
            self.calls += 1
            if self.calls > 2:
                raise BrokenExecutor("broken")
            future: Future = Future()
            future.set_result(call(*args))
            return future

    result = run(lambda p: p["x"], executor=Fragile(), workers=3)
    assert len(result.history.complete) == 2
    assert result.stopped.startswith("the executor broke")


def test_a_crew_with_a_suspect_takes_one_trial_at_a_time():
    crew = Crew(Call(lambda p: p["x"], keywords=False), Cluster({1: BrokenExecutor("x")}), 4)
    assert crew.free == 4
    crew.start(Trial({"x": 0.5}, 0))
    assert list(crew.collect()) == []
    assert crew.free == 1
    crew.start(crew.again.popleft())
    assert crew.free == 0
    ((trial, report),) = crew.collect()
    assert (trial.number, report.value, crew.free) == (0, 0.5, 4)


def test_losses_are_logged_as_warnings_and_ends_as_errors(caplog):
    run(lambda p: p["x"], executor=Cluster({2: RuntimeError("x")}, gone_after=4), workers=1)
    assert [r.levelno for r in caplog.records] == [logging.WARNING, logging.ERROR]


def test_a_crew_whose_last_hanging_worker_has_just_come_back_does_not_wait():
    with ThreadPoolExecutor(1) as executor:
        crew = Crew(Call(at, keywords=False, timeout=60.0), executor)
        start = time.monotonic()
        crew.relieve()
    assert crew.free == 1
    assert time.monotonic() - start < 30


def test_results_of_trials_that_were_given_up_are_not_taken_for_others():
    go = threading.Event()

    def objective(params):
        if params["x"] == 0.0:
            go.wait(30)
        return params["x"]

    with ThreadPoolExecutor(2) as executor:
        crew = Crew(Call(objective, keywords=False, timeout=1.0), executor)
        crew.start(Trial({"x": 0.0}, 0))
        ((late, report),) = crew.collect()
        assert (late.number, report.value) == (0, None)
        go.set()
        crew.start(Trial({"x": 0.5}, 1))
        ((trial, report),) = crew.collect()
        assert (trial.number, report.value) == (1, 0.5)
