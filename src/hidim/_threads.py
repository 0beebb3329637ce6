"""One BLAS thread while hidim computes.

Matrices here are small (a few hundred rows): waking a second BLAS thread costs more than it brings, and
the order of floating-point sums would depend on the number of threads. One thread is faster and makes
suggestions independent of `OMP_NUM_THREADS`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")

_controllers: dict[str, ThreadpoolController] = {}


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """Run `function` with every BLAS of the process limited to one thread."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited


def _controller() -> Any:
    # Looking for the libraries takes milliseconds, so it is done once, after scipy's own BLAS is loaded.
    if "blas" not in _controllers:
        import scipy.linalg  # noqa: F401  (loads the BLAS that is to be limited)

        _controllers["blas"] = ThreadpoolController()
    return _controllers["blas"]
