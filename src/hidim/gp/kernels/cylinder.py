"""The cylindrical kernel (BOCK; Oh, Gavves and Welling 2018).

A ball is cut open along the radius: x ↦ (r, a), r = ‖x − c‖, a = (x − c)/r (eq. 5), and

    k(x, x') = k_r(r, r') · k_a(a, a')                     (eq. 6)
    k_a(a, a') = Σ_p c_p (aᵀa')^p,   c_p ≥ 0               (eq. 7)
    k_r(r, r') = ρ(|w(r) − w(r')|),  w the Kumaraswamy distribution function     (eq. 8)

with c on the simplex, so that k_a(a, a) = 1. The number of parameters does not depend on the dimension.

The centre has every direction. Here it is the average over the sphere, E (aᵀa')^p = 1, 0, 1/D, 0, 3/D(D+2),
…, which with k_a(0, 0) = 1 is a covariance like any other: of the mean over all directions, and of a part
of its own. Predictions do better, and turn the centre to where they look: `hidim.gp.turned`.
"""

from __future__ import annotations

import math

import numpy as np

from hidim._types import Array, Indices, Mask
from hidim.gp.densities import Improper, Normal, SpikeAndSlab
from hidim.gp.hyperparameter import Hyperparameter
from hidim.gp.kernels.base import Against, Cross, Gram, Kernel, Product, constant_diagonal
from hidim.gp.kernels.stationary import Form, Stationary
from hidim.gp.maps import Chain, Direction, Map, Radius, Scale, Select, Warp

#: Standard deviation of the prior on log c_p (before they are made to sum to 1); the authors'.
WEIGHT_SD = 2.0

#: Limits of log c_p: five standard deviations.
WEIGHT_LIMIT = 5.0 * WEIGHT_SD

#: Of log α ≤ 0 ≤ log β: their limit, and the standard deviation of the spike at 0; the authors'. α ≤ 1 ≤ β is
#: concave, which spreads out what is near the centre; the supplement has the signs reversed.
CONCAVE, SPIKE = math.log(2.0), 0.1

#: The lower limit of the log length-scale of the radius; the authors'. The upper one is ½ log 2R.
SHORTEST = -6.0


class Polynomial(Kernel):
    """k = Σ_p c_p (m(x)ᵀm(x'))^p for a map m to the unit sphere, c = softmax(θ); m(x) = 0 is every direction.

    Args:
        inputs: m, without parameters.
        degree: P.
        dim: of the space of the sphere.
    """

    def __init__(self, inputs: Map, degree: int, dim: int) -> None:
        self.inputs = inputs
        self.moments = _moments(degree, dim)
        self.parameters = (
            Hyperparameter(
                "log_weight", degree + 1, 0.0, -WEIGHT_LIMIT, WEIGHT_LIMIT, Normal(0.0, WEIGHT_SD)
            ),
        )

    def weights(self, theta: Array) -> Array:
        """c (P + 1,)."""
        shares = np.exp(theta - theta.max())
        return np.asarray(shares / shares.sum())

    def directions(self, x: Array) -> Array:
        """m(x) (n, q)."""
        return self.inputs(np.empty(0), x).value

    def powers(self, x: Array) -> Array:
        """(aᵀa')^p (P + 1, n, n), at the centre by their mean over all directions."""
        unit = self.directions(x)
        cosine = unit @ unit.T
        cosine.flat[:: len(unit) + 1] = 1.0
        powers = np.stack([cosine**p for p in range(len(self.moments))])
        central = _is_zero(unit)
        if central.any():
            powers[:, central] = self.moments[:, None, None]
            powers[:, :, central] = self.moments[:, None, None]
            rows = np.flatnonzero(central)
            powers[:, rows[:, None], rows] = 1.0
        return powers

    def gram(self, theta: Array, x: Array) -> Gram:
        weights, powers = self.weights(theta), self.powers(x)

        def to_parameters(g: Array) -> Array:
            slopes = np.tensordot(powers, g, axes=2)
            return np.asarray(weights * (slopes - weights @ slopes))

        return Gram(weighted(weights, powers), to_parameters)

    def against(self, theta: Array, x: Array) -> Against:
        weights, others = self.weights(theta), self.directions(x)
        slopes = weights[1:] * np.arange(1, len(weights))
        mean, central = float(weights @ self.moments), _is_zero(others)

        def cross(u: Array) -> Cross:
            mapped = self.inputs(np.empty(0), u)
            cosine = mapped.value @ others.T
            rows = _is_zero(mapped.value)
            value = _at_centre(_horner(weights, cosine), rows, central, mean, 1.0)

            def to_inputs(g: Array) -> Array:
                slope = _at_centre(_horner(slopes, cosine), rows, central, 0.0, 0.0)
                return mapped.to_inputs((g * slope) @ others)

            return Cross(value, to_inputs)

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        return constant_diagonal(u, 1.0)


