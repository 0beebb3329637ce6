"""The order of things: who gets work when, when a run ends, and who is told."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hidim import Float, HidimError, Optimizer, Space, TrialState, minimize
from hidim.run import driver as driver_module
from hidim.run.progress import Progress

SPACE = Space(x=Float(0, 1), y=Float(0, 1))


def x(params):
    return params["x"]


def run(objective=x, n_trials=9, method="random", **options):
    return minimize(objective, SPACE, n_trials, method=method, **options)


# -- many workers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", [None, lambda: ThreadPoolExecutor(4)])
def test_as_many_trials_run_at_once_as_there_are_workers(executor):
    gate = threading.Barrier(4, timeout=30)

    def objective(params):
        gate.wait()
        return params["x"]

    result = run(objective, 12, executor=executor, workers=4)
    assert len(result.history.complete) == 12


def test_running_trials_are_pending_so_that_no_two_are_nearly_the_same():
    close = []

    def look(trial, history):
        points = [np.array(list(t.params.values())) for t in history.running]
        close.extend(np.abs(a - b).max() for a, b in itertools.combinations(points, 2))

    def objective(x, y):
        time.sleep(0.002)
        return np.sin(9 * x) * np.cos(7 * y) + (x - 0.3) ** 2 + (y - 0.6) ** 2

    result = run(objective, 24, "gp", workers=4, callbacks=look)
    assert len(result.history.complete) == 24
    assert len(close) > 24
    assert min(close) > 1e-4


@pytest.mark.parametrize("ahead", [True, False])
def test_a_free_worker_gets_work_while_a_slow_trial_runs(monkeypatch, ahead):
    monkeypatch.setattr(driver_module, "NEGLIGIBLE", 0.0 if ahead else np.inf)
    others, seen = threading.Event(), []

    def objective(params):
        if not seen:
            seen.append(params)
            assert others.wait(30), "the other worker was held up"
        return params["x"]

    def count(trial, history):
        if len(history.finished) == 7:
            others.set()

    result = run(objective, 9, workers=2, callbacks=count)
    assert result.history[0].rank >= 7
    assert [t.state for t in result.history] == [TrialState.COMPLETE] * 9
    assert len(result.history) == 9, "a suggestion made ahead that nobody wanted is withdrawn"


def test_a_suggestion_made_ahead_is_withdrawn_when_the_run_stops(monkeypatch):
    monkeypatch.setattr(driver_module, "NEGLIGIBLE", 0.0)
    result = run(n_trials=50, workers=3, stop=lambda history: len(history.finished) >= 10)
    assert result.history.running == []
    assert 10 <= len(result.history) <= 13


def test_slow_suggestions_are_made_ahead_so_that_a_free_worker_need_not_wait(monkeypatch):
    """When a value is told, the worker that gave it is at work again, mostly: two may end together."""
    ask = Optimizer.ask
    monkeypatch.setattr(Optimizer, "ask", lambda self: time.sleep(0.01) or ask(self))
    running = []
    result = run(
        lambda p: time.sleep(0.05 + 0.1 * p["x"]) or p["x"],
        14,
        workers=2,
        callbacks=lambda trial, history: running.append(len(history.running)),
    )
    assert len(result.history.complete) == 14
    assert running[0] == 1
    assert running[2:12].count(2) >= 5


def test_with_many_workers_every_trial_is_finished_and_ranks_are_in_order():
    result = run(lambda p: time.sleep(0.01 * p["y"]) or p["x"], 30, workers=5)
    assert sorted(t.rank for t in result.history) == list(range(30))
    assert [t.number for t in result.history] == list(range(30))


# -- the end -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 3])
def test_the_stop_callback_ends_the_run(workers):
    seen = []

    def stop(history):
        seen.append(len(history.finished))
        return len(history.finished) >= 4

    result = run(workers=workers, stop=stop, n_trials=50)
    assert result.stopped == "the stop callback said so"
    assert seen == [1, 2, 3, 4]
    assert 4 <= len(result.history.complete) <= 4 + workers - 1 + 1
    assert result.history.running == []


def test_a_resumed_run_that_was_stopped_evaluates_nothing(tmp_path):
    def stop(history):
        return len(history.finished) >= 4

    run(stop=stop, journal=tmp_path / "j")
    calls = []
    result = run(lambda p: calls.append(p) or p["x"], stop=stop, journal=tmp_path / "j")
    assert calls == []
    assert len(result.history) == 4
    assert result.stopped == "the stop callback said so"


@pytest.mark.parametrize("workers", [1, 2])
def test_the_time_budget_ends_the_run_and_waits_for_what_runs(workers):
    start = time.monotonic()
    result = run(lambda p: time.sleep(0.05) or p["x"], 10_000, workers=workers, time_budget=0.3)
    assert time.monotonic() - start < 10
    assert result.stopped == "the time budget of 0.3 s is spent"
    assert 1 <= len(result.history.complete) < 60
    assert result.history.running == []


def test_the_time_budget_is_that_of_one_run_and_a_resumed_one_has_it_again(tmp_path):
    first = run(lambda p: time.sleep(0.05) or p["x"], 10_000, time_budget=0.2, journal=tmp_path / "j")
    second = run(lambda p: time.sleep(0.05) or p["x"], 10_000, time_budget=0.2, journal=tmp_path / "j")
    assert len(second.history) > len(first.history)


def test_if_the_time_is_over_before_any_value_is_known_that_is_said():
    with pytest.raises(HidimError, match=r"the only trial failed: .*the time budget of 0.01 s is spent"):
        run(lambda p: time.sleep(0.05), time_budget=0.01)


# -- callbacks ---------------------------------------------------------------------------------------------


def test_callbacks_are_told_of_every_trial_once_it_is_finished():
    seen = []

    def objective(params):
        return None if params["x"] > 0.5 else params["x"]

    result = run(objective, callbacks=[lambda t, h: seen.append((t, len(h.finished)))])
    assert [t for t, _ in seen] == list(result.history)
    assert [n for _, n in seen] == list(range(1, 10))
    assert {t.state for t, _ in seen} == {TrialState.COMPLETE, TrialState.FAILED}


def test_one_callback_need_not_be_in_a_list():
    seen = []
    run(callbacks=lambda trial, history: seen.append(trial.number))
    assert seen == list(range(9))


def test_callbacks_that_raise_do_not_end_the_run_and_are_told_once_each_with_a_count(caplog):
    seen = []
    result = run(callbacks=[lambda t, h: 1 / 0, lambda t, h: [][1], lambda t, h: seen.append(t)])
    assert len(result.history.complete) == len(seen) == 9
    assert result.stopped == "all 9 trials are done"
    for message in ("ZeroDivisionError", "IndexError", "callback 0 (<lambda>) failed 9 times"):
        assert len([r for r in caplog.records if message in r.getMessage()]) == 1


def test_an_error_in_stop_ends_the_run_with_the_result_so_far(tmp_path):
    def stop(history):
        return history.best.value < 2.0 and len(history) > 3 and history.gone

    with pytest.raises(AttributeError, match="gone") as told:
        run(stop=stop, n_trials=None, journal=tmp_path / "j")
    assert len(told.value.result.history.complete) == 4
    assert "callback failed: AttributeError" in told.value.result.stopped
    assert len(run(journal=tmp_path / "j").history.complete) == 9
    with pytest.raises(ValueError, match="truth value"):
        run(stop=lambda history: np.array([True, False]))


def test_a_progress_bar_that_raises_does_not_end_the_run(monkeypatch, caplog):
    class Broken(Progress):
        def show(self, standing):
            raise BrokenPipeError("the terminal is gone")

        def close(self):
            raise BrokenPipeError("the terminal is gone")

    monkeypatch.setattr("hidim.run.minimize.make_progress", lambda wanted, total: Broken())
    assert len(run().history.complete) == 9
    assert caplog.text.count("progress failed, and the run goes on") == 1


def test_a_callback_may_exit(tmp_path):
    def leave(trial, history):
        if trial.number == 3:
            raise SystemExit(0)

    with pytest.raises(SystemExit):
        run(callbacks=leave, journal=tmp_path / "j")
    assert len(run(journal=tmp_path / "j").history.complete) == 9


# -- interrupts --------------------------------------------------------------------------------------------


def test_an_interrupt_ends_the_run_with_the_result_so_far(caplog):
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return params["x"] ** 2

    result = minimize(objective, Space(x=Float(-1, 1)), n_trials=9)
    assert result.stopped == "interrupted"
    assert [t.state for t in result.history] == [TrialState.COMPLETE] * 3 + [TrialState.RUNNING]
    assert result.best.value == min(t.value for t in result.history[:3])
    assert "interrupted after 3 of 9 trials" in caplog.text


@pytest.mark.parametrize("workers", [1, 3])
def test_ctrl_c_ends_a_run_with_threads_at_once_and_what_runs_stays_running(tmp_path, workers):
    release = threading.Event()
    slow = []

    def objective(params):
        if slow:
            release.wait(60)
        return params["x"]

    def after_four(trial, history):
        if len(history.finished) == 4:
            slow.append("from now on")
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    options = {"journal": tmp_path / "j", "workers": workers, "n_trials": 20}
    if workers == 1:
        options["timeout"] = 60.0  # makes it a thread, which cannot be interrupted itself
    start = time.monotonic()
    try:
        result = run(objective, callbacks=after_four, **options)
    finally:
        release.set()
    assert time.monotonic() - start < 20
    assert result.stopped == "interrupted"
    assert 4 <= len(result.history.complete) < 20
    assert 1 <= len(result.history.running) <= workers + 1
    resumed = run(**options)
    assert len(resumed.history.complete) == 20
    assert [t.params for t in resumed.history][:4] == [t.params for t in result.history][:4]


def test_an_interrupt_with_nothing_to_give_is_not_swallowed():
    def objective(params):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(objective)


def test_an_interrupt_inside_a_thread_ends_the_run_too():
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return params["x"]

    assert run(objective, workers=2).stopped == "interrupted"


def test_values_that_came_back_before_an_interrupt_are_kept():
    both = threading.Barrier(2, timeout=30)

    def objective(params):
        both.wait()
        return params["x"]

    def interrupt(trial, history):
        if len(history.finished) == 1:
            time.sleep(0.2)  # meanwhile, the other trial ends
            raise KeyboardInterrupt

    result = run(objective, 2, workers=2, callbacks=interrupt)
    assert len(result.history.complete) == 2


PROCESSES = """
import os, sys, time, signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from hidim import Float, Space, minimize

