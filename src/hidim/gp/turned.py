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

Since the kernel is a product, B(u)_oj = k_r(0, r_j) k_a(a_u, a_j): a row that does not depend on u, times
what the query needs anyway. BOCK+B counts a point (R, a_u) as observed, too, for the variance alone; it is
one more row of B.
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
        rows: k without amplitude and angle, (t, r or 1, n').
        own: C, (r, t, t), noise included.
        query: k(O, u), (r, t).
        far: k_r(R, r_u), if the edge is counted as observed.
    """

    rows: Array
    own: Array
    query: Array
    far: Cross | None


class Turned:
    """The posterior of a cylinder with observations at its centre, or with one that is counted at its edge.

    Args:
        amplitude, cylinder, theta: the kernel.
        x: (n, p); y: (n,), less the mean; noises: σ² + v (n,).
    """

    def __init__(
        self, amplitude: float, cylinder: Cylinder, theta: Array, x: Array, y: Array, noises: Array
    ) -> None:
        central = cylinder.central(x)
        self.amplitude, self.cylinder = amplitude, cylinder
        self.left, self.right = cylinder.split(theta)
        self.noise = float(noises.min())
        self.x, self.y = x[~central], y[~central]
        self.centre, self.known, own = _merged(cylinder, x[central], y[central], noises[central])
        gram = amplitude * cylinder.gram(theta, self.x).value
        self.factor = linalg.cholesky(gram, noises[~central])[0]
        self.alpha = linalg.solve(self.factor, self.y)
        self.angle = cylinder.angle.against(self.right, self.x)
        self.base = cylinder.left.against(self.left, np.vstack([self.x, self.centre]))
        at_centre = self.base(self.centre).value
        self.rows = at_centre[:, None, : len(self.x)]  # k_r(0, r_j), and labels
        self.own = amplitude * at_centre[:, len(self.x) :] + np.diag(own)
        self.at_edge = cylinder.radius.against(self.left[: cylinder.radius.size], cylinder.outermost(x[:1]))

    def predict(self, u: Array) -> tuple[Array, Array, Pull]:
        """Mean, without the constant one, and raw variance (r,) at `u` (r, p), and their pullback."""
        amplitude, count, n = self.amplitude, len(self.known), len(self.y)
        base, angle = self.base(u), self.angle(u)
        border = self._border(u, base.value[:, n:])
        k = amplitude * base.value[:, :n] * angle.value  # (r, n')
        b = amplitude * border.rows * angle.value  # (t, r, n')
        rows = np.concatenate([k[None], b])
        solved = linalg.solve_lower(self.factor, rows.reshape(len(rows) * len(u), n).T)  # (n', (1 + t) r)
        w, v = solved.T.reshape(rows.shape)[0], solved.T.reshape(rows.shape)[1:]  # (r, n'), (t, r, n')
        schur = border.own - np.einsum("sri,tri->rst", v, v)
        diagonal = np.einsum("rtt->rt", schur)
        np.maximum(diagonal, self.noise, out=diagonal)
        left_over = border.query - np.vecdot(v, w).T
        surprise = self.known - (b[:count] @ self.alpha).T
        gamma = _solve(schur[:, :count, :count], surprise)
        omega = _solve(schur, left_over)
        mean = k @ self.alpha + np.vecdot(left_over[:, :count], gamma)
        variance = amplitude - np.vecdot(w, w) - np.vecdot(left_over, omega)

        def to_inputs(d_mean: Array, d_variance: Array) -> Array:
            weights = linalg.solve_upper(self.factor, solved).T.reshape(rows.shape)
            direct, bordering = weights[0], weights[1:]  # A⁻¹ k, (r, n'), and A⁻¹ Bᵀ, (t, r, n')
            up, spread = d_mean[:, None], 2.0 * d_variance[:, None]
            # Weights of all observations: β for the mean, and those of k K(u)⁻¹ without and with the edge.
            by_mean = _solve(schur[:, :count, :count], left_over[:, :count])
            beta = self.alpha - _combined(gamma, bordering)
            for_mean = direct - _combined(by_mean, bordering)
            for_variance = direct - _combined(omega, bordering)
            g = up * beta - spread * for_variance
            towards = g * base.value[:, :n]
            for t, row in enumerate(border.rows):
                pulled = spread * omega[:, t, None] * for_variance
                if t < count:
                    pulled -= up * (by_mean[:, t, None] * beta + gamma[:, t, None] * for_mean)
                towards += pulled * row
            radially = np.hstack([g * angle.value, up * gamma - spread * omega[:, :count]])
            pulled_back = angle.to_inputs(amplitude * towards) + base.to_inputs(amplitude * radially)
            if border.far is not None:
                pulled_back += border.far.to_inputs(-amplitude * spread * omega[:, count:])
            return np.asarray(pulled_back)

        return mean, variance, to_inputs

    def _border(self, u: Array, near: Array) -> _Border:
        amplitude, shape = self.amplitude, (len(u), *self.own.shape)
        own = np.broadcast_to(self.own, shape)
        if not self.cylinder.edge:
            return _Border(self.rows, own, amplitude * near, None)
        far, edge = self.at_edge(u), self.base(self.cylinder.outermost(u)).value
        across = amplitude * edge[:, len(self.y) :, None]
        corner = np.full((len(u), 1, 1), amplitude + self.noise)
        own = np.block([[own, across], [across.transpose(0, 2, 1), corner]])
        query = amplitude * np.hstack([near, far.value])
        rows = np.broadcast_to(self.rows, (len(self.rows), len(u), len(self.y)))
        return _Border(np.concatenate([rows, edge[None, :, : len(self.y)]]), own, query, far)


def _merged(cylinder: Cylinder, x: Array, y: Array, noises: Array) -> tuple[Array, Array, Array]:
    """Observations at the centre, of which equal ones are one: their weighted mean and its noise."""
    others = np.delete(np.nan_to_num(x, nan=-1.0), cylinder.columns, axis=1)
    _, first, member = np.unique(others, axis=0, return_index=True, return_inverse=True)
    precision = np.bincount(member.ravel(), 1.0 / noises, len(first))
    total = np.bincount(member.ravel(), y / noises, len(first))
    return x[first], total / precision, 1.0 / precision


def _solve(matrices: Array, right: Array) -> Array:
    """S⁻¹ b for every one of (r, t, t) and (r, t)."""
    if right.shape[1] <= 1:
        return right / matrices[:, :, 0] if right.shape[1] else right
    return np.asarray(np.linalg.solve(matrices, right[:, :, None])[:, :, 0])


def _combined(weights: Array, rows: Array) -> Array:
    """Σ_t weights[:, t] rows[t], (r, n'), for the first so many of `rows`."""
    return np.asarray(np.einsum("rt,tri->ri", weights, rows[: weights.shape[1]]))
