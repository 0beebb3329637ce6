"""Component-wise slice sampling of hyperparameters (Neal 2003): the second way besides MAP.

Each sweep updates every coordinate of θ in turn, leaving exp(−loss) invariant: draw a level below the
density, step out until the interval's ends lie below it, then shrink towards the current value.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hidim._types import Array, Rng
from hidim.errors import NumericalError
from hidim.gp.fit import DECIMALS
from hidim.gp.model import Model

LogDensity = Callable[[Array], float]


#: Of the interval that is stepped out: its first width, and steps at the most; those of BOCK's code.
WIDTH, STEPS = 1.0, 10


def sweep(log_density: LogDensity, theta: Array, low: Array, high: Array, rng: Rng) -> Array:
    """One update of every coordinate of `theta` (size,) within [low, high]."""
    theta = theta.copy()
    current = log_density(theta)
    for index in rng.permutation(len(theta)):
        theta, current = _update(log_density, theta, current, int(index), low, high, rng)
    return theta


def _update(
    log_density: LogDensity, theta: Array, current: float, index: int, low: Array, high: Array, rng: Rng
) -> tuple[Array, float]:
    def at(value: float) -> tuple[Array, float]:
        moved = theta.copy()
        moved[index] = value
        return moved, log_density(moved)

    level = current + math.log(max(rng.random(), 1e-300))
    left = theta[index] - WIDTH * rng.random()
    right = left + WIDTH
    # The two ends share one budget of steps, split at random, which keeps the update reversible.
    steps_left = int(rng.integers(STEPS))
    for _ in range(steps_left):
        if left <= low[index] or at(left)[1] <= level:
            break
        left -= WIDTH
    for _ in range(STEPS - 1 - steps_left):
        if right >= high[index] or at(right)[1] <= level:
            break
        right += WIDTH
    left, right = max(left, low[index]), min(right, high[index])
    for _ in range(100):
        value = float(rng.uniform(left, right))
        proposal, density = at(value)
        if density > level:
            return proposal, density
        if value < theta[index]:
            left = value
        else:
            right = value
    return theta, current


def sample(
    model: Model,
    x: Array,
    y: Array,
    start: Array,
    rng: Rng,
    *,
    count: int,
    burn_in: int = 10,
    thinning: int = 1,
    variances: Array | None = None,
) -> Array:
    """`count` draws (count, size) from the posterior of θ, after `burn_in` sweeps from `start`.

    `variances` (n,) are those with which the observations came.
    """

    density = model.log_density(x, y, variances)

    def log_density(theta: Array) -> float:
        try:
            value = density(theta)
        except NumericalError:
            return -math.inf
        return value if math.isfinite(value) else -math.inf

    low, high = model.bounds
    theta = np.clip(start, low, high)
    draws = []
    for index in range(burn_in + count * thinning):
        theta = sweep(log_density, theta, low, high, rng)
        if index >= burn_in and (index - burn_in + 1) % thinning == 0:
            draws.append(theta)
    return np.clip(np.round(np.stack(draws), DECIMALS), low, high)
