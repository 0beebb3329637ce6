"""Predictions of a cylinder whose centre was observed (BOCK §3.3 and supplement 1).

The centre has no direction. Under a query u it takes that of u: the observations O at the centre become the
points (0, a_u), which is where the cylinder is closest to u. So K depends on the query, but only in a border:

    K(u) = [ A  B(u)ᵀ ]     A = k(X', X') + σ²,   B(u)_oj = k((0, a_u), x_j),   C = k(O, O) + σ²
           [ B(u)  C  ]

and X' are all other observations. With A = L Lᵀ, V = L⁻¹ B(u)ᵀ and S = C − Vᵀ V, the block elimination

    γ = S⁻¹ (y_O − m − B A⁻¹ (y' − m))        ω = S⁻¹ (k(O, u) − B A⁻¹ k(X', u))
    μ = m + k(u, X') A⁻¹ (y' − m) + (k(O, u) − B A⁻¹ k(X', u))ᵀ γ
    σ² = k(u, u) − ‖L⁻¹ k(X', u)‖² − (k(O, u) − B A⁻¹ k(X', u))ᵀ ω

costs one more triangular solve for each o. All points have directions: K(u) is positive semi-definite.

Since the kernel is a product, B(u)_oj = k_r(0, r_j) k_a(a_u, a_j): a row that does not depend on u, times what
the query needs anyway. BOCK+B counts a point (R, a_u) as observed, too, for the variance alone; it is one
more row of B.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hidim._types import Array
from hidim.gp import linalg
from hidim.gp.kernels.algebra import Scaled
from hidim.gp.kernels.base import Cross, Kernel
from hidim.gp.kernels.cylinder import Cylinder

#: Turns (∂μ, ∂σ²) into ∂U.
Pull = Callable[[Array, Array], Array]


def cylinder_in(kernel: Kernel, theta: Array) -> tuple[float, Cylinder, Array] | None:
    """Amplitude, cylinder and its θ, if the kernel is one."""
    match kernel:
        case Scaled(inner=Cylinder() as cylinder):
            return float(np.exp(theta[0])), cylinder, theta[1:]
        case Cylinder():
            return 1.0, kernel, theta
    return None


class _Border(NamedTuple):
    """Rows of B for r queries: what they are without the angle, and their covariances with each other.

    Args:
        rows: t arrays (n') or (r, n'), k without amplitude and angle.
        own: C, (r, t, t), noise included.
        query: k(O, u), (r, t).
    """

    rows: list[Array]
    own: Array
    query: Array


class Turned:
    """The posterior of a cylinder with observations at its centre, or with a point that is counted at its edge.

    Args:
        amplitude, cylinder, theta: the kernel.
        x: (n, p); y: (n,), less the mean; noises: σ² + v (n,).
    """

    def __init__(
        self, amplitude: float, cylinder: Cylinder, theta: Array, x: Array, y: Array, noises: Array
    ) -> None:
        central = cylinder.central(x)
        self.amplitude, self.cylinder, self.edge = amplitude, cylinder, cylinder.edge
        self.left, self.right = cylinder.split(theta)
        self.noise = float(noises.min())
        self.x, self.y = x[~central], y[~central]
        self.centre, self.known, self.noises = x[central], y[central], noises[central]
        gram = amplitude * cylinder.gram(theta, self.x).value
        self.factor = linalg.cholesky(gram, noises[~central])[0]
        self.alpha = linalg.solve(self.factor, self.y)
        self.base = cylinder.left.against(self.left, self.x)
        self.angle = cylinder.angle.against(self.right, self.x)
        self.at_centre = cylinder.left.against(self.left, self.centre)
        self.rows = list(self.base(self.centre).value)  # k_r(0, r_j), and labels
        self.at_edge = cylinder.radius.against(self.left[: cylinder.radius.size], cylinder.outermost(x[:1]))

    def predict(self, u: Array) -> tuple[Array, Array, Pull]:
        """Mean, without the constant one, and raw variance (r,) at `u` (r, p), and their pullback."""
        amplitude, count = self.amplitude, len(self.known)
        base, angle = self.base(u), self.angle(u)
        near, far = self.at_centre(u), self.at_edge(u)
        border = self._border(u, near, far)
        k = amplitude * base.value * angle.value  # (r, n')
        b = [amplitude * row * angle.value for row in border.rows]  # t of (r, n')
        w = linalg.solve_lower(self.factor, k.T)  # (n', r)
        v = np.stack([linalg.solve_lower(self.factor, rows.T) for rows in b])  # (t, n', r)
        schur = border.own - np.einsum("sir,tir->rst", v, v)
        diagonal = np.einsum("rtt->rt", schur)
        np.maximum(diagonal, self.noise, out=diagonal)
        left_over = border.query - np.einsum("tir,ir->rt", v, w)
        surprise = self.known - np.stack([rows @ self.alpha for rows in b[:count]], axis=-1)
        gamma = _solve(schur[:, :count, :count], surprise)
        omega = _solve(schur, left_over)
        mean = k @ self.alpha + np.vecdot(left_over[:, :count], gamma)
        variance = amplitude - np.einsum("ir,ir->r", w, w) - np.vecdot(left_over, omega)

        def to_inputs(d_mean: Array, d_variance: Array) -> Array:
            direct = linalg.solve_upper(self.factor, w).T  # A⁻¹ k, (r, n')
            bordering = [linalg.solve_upper(self.factor, rows).T for rows in v]
            up, spread = d_mean[:, None], 2.0 * d_variance[:, None]
            # Weights of all observations: β for the mean, and those of k K(u)⁻¹ without and with the edge.
            by_mean = _solve(schur[:, :count, :count], left_over[:, :count])
            beta = self.alpha - _combined(gamma, bordering)
            for_mean = direct - _combined(by_mean, bordering)
            for_variance = direct - _combined(omega, bordering)
            g = up * beta - spread * for_variance
            towards = g * base.value
            for t, row in enumerate(border.rows):
                pulled = spread * omega[:, t, None] * for_variance
                if t < count:
                    pulled = pulled - up * (by_mean[:, t, None] * beta + gamma[:, t, None] * for_mean)
                towards += pulled * row
            pulled_back = angle.to_inputs(amplitude * towards) + base.to_inputs(amplitude * g * angle.value)
            if count:
                pulled_back += near.to_inputs(amplitude * (up * gamma - spread * omega[:, :count]))
            if self.edge:
                pulled_back += far.to_inputs(-amplitude * spread * omega[:, count:])
            return np.asarray(pulled_back)

        return mean, variance, to_inputs

    def _border(self, u: Array, near: Cross, far: Cross) -> _Border:
        amplitude, r = self.amplitude, len(u)
        own = amplitude * self.at_centre(self.centre).value + np.diag(self.noises)
        own = np.broadcast_to(own, (r, *own.shape))
        if not self.edge:
            return _Border(self.rows, own, amplitude * near.value)
        edge = self.cylinder.outermost(u)
        across = amplitude * self.at_centre(edge).value[:, :, None]
        corner = np.full((r, 1, 1), amplitude + self.noise)
        own = np.block([[own, across], [across.transpose(0, 2, 1), corner]])
        return _Border(
            [*self.rows, self.base(edge).value], own, amplitude * np.hstack([near.value, far.value])
        )


def _solve(matrices: Array, right: Array) -> Array:
    """S⁻¹ b for every one of (r, t, t) and (r, t)."""
    if right.shape[1] <= 1:
        return right / matrices[:, :, 0] if right.shape[1] else right
    return np.asarray(np.linalg.solve(matrices, right[:, :, None])[:, :, 0])


def _combined(weights: Array, rows: list[Array]) -> Array | float:
    """Σ_t weights[:, t] rows[t]; (r, n')."""
    return sum((weights[:, t, None] * rows[t] for t in range(weights.shape[1])), start=0.0)
