"""The shadow of the cube on a random subspace, and the way back (Binois, Ginsbourger and Roustant 2020).

Clipping has two faults: many y stand for the same x, and a box of y misses a part of what the subspace can
reach. With an orthonormal basis Q (D, d), the shadow of the cube is the zonotope Z = {Qᵀ x : |x_i| ≤ 1}, and
every z of it stands for one x of its own, the nearest to the subspace among those with that shadow:

    γ(z) = argmin ‖x − Q z‖²   such that   Qᵀ x = z, |x_i| ≤ 1

By duality γ(z) = clip(Q μ), with d multipliers μ for which the shadow is right. A little slack 1/ρ gives
every z a solution, those outside Z nearly the nearest point of Z:

    G(μ) = Qᵀ clip(Q μ) − z + (μ − z)/ρ = 0,     ∂G/∂μ = Q_fᵀ Q_f + 1/ρ     (rows f that are not clipped)

G is the gradient of a convex function. Newton's method finds its minimum in a few steps if z is well within
Z; near the boundary and beyond it, by way of larger slacks, each from the solution for the one before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hidim._limits import COLUMNS_OF_ZONOTOPE
from hidim._types import Array, Indices, Mask, Rng
from hidim.embed.base import Embedding, Moved
from hidim.embed.gaussian import Gaussian
from hidim.errors import MethodError

#: 1/ρ, from a problem that is solved in a few steps to the one that is meant.
SLACKS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

#: |G| at which a solution is good enough.
EXACT = 1e-9

#: Newton steps after which another way is tried, and those after which what there is has to do.
FEW, STEPS = 3, 30

#: The slope, as a part of that at the start, at which a search along a step ends, and its halvings.
FLAT, HALVINGS = 0.5, 30


@dataclass(frozen=True)
class Zonotope(Embedding):
    """The span of a Gaussian matrix, scaled so that the zonotope just fits into [−√d, √d]^d.

    Every y of the box stands for some x: those outside the zonotope for that of a point on its boundary.
    `settle` moves them there. With a slack of 1e-6, points next to the boundary move by about 1e-4.

    The basis comes from a QR factorisation: other machines have the same to rounding, not to the last bit.

    Example:
        >>> shadow = Zonotope(high=25, low=2, seed=0)
        >>> y = shadow.settle(np.array([[0.3, -0.2], [1.4, 1.4]])).value
        >>> bool(np.allclose(y[0], [0.3, -0.2])), bool(np.linalg.norm(y[1]) < 1.5)
        (True, True)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.high > COLUMNS_OF_ZONOTOPE:
            raise MethodError(
                f"the zonotope of {self.high} columns is out of reach, beyond {COLUMNS_OF_ZONOTOPE}: "
                "use map='clip', the Gaussian embedding"
            )

    def rows(self, indices: Indices) -> Array:
        basis = self._basis
        return basis.scale * basis.q[indices]

    @property
    def fills_box(self) -> bool:
        return False

    @property
    def radius(self) -> float:
        return math.sqrt(self.low)

    def lift(self, y: Array, indices: Indices) -> Array:
        """Coordinates (n, m) of γ(y), for points y (n, d)."""
        basis = self._basis
        mu = multipliers(basis, basis.scale * y)
        return np.asarray(np.clip(np.vecdot(mu[:, None], basis.q[indices]), -1.0, 1.0))

    def image(self, y: Array) -> Moved:
        """γ(y) (n, D) of y (n, d), and its pullback: ∂x/∂z = Q_f (∂G/∂μ)⁻¹ (1 + 1/ρ)."""
        basis = self._basis
        raw = multipliers(basis, basis.scale * y) @ basis.q.T
        free = np.abs(raw) < 1.0

        def to_inputs(g: Array) -> Array:
            pulled = np.linalg.solve(_curvature(basis, free, SLACKS[-1]), ((g * free) @ basis.q)[:, :, None])
            return np.asarray(basis.scale * (1.0 + SLACKS[-1]) * pulled[:, :, 0])

        return Moved(np.clip(raw, -1.0, 1.0), to_inputs)

    def settle(self, y: Array) -> Moved:
        """The shadows (n, d) of the images of y (n, d): within the zonotope, y itself."""
        q, scale = self._basis.q, self._basis.scale
        image = self.image(y)
        return Moved(image.value @ q / scale, lambda g: image.to_inputs(g @ q.T / scale))

    def sample(self, rng: Rng, n: int) -> Array:
        """Uniform in the ball within the box, which for large D is nearly the zonotope."""
        direction = rng.standard_normal((n, self.low))
        size = self.radius * rng.uniform(size=(n, 1)) ** (1.0 / self.low)
        return self.settle(size * direction / np.linalg.norm(direction, axis=1, keepdims=True)).value

    @property
    def _basis(self) -> Basis:
        return _basis(self.high, self.low, self.seed)


