"""Projections that do not leave the cube by much (RPP-GP-UCB §4.1).

    Ŵ = (1 − α) W + α I                                        eq. 7
    Π ‖ŵ_d‖₁ / |det Ŵ| ≤ 1 + δ                                 eq. 8: outer box over image of the cube

α = 1 is the additive model, α = 0 projection pursuit; δ = 0 leaves but the former, δ = ∞ the latter. In many
dimensions the feasible 1 − α are tiny, 3e-4 for D = 50 and δ = .1: so the largest is found by bisection, and
a grid of shares of it is evenly spaced in their logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hidim._types import Array

#: Shares of the largest feasible 1 − α among which the likelihood decides, beside 0.
SHARES = 10.0 ** -np.linspace(0.0, 2.0, 5)

#: Without a restriction, the first of these for which Ŵ has an inverse: directions may be nearly the same.
STEPS, CONDITION = np.linspace(0.0, 1.0, 11).tolist(), 1e4

#: Halvings of the interval of log(1 − α).
HALVINGS = 60


def mixed(w: Array, alpha: float) -> Array:
    """Ŵ (eq. 7)."""
    return (1.0 - alpha) * w + alpha * np.eye(len(w))


def log_ratio(w: Array) -> float:
    """log (Π ‖w_d‖₁ / |det W|) ≥ 0, the outer box over the image of the cube; inf if that is flat."""
    sign, log_volume = np.linalg.slogdet(w)
    if sign == 0.0:
        return math.inf
    return float(np.log(np.abs(w).sum(axis=0)).sum() - log_volume)


def smallest_alpha(w: Array, delta: float) -> float:
    """The smallest feasible α, by bisection of log(1 − α)."""
    limit = math.log1p(delta)
    if math.isinf(delta) or log_ratio(w) <= limit:
        return 0.0
    if delta == 0.0:
        return 1.0
    low, high = math.log(1e-12), 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if log_ratio(mixed(w, 1.0 - math.exp(middle))) <= limit:
            low = middle
        else:
            high = middle
    return 1.0 - math.exp(low)


def restricted_alpha(w: Array, delta: float, loss: Callable[[Array], float]) -> float:
    """The feasible α with the smallest loss of Ŵ; without a restriction 0, if W has an inverse.

    Args:
        w: W (D, D), aligned with the axes.
        delta: δ.
        loss: −log p(y | Ŵ).
    """
    if math.isinf(delta):
        return float(next(alpha for alpha in STEPS if np.linalg.cond(mixed(w, alpha)) < CONDITION))
    least = smallest_alpha(w, delta)
    grid = [1.0 - (1.0 - least) * share for share in SHARES] if least < 1.0 else []
    return float(min([*grid, 1.0], key=lambda alpha: loss(mixed(w, alpha))))
