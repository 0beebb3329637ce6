"""Labels: k(x, x') = exp(−Σ_j w_j [x_j ≠ x'_j]), a product of one factor per label column.

`Hamming` weights every column, log w_j = m + δ_j: all alike until the data insist, as the hierarchical
length-scales of numbers. Weights are small where there are many columns: under the usual weight of a single
one, no two of many random configurations would have anything in common. `Overlap` counts columns: h that
differ give exp(−h/λ).

Each factor e^{−w} + (1 − e^{−w}) [x = x'] is a constant plus a diagonal, hence positive semi-definite.
Agreements are counted by products of one-hot matrices: nothing of size n×n×columns is made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hidim._types import Array, Indices
from hidim.errors import MethodError
from hidim.gp.kernels.base import Against, Cross, FeatureMap, Features, Gram, Kernel, constant_diagonal
from hidim.gp.parameter import Parameter
from hidim.gp.priors import Normal, Prior, StudentT

#: Range of log w_j.
LOWEST, HIGHEST = -12.0, 3.0


class Hamming(Kernel):
    """Weighted Hamming distance between label columns, in an exponential.

    A column holds a label as (index + ½)/levels; any negative number codes an inactive label, a level of
    its own.

    Args:
        columns: which columns of X hold labels.
        levels: number of labels of each of those columns.
        prior: on m.
        spread: scale of the Student-t prior on δ_j, whose peak ties columns and whose tail lets them go.
        usual: how many columns two inputs have in common, if not all.
    """

    def __init__(
        self,
        columns: Sequence[int] | Indices,
        levels: Sequence[int] | Indices,
        *,
        prior: Prior | None = None,
        spread: float = 0.3,
        usual: int | None = None,
    ) -> None:
        self.columns = np.asarray(columns, dtype=np.intp)
        self.levels = np.asarray(levels, dtype=np.intp)
        self.offsets = np.concatenate([[0], np.cumsum(self.levels + 1)])
        count = len(self.columns)
        start = min(-1.0, math.log(2.0 / max(usual or count, 1)))
        deviations = StudentT(1.0, 0.0, spread)
        self.parameters = (
            Parameter("log_label_weight", 1, start, LOWEST, HIGHEST, prior or Normal(start, 1.5)),
            Parameter(
                "log_label_weight_deviation", count, 0.0, LOWEST - HIGHEST, HIGHEST - LOWEST, deviations
            ),
        )

    def one_hot(self, x: Array) -> Array:
        """(n, Σ(levels + 1)) indicator of every column's label."""
        labels = x[:, self.columns]
        index = np.minimum(np.floor(labels * self.levels), self.levels - 1)
        index = np.where(labels < 0.0, self.levels, index).astype(np.intp) + self.offsets[:-1]
        hot = np.zeros((len(x), int(self.offsets[-1])))
        np.put_along_axis(hot, index, 1.0, axis=1)
        return hot

    def _weights(self, theta: Array) -> Array:
        return np.asarray(np.exp(np.clip(theta[0] + theta[1:], LOWEST, HIGHEST)))

    def _value(self, weights: Array, left: Array, right: Array) -> Array:
        per_level = np.repeat(weights, self.levels + 1)
        return np.asarray(np.exp((left * per_level) @ right.T - weights.sum()))

    def gram(self, theta: Array, x: Array) -> Gram:
        weights, logs = self._weights(theta), theta[0] + theta[1:]
        moving = (logs > LOWEST) & (logs < HIGHEST)
        hot = self.one_hot(x)
        value = self._value(weights, hot, hot)

        def to_parameters(g: Array) -> Array:
            w = g * value
            agreeing = np.einsum("ij,ij->j", hot, w @ hot)
            per_column: Array = np.add.reduceat(agreeing, self.offsets[:-1])
            gradient = -weights * (w.sum() - per_column) * moving
            return np.concatenate([[gradient.sum()], gradient])

        return Gram(value, to_parameters)

    def against(self, theta: Array, x: Array) -> Against:
        weights = self._weights(theta)
        right = self.one_hot(x)

        def cross(u: Array) -> Cross:
            return Cross(self._value(weights, self.one_hot(u), right), lambda _: np.zeros_like(u))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        return constant_diagonal(u, 1.0)

    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        """Products of random signs: a column's sign depends on its label with probability 1 − e^{−w}."""
        signs = rng.choice([-1.0, 1.0], size=(int(self.offsets[-1]), count))
        ignored = rng.random((len(self.columns), count)) < np.exp(-self._weights(theta))[:, None]
        signs[np.repeat(ignored, self.levels + 1, axis=0)] = 1.0

        def feature_map(x: Array) -> Features:
            negative = self.one_hot(x) @ (signs < 0.0)
            return Features(1.0 - 2.0 * np.mod(negative, 2.0), lambda _: np.zeros_like(x))

        return feature_map


class Overlap(Hamming):
    """One length-scale for all label columns: k = exp(−h/λ), where h of them differ.

    Args:
        columns: which columns of X hold labels.
        levels: number of labels of each of those columns.
        squared: k = exp(−h²/2λ²) instead, which is **not** positive semi-definite (REMBO eq. 5 as printed).
    """

    def __init__(
        self,
        columns: Sequence[int] | Indices,
        levels: Sequence[int] | Indices,
        *,
        squared: bool = False,
    ) -> None:
        super().__init__(columns, levels)
        self.squared = squared
        self.parameters = (Parameter("log_label_scale", 1, 0.5, math.log(1e-3), math.log(1e4)),)

    def _differing(self, left: Array, right: Array) -> Array:
        return len(self.columns) - left @ right.T

    def _form(self, theta: Array, h: Array) -> tuple[Array, Array]:
        """k, and the factor that turns it into ∂k/∂log λ."""
        scaled = h * math.exp(-theta[0])
        return (np.exp(-0.5 * scaled**2), scaled**2) if self.squared else (np.exp(-scaled), scaled)

    def gram(self, theta: Array, x: Array) -> Gram:
        hot = self.one_hot(x)
        value, factor = self._form(theta, self._differing(hot, hot))
        return Gram(value, lambda g: np.array([np.vdot(g, value * factor)]))

    def against(self, theta: Array, x: Array) -> Against:
        right = self.one_hot(x)

        def cross(u: Array) -> Cross:
            value, _ = self._form(theta, self._differing(self.one_hot(u), right))
            return Cross(value, lambda _: np.zeros_like(u))

        return cross

    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        if self.squared:
            raise MethodError(
                "a kernel that is not positive semi-definite has no features: use squared=False"
            )
        return super().features(np.append(-theta[0], np.zeros(len(self.columns))), rng, count, width)