def weighted(weights: Array, powers: Array) -> Array:
    """Σ_p c_p T_p (n, n) for T (P + 1, n, n), with 1 in the diagonal: weights sum to 1 but for rounding."""
    value = (weights @ powers.reshape(len(powers), -1)).reshape(powers.shape[1:])
    value.flat[:: len(value) + 1] = 1.0
    return np.asarray(value)


def _is_zero(rows: Array) -> Mask:
    """Which rows (n,) of (n, q) are zero."""
    return np.asarray(~rows.any(axis=1), dtype=np.bool_)


def _horner(weights: Array, t: Array) -> Array:
    """Σ c_p t^p."""
    value = np.full_like(t, weights[-1])
    for weight in weights[-2::-1]:
        value *= t
        value += weight
    return value


def _at_centre(value: Array, rows: Mask, columns: Mask, mean: float, both: float) -> Array:
    """`value` (r, n) with what the centre has in common with others, and with itself; in place."""
    if rows.any():
        value[rows] = mean
    if columns.any():
        value[:, columns] = mean
        value[np.ix_(rows, columns)] = both
    return value


def _moments(degree: int, dim: int) -> Array:
    """E t^p (P + 1,) of the cosine t between two random directions in so many dimensions."""
    moments = np.zeros(degree + 1)
    moments[0] = 1.0
    for p in range(2, degree + 1, 2):
        moments[p] = moments[p - 2] * (p - 1) / (dim + p - 2)
    return moments


class Cylinder(Product):
    """k = k_r · k_a, times a kernel on the columns that are no numbers.

    Args:
        columns: of the numbers.
        centre: their values (q,) on the cylinder's axis.
        reach: R, in units of `half`: no number is farther away from the centre.
        half: the distance by which lengths are measured, as half the width of the unit cube.
        degree: P.
        form: ρ.
        warped: with w; otherwise the radius is taken as it is (BOCK−W).
        others: the kernel on the other columns.
        edge: predictions count the point at the radius R in the query's direction as observed, for their
            variance alone (BOCK+B).
    """

    def __init__(
        self,
        columns: Indices,
        centre: Array,
        reach: float,
        *,
        degree: int,
        form: Form,
        half: float = 0.5,
        warped: bool = True,
        others: Kernel | None = None,
        edge: bool = False,
    ) -> None:
        self.edge = edge
        self.columns = columns
        self.centre = centre
        self.radius_of_ball = half * reach
        select, dim = Select(columns), len(columns)
        limits = (SHORTEST - math.log(reach), 0.5 * math.log(2.0 * reach) - math.log(reach))
        scale = Scale(1, prior=Improper(), limits=limits)
        steps: list[Map] = [select, Radius(centre, half * reach), *([_concave()] if warped else []), scale]
        self.radius = Stationary(form, Chain(*steps))
        self.angle = Polynomial(Chain(select, Direction(centre)), degree, dim)
        super().__init__(self.radius if others is None else self.radius * others, self.angle)

    def central(self, x: Array) -> Mask:
        """Which rows (n,) are at the centre."""
        return _is_zero(self.angle.directions(x))

    def outermost(self, x: Array) -> Array:
        """The rows of `x` with their numbers moved out to the radius R, no matter in which direction."""
        moved = x.copy()
        moved[:, self.columns] = self.centre + self.radius_of_ball / math.sqrt(len(self.columns))
        return moved


def _concave() -> Warp:
    prior = SpikeAndSlab(SPIKE, CONCAVE)
    return Warp(
        1,
        alpha=Hyperparameter("log_alpha", 1, -0.3 * CONCAVE, -CONCAVE, 0.0, prior),
        beta=Hyperparameter("log_beta", 1, 0.3 * CONCAVE, 0.0, CONCAVE, prior),
    )
