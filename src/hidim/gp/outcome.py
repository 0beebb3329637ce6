"""Monotone transforms of outcomes, chosen by evidence.

A Gaussian process expects outcomes that look Gaussian; objectives often span orders of magnitude. Every
transform is increasing and followed by standardisation. Which one fits is decided by the marginal
likelihood of the *untransformed* outcomes under a fixed kernel, that is with the Jacobian counted:

    log p(y) = −½ n log( min_m (t − m)ᵀ K⁻¹ (t − m) / n ) + Σ log t'(y_i) + const

(amplitude and mean at their maximum, so that the scale of t does not matter). All candidates share one
Cholesky factor, so the whole list costs less than one evaluation of the likelihood.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hidim._types import Array
from hidim.gp import linalg


class Outcome(ABC):
    """An increasing transform of outcomes."""

    @abstractmethod
    def raw(self, y: Array) -> tuple[Array, Array]:
        """t(y) (n,), on any scale, and log t'(y) (n,)."""

    def __call__(self, y: Array) -> Array:
        """t(y), standardised."""
        return standardised(self.raw(scaled(y))[0])

    def slopes(self, y: Array) -> Array:
        """Derivatives (n,) of the standardised t at y, by which the noise of an outcome grows or shrinks."""
        return np.ldexp(self._slopes(y), min(-exponent(y), 900))

    def _slopes(self, y: Array) -> Array:
        """The same at y / 2^e, with e so that the largest entry is near 1."""
        t, logs = self.raw(scaled(y))
        low, high = float(np.min(t)), float(np.max(t))
        if low == high:
            return np.zeros_like(y)
        slopes: Array = np.ptp(standardised(t)) / (high - low) * np.exp(logs)
        return slopes

    def variances(self, y: Array, given: Array) -> Array:
        """Variances (n,) of the standardised t, to first order, for those given of y; capped."""
        relative = np.sqrt(given) * np.minimum(self._slopes(y), 1e100)
        with np.errstate(over="ignore"):  # outcomes below 1e-300, whose noise is anything but small
            deviations: Array = np.minimum(np.ldexp(relative, -exponent(y)), 1e6)
        return deviations * deviations


def standardised(t: Array) -> Array:
    t = scaled(t)
    spread = float(np.std(t))
    return (t - np.mean(t)) / spread if spread > 1e-14 else np.zeros_like(t)


def scaled(t: Array) -> Array:
    """t times a power of two that brings its largest entry near 1: squares neither overflow nor vanish."""
    return np.ldexp(t, -exponent(t))


def exponent(t: Array) -> int:
    """e, so that the largest entry of t / 2^e is near 1."""
    largest = float(np.max(np.abs(t), initial=0.0))
    return int(np.frexp(largest)[1])


@dataclass(frozen=True)
class Identity(Outcome):
    def raw(self, y: Array) -> tuple[Array, Array]:
        return y, np.zeros_like(y)


@dataclass(frozen=True)
class YeoJohnson(Outcome):
    """Power transform (Yeo and Johnson 2000) of standardised outcomes; 1 is the identity, 0 a logarithm."""

    power: float

    def raw(self, y: Array) -> tuple[Array, Array]:
        s = standardised(y)
        size = np.log1p(np.abs(s))
        up, down = self.power, 2.0 - self.power
        positive = np.expm1(up * size) / up if up != 0.0 else size
        negative = -np.expm1(down * size) / down if down != 0.0 else -size
        t = np.where(s >= 0.0, positive, negative)
        return t, np.where(s >= 0.0, (up - 1.0) * size, (down - 1.0) * size) - np.log(_spread(y))


@dataclass(frozen=True)
class LogGap(Outcome):
    """log(y − min y + c), where c is the gap between the minimum and a quantile of the rest of y.

    Of the rest: were ties at the minimum counted, c could vanish, and with it all measure of the Jacobian.
    """

    quantile: float

    def raw(self, y: Array) -> tuple[Array, Array]:
        low = float(np.min(y))
        rest = y[y > low]
        offset = max(float(np.quantile(rest, self.quantile)) - low if len(rest) else 1.0, 1e-9 * _spread(y))
        t = np.log(y - low + offset)
        return t, -t


def _spread(y: Array) -> float:
    spread = float(np.std(y))
    return spread if spread > 0.0 and np.isfinite(spread) else 1.0


#: The candidates, by the name under which a choice is remembered.
OUTCOMES: dict[str, Outcome] = {
    "identity": Identity(),
    **{f"yeo-johnson({p:g})": YeoJohnson(p) for p in (-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 0.75)},
    **{f"log-gap({q:g})": LogGap(q) for q in (0.05, 0.1, 0.25, 0.5)},
}

#: Those whose slopes do not run wild at the smallest outcome, which with noise is no special one.
GENTLE = {name: outcome for name, outcome in OUTCOMES.items() if not isinstance(outcome, LogGap)}


def evidence(factor: Array, y: Array, candidates: Mapping[str, Outcome] = OUTCOMES) -> dict[str, float]:
    """log p(y) under every transform, up to a common constant, given the factor of K / amplitude."""
    n = len(y)
    y = scaled(y)
    raw = [outcome.raw(y) for outcome in candidates.values()]
    t = np.column_stack([values for values, _ in raw])
    jacobian = np.array([logs.sum() for _, logs in raw])
    whitened = linalg.solve_lower(factor, np.asfortranarray(t))
    ones = linalg.solve_lower(factor, np.ones((n, 1)))[:, 0]
    residual = whitened - np.outer(ones, ones @ whitened / (ones @ ones))
    quadratic = np.maximum(np.einsum("ij,ij->j", residual, residual) / n, 1e-300)
    return dict(zip(candidates, (jacobian - 0.5 * n * np.log(quadratic)).tolist(), strict=True))
