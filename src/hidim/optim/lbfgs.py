"""Projected L-BFGS that advances many ascents as one batch.

Each row of the batch (a *lane*) has its own point, box, curvature memory and step length, but all lanes
are scored by a single call of the objective, whose cost hardly depends on the number of rows. No lane
waits for another: at every call a lane either accepts its trial point and turns to a new direction, or
shortens its step. Lanes that have converged leave the batch.

Written by hand because scipy's L-BFGS-B advances one problem at a time: eight restarts would need eight
times as many calls.
"""

from __future__ import annotations

import numpy as np

from hidim._types import Array, Indices, Mask
from hidim.optim.base import Objective

ARMIJO = 1e-4
SHORTEST_STEP = 1e-10

#: Pairs of steps and gradient changes kept by each lane.
MEMORY = 6


def ascend(
    objective: Objective,
    starts: Array,
    lower: Array,
    upper: Array,
    *,
    max_calls: int = 60,
    tolerance: float = 1e-5,
) -> tuple[Array, Array, int]:
    """Climb from every row of `starts`, each inside its own box.

    Args:
        objective: scores (r, p) points, larger is better.
        starts: (r, p); a coordinate that is NaN does not exist, and stays so.
        lower, upper: (p,) or (r, p); a coordinate with lower = upper stays where it is.
        max_calls: calls of the objective at most.
        tolerance: a lane stops when its projected gradient, times the width of its box, or its last gain
            falls below this.

    Returns:
        points (r, p), scores (r,), number of points scored.
    """
    missing = np.isnan(starts)
    absent = bool(missing.any())
    lower, upper = np.broadcast_to(lower, starts.shape), np.broadcast_to(upper, starts.shape)
    if absent:
        starts, lower, upper = (np.where(missing, 0.0, array) for array in (starts, lower, upper))

    def cost(points: Array, lanes: Indices) -> tuple[Array, Array]:
        """−score of the points of some lanes, and its gradient."""
        score = objective(np.where(missing[lanes], np.nan, points) if absent else points)
        gradient = -score.to_inputs(np.ones(len(points)))
        return -score.value, np.where(missing[lanes], 0.0, gradient) if absent else gradient

    points = np.clip(starts, lower, upper)
    everyone = np.arange(len(points))
    batch = _Lanes(points, *cost(points, everyone), lower, upper)
    evaluations = len(points)
    active = np.flatnonzero(np.isfinite(batch.f) & ~batch.converged(everyone, tolerance))
    batch.turn(active)
    for _ in range(max_calls - 1):
        if len(active) == 0:
            break
        trial = batch.trial(active)
        evaluations += len(trial)
        active = batch.advance(active, trial, *cost(trial, active), tolerance)
    return np.where(missing, np.nan, batch.x) if absent else batch.x, -batch.f, evaluations


