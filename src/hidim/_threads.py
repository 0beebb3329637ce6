"""One BLAS thread while hidim computes.

Matrices here are small (a few hundred rows): waking a second BLAS thread costs more than it brings, and
the order of floating-point sums would depend on the number of threads. One thread is faster and makes
suggestions independent of `OMP_NUM_THREADS`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


class _Limit:
    """A limit that several threads may hold at once: the first one sets it, the last one lifts it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._controller: Any = None
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._controller is None:
                # Looking for the libraries takes milliseconds: once, after scipy's own BLAS is loaded.
                import scipy.linalg  # noqa: F401

                self._controller = ThreadpoolController()
            if self._holders == 0:
                self._limiter = self._controller.limit(limits=1, user_api="blas")
            self._holders += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._limiter.restore_original_limits()


_limit = _Limit()


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """Run `function` with every BLAS of the process limited to one thread."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _limit:
            return function(*args, **kwargs)

    return limited
