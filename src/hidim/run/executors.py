"""Executors for those who bring none, and what is known of those who do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from hidim.errors import MethodError

P = ParamSpec("P")
T = TypeVar("T")


class Inline(Executor):
    """Evaluates in the caller's thread, before `submit` returns."""

    _max_workers = 1

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        future.set_result(call(*args, **kwargs))
        return future


class Threads(Executor):
    """A new daemon thread for every call: one that never returns holds up neither others nor the exit."""

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()

        def work() -> None:
            try:
                future.set_result(call(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, name="hidim-trial", daemon=True).start()
        return future


def count_workers(executor: Any, workers: int | None) -> int:
    """How many trials may run at once: as many as are wanted, and not more than `executor` has workers."""
    # Thread and process pools know; the standard interface has no word for it.
    known = getattr(executor, "_max_workers", None)
    if isinstance(known, int):
        return known if workers is None else min(workers, known)
    if workers is None:
        raise MethodError(f"say how many trials {type(executor).__name__} may run at once, as in workers=16")
    return workers