class _Lanes:
    """State of all ascents, written as minimisation of f = −score."""

    def __init__(self, x: Array, f: Array, g: Array, lower: Array, upper: Array) -> None:
        self.x, self.f, self.g = x, f, np.nan_to_num(g)
        self.lower, self.upper, self.width = lower, upper, upper - lower
        lanes, dim = x.shape
        # Rows of a lane's basis: `memory` steps, as many changes of the gradient (newest last), the gradient.
        self.basis = np.zeros((lanes, 2 * MEMORY + 1, dim))
        self.direction = np.zeros_like(x)
        self.length = np.ones(lanes)

    def free(self, lanes: Indices) -> Mask:
        """Coordinates that a step against the gradient can move."""
        x, g = self.x[lanes], self.g[lanes]
        return ~(((x <= self.lower[lanes]) & (g >= 0.0)) | ((x >= self.upper[lanes]) & (g <= 0.0)))

    def converged(self, lanes: Indices, tolerance: float) -> Mask:
        reach = np.abs(self.g[lanes]) * self.width[lanes] * self.free(lanes)
        return np.asarray(reach.max(axis=1) < tolerance)

    def turn(self, lanes: Indices) -> None:
        """Choose a new direction for `lanes`: the two-loop recursion on the free coordinates.

        The recursion is carried out on coefficients of the basis, whose inner products come from one batched
        matrix product: its loops then touch 2m + 1 numbers per lane instead of p.
        """
        if len(lanes) == 0:
            return
        m = MEMORY
        self.basis[lanes, -1] = self.g[lanes]
        basis = self.basis[lanes] * self.free(lanes)[:, None, :]
        products = basis @ basis.transpose(0, 2, 1)
        g, width = basis[:, -1], np.maximum(self.width[lanes], 1e-12)
        # Without memory, a first step moves the steepest coordinate by a tenth of its range.
        first = np.minimum(0.1 / np.maximum((np.abs(g) / width).max(axis=1), 1e-300), 1e10)
        pairs = np.arange(m)
        curvature, size = products[:, pairs, m + pairs].T, products[:, m + pairs, m + pairs].T
        usable = curvature > 1e-10 * size
        rho = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=usable)
        newest = m - 1 - np.argmax(usable[::-1], axis=0), np.arange(len(lanes))
        gamma = np.divide(curvature[newest], size[newest], out=first.copy(), where=usable[newest])
        d = -(_two_loops(products, rho, gamma)[:, None, :] @ basis)[:, 0]
        uphill = np.vecdot(d, g) >= 0.0
        d[uphill] = -first[uphill, None] * g[uphill]
        self.direction[lanes] = d
        self.length[lanes] = 1.0

    def trial(self, lanes: Indices) -> Array:
        moved = self.x[lanes] + self.length[lanes, None] * self.direction[lanes]
        return np.clip(moved, self.lower[lanes], self.upper[lanes])

    def advance(self, lanes: Indices, trial: Array, f: Array, g: Array, tolerance: float) -> Indices:
        """Accept or shorten; returns the lanes that go on."""
        step = trial - self.x[lanes]
        slope = np.vecdot(self.g[lanes], step)
        good = np.isfinite(f) & np.isfinite(g).all(axis=1)
        accepted = good & (f <= self.f[lanes] + ARMIJO * np.minimum(slope, 0.0))
        rejected = lanes[~accepted]
        if len(rejected):
            # Quadratic interpolation of the step length, kept within [0.1, 0.5] of the last.
            excess = np.where(good, f - self.f[lanes] - slope, np.inf)[~accepted]
            ideal = -slope[~accepted] / np.maximum(2.0 * excess, 1e-300)
            self.length[rejected] *= np.clip(np.nan_to_num(ideal, nan=0.1), 0.1, 0.5)
        moved = lanes[accepted]
        gain = self.f[moved] - f[accepted]
        self._remember(moved, step[accepted], g[accepted] - self.g[moved])
        self.x[moved], self.f[moved], self.g[moved] = trial[accepted], f[accepted], g[accepted]
        going = moved[gain > tolerance * np.maximum(1.0, 1e-3 * np.abs(self.f[moved]))]
        going = going[~self.converged(going, tolerance)]
        self.turn(going)
        return np.sort(np.concatenate([going, rejected[self.length[rejected] > SHORTEST_STEP]]))

    def _remember(self, lanes: Indices, step: Array, change: Array) -> None:
        m = MEMORY
        kept = self.basis[lanes]
        kept[:, : m - 1], kept[:, m - 1] = kept[:, 1:m].copy(), step
        kept[:, m : 2 * m - 1], kept[:, 2 * m - 1] = kept[:, m + 1 : 2 * m].copy(), change
        self.basis[lanes] = kept


def _two_loops(products: Array, rho: Array, gamma: Array) -> Array:
    """Coefficients (r, 2m + 1) of H g in the basis (steps, changes, g), for every lane.

    Args:
        products: (r, 2m + 1, 2m + 1) inner products of the basis.
        rho: (m, r), 1/(sᵀy), or 0 for a pair that is not to be used.
        gamma: (r,), the scale of the initial inverse Hessian.
    """
    m = len(rho)
    coefficients = np.zeros(products.shape[:2])
    coefficients[:, -1] = 1.0
    alphas = np.zeros_like(rho)
    for k in range(m - 1, -1, -1):
        alphas[k] = rho[k] * np.vecdot(coefficients, products[:, k])
        coefficients[:, m + k] -= alphas[k]
    coefficients *= gamma[:, None]
    for k in range(m):
        beta = rho[k] * np.vecdot(coefficients, products[:, m + k])
        coefficients[:, k] += alphas[k] - beta
    return coefficients
