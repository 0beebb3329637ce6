"""A Gaussian process that has seen data.

Notation: X (n, p), y (n,), K = L Lᵀ, α = K⁻¹ (y − m); U (r, p) queries, k = k(U, X) (r, n).

    μ(U) = m + k α          σ²(U) = k(u, u) − ‖L⁻¹ kᵀ‖²

Observations at the centre of a cylinder depend on the query: see `hidim.gp.turned`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Indices, Rng
from hidim.gp import linalg
from hidim.gp.kernels.algebra import Scaled, Through
from hidim.gp.kernels.base import Against, Cross
from hidim.gp.kernels.blocks import blocks
from hidim.gp.kernels.effects import Effects
from hidim.gp.kernels.groups import groups_in, widest
from hidim.gp.kernels.terms import Summand, additive_part, effects_part, summands, terms
from hidim.gp.maps import Mixing
from hidim.gp.model import Model
from hidim.gp.turned import Turned, cylinder_in

#: Variances below this share of the prior variance are rounding errors.
VARIANCE_FLOOR = 1e-12

#: Variances that a deviation can be divided by, where all terms of a kernel are absent.
LEAST_VARIANCE = 1e-100

#: Observations that main effects are drawn with at the most, for time alone: 1.1 s of a suggestion after 2000
#: trials was in a second factor of all of them.
DRAWN = 1000


class Prediction(NamedTuple):
    """Mean and variance (r,) of the function, and the pullback (∂μ, ∂σ²) ↦ ∂U (r, p)."""

    mean: Array
    variance: Array
    to_inputs: Callable[[Array, Array], Array]


class DrawnEffects(NamedTuple):
    """Main effects of a function, by the coefficients (s, m) of their features: the mean, then draws.

    Args:
        others: the mean (r,) of what is no main effect at inputs (r, p), without the constant one.
    """

    kernel: Effects
    coefficients: Array
    others: Callable[[Array], Array]


class LeftOut(NamedTuple):
    """By how much y_i is above what all others say of it (n,), and the variance of that."""

    residual: Array
    variance: Array

    @property
    def log_density(self) -> Array:
        """log p(y_i | y_{−i}) (n,)."""
        return -0.5 * (np.log(self.variance) + self.residual**2 / self.variance + math.log(2.0 * math.pi))


def factorise(model: Model, theta: Array, x: Array, variances: Array | None = None) -> Array:
    """The Cholesky factor (n, n) of K."""
    kernel, ridge = model.kernel, model.ridge(theta, variances)
    return linalg.cholesky_by_blocks(kernel.gram(theta[:-1], x).value, blocks(kernel, x), ridge)


class Posterior:
    """Posterior of a `Model` with hyperparameters θ, given X and y.

    Args:
        model: kernel, noise and mean.
        theta: (model.size,).
        x: (n, p).
        y: (n,).
        factor: the Cholesky factor of K, if it is known already.
        variances: with which the first observations came, (≤ n,); the others have none.
        asked: the part of the function that predictions are of, without the constant mean; all of it by
            default.
    """

    def __init__(
        self,
        model: Model,
        theta: Array,
        x: Array,
        y: Array,
        *,
        factor: Array | None = None,
        variances: Array | None = None,
        asked: Summand | None = None,
    ) -> None:
        self.model = model
        self.theta = theta
        self.x = x
        self.y = y
        self.noise = math.exp(theta[-1])
        self.variances = variances
        self.factor = factorise(model, theta, x, variances) if factor is None else factor
        self._is_part = asked is not None
        self._asked = Summand(model.kernel, theta[:-1]) if asked is None else asked

    @property
    def dim(self) -> int:
        """p, the number of columns of an input."""
        return int(self.x.shape[1])

    @property
    def widest(self) -> int:
        """The number of numbers in the largest group of a sum over groups; p for other kernels."""
        return widest(self._asked.kernel, self.dim)

    @property
    def groups(self) -> tuple[Indices, ...]:
        """The columns of every group of a sum over groups; all columns for other kernels."""
        groups = groups_in(self._asked.kernel)
        return (np.arange(self.dim),) if groups is None else tuple(term.columns for term in groups.terms)

    def unmixed(self) -> tuple[Posterior, Mixing | None]:
        """The same process as a function of what its kernel mixes of the inputs, and how it does so."""
        match self.model.kernel:
            case Scaled(inner=Through(inputs=Mixing() as mixing, inner=inner)) if not mixing.size:
                model = replace(self.model, kernel=Scaled(inner))
                images = mixing(np.empty(0), self.x).value
                known = Posterior(
                    model, self.theta, images, self.y, factor=self.factor, variances=self.variances
                )
                return known, mixing
        return self, None

    def information(self) -> float:
        """The information gain ½ log |1 + K/σ²| = ½ log |K + σ²| − ½ Σ log (σ² + v)."""
        return linalg.half_log_determinant(self.factor) - 0.5 * float(np.log(self.noises).sum())

    @cached_property
    def mean(self) -> float:
        """m, the fitted constant mean."""
        return self.model.mean(linalg.solve(self.factor, np.ones(len(self.y))), self.y)

    @cached_property
    def alpha(self) -> Array:
        """α (n,)."""
        return linalg.solve(self.factor, self.y - self.mean)

    @cached_property
    def _against(self) -> Against:
        return self._asked.kernel.against(self._asked.theta, self.x)

    @cached_property
    def smoothed(self) -> Array:
        """μ(X) (n,), the means at the observations: y − (σ² + v) α, since k(X, X) = K − σ² I − diag(v)."""
        return self.y - self.noises * self.alpha

    @cached_property
    def noises(self) -> Array:
        """σ² + v (n,)."""
        noise = np.full(len(self.y), self.noise)
        if self.variances is not None:
            noise[: len(self.variances)] += self.variances
        return noise

    @cached_property
    def _blocks(self) -> list[tuple[Indices, Array]]:
        """Rows without covariance with those of other blocks, and their part of the factor."""
        found = blocks(self.model.kernel, self.x)
        if len(found) == 1:
            return [(found[0], self.factor)]
        return [(rows, np.asfortranarray(self.factor[rows[:, None], rows])) for rows in found]

    def _solved(self, solver: Callable[[Array, Array], Array], right: Array) -> Array:
        """L⁻¹ B or L⁻ᵀ B for B (n, r), block by block, and only for columns that have to do with a block."""
        if len(self._blocks) == 1:
            return solver(self.factor, right)
        solution = np.zeros(right.shape)
        for rows, factor in self._blocks:
            part = right[rows]
            columns = np.flatnonzero(part.any(axis=0))
            if len(columns):
                solution[rows[:, None], columns] = solver(factor, part[:, columns])
        return solution

    @cached_property
    def _turned(self) -> Turned | None:
        """For observations that take the direction of the query."""
        found = cylinder_in(self.model.kernel, self.theta[:-1])
        if found is None or not (found[1].edge or found[1].central(self.x).any()):
            return None
        return Turned(*found, self.x, self.y - self.mean, self.noises)

    def predict(self, u: Array) -> Prediction:
        """Mean and variance of the function at `u` (r, p), without observation noise."""
        if self._turned is not None:
            turned, raw, pull = self._turned.predict(u)
            return Prediction(
                self.mean + turned, np.maximum(raw, VARIANCE_FLOOR * self._turned.amplitude), pull
            )
        k, diagonal = self._against(u), self._asked.kernel.diagonal(self._asked.theta, u)
        return self._predicted(0.0 if self._is_part else self.mean, k, diagonal)

    def additive(self) -> Posterior | None:
        """The posterior of the part of a sum that is a sum over groups: itself, a part of it, or None."""
        part = additive_part(self.model.kernel, self.theta[:-1])
        if part is None or part.kernel is self.model.kernel:
            return None if part is None else self
        given = {"factor": self.factor, "variances": self.variances}
        return Posterior(self.model, self.theta, self.x, self.y, **given, asked=part)

    def term(self, place: int) -> Callable[[Array], Prediction]:
        """The posterior of one term of a sum: what `terms` of the kernel lists at that place.

        The constant mean belongs to no term: the means of all terms and it make the mean of the sum.
        """
        kernel, theta = terms(*self._asked)[place]
        against = kernel.against(theta, self.x)
        return lambda u: self._predicted(0.0, against(u), kernel.diagonal(theta, u))

    def alone(self, u: Array, which: Indices) -> Prediction:
        """For each row of (r, p) the term of the group `which` (r,), by its place among `groups`.

        Rows are NaN in the columns of other groups, or lead to a group without columns (−1). The constant
        mean belongs to no term.
        """
        if not self._nested:
            return self._without_mean(u)
        mean, variance = np.empty(len(u)), np.empty(len(u))
        parts: list[tuple[Indices, Prediction]] = []
        for place in np.unique(which):
            rows = np.flatnonzero(which == place)
            found = self._without_mean(u[rows]) if place < 0 else self.term(int(place))(u[rows])
            mean[rows], variance[rows] = found.mean, found.variance
            parts.append((rows, found))

        def to_inputs(d_mean: Array, d_variance: Array) -> Array:
            gradient = np.zeros_like(u)
            for rows, found in parts:
                gradient[rows] = found.to_inputs(d_mean[rows], d_variance[rows])
            return gradient

        return Prediction(mean, variance, to_inputs)

    def _without_mean(self, u: Array) -> Prediction:
        found = self.predict(u)
        return found if self._is_part else found._replace(mean=found.mean - self.mean)

    @cached_property
    def _nested(self) -> bool:
        """Whether a group lies in another one: then a row with the columns of that has both."""
        sets = [frozenset(columns.tolist()) for columns in self.groups if len(columns)]
        if sum(map(len, sets)) == len(frozenset().union(*sets)):
            return False
        return any(a <= b for place, a in enumerate(sets) for other, b in enumerate(sets) if place != other)

    def _predicted(self, mean: float, k: Cross, diagonal: Cross) -> Prediction:
        """From the covariance with the observations (r, n) and the variance (r,) of what is predicted."""
        solved = self._solved(linalg.solve_lower, k.value.T)  # (n, r)
        raw = diagonal.value - np.einsum("ij,ij->j", solved, solved)
        variance = np.maximum(raw, VARIANCE_FLOOR * diagonal.value + LEAST_VARIANCE)

        def to_inputs(d_mean: Array, d_variance: Array) -> Array:
            weights = self._solved(linalg.solve_upper, solved).T  # (r, n) = k K⁻¹
            g = np.outer(d_mean, self.alpha)
            g -= (2.0 * d_variance)[:, None] * weights
            return k.to_inputs(g) + diagonal.to_inputs(d_variance)

        return Prediction(mean + k.value @ self.alpha, variance, to_inputs)

    def extended(self, x: Array, y: Array) -> Posterior:
        """The posterior with further observations `x` (k, p), `y` (k,), row by row: n² work for each.

        Ten rows at once and ten times one row give the same bits.
        """
        if len(y) == 0:
            return self
        factor, seen = self.factor, self.x
        for row in x:
            known = seen is self.x and not self._is_part
            against = self._against if known else self.model.kernel.against(self.theta[:-1], seen)
            column = against(row[None]).value[0]
            own = self.model.kernel.diagonal(self.theta[:-1], row[None]).value[0] + self.noise
            factor = linalg.extend(factor, column, own, self.noise)
            seen = np.vstack([seen, row])
        return self._grown(seen, np.concatenate([self.y, y]), factor)

    def _grown(self, x: Array, y: Array, factor: Array) -> Posterior:
        return Posterior(self.model, self.theta, x, y, factor=factor, variances=self.variances)

    def extended_at_once(self, x: Array, y: Array) -> Posterior:
        """Like `extended`, in one block: faster for many rows, and other bits in the last places."""
        if len(y) == 0:
            return self
        block = self.model.kernel.gram(self.theta[:-1], x).value.copy()
        block.flat[:: len(block) + 1] += self.noise
        factor = linalg.extend_block(self.factor, self._against(x).value.T, block)
        return self._grown(np.vstack([self.x, x]), np.concatenate([self.y, y]), factor)

    def with_outcomes(self, y: Array) -> Posterior:
        """The same inputs with other outcomes (n,)."""
        return self._grown(self.x, y, self.factor)

    def coarse(self, most: int) -> Posterior:
        """The posterior of at most so many observations: the better half of them, the others evenly by rank.

        For a first look at many points, at a price that does not grow with n.
        """
        n = len(self.y)
        if n <= most:
            return self
        ranked = np.argsort(self.y, kind="stable")
        best = most // 2
        others = ranked[best:][np.linspace(0, n - best - 1, most - best).astype(np.intp)]
        rows = np.sort(np.concatenate([ranked[:best], others]))
        return Posterior(
            self.model, self.theta, self.x[rows], self.y[rows], variances=self.noises[rows] - self.noise
        )

    def believing(self, pending: Array) -> Posterior:
        """The posterior that takes its own mean for the outcome at `pending` (k, p).

        The mean stays as it is and the variance there collapses, so that the next suggestion goes elsewhere
        (kriging believer; Ginsbourger et al. 2010).
        """
        return self if len(pending) == 0 else self.extended_at_once(pending, self.predict(pending).mean)

    @property
    def has_effects(self) -> bool:
        """Whether main effects are a part of the function."""
        return effects_part(self.model.kernel, self.theta[:-1]) is not None

    def effects(self, rng: Rng, draws: int) -> DrawnEffects:
        """Main effects: their mean, and draws.

        Matheron's rule (Wilson et al. 2020); what is not a main effect is drawn at the data alone. Of many
        observations the mean knows all, and draws know those of `coarse`.
        """
        part = effects_part(self.model.kernel, self.theta[:-1])
        assert part is not None
        effects, own, log_amplitude = part
        weights, few = math.exp(log_amplitude) * effects.weights(own)[0], self.coarse(DRAWN)
        phi = effects.features(few.x, len(weights))
        rest = [s for s in summands(self.model.kernel, self.theta[:-1]) if effects_part(*s) is None]
        left = sum((kernel.gram(theta, few.x).value for kernel, theta in rest), np.zeros(few.factor.shape))
        noise = linalg.cholesky(left, few.noises)[0] @ rng.standard_normal((len(few.y), draws))
        drawn = np.sqrt(weights) * rng.standard_normal((draws, len(weights)))
        corrections = linalg.solve(few.factor, (few.y - few.mean)[:, None] - phi @ drawn.T - noise)
        drawn += weights * (phi.T @ corrections).T
        mean = weights * (effects.features(self.x, len(weights)).T @ self.alpha)
        against = [kernel.against(theta, self.x) for kernel, theta in rest]

        def others(u: Array) -> Array:
            return sum((cross(u).value @ self.alpha for cross in against), np.zeros(len(u)))

        return DrawnEffects(effects, np.vstack([mean, drawn]), others)

    def stretched(self, factor: float) -> Posterior:
        """The posterior of the same data under length-scales `factor` times as long: one factorisation."""
        theta = self.model.stretched(self.theta, factor)
        given = None if self.variances is None else self.noises - self.noise
        return Posterior(self.model, theta, self.x, self.y, variances=given)

    def leave_one_out(self) -> LeftOut:
        """y_i given all others, in closed form (Rasmussen and Williams 2006, eq. 5.10–5.12)."""
        precision = np.diagonal(linalg.inverse(self.factor))
        return LeftOut(self.alpha / precision, 1.0 / precision)
