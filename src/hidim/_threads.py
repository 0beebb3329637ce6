"""One BLAS thread while hidim computes.

Matrices here are small (a few hundred rows): waking a second BLAS thread costs more than it brings, and
the order of floating-point sums would depend on the number of threads. One thread is faster and makes
suggestions independent of `OMP_NUM_THREADS`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


_lock = RLock()
_controllers: list[ThreadpoolController] = []


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """Run `function` with every BLAS of the process limited to one thread.

    The limit belongs to the process, so calls from several Python threads take turns: were they to overlap,
    the first to end would lift the limit under the feet of the second.
    """

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _lock, _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited


def _controller() -> Any:
    # Looking for the libraries takes milliseconds: once, after scipy's own BLAS is loaded.
    if not _controllers:
        import scipy.linalg  # noqa: F401  (loads the BLAS that is to be limited)

        _controllers.append(ThreadpoolController())
    return _controllers[0]
