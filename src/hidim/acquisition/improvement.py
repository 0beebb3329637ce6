"""Expected improvement and its logarithm.

With z = (best − μ)/σ and h(z) = φ(z) + z Φ(z):   EI = σ h(z),   log EI = log σ + log h(z).

EI underflows to an exact zero, with a zero gradient, a few standard deviations away from anything
promising; its logarithm does not (Ament et al. 2023). log h is evaluated in three ranges:

    z > −1         log(φ + z Φ)
    −30 < z ≤ −1   −z²/2 − ½ log 2π + log(1 − |z| M),  M = √(π/2) erfcx(|z|/√2) the Mills ratio
    z ≤ −30        the same with 1 − |z| M by its asymptotic series, where the difference cancels
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, ndtr

from hidim._types import Array
from hidim.acquisition.base import Acquisition, Belief
from hidim.optim.base import Objective, Score

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_ROOT_HALF_PI = math.sqrt(0.5 * math.pi)
_FAR = -30.0


def log_h(z: Array) -> tuple[Array, Array]:
    """log h(z) and its derivative Φ(z)/h(z), without underflow or cancellation.

    Example:
        >>> value, slope = log_h(np.array([0.0, -1e10]))
        >>> [f"{v:.6g}" for v in value]
        ['-0.918939', '-5e+19']
    """
    near = np.maximum(z, -1.0)
    density = np.exp(-0.5 * near * near - _HALF_LOG_2PI)
    cumulative = ndtr(near)
    h = density + near * cumulative
    value, slope = np.log(h), cumulative / h
    below = z <= -1.0
    if np.any(below):
        value[below], slope[below] = _log_h_tail(z[below])
    return value, slope


def _log_h_tail(z: Array) -> tuple[Array, Array]:
    size = -z
    mills = _ROOT_HALF_PI * erfcx(size / math.sqrt(2.0))
    w = 1.0 / (np.maximum(size, -_FAR) ** 2)
    series = w * (1.0 - w * (3.0 - w * (15.0 - w * (105.0 - w * (945.0 - w * 10395.0)))))
    gap = np.where(z > _FAR, 1.0 - size * mills, series)
    return -0.5 * z * z - _HALF_LOG_2PI + np.log(gap), mills / gap


@dataclass(frozen=True)
class LogExpectedImprovement(Acquisition):
    """log EI below `best`."""

    best: float

    def on(self, belief: Belief) -> Objective:
        def score(u: Array) -> Score:
            mean, variance, to_inputs = belief.predict(u)
            sd = np.sqrt(variance)
            z = (self.best - mean) / sd
            value, slope = log_h(z)

            def pullback(g: Array) -> Array:
                # ∂ log EI/∂μ = −slope/σ;  ∂ log EI/∂σ² = (1 − slope z) / 2σ²
                return to_inputs(-g * slope / sd, g * (1.0 - slope * z) / (2.0 * variance))

            return Score(value + np.log(sd), pullback)

        return score


@dataclass(frozen=True)
class ExpectedImprovement(Acquisition):
    """EI below `best`, as in the papers. Prefer the logarithm for gradient-based search."""

    best: float

    def on(self, belief: Belief) -> Objective:
        def score(u: Array) -> Score:
            mean, variance, to_inputs = belief.predict(u)
            sd = np.sqrt(variance)
            z = (self.best - mean) / sd
            density = np.exp(-0.5 * z * z - _HALF_LOG_2PI)
            cumulative = ndtr(z)

            def pullback(g: Array) -> Array:
                return to_inputs(-g * cumulative, g * density / (2.0 * sd))

            return Score(sd * (density + z * cumulative), pullback)

        return score
