"""Directions along which a function varies, one after the other (projection pursuit; Gilboa et al. 2013).

    r ← y;  for k = 1, 2, …:  w_k and a function g_k of one number are fitted to r;  r ← r − g_k(X w_k)

Each g_k is a Gaussian process with a squared exponential kernel on the line, in its expansion into m sines
(Solin and Särkkä 2020), so that a likelihood and its gradient in w cost n m² + n D instead of n³:

    Φ_ij = sin(ω_j (z_i + L)) / √L,  ω_j = π j / 2L,  z = (X − ½) w/‖w‖,  Λ_j = σ² √(2π) ℓ exp(−½ ℓ² ω_j²)
    A = 1 + Λ^½ ΦᵀΦ Λ^½ / σ_n²,  B⁻¹ = Λ^½ A⁻¹ Λ^½ / σ_n²,  α = (r − Φ B⁻¹ Φᵀ r) / σ_n²
    −log p = ½ (rᵀα + n log σ_n² + log |A|),  ∂/∂Φ = Φ B⁻¹ − α (αᵀ Φ) Λ
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import linear_sum_assignment, minimize

from hidim._types import Array, Mask, Rng

#: Sines of the expansion for a unit of half the interval, at least and at most: length-scales from an eighth.
SINES, FEWEST, MOST = 16, 24, 64

#: Half the interval, as a multiple of the largest |z|: at its ends every expansion is 0.
MARGIN = 1.5

#: Means and deviations of the normal priors on log ℓ, log σ² and log σ_n², with ℓ as a share of the width of
#: the data. Residuals are standardised. Their limits keep the likelihood finite.
PRIOR = np.array([[math.log(0.5), 1.0], [0.0, 1.0], [math.log(0.1), 2.0]])
LIMITS = [(-4.0, 3.0), (-7.0, 7.0), (-12.0, 3.0)]

#: Random directions to start from, and likelihoods for a direction at the most.
ANYWHERE, CALLS = 2, 40

#: Directions fitted to white noise had an evidence of up to twice their number of coordinates (40 cases).
CHANCE = (5.0, 2.0)

#: Residuals below this share of the deviation of the outcomes are as good as nothing.
EXPLAINED = 0.01

#: Logarithms of the spectrum are at least this.
LEAST = -60.0


class Ridge(NamedTuple):
    """A direction w (D,) of unit length, the fitted function at the observations (n,), and its log evidence.

    The evidence is that against white noise.
    """

    direction: Array
    fitted: Array
    evidence: float


def pursued(x: Array, y: Array, most: int, rng: Rng, known: Array | None = None) -> Array:
    """Directions (D, k) of unit length, k ≤ `most`, the first explaining most.

    A direction that chance may have made is left out, and none is looked for after it, or when next to
    nothing is left to explain.

    Args:
        x: (n, D) in the unit cube; y: (n,).
        known: (D, s), directions to try first, each where the fits to residuals then stand.
    """
    residual = y - y.mean()
    least = EXPLAINED * float(np.std(residual))
    found: list[Array] = []
    while len(found) < most and np.std(residual) > least:
        starts = _starts(x, residual, rng)
        if known is not None:
            starts += [column for column in known.T if np.any(column)]
        ridge = fitted_ridge(x, residual, starts)
        if not ridge.evidence > CHANCE[0] + CHANCE[1] * x.shape[1]:
            break
        residual = residual - ridge.fitted
        found.append(ridge.direction)
    return np.column_stack(found) if found else np.empty((x.shape[1], 0))


def _starts(x: Array, residual: Array, rng: Rng) -> list[Array]:
    """The steepest slope, the directions of largest curvature (Li 1992), the best axis, and random ones."""
    away = x - 0.5
    slope = np.linalg.solve(away.T @ away + 0.1 * np.eye(x.shape[1]), away.T @ residual)
    bent = np.linalg.eigh(away.T @ ((residual - residual.mean())[:, None] * away))[1][:, [0, -1]].T
    curved = away * away - np.mean(away * away, axis=0)
    fit = np.abs(curved.T @ residual) / np.sqrt(np.maximum(np.vecdot(curved.T, curved.T), 1e-12))
    axis = np.zeros(x.shape[1])
    axis[int(np.argmax(fit))] = 1.0
    return list(np.vstack([slope, bent, axis, rng.standard_normal((ANYWHERE, x.shape[1]))]))


def fitted_ridge(x: Array, residual: Array, starts: list[Array]) -> Ridge:
    """The most probable direction and function of it, from the best of several starts."""
    scale = max(float(np.std(residual)), 1e-12)
    units = [w / np.linalg.norm(w) for w in starts if np.any(w)]
    widest = max(float(np.abs((x - 0.5) @ w).max()) for w in units)
    likelihood = _Likelihood(x - 0.5, residual / scale, MARGIN * widest + 1e-9)
    candidates = [np.concatenate([w, PRIOR[:, 0]]) for w in units]
    losses = [likelihood(p)[0] for p in candidates]
    best, loss = candidates[int(np.argmin(losses))], min(losses)
    result = minimize(
        likelihood,
        best,
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * x.shape[1] + LIMITS,
        options={"maxfun": CALLS, "maxiter": CALLS},
    )
    if result.fun < loss:
        best, loss = result.x, float(result.fun)
    w = best[: x.shape[1]]
    evidence = 0.5 * len(residual) - loss  # standardised noise has r²/2 for every value
    return Ridge(w / np.linalg.norm(w), scale * likelihood.mean(best), evidence)


class _Parts(NamedTuple):
    """What the likelihood and the fitted function are made of."""

    unit: Array
    norm: float
    inside: Mask
    angles: Array
    phi: Array
    length: float
    log_spectrum: Array
    noise: float
    square: Array
    matrix: Array
    inverse: Array


class _Likelihood:
    """−log p(r, θ) of θ = (w, log ℓ, log σ², log σ_n²), with its gradient, for |z| up to `half`."""

    def __init__(self, away: Array, residual: Array, half: float) -> None:
        self.away = away
        self.residual = residual
        self.half = half
        count = int(np.clip(SINES * half, FEWEST, MOST))
        self.omega = math.pi * np.arange(1, count + 1) / (2.0 * half)

    def _parts(self, p: Array) -> _Parts:
        dim = self.away.shape[1]
        w, (log_length, log_variance, log_noise) = p[:dim], p[dim:]
        norm = max(float(np.linalg.norm(w)), 1e-12)
        z = self.away @ (w / norm)
        inside = np.abs(z) < self.half
        angles = np.outer(np.clip(z, -self.half, self.half) + self.half, self.omega)
        phi = np.sin(angles) / math.sqrt(self.half)
        length, noise = math.exp(log_length), math.exp(log_noise)
        log_spectrum = log_variance + 0.5 * math.log(2.0 * math.pi) + math.log(length)
        log_spectrum = np.maximum(log_spectrum - 0.5 * (length * self.omega) ** 2, LEAST)
        root = np.exp(0.5 * log_spectrum)
        square = phi.T @ phi
        identity = np.eye(len(root))
        matrix = identity + root[:, None] * square * (root / noise)
        inverse = cho_solve(cho_factor(matrix), identity) * root[:, None] * (root / noise)  # B⁻¹
        return _Parts(
            w / norm, norm, inside, angles, phi, length, log_spectrum, noise, square, matrix, inverse
        )

    def mean(self, p: Array) -> Array:
        """The fitted function at the observations (n,)."""
        parts = self._parts(p)
        return np.asarray(parts.phi @ (parts.inverse @ (parts.phi.T @ self.residual)))

    def __call__(self, p: Array) -> tuple[float, Array]:
        unit, norm, inside, angles, phi, length, logs, noise, square, matrix, inverse = self._parts(p)
        alpha = (self.residual - phi @ (inverse @ (phi.T @ self.residual))) / noise
        n = len(self.residual)
        value = 0.5 * (self.residual @ alpha + n * math.log(noise) + np.linalg.slogdet(matrix)[1])
        spectrum = np.exp(logs)
        along = phi.T @ alpha
        d_phi = phi @ inverse - np.outer(alpha, along * spectrum)
        d_z = np.einsum("ij,ij,j->i", d_phi, np.cos(angles), self.omega) / math.sqrt(self.half)
        d_unit = self.away.T @ (d_z * inside)
        d_w = (d_unit - (d_unit @ unit) * unit) / norm
        effective = np.diagonal(square @ inverse)
        d_logs = 0.5 * (effective - along**2 * spectrum) * (logs > LEAST)
        d_length = d_logs @ (1.0 - (length * self.omega) ** 2)
        d_noise = 0.5 * (n - effective.sum() - noise * (alpha @ alpha))
        gradient = np.concatenate([d_w, [d_length, d_logs.sum(), d_noise]])
        deviation = (p[-3:] - PRIOR[:, 0]) / PRIOR[:, 1]
        gradient[-3:] += deviation / PRIOR[:, 1]
        return float(value + 0.5 * deviation @ deviation), gradient


def aligned(directions: Array) -> Array:
    """W (D, D) with unit columns, in which every direction stands for the axis that it is nearest to.

    Directions (D, k) are assigned to axes so that the sum of |w| on the diagonal is largest, and turned so
    that the diagonal is positive; axes without a direction stay what they are. Mixing W with the identity
    means nothing otherwise.
    """
    dim = len(directions)
    w = np.eye(dim)
    axes, columns = linear_sum_assignment(-np.abs(directions))
    chosen = directions[:, columns]
    signs = np.where(chosen[axes, np.arange(len(axes))] < 0.0, -1.0, 1.0)
    w[:, axes] = chosen * signs
    return w
