"""Ctrl-C and SIGTERM: whenever they come, there is a result, and the journal knows all of it."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing import get_context

import pytest

from hidim import Float, Result, Space, minimize
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


def test_processes_that_an_objective_forks_can_be_ended():
    def objective(params):
        child = get_context("fork").Process(target=time.sleep, args=(60,))
        child.start()
        time.sleep(0.1)
        child.terminate()
        child.join(20)
        codes.append(child.exitcode)
        return params["x"]

    codes = []
    run(objective, n_trials=2)
    assert codes == [-signal.SIGTERM] * 2
