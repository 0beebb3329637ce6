"""Process pools: their workers end with the driver, and Ctrl-C is heeded from the first moment on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from hidim import Float, Space, minimize
from hidim.bench.runner import spawn_pool
from hidim.run import orphans

POOL = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from hidim import Float, Space, minimize

def busy(params):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(60)
    return 0.0

def pool():
    made = ProcessPoolExecutor(3, mp_context=get_context(sys.argv[1]))
    started = made.submit

    def submit(*args):
        future = started(*args)
        os.write(1, "".join(f"{pid}\\n" for pid in made._processes).encode())
        return future

    made.submit = submit
    return made

if __name__ == "__main__":
    minimize(busy, Space(x=Float(0, 1)), 3, method="random", executor=pool, workers=2)
"""


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def program(tmp_path, text, *arguments):
    script = tmp_path / "script.py"
    script.write_text(text)
    return subprocess.Popen(
        [sys.executable, script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_workers_end_with_a_driver_that_is_killed_busy_and_idle_ones(tmp_path):
    """Two of three forked workers are busy; one of them has never had anything to do."""
    driver = program(tmp_path, POOL, "fork")
    printed: list[str] = []
    try:
        while len(set(printed)) < 3 or max(printed.count(pid) for pid in printed) < 3:
            printed.append(driver.stdout.readline().strip())
        time.sleep(0.3)  # the second one begins
        driver.kill()
        end = time.monotonic() + 20
        workers = {int(pid) for pid in printed}
        while (left := [pid for pid in workers if is_alive(pid)]) and time.monotonic() < end:
            time.sleep(0.05)
        assert left == []
    finally:
        os.killpg(driver.pid, signal.SIGKILL) if driver.poll() is None else None
        driver.communicate(timeout=20)


def watchers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "hidim-watcher"]


def watched(params) -> float:
    return float(len(watchers()))


def test_a_worker_has_one_watcher_and_a_process_that_nobody_started_none():
    result = minimize(
        watched,
        Space(x=Float(0, 1)),
        6,
        method="random",
        executor=lambda: ProcessPoolExecutor(1, mp_context=get_context("fork")),
    )
    assert {trial.value for trial in result.history} == {1.0}
    orphans.end_with_parent()
    minimize(watched, Space(x=Float(0, 1)), 3, method="random", workers=2)
    assert watchers() == []


def test_the_workers_of_a_benchmark_are_watched_too():
    with spawn_pool(1) as pool:
        assert pool._initializer is orphans.end_with_parent


def remember(text: str) -> None:
    os.environ["REMEMBERED"] = text


def remembered(params) -> float:
    return float(os.environ["REMEMBERED"])


def test_an_initializer_of_the_pool_is_still_called():
    def pools():
        return ProcessPoolExecutor(1, get_context("fork"), remember, ("3",))

    assert minimize(remembered, Space(x=Float(0, 1)), 2, executor=pools).best.value == 3.0


INTERRUPTED = """
import os, signal, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from hidim import Float, Space, minimize

def objective(params):
    time.sleep(60)
    return params["x"]

def drive(start, ready):
    def pool():
        os.write(ready, b"!")
        return ProcessPoolExecutor(4, mp_context=get_context(start))
    try:
        minimize(objective, Space(x=Float(0, 1)), 20, method="random", executor=pool)
    except KeyboardInterrupt:
        sys.exit(7)

def interrupted(start, milliseconds, group):
    begun, ready = os.pipe()
    driver = os.fork()
    if driver == 0:
        os.setsid()
        sys.stderr = open(os.devnull, "w")
        drive(start, ready)
    os.read(begun, 1)
    time.sleep(milliseconds / 1000)
    (os.killpg if group else os.kill)(driver, signal.SIGINT)
    for _ in range(400):
        done, status = os.waitpid(driver, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.025)
    os.killpg(driver, signal.SIGKILL)
    os.waitpid(driver, 0)
    return "hangs"

if __name__ == "__main__":
    for milliseconds in map(float, sys.argv[2:]):
        for group in (True, False):
            print(milliseconds, group, interrupted(sys.argv[1], milliseconds, group))
"""


def test_ctrl_c_while_a_pool_starts_is_heeded(tmp_path):
    delays = ["1", "3", "6", "20"]
    out, err = program(tmp_path, INTERRUPTED, "fork", *delays).communicate(timeout=200)
    ends = [line.split()[-1] for line in out.splitlines()]
    assert ends == ["7"] * 2 * len(delays), out + err


def test_ctrl_c_within_the_start_of_workers_comes_after_it(monkeypatch):
    """Half of the processes of a pool would be unknown to it, and waited for at the exit for ever."""
    begun = []

    def interrupted_start(self):
        os.kill(os.getpid(), signal.SIGINT)
        begun.append("still here")
        start(self)
        begun.append("all started")

    start = ProcessPoolExecutor._start_executor_manager_thread
    monkeypatch.setattr(ProcessPoolExecutor, "_start_executor_manager_thread", interrupted_start)
    with pytest.raises(KeyboardInterrupt):
        minimize(
            watched,
            Space(x=Float(0, 1)),
            6,
            method="random",
            executor=lambda: ProcessPoolExecutor(2, mp_context=get_context("fork")),
        )
    assert begun == ["still here", "all started"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
