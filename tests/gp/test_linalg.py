from __future__ import annotations

import numpy as np
import pytest

from hidim.errors import NumericalError
from hidim.gp import linalg


def spd(n: int) -> np.ndarray:
    root = np.random.default_rng(n).standard_normal((n, n))
    return root @ root.T + 0.5 * np.eye(n)


def test_against_numpy():
    a, b = spd(6), np.random.default_rng(0).standard_normal((6, 3))
    factor, jitter = linalg.cholesky(a)
    assert jitter == 0.0
    np.testing.assert_allclose(factor, np.linalg.cholesky(a), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(linalg.solve(factor, b[:, 0]), np.linalg.solve(a, b[:, 0]), rtol=1e-10)
    np.testing.assert_allclose(linalg.solve_lower(factor, b), np.linalg.solve(factor, b), rtol=1e-10)
    np.testing.assert_allclose(linalg.solve_upper(factor, b), np.linalg.solve(factor.T, b), rtol=1e-10)
    np.testing.assert_allclose(linalg.inverse(factor), np.linalg.inv(a), rtol=1e-9)
    np.testing.assert_array_equal(linalg.inverse(factor), linalg.inverse(factor).T)
    assert linalg.half_log_determinant(factor) == pytest.approx(0.5 * np.linalg.slogdet(a)[1])


def test_what_is_factored_stays_as_it_was():
    a = spd(5)
    kept = a.copy()
    linalg.cholesky(a)
    np.testing.assert_array_equal(a, kept)


def test_a_singular_matrix_gets_the_least_jitter_that_helps():
    a = np.ones((8, 8))
    factor, jitter = linalg.cholesky(a)
    assert 0.0 < jitter <= 1e-8
    np.testing.assert_allclose(factor @ factor.T, a + jitter * np.eye(8), atol=1e-12)


@pytest.mark.parametrize("bad", [np.diag([1.0, -1.0]), np.full((3, 3), np.nan)])
def test_a_matrix_beyond_help_is_an_error_that_says_where_to_look(bad):
    with pytest.raises(NumericalError, match=r"covariance stays indefinite.*look for NaN"):
        linalg.cholesky(bad)


def test_squared_distances_are_never_negative():
    x = np.random.default_rng(0).random((20, 4)) + 1e3
    d2 = linalg.squared_distances(x, x)
    assert d2.min() >= 0.0
    y = np.random.default_rng(1).random((7, 4))
    exact = ((y[:, None] - y) ** 2).sum(axis=2)
    np.testing.assert_allclose(linalg.squared_distances(y, y), exact, atol=1e-13)


def test_many_rows_at_once_give_the_factor_that_single_rows_give():
    rng = np.random.default_rng(0)
    points = rng.random((12, 3))
    matrix = np.exp(-0.5 * linalg.squared_distances(points, points)) + 1e-3 * np.eye(12)
    start, _ = linalg.cholesky(matrix[:7, :7])
    grown = linalg.extend_block(start, matrix[:7, 7:], matrix[7:, 7:])
    np.testing.assert_allclose(grown, linalg.cholesky(matrix)[0], atol=1e-12)


def test_a_ridge_is_added_to_the_diagonal_and_the_matrix_left_alone():
    matrix = np.array([[1.0, 0.5], [0.5, 1.0]])
    factor, jitter = linalg.cholesky(matrix, ridge=0.25)
    np.testing.assert_allclose(factor @ factor.T, matrix + 0.25 * np.eye(2))
    assert jitter == 0.0
    assert matrix[0, 0] == 1.0


def test_numbers_next_to_zero_are_kept_out_of_factors_for_they_are_slow():
    powers = np.random.default_rng(0).uniform(-300.0, -61.0, (40, 40))
    covariance = 10.0 ** np.minimum(powers, powers.T)
    np.fill_diagonal(covariance, 1.0)
    covariance[3, 4] = covariance[4, 3] = 0.5
    kept = covariance.copy()
    factor, _ = linalg.cholesky(covariance)
    np.testing.assert_array_equal(covariance, kept)
    np.testing.assert_allclose(factor @ factor.T, covariance, rtol=1e-12, atol=1e-60)
    assert np.count_nonzero(factor) == 41
    solved = linalg.solve_lower(factor, np.asfortranarray(covariance[:, 5:6]))
    np.testing.assert_array_equal(np.flatnonzero(solved), [5])
