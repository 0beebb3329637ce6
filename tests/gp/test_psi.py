"""The warp Ψ, against its formula, and where the subspace leaves the cube."""

from __future__ import annotations

import numpy as np
import pytest

from differences import assert_gradient
from hidim.gp.psi import Warped

NONE = np.empty(0)


@pytest.fixture(params=[(9, 2), (25, 3), (4, 1), (3, 3)], ids=str)
def matrix(request) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(request.param)


def psi(matrix: np.ndarray, y: np.ndarray) -> np.ndarray:
    return Warped(matrix)(NONE, y).value


def naive(matrix: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Binois, Ginsbourger and Roustant (2015), one point at a time."""
    basis = np.linalg.qr(matrix)[0]
    x = np.clip(matrix @ y, -1.0, 1.0)
    z = basis @ basis.T @ x
    if np.abs(z).max() <= 1.0:
        return basis.T @ z
    pivot = z / np.abs(z).max()
    return basis.T @ (pivot * (1.0 + np.linalg.norm(x - pivot) / np.linalg.norm(pivot)))


def edge(matrix: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The point at which a ray from the origin leaves the cube."""
    return direction / np.abs(matrix @ direction).max()


def test_it_is_the_formula(matrix):
    y = 3.0 * np.random.default_rng(0).standard_normal((40, matrix.shape[1]))
    y[0] = 0.0
    expected = np.array([naive(matrix, row) for row in y])
    np.testing.assert_allclose(psi(matrix, y), expected, rtol=1e-10, atol=1e-12)


def test_inside_the_cube_it_is_the_point_itself_in_an_orthonormal_basis(matrix):
    y = np.array(
        [0.9 * edge(matrix, d) for d in np.random.default_rng(0).standard_normal((20, matrix.shape[1]))]
    )
    basis = np.linalg.qr(matrix)[0]
    np.testing.assert_allclose(psi(matrix, y), y @ matrix.T @ basis, rtol=1e-12)
    images, warped = y @ matrix.T, psi(matrix, y)
    between = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in (images, warped)]
    np.testing.assert_allclose(*between, atol=1e-12)


def test_it_is_continuous_where_the_subspace_leaves_the_cube(matrix):
    for direction in np.random.default_rng(2).standard_normal((20, matrix.shape[1])):
        y = edge(matrix, direction)
        inner, outer = psi(matrix, np.array([(1 - 1e-9) * y, (1 + 1e-9) * y]))
        assert np.linalg.norm(outer - inner) < 1e-6


def test_it_has_no_jumps_along_lines(matrix):
    rng = np.random.default_rng(3)
    for _ in range(5):
        start, stop = 4.0 * rng.standard_normal((2, matrix.shape[1]))
        steps = [
            np.linalg.norm(np.diff(psi(matrix, np.linspace(start, stop, n)), axis=0), axis=1).max()
            for n in (501, 5001)
        ]
        assert steps[1] < 0.2 * steps[0] + 1e-9  # ten times finer, so ten times smaller but for kinks


def test_points_with_the_same_image_are_one_point():
    matrix = np.array([[1.0, 0.2], [0.3, 1.0], [-0.5, 1.0]])
    corner = np.array([[50.0, 100.0], [70.0, 200.0]])
    first, second = psi(matrix, corner)
    np.testing.assert_array_equal(first, second)


def test_beyond_the_faces_points_are_moved_no_further_than_their_images_are_away(matrix):
    """The subspace leaves the cube at the pivot; Ψ is as far behind it as the image is from it."""
    basis = np.linalg.qr(matrix)[0]
    y = 5.0 * np.random.default_rng(4).standard_normal((30, matrix.shape[1]))
    for row, warped in zip(y, psi(matrix, y), strict=True):
        x = np.clip(matrix @ row, -1.0, 1.0)
        z = basis @ basis.T @ x
        if np.abs(z).max() > 1.0:
            pivot = z / np.abs(z).max()
            behind = np.linalg.norm(basis @ warped) - np.linalg.norm(pivot)
            assert behind == pytest.approx(np.linalg.norm(x - pivot), abs=1e-12)


@pytest.mark.parametrize("size", [0.1, 0.5, 1.5, 4.0])
def test_gradient_in_inputs(matrix, size):
    y = size * np.random.default_rng(5).standard_normal((12, matrix.shape[1]))
    y = y[np.abs(np.abs(y @ matrix.T) - 1.0).min(axis=1) > 1e-4]  # at a face it has a kink
    mapped = Warped(matrix)(NONE, y)
    g = np.random.default_rng(6).standard_normal(mapped.value.shape)
    assert_gradient(mapped.to_inputs(g), lambda v: float(np.vdot(g, psi(matrix, v))), y)


def test_at_the_origin_all_is_finite(matrix):
    mapped = Warped(matrix)(NONE, np.zeros((1, matrix.shape[1])))
    np.testing.assert_array_equal(mapped.value, 0.0)
    assert np.isfinite(mapped.to_inputs(np.ones(mapped.value.shape))).all()
