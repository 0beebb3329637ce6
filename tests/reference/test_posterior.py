"""The posterior against brute force and against itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from hidim.gp import linalg
from hidim.gp.kernels import Constant, Groups, Hamming, Kernel, Matern, Scaled, Stationary, Term
from hidim.gp.maps import Chain, HierarchicalScale, Scale, Select
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior

MIXED: Kernel = Scaled(
    Stationary(Matern(2.5), Chain(Select([0, 1]), HierarchicalScale(2))) * Hamming([2], [4])
)
NUMERIC: Kernel = Scaled(Stationary(Matern(1.5), Scale(3)))
KERNELS = {
    "numeric": NUMERIC,
    "mixed": MIXED,
    "sum": NUMERIC + Scaled(Constant()),
    "groups": Scaled(Constant()) + Groups([Term([0]), Term([1, 2])]),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def made(kernel: Kernel, rows: int = 15, *, mean_sd: float = 1.0, noise: float = 0.01) -> Posterior:
    rng = np.random.default_rng(3)
    model = Model(kernel, mean_sd=mean_sd)
    theta = model.start + 0.2 * rng.standard_normal(model.size)
    theta[-1] = math.log(noise)
    return Posterior(model, theta, rng.random((rows, 3)), rng.standard_normal(rows))


U = np.random.default_rng(8).random((5, 3))


@every_kernel
def test_leave_one_out_density_against_refitting(kernel):
    whole = made(kernel, mean_sd=0.0)
    expected = []
    for i in range(len(whole.y)):
        rest = np.delete(np.arange(len(whole.y)), i)
        without = Posterior(whole.model, whole.theta, whole.x[rest], whole.y[rest])
        guess = without.predict(whole.x[i : i + 1])
        sd = math.sqrt(guess.variance[0] + whole.noise)
        expected.append(stats.norm.logpdf(whole.y[i], guess.mean[0], sd))
    np.testing.assert_allclose(whole.leave_one_out().log_density, expected, rtol=1e-8)


@every_kernel
def test_extended_by_rows_is_the_same_as_from_scratch(kernel):
    whole = made(kernel)
    first = Posterior(whole.model, whole.theta, whole.x[:9], whole.y[:9])
    grown = first.extended(whole.x[9:12], whole.y[9:12]).extended(whole.x[12:], whole.y[12:])
    np.testing.assert_allclose(grown.factor, whole.factor, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(grown.predict(U).mean, whole.predict(U).mean, rtol=1e-9)
    np.testing.assert_allclose(grown.predict(U).variance, whole.predict(U).variance, rtol=1e-9)


def test_extended_by_many_copies_of_one_point_stays_finite():
    posterior = made(NUMERIC, noise=1e-8)
    copies = np.repeat(posterior.x[:1], 20, axis=0)
    grown = posterior.extended(copies, np.repeat(posterior.y[:1], 20))
    assert np.isfinite(grown.factor).all()
    assert (np.diagonal(grown.factor) > 0.0).all()
    assert grown.predict(posterior.x[:1]).mean[0] == pytest.approx(posterior.y[0], abs=1e-3)


def test_other_outcomes_are_those_of_a_new_posterior():
    posterior = made(NUMERIC)
    other = Posterior(posterior.model, posterior.theta, posterior.x, 2.0 * posterior.y)
    np.testing.assert_array_equal(
        posterior.with_outcomes(2.0 * posterior.y).predict(U).mean, other.predict(U).mean
    )


@every_kernel
def test_believing_keeps_the_mean_and_collapses_the_variance(kernel):
    posterior = made(kernel, mean_sd=0.0)
    believed = posterior.believing(U[:2])
    np.testing.assert_allclose(believed.predict(U).mean, posterior.predict(U).mean, atol=1e-9)
    assert (believed.predict(U).variance <= posterior.predict(U).variance + 1e-12).all()
    assert (believed.predict(U[:2]).variance <= posterior.noise).all()
    assert posterior.believing(np.empty((0, 3))) is posterior


def test_variances_stay_positive_at_the_data_without_noise():
    posterior = made(NUMERIC, noise=1e-8)
    variance = posterior.predict(posterior.x).variance
    assert (variance > 0.0).all()
    assert (variance < 1e-6).all()


def test_a_factor_extended_by_a_row_is_that_of_the_larger_matrix():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((8, 8))
    matrix = root @ root.T + np.eye(8)
    grown = linalg.extend(linalg.cholesky(matrix[:7, :7])[0], matrix[7, :7], matrix[7, 7], 1e-3)
    np.testing.assert_allclose(grown, np.linalg.cholesky(matrix), rtol=1e-12, atol=1e-13)
