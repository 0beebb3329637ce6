"""Adam (Kingma and Ba 2015) that advances many ascents as one batch, as BOCK uses it."""

from __future__ import annotations

import numpy as np

from hidim._types import Array
from hidim.optim.base import Objective

#: Decay of the two running means, and what keeps a quotient finite: those of the paper.
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8


def adam(
    objective: Objective,
    starts: Array,
    lower: Array,
    upper: Array,
    *,
    rate: float = 0.005,
    max_calls: int = 500,
    tolerance: float = 1e-5,
) -> tuple[Array, Array, int]:
    """Climb from every row of `starts`, each inside its own box: arguments and answer as in `ascend`.

    Args:
        rate: length of a first step along each coordinate, as a share of its range: BOCK's .01 for [−1, 1].
        tolerance: all stop when none has gained as much in ten steps.

    The best point on the way is kept. Steps that would leave the box end at its walls.
    """
    missing = np.isnan(starts)
    low, high = (np.where(missing, 0.0, np.broadcast_to(edge, starts.shape)) for edge in (lower, upper))
    x, rates = np.clip(np.where(missing, 0.0, starts), low, high), rate * (high - low)
    best, top = x.copy(), np.full(len(x), -np.inf)
    first, second, last = np.zeros_like(x), np.zeros_like(x), top
    calls = 0
    for calls in range(1, max_calls + 1):
        score = objective(np.where(missing, np.nan, x))
        better = score.value > top
        best[better], top = x[better], np.where(better, score.value, top)
        if calls % 10 == 1:
            if calls > 1 and not np.any(top > last + tolerance):
                break
            last = top
        gradient = np.where(missing, 0.0, np.nan_to_num(score.to_inputs(np.ones(len(x)))))
        first = FIRST * first + (1.0 - FIRST) * gradient
        second = SECOND * second + (1.0 - SECOND) * gradient**2
        step = first / (1.0 - FIRST**calls) / (np.sqrt(second / (1.0 - SECOND**calls)) + TINY)
        x = np.clip(x + rates * step, low, high)
    return np.where(missing, np.nan, best), top, calls * len(x)
