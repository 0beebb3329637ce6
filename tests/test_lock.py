"""One run at a time for a journal, and a free one as soon as its owner is gone."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from io import FileIO

import pytest

from hidim import Float, Space, minimize
from hidim import _lock as lock_module
from hidim._lock import lock
from hidim.errors import HistoryError
from hidim.run.journal import Journal

SPACE = Space(x=Float(0, 1))

HOLDER = """
import sys
from hidim import Float, Space, minimize
def hold(params):
    print("held", flush=True)
    sys.stdin.read()
    return 1.0
minimize(hold, Space(x=Float(0, 1)), 3, method="random", journal=sys.argv[1])
"""

POOL = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from hidim import Float, Space, minimize
def sleep(params):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(60)
if __name__ == "__main__":
    pool = ProcessPoolExecutor(2, mp_context=get_context("fork"))
    minimize(sleep, Space(x=Float(0, 1)), 3, method="random", executor=pool, journal=sys.argv[1])
"""


def run(path):
    return minimize(lambda p: p["x"], SPACE, 3, method="random", journal=path)


def started(code, path):
    return subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_another_process_is_refused_and_the_journal_is_free_when_its_owner_was_killed(tmp_path):
    path = tmp_path / "j"
    with started(HOLDER, path) as holder:
        assert holder.stdout.readline() == "held\n"
        before = path.read_bytes()
        with pytest.raises(HistoryError, match="in use by another run: wait for it, or give another path"):
            run(path)
        assert path.read_bytes() == before
        holder.kill()
    assert len(run(path).history.complete) == 3


def test_the_journal_is_free_when_its_owner_was_killed_and_forked_workers_live_on(tmp_path):
    path = tmp_path / "j"
    with started(POOL, path) as driver:
        workers = [int(driver.stdout.readline()) for _ in range(2)]
        driver.kill()
        driver.wait()
        try:
            for worker in workers:
                os.kill(worker, 0)  # it lives
            assert len(run(path).history.complete) == 3
        finally:
            for worker in workers:
                os.kill(worker, signal.SIGKILL)


def test_the_same_process_is_refused_too(tmp_path):
    path = tmp_path / "j"
    with (
        Journal(path, SPACE, {"maximize": False}),
        pytest.raises(HistoryError, match="in use by another run"),
    ):
        run(path)
    assert len(run(path).history.complete) == 3


def test_a_run_inside_a_run_cannot_have_the_same_journal(tmp_path):
    def objective(params):
        return run(tmp_path / "j").best.value

    with pytest.raises(Exception, match=r"all 2 trials failed: HistoryError: .*in use by another run"):
        minimize(objective, SPACE, 2, method="random", journal=tmp_path / "j")


def test_the_journal_is_free_after_a_run_however_it_ended(tmp_path):
    def interrupted(params):
        raise KeyboardInterrupt

    def exit_(trial, history):
        raise SystemExit

    path = tmp_path / "j"
    with pytest.raises(KeyboardInterrupt):
        minimize(interrupted, SPACE, 3, method="random", journal=path)
    with pytest.raises(SystemExit):
        minimize(lambda p: 1.0, SPACE, 3, method="random", journal=path, callbacks=exit_)
    with pytest.raises(HistoryError):
        minimize(lambda p: 1.0, Space(y=Float(0, 1)), 3, method="random", journal=path)
    assert len(run(path).history.complete) == 3


def test_file_systems_without_locks_are_used_with_a_warning(tmp_path, monkeypatch, caplog):
    def unable(file, how):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(lock_module.fcntl, "flock", unable)
    assert len(run(tmp_path / "j").history.complete) == 3
    assert "j cannot be locked (Function not implemented): let no other run use it" in caplog.text


def test_a_lock_ends_with_its_file(tmp_path):
    with FileIO(tmp_path / "f", "a+") as first, FileIO(tmp_path / "f", "a+") as second:
        assert lock(first)
        assert not lock(second)
        first.close()
        assert lock(second)