def objective(params):
    if os.path.exists(sys.argv[1]):
        os.write(1, b"slow\\n")
        time.sleep(60)
    return params["x"]

def mark(trial, history):
    if len(history.finished) == 3:
        open(sys.argv[1], "w").close()

if __name__ == "__main__":
    pools = lambda: ProcessPoolExecutor(2, mp_context=get_context("fork"))
    result = minimize(objective, Space(x=Float(0, 1)), 20, method="random", executor=pools, callbacks=mark)
    print(result.stopped, len(result.history.complete) >= 3)
"""


@pytest.mark.parametrize("group", [True, False])
def test_ctrl_c_ends_a_program_with_a_pool_of_processes_at_once(tmp_path, group):
    """From the terminal it goes to all processes, from elsewhere to the driver alone."""
    script = tmp_path / "script.py"
    script.write_text(PROCESSES)
    child = subprocess.Popen(
        [sys.executable, script, tmp_path / "slow"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    kill = threading.Timer(60, os.killpg, (child.pid, signal.SIGKILL))  # a failure must not hang
    kill.start()
    try:
        with child:
            assert child.stdout.readline() == "slow\n"
            (os.killpg if group else os.kill)(child.pid, signal.SIGINT)
            out, _ = child.communicate()
    finally:
        kill.cancel()
    assert out.splitlines()[-1] == "interrupted True"
    assert child.returncode == 0
