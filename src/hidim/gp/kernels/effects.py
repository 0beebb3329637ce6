"""Main effects: a sum of functions of one column each, by features.

    k(x, x') = Σ_i a_i c(x_i, x'_i)          c(t, t') = Σ_j s_j(ℓ) φ_j(t) φ_j(t')

On numbers φ_j are the sines of an interval somewhat longer than [0, 1], and s_j the spectral density of a
Matérn-5/2 kernel there (Solin and Särkkä 2020). Since sines vanish at its ends, functions with a long reach
vary less near the edges of the cube than inside: with a variance that is as large there, suggestions went to
corners. A label has an indicator for every level. c has variance 1 on average over the unit interval, so a_i
is that of an effect. A column that does not exist has no effect.

The sum over D columns is one matrix product of n × (D m) features, where D kernels one by one need n² D
exponentials: five times as much at n = 200, D = 100 and m = 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hidim._types import Array, Indices
from hidim.gp import linalg
from hidim.gp.densities import Normal, StudentT
from hidim.gp.hyperparameter import Hyperparameter
from hidim.gp.kernels.base import Against, Cross, Gram, Kernel

#: By how much the interval of the sines is longer than [0, 1] on either side.
MARGIN = 0.25

#: Features of a number, at the most and at least, and those of all numbers together. With 16 at the most, too
#: few for ten ripples along an axis, Rastrigin's function in 6 dimensions was left at 12, with 40 at 1e-7.
MOST, LEAST, ALL = 40, 6, 1200

#: log of the share of the first sine's variance below which others count for nothing.
NEGLIGIBLE = math.log(1e-4)

#: Median of the prior on ℓ, and the scale of those on log ℓ and on the deviations of log a_i: choices, of
#: which only the median was varied (.4 and 1 were no better).
USUAL, SPREAD = 0.7, 1.0


class Effects(Kernel):
    """A function of every column alone, with a variance of its own.

    θ is log ℓ, common to all numbers if there are any, and the deviations of log a_i from −log D.

    Args:
        numbers: columns that hold numbers of [0, 1].
        labels: columns that hold labels, see `hidim.gp.kernels.hamming.Labels`.
        levels: number of labels of each of these.
    """

    def __init__(
        self,
        numbers: Sequence[int] | Indices,
        labels: Sequence[int] | Indices = (),
        levels: Sequence[int] | Indices = (),
    ) -> None:
        self.numbers, self.labels = np.asarray(numbers, dtype=np.intp), np.asarray(labels, dtype=np.intp)
        self.levels = np.asarray(levels, dtype=np.intp)
        self.columns = np.concatenate([self.numbers, self.labels])
        self.rank = int(np.clip(ALL // max(len(self.numbers), 1), LEAST, MOST))
        # Fits start at the last half-wave of the sines, too. Ripples along the axes may be main effects of
        # short reach; from the usual start a product kernel of short reach is found instead, which says
        # nothing of other basins. What is shorter than half of that wave the sines cannot show.
        reach, wave = Normal(math.log(USUAL), SPREAD), math.log((1.0 + 2.0 * MARGIN) / self.rank)
        low = wave - math.log(2.0)
        scale = Hyperparameter("log_effect_lengthscale", 1, reach.mean, low, -low, reach, wave)
        deviations = StudentT(1.0, 0.0, SPREAD)
        self.parameters = (
            *([scale] if len(self.numbers) else []),
            Hyperparameter("log_effect_deviation", len(self.columns), 0.0, -12.0, 6.0, deviations),
        )
        self._of_labels = len(self.numbers) + np.repeat(np.arange(len(self.labels)), self.levels)
        self._omega = math.pi * np.arange(1, self.rank + 1) / (1.0 + 2.0 * MARGIN)
        begin, end = 2.0 * self._omega * MARGIN, 2.0 * self._omega * (1.0 + MARGIN)
        # The mean of the square of each sine over [0, 1].
        self._squares = 0.5 - (np.sin(end) - np.sin(begin)) / (4.0 * self._omega)
        self._last: tuple[Array, Array] | None = None
        self._last_slopes: tuple[Array, Array] | None = None
        self._last_weights: tuple[bytes, tuple[Array, Array]] | None = None

    def _spectrum(self, theta: Array) -> tuple[Array, Array]:
        """log s_j, with which an effect has variance 1 on average, and its derivative by log ℓ.

        Of as many sines as count: for long reaches a handful.
        """
        inverse = 5.0 * math.exp(-2.0 * theta[0])  # 2ν/ℓ²
        logs = -3.0 * np.log(inverse + self._omega**2)
        logs = logs[: max(int(np.sum(logs > logs[0] + NEGLIGIBLE)), 2)] - logs[0]
        slopes = 6.0 * inverse / (inverse + self._omega[: len(logs)] ** 2)
        shares = np.exp(logs) * self._squares[: len(logs)]
        total = float(shares.sum())
        return logs - math.log(total), np.asarray(slopes - float(shares @ slopes) / total)

    def weights(self, theta: Array) -> tuple[Array, Array]:
        """Variances (m,) of the coefficients of all features, and the derivative of their logs by log ℓ.

        Those of the last θ are known: a climb asks for them at every step.
        """
        key, last = theta.tobytes(), self._last_weights
        if last is None or last[0] != key:
            last = self._last_weights = key, self._weights(theta)
        return last[1]

    def _weights(self, theta: Array) -> tuple[Array, Array]:
        count, size, levels = len(self.numbers), len(self.columns), len(self._of_labels)
        each = np.exp(theta[len(theta) - size :] - math.log(max(size, 1)))
        logs, slopes = self._spectrum(theta) if count else (np.empty(0), np.empty(0))
        numbers = np.exp(logs)[:, None] * each[:count]
        every = np.concatenate([each[self._of_labels], numbers.ravel()])
        return every, np.concatenate([np.zeros(levels), np.repeat(slopes, count)])

    def _sines(self, features: Array) -> Array:
        """Those of numbers (…, rank, numbers), of features (…, m)."""
        sines = features[..., len(self._of_labels) :]
        return sines.reshape(*sines.shape[:-1], -1, max(len(self.numbers), 1))

    def features(self, x: Array, most: int) -> Array:
        """The first `most` of Φ (n, m); of the last array they are known, which nobody writes to."""
        last = self._last
        if last is None or last[0] is not x or last[1].shape[1] < most:
            last = self._last = x, self._features(x, most)
        return last[1][:, :most]

    def _features(self, x: Array, most: int) -> Array:
        phi, count = np.empty((len(x), most)), len(self.numbers)
        if len(self.labels):
            values = np.repeat(x[:, self.labels], self.levels, axis=1)
            each = np.repeat(self.levels, self.levels)
            places = np.concatenate([np.arange(level) for level in self.levels])
            own = np.clip(np.floor(values * each), 0, each - 1) == places  # not NaN
            phi[:, : len(self._of_labels)] = own
        if count and most > len(self._of_labels):
            numbers, sines = x[:, self.numbers], self._sines(phi)
            angle = self._omega[0] * (numbers + MARGIN)
            _multiples(np.sin, angle, sines)
            if (missing := np.isnan(numbers)).any():
                sines[np.broadcast_to(missing[:, None], sines.shape)] = 0.0
        return phi

    def _to_inputs(self, x: Array, g: Array) -> Array:
        """∂L/∂X (n, p) from ∂L/∂Φ; of the last array the slopes of the sines are known."""
        gradient = np.zeros_like(x)
        if not len(self.numbers):
            return gradient
        g, last = self._sines(g), self._last_slopes
        if last is None or last[0] is not x or last[1].shape != g.shape:
            slopes = np.empty_like(g)
            _multiples(np.cos, self._omega[0] * (x[:, self.numbers] + MARGIN), slopes)
            slopes *= self._omega[: g.shape[1], None]
            last = self._last_slopes = x, np.nan_to_num(slopes, copy=False)
        gradient[:, self.numbers] = np.einsum("nmk,nmk->nk", last[1], g)
        return gradient

    def gram(self, theta: Array, x: Array) -> Gram:
        weights, slopes = self.weights(theta)
        half = self.features(x, len(weights)) * np.sqrt(weights)

        def to_parameters(g: Array) -> Array:
            each = linalg.quadratic_forms(g, half)  # ∂L/∂ log of every weight
            first = [each @ slopes] if len(self.numbers) else []
            numbers = self._sines(each).sum(axis=0)[: len(self.numbers)]
            labels = [own.sum() for own in self.of_labels(each)]
            return np.concatenate([first, numbers, labels])

        value = half @ half.T
        value.flat[:: len(x) + 1] = np.vecdot(half, half)
        return Gram(value, to_parameters)

    def against(self, theta: Array, x: Array) -> Against:
        weights = self.weights(theta)[0]
        right = self._features(x, len(weights)) * weights

        def cross(u: Array) -> Cross:
            return Cross(self.features(u, len(weights)) @ right.T, lambda g: self._to_inputs(u, g @ right))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        weights = self.weights(theta)[0]
        phi = self.features(u, len(weights))
        half = phi * np.sqrt(weights)
        return Cross(np.vecdot(half, half), lambda g: self._to_inputs(u, 2.0 * g[:, None] * phi * weights))

    # -- functions that are drawn --------------------------------------------------------------------------

    def at(self, coefficients: Array, x: Array) -> Array:
        """Effects (s, n, columns) at inputs (n, p), for rows of coefficients (s, m)."""
        each: Array = self._features(x, coefficients.shape[1]) * coefficients[:, None]
        numbers = self._sines(each).sum(axis=-2)[..., : len(self.numbers)]
        labels = [own.sum(axis=-1, keepdims=True) for own in self.of_labels(each)]
        return np.concatenate([numbers, *labels], axis=2)

    def along(self, coefficients: Array, grid: Array) -> Array:
        """Effects (s, G, numbers) of all numbers at the points of a grid (G,), for coefficients (s, m)."""
        own = self._sines(coefficients)
        sines = np.sin(np.outer(grid + MARGIN, self._omega[: own.shape[1]]))
        return np.asarray(sines @ own)[..., : len(self.numbers)]

    def of_labels(self, coefficients: Array) -> list[Array]:
        """Effects (…, levels) of every label, for coefficients (…, m)."""
        ends = np.cumsum(self.levels)
        return [coefficients[..., end - level : end] for end, level in zip(ends, self.levels, strict=True)]


def _multiples(wave: np.ufunc, angle: Array, out: Array) -> None:
    """sin jt or cos jt for j = 1, 2, … into (n, rank, numbers), for angles t (n, numbers)."""
    twice, each = 2.0 * np.cos(angle), np.empty((out.shape[1], *angle.shape))
    wave(angle, out=each[0])
    np.multiply(twice, each[0], out=each[1])
    each[1] -= wave(0.0)
    for j in range(2, len(each)):  # sin (j+1)t = 2 cos t sin jt − sin (j−1)t, and so for cosines
        np.multiply(twice, each[j - 1], out=each[j])
        each[j] -= each[j - 2]
    out[...] = each.transpose(1, 0, 2)
