"""Ctrl-C and SIGTERM: whenever they come, there is a result, and the journal knows all of it."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import Executor, Future
from multiprocessing import get_context

import pytest

from hidim import Float, Optimizer, Result, Space, minimize
from hidim.methods import METHODS
from hidim.run import interrupts
from hidim.run.journal import Journal

SPACE = Space(x=Float(0, 1))


def run(objective=lambda p: p["x"], **options):
    return minimize(objective, SPACE, **{"n_trials": 9, "method": "random", "progress": False} | options)


def send(number, times=1):
    for _ in range(times):
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_signal_within_a_write_comes_after_it(tmp_path, monkeypatch, number, workers):
    """Between the write of a line and its book-keeping, and twice, as an impatient hand does it."""
    append = Journal._append

    def interrupted(self, data):
        written, sync = [], os.fsync
        monkeypatch.setattr(os, "fsync", lambda file: (sync(file), written.append(file), send(number, 2)))
        try:
            append(self, data)
        finally:
            monkeypatch.setattr(os, "fsync", sync)
        assert written

    def strike(trial, history):
        if len(history.complete) == 3:
            monkeypatch.setattr(Journal, "_append", interrupted)

    before = signal.getsignal(number)
    result = run(journal=tmp_path / "j", callbacks=strike, workers=workers)
    monkeypatch.setattr(Journal, "_append", append)
    assert result.stopped == "interrupted"
    assert signal.getsignal(number) is before
    kept = Result.from_journal(tmp_path / "j").history
    assert {t.number: t.value for t in kept.complete} == {t.number: t.value for t in result.history.complete}
    assert len(run(journal=tmp_path / "j").history.complete) == 9


def test_an_objective_in_this_thread_is_broken_off():
    def objective(params):
        calls.append(params)
        if len(calls) == 3:
            send(signal.SIGTERM)
            time.sleep(30)
        return params["x"]

    calls = []
    start = time.monotonic()
    assert len(run(objective).history.complete) == 2
    assert time.monotonic() - start < 10


def test_whoever_insists_is_heeded_wherever_that_is(monkeypatch):
    monkeypatch.setattr(interrupts, "PATIENCE", 0.01)

    def suggested(*_):
        if asked.append(1) or len(asked) > 3:
            send(signal.SIGINT)
            time.sleep(0.02)
            send(signal.SIGINT)
        return ask(*_)

    kind = type(METHODS["random"])
    ask, asked = kind.suggest, []
    monkeypatch.setattr(kind, "suggest", suggested)
    with pytest.raises(KeyboardInterrupt):
        run()


def test_a_handler_of_the_users_is_asked_between_events(tmp_path):
    came = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        result = run(callbacks=lambda trial, history: send(signal.SIGTERM), journal=tmp_path / "j")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM] * 9
    assert len(result.history.complete) == 9


def test_processes_that_an_objective_forks_can_be_ended_in_compiled_code_too():
    def objective(params):
        child = get_context("fork").Process(target=sum, args=(range(10**10),))
        child.start()
        time.sleep(0.1)
        child.terminate()
        child.join(20)
        codes.append(child.exitcode)
        return params["x"]

    codes = []
    run(objective, n_trials=2)
    assert codes == [-signal.SIGTERM] * 2


def test_a_run_within_a_run_is_ended_with_it():
    def outer(params):
        runs.append(params)
        return run(inner).best.value

    def inner(params):
        if len(runs) == 2:
            send(signal.SIGTERM)
        return params["x"]

    runs = []
    assert (len(run(outer).history.complete), len(runs)) == (1, 2)


class Direct(Executor):
    def submit(self, call, /, *args, **kwargs):
        future = Future()
        future.set_result(call(*args, **kwargs))
        return future


def test_whoever_evaluates_in_this_thread_is_broken_off():
    def objective(params):
        if params["x"] != 0.5:
            send(signal.SIGINT)
            time.sleep(30)
        return params["x"]

    start = time.monotonic()
    result = run(objective, executor=Direct(), workers=1, start_with=[{"x": 0.5}])
    assert (result.stopped, result.best.value) == ("interrupted", 0.5)
    assert time.monotonic() - start < 10


def test_an_interrupt_before_the_first_value_is_no_error_of_the_run():
    with pytest.raises(KeyboardInterrupt):  # what is known from elsewhere is no result of this one
        run(lambda p: send(signal.SIGINT), start_from=run().history)


def test_a_callback_that_interrupts_again_and_again_does_not_cost_the_result():
    def interrupt(trial, history):
        time.sleep(0.05)  # meanwhile, others end
        raise KeyboardInterrupt

    assert run(callbacks=interrupt, workers=4).stopped == "interrupted"


def test_what_a_handler_raises_late_leaves_nothing_behind(monkeypatch):
    def leave(number, frame):
        raise SystemExit(143)

    def result(*_):
        monkeypatch.undo()
        send(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        monkeypatch.setattr(Optimizer, "result", result)
        with pytest.raises(SystemExit):
            run()
        assert signal.getsignal(signal.SIGTERM) is leave
        assert len(run().history.complete) == 9
    finally:
        signal.signal(signal.SIGTERM, before)
