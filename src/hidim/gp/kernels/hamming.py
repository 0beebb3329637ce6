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
from hidim.gp.densities import Normal, StudentT
from hidim.gp.hyperparameter import Hyperparameter
from hidim.gp.kernels.base import Against, Cross, Gram, Kernel, constant_diagonal

#: Range of log w_j: from no effect at all to e³ = 20, with which one label that differs is a world apart.
LOWEST, HIGHEST = -12.0, 3.0

#: Scale of the Student-t prior on δ_j, whose peak ties columns and whose tail lets them go; chosen by analogy
#: with length-scales. Hierarchical weights as such took discrete-47 from .69 to 0 (six seeds, medians).
SPREAD = 0.3


class Labels:
    """Label columns of an input as indicators of their labels.

    A column holds a label as (index + ½)/levels, or NaN for a label that is inactive, which is a level of its
    own.

    Args:
        columns: which columns of X hold labels.
        levels: number of labels of each of those columns.
    """

    def __init__(self, columns: Sequence[int] | Indices, levels: Sequence[int] | Indices) -> None:
        self.columns = np.asarray(columns, dtype=np.intp)
        self.levels = np.asarray(levels, dtype=np.intp)
        self.offsets = np.concatenate([[0], np.cumsum(self.levels + 1)])

    def __len__(self) -> int:
        return len(self.columns)

    def one_hot(self, x: Array) -> Array:
        """(n, Σ(levels + 1)) indicator of every column's label."""
        labels = x[:, self.columns]
        index = np.clip(np.floor(labels * self.levels), 0, self.levels - 1)
        index = np.where(np.isnan(labels), self.levels, index).astype(np.intp) + self.offsets[:-1]
        hot = np.zeros((len(x), int(self.offsets[-1])))
        np.put_along_axis(hot, index, 1.0, axis=1)
        return hot


class Hamming(Kernel):
    """Weighted Hamming distance between label columns, in an exponential.

    Args:
        columns, levels: of `Labels`.
        usual: how many columns two inputs have in common, if not all.
    """

    def __init__(
        self, columns: Sequence[int] | Indices, levels: Sequence[int] | Indices, *, usual: int | None = None
    ) -> None:
        self.labels = Labels(columns, levels)
        count = len(self.labels)
        # A few columns: labels that differ have a correlation of e^{−w} = .69 at the start, a choice. Many:
        # configurations that differ everywhere have e^{−2}, however many columns there are. The width of the
        # prior, 1.5, is a choice that was not varied.
        start = min(-1.0, math.log(2.0 / max(usual or count, 1)))
        reach = HIGHEST - LOWEST
        self.parameters = (
            Hyperparameter("log_label_weight", 1, start, LOWEST, HIGHEST, Normal(start, 1.5)),
            Hyperparameter(
                "log_label_weight_deviation", count, 0.0, -reach, reach, StudentT(1.0, 0.0, SPREAD)
            ),
        )

    def weights(self, theta: Array) -> Array:
        """w (number of columns,)."""
        return np.asarray(np.exp(np.clip(theta[0] + theta[1:], LOWEST, HIGHEST)))

    def _value(self, weights: Array, left: Array, right: Array) -> Array:
        per_level = np.repeat(weights, self.labels.levels + 1)
        return np.asarray(np.exp((left * per_level) @ right.T - weights.sum()))

    def gram(self, theta: Array, x: Array) -> Gram:
        weights, logs = self.weights(theta), theta[0] + theta[1:]
        moving = (logs > LOWEST) & (logs < HIGHEST)
        hot = self.labels.one_hot(x)
        value = self._value(weights, hot, hot)

        def to_parameters(g: Array) -> Array:
            w = g * value
            agreeing = np.einsum("ij,ij->j", hot, w @ hot)
            per_column: Array = np.add.reduceat(agreeing, self.labels.offsets[:-1])
            gradient = -weights * (w.sum() - per_column) * moving
            return np.concatenate([[gradient.sum()], gradient])

        return Gram(value, to_parameters)

    def against(self, theta: Array, x: Array) -> Against:
        weights = self.weights(theta)
        right = self.labels.one_hot(x)

        def cross(u: Array) -> Cross:
            return Cross(self._value(weights, self.labels.one_hot(u), right), lambda _: np.zeros_like(u))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        return constant_diagonal(u, 1.0)


class Overlap(Kernel):
    """One length-scale for all label columns: k = exp(−h/λ), where h of them differ.

    Args:
        columns, levels: of `Labels`.
        squared: k = exp(−h²/2λ²) instead, which is **not** positive semi-definite (REMBO eq. 5 as printed).
    """

    def __init__(
        self, columns: Sequence[int] | Indices, levels: Sequence[int] | Indices, *, squared: bool = False
    ) -> None:
        self.labels = Labels(columns, levels)
        self.squared = squared
        # The limits of length-scales of numbers. Algorithm 3 of REMBO narrows them and starts anywhere; only
        # the process on failures starts at e^½.
        self.parameters = (Hyperparameter("log_label_scale", 1, 0.5, math.log(1e-3), math.log(1e4)),)

    def _differing(self, left: Array, right: Array) -> Array:
        return len(self.labels) - left @ right.T

    def _form(self, theta: Array, h: Array) -> tuple[Array, Array]:
        """k, and the factor that turns it into ∂k/∂log λ."""
        scaled = h * math.exp(-theta[0])
        return (np.exp(-0.5 * scaled**2), scaled**2) if self.squared else (np.exp(-scaled), scaled)

    def gram(self, theta: Array, x: Array) -> Gram:
        hot = self.labels.one_hot(x)
        value, factor = self._form(theta, self._differing(hot, hot))
        return Gram(value, lambda g: np.array([np.vdot(g, value * factor)]))

    def against(self, theta: Array, x: Array) -> Against:
        right = self.labels.one_hot(x)

        def cross(u: Array) -> Cross:
            value, _ = self._form(theta, self._differing(self.labels.one_hot(u), right))
            return Cross(value, lambda _: np.zeros_like(u))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        return constant_diagonal(u, 1.0)
