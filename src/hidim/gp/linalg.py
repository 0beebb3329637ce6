"""All dense linear algebra of the Gaussian process, in one place.

LAPACK is called directly: for the sizes met here (tens to a few thousand rows) the checks of the
high-level wrappers cost as much as the work. Factors are lower triangular and Fortran-ordered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import blas, lapack

from hidim._types import Array, Indices
from hidim.errors import NumericalError

#: Relative to the mean of the diagonal: what is added to it, step by step, until the matrix factors.
JITTER_LADDER = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)

#: Covariances below this are 0. No sum with a variance notices, and products of a few of them would be such
#: numbers as processors take a hundred times as long for: with length-scales of .0055 of the range in 10
#: dimensions, a factor of 1500 rows took 4.1 s instead of .07.
TINY = 1e-60


def cholesky(matrix: Array, ridge: float | Array = 0.0) -> tuple[Array, float]:
    """Lower factor L of `matrix` (n, n) + `ridge` I, and the jitter that had to be added besides.

    A `ridge` of shape (n,) is added entry by entry.

    Example:
        >>> factor, jitter = cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
        >>> factor.tolist(), jitter
        ([[2.0, 0.0], [1.0, 1.0]], 0.0)
    """
    if len(matrix) == 0:
        return np.empty((0, 0), order="F"), 0.0
    matrix, scale = _without_tiny(matrix), float(np.mean(np.diagonal(matrix)) + np.mean(ridge))
    for rung in JITTER_LADDER:
        trial = np.array(matrix.T, order="F")  # symmetric, and so a plain copy if it is stored by rows
        trial.flat[:: len(trial) + 1] += ridge + rung * scale
        factor, info = lapack.dpotrf(trial, lower=1, clean=1, overwrite_a=1)
        if info == 0 and np.isfinite(factor[-1, -1]):
            return factor, rung * scale
    raise NumericalError(
        f"a {matrix.shape[0]}×{matrix.shape[0]} covariance stays indefinite with a jitter of "
        f"{JITTER_LADDER[-1]:g}; look for NaN in the data or for a kernel that is not positive semi-definite"
    )


def _without_tiny(covariances: Array) -> Array:
    """The same with 0 for what is next to 0."""
    tiny = np.abs(covariances) < TINY
    return np.where(tiny, 0.0, covariances) if tiny.any() else covariances


def cholesky_by_blocks(matrix: Array, blocks: Sequence[Indices], ridge: float | Array = 0.0) -> Array:
    """The lower factor of `matrix` (n, n) + `ridge` I, whose entries between different `blocks` are zero.

    The work is the sum of the blocks' cubes, not the cube of their sum.
    """
    if len(blocks) == 1:
        return cholesky(matrix, ridge)[0]
    factor = np.zeros(matrix.shape, order="F")
    ridges = np.broadcast_to(ridge, len(matrix))
    for block in blocks:
        factor[block[:, None], block] = cholesky(matrix[block[:, None], block], ridges[block])[0]
    return factor


def extend(factor: Array, column: Array, diagonal: float, noise: float) -> Array:
    """The factor of [[A, c], [cᵀ, d]] from the factor of A: n² work instead of n³/3.

    Args:
        factor: (n, n) lower factor of A.
        column: (n,) covariances between the new row and the old ones.
        diagonal: d, noise included.
        noise: the variance that no observation of others can explain away.
    """
    n = len(factor)
    grown = np.zeros((n + 1, n + 1), order="F")
    grown[:n, :n] = factor
    row = solve_lower(factor, column[:, None])[:, 0]
    grown[n, :n] = row
    # In exact arithmetic at least the noise remains; for a point that nearly repeats an old one, rounding
    # could leave less, or less than nothing.
    grown[n, n] = math.sqrt(max(diagonal - float(row @ row), noise))
    return grown


def extend_block(factor: Array, cross: Array, block: Array) -> Array:
    """The factor of [[A, C], [Cᵀ, B]] from the factor of A, for many new rows at once.

    Args:
        factor: (n, n) lower factor of A.
        cross: C, (n, k).
        block: B, (k, k), noise included.
    """
    n, k = cross.shape
    grown = np.zeros((n + k, n + k), order="F")
    grown[:n, :n] = factor
    rows = solve_lower(factor, np.asfortranarray(cross)).T
    grown[n:, :n] = rows
    grown[n:, n:] = cholesky(block - rows @ rows.T)[0]
    return grown


def solve_lower(factor: Array, right: Array) -> Array:
    """L⁻¹ B for B of shape (n, m)."""
    return np.asarray(blas.dtrsm(1.0, factor, _without_tiny(right), lower=1)) if right.size else right


def solve_upper(factor: Array, right: Array) -> Array:
    """L⁻ᵀ B for B of shape (n, m)."""
    return np.asarray(blas.dtrsm(1.0, factor, right, lower=1, trans_a=1)) if right.size else right


def solve(factor: Array, right: Array) -> Array:
    """A⁻¹ B for B of shape (n,) or (n, m), given the factor of A."""
    return np.asarray(lapack.dpotrs(factor, right, lower=1)[0]) if right.size else right


def inverse(factor: Array) -> Array:
    """A⁻¹ (n, n), symmetric, from the factor of A."""
    lower, _ = lapack.dpotri(factor, lower=1)
    full = lower + lower.T  # what lies above the diagonal of the factor is zero
    full.flat[:: len(full) + 1] *= 0.5
    return np.asarray(full)


def inverse_by_blocks(factor: Array, blocks: Sequence[Indices]) -> Array:
    """A⁻¹ (n, n) from the factor of A, whose entries between different `blocks` are zero."""
    if len(blocks) == 1:
        return inverse(factor)
    full = np.zeros(factor.shape)
    for block in blocks:
        full[block[:, None], block] = inverse(np.asfortranarray(factor[block[:, None], block]))
    return full


def quadratic_forms(symmetric: Array, columns: Array) -> Array:
    """hᵀ G h (m,) for every column h of (n, m), by one triangle of a symmetric G (n, n): half of the work.

    Example:
        >>> quadratic_forms(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[1.0, 0.0], [1.0, 2.0]])).tolist()
        [7.0, 12.0]
    """
    triangle = symmetric.copy()
    triangle.flat[:: len(triangle) + 1] *= 0.5
    products = blas.dtrmm(2.0, triangle.T, columns.T, side=1)
    return np.asarray(np.einsum("ij,ji->j", columns, products))


def half_log_determinant(factor: Array) -> float:
    """½ log |A| = Σ log L_ii."""
    return float(np.sum(np.log(np.diagonal(factor))))


def squared_distances(left: Array, right: Array) -> Array:
    """‖a_i − b_j‖² for rows of (n, d) and (m, d), as a matrix product: nothing of size n×m×d is made.

    For `right is left` the product is a symmetric one, at half the price, and so is the result.
    """
    norms = np.vecdot(left, left)
    others = norms if right is left else np.vecdot(right, right)
    d2 = left @ right.T
    d2 *= -2.0
    d2 += np.add.outer(norms, others)
    return np.maximum(d2, 0.0, out=d2)
