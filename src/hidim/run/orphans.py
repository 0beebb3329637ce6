"""Workers of process pools, from their start to the end of their driver.

A worker whose driver was killed would work on, or wait for work, for ever: pools do not notice. So each has
a watcher, a thread that waits for the parent to be gone and ends the process, also in the midst of a trial.
(Code that holds Python's lock for long is ended when it lets go.)
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from concurrent.futures.process import ProcessPoolExecutor
from multiprocessing.connection import wait
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds between two looks at the parent.
PERIOD = 0.5

_watching = 0  # the process that has a watcher


def end_with_parent() -> None:
    """Watch the parent from now on; in a process that was started by hand, there is none to be watched."""
    global _watching
    parent = multiprocessing.parent_process()
    if parent is None or _watching == os.getpid():
        return
    _watching = os.getpid()
    # Forked workers inherit the other ends of each other's sentinels, which then tell of nothing. But they
    # are children of the driver, and those of a fork server, who are not, inherit nothing.
    child = os.getppid() == parent.pid

    def watch() -> None:
        while not wait([parent.sentinel], PERIOD):
            if child and os.getppid() != parent.pid:
                break
        os._exit(1)

    threading.Thread(target=watch, name="hidim-watcher", daemon=True).start()


def in_worker(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What the worker of a process pool does with a call: it is watched, too."""
    end_with_parent()
    return call(*args, **kwargs)


def prepare(executor: Executor) -> None:
    """Let the workers of a process pool that has none yet be watched from their start, idle ones too."""
    if isinstance(executor, ProcessPoolExecutor) and not getattr(executor, "_processes", None):
        pool: Any = executor
        given = getattr(pool, "_initializer", None), getattr(pool, "_initargs", ())
        pool._initializer, pool._initargs = _begin, given


def _begin(initializer: Callable[..., object] | None, arguments: tuple[Any, ...]) -> None:
    end_with_parent()
    if initializer is not None:
        initializer(*arguments)