class Basis(NamedTuple):
    """Q (D, d), q qᵀ (D, d·d) for each of its rows, and the scale by which z is larger than y."""

    q: Array
    squares: Array
    scale: float


@lru_cache(maxsize=16)
def _basis(high: int, low: int, seed: int) -> Basis:
    q, triangle = np.linalg.qr(Gaussian(high, low, seed).rows(np.arange(high)))
    q = q * np.sign(np.diag(triangle))  # of all that there are, the one with a positive diagonal
    squares = (q[:, :, None] * q[:, None, :]).reshape(high, -1)
    extent = float(np.abs(q).sum(axis=0).max())  # the zonotope reaches Σ_i |Q_ij| along axis j
    return Basis(q, squares, extent / math.sqrt(low))


def multipliers(basis: Basis, z: Array) -> Array:
    """μ (n, d) with γ(z) = clip(Q μ), for z (n, d), all rows at once."""
    mu = z.copy()
    hard = _newton(basis, z, mu, np.arange(len(z)), SLACKS[-1], EXACT, FEW)
    if len(hard):  # near the boundary or beyond it
        mu[hard] = z[hard]
        for slack in SLACKS:
            _newton(basis, z, mu, hard, slack, max(EXACT, slack**2), STEPS)
    return mu


def _newton(
    basis: Basis, z: Array, mu: Array, active: Indices, slack: float, exact: float, steps: int
) -> Indices:
    """Improve the rows `active` of μ (n, d) in place; those that are not solved in the end."""
    for step_number in range(steps + 1):
        raw = mu[active] @ basis.q.T
        gradient = np.clip(raw, -1.0, 1.0) @ basis.q - z[active] + slack * (mu[active] - z[active])
        unsolved = np.abs(gradient).max(axis=1, initial=0.0) > exact
        active, raw, gradient = active[unsolved], raw[unsolved], gradient[unsolved]
        if not len(active) or step_number == steps:
            break
        step = np.linalg.solve(_curvature(basis, np.abs(raw) < 1.0, slack), -gradient[:, :, None])[:, :, 0]
        mu[active] += _length(basis, raw, step, gradient, slack)[:, None] * step
    return active


def _curvature(basis: Basis, free: Mask, slack: float) -> Array:
    """∂G/∂μ (n, d, d)."""
    low = basis.q.shape[1]
    return (free @ basis.squares).reshape(-1, low, low) + slack * np.eye(low)


def _length(basis: Basis, raw: Array, step: Array, gradient: Array, slack: float) -> Array:
    """How much (n,) of each Newton step is taken: all, or up to a small slope, by bisection."""
    change = step @ basis.q.T
    start, size = np.vecdot(gradient, step), slack * np.vecdot(step, step)
    constant = start - np.vecdot(np.clip(raw, -1.0, 1.0), change)
    lower, length = np.zeros(len(raw)), np.ones(len(raw))
    upper = length.copy()
    for _ in range(HALVINGS):
        slope = (
            np.vecdot(np.clip(raw + length[:, None] * change, -1.0, 1.0), change) + constant + length * size
        )
        steep = np.abs(slope) > FLAT * np.abs(start)
        upper, lower = np.where(slope > 0.0, length, upper), np.where(slope > 0.0, lower, length)
        if not np.any(steep & (lower < 1.0)):
            break
        length = np.where(steep & (lower < 1.0), 0.5 * (lower + upper), length)
    return length
