"""Posterior, likelihood and gradient against scikit-learn's GaussianProcessRegressor."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from hidim.gp.densities import Improper, Normal
from hidim.gp.hyperparameter import Hyperparameter
from hidim.gp.kernels import Matern, Scaled, SquaredExponential, Stationary
from hidim.gp.maps import Scale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior

FORMS = {
    "rbf": (SquaredExponential(), lambda scales: sk.RBF(scales)),
    "matern12": (Matern(0.5), lambda scales: sk.Matern(scales, nu=0.5)),
    "matern32": (Matern(1.5), lambda scales: sk.Matern(scales, nu=1.5)),
    "matern52": (Matern(2.5), lambda scales: sk.Matern(scales, nu=2.5)),
}

#: A prior so wide that its contribution is below 1e-12: the plain likelihood.
WIDE = Normal(0.0, 1e9)
AMPLITUDE, DIM, ROWS = 1.7, 4, 25


def pair(form: str, ard: bool, noise: float):
    """Our model with its θ, and scikit-learn's kernel with the same values."""
    ours, theirs = FORMS[form]
    scales = np.array([0.5, 0.9, 1.4, 0.7]) if ard else np.array([0.8])
    kernel = Scaled(Stationary(ours, Scale(DIM, ard=ard, prior=WIDE)), prior=Improper())
    model = Model(kernel, Hyperparameter("log_noise", 1, 0.0, -30.0, 10.0), mean_sd=0.0)
    theta = np.log([AMPLITUDE, *scales, noise])
    other = sk.ConstantKernel(AMPLITUDE) * theirs(scales if ard else 0.8) + sk.WhiteKernel(noise)
    return model, theta, other


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.random((ROWS, DIM))
    return x, np.sin(3.0 * x).sum(axis=1) + 0.1 * rng.standard_normal(ROWS), rng.random((12, DIM))


every_kernel = pytest.mark.parametrize("form", FORMS)
every_scale = pytest.mark.parametrize("ard", [True, False], ids=["ard", "isotropic"])
every_noise = pytest.mark.parametrize("noise", [1e-1, 1e-3])


@every_kernel
@every_scale
@every_noise
def test_likelihood_and_gradient(form, ard, noise, data):
    x, y, _ = data
    model, theta, other = pair(form, ard, noise)
    regressor = GaussianProcessRegressor(other, alpha=0.0, optimizer=None).fit(x, y)
    # scikit-learn sorts nothing: its θ is (amplitude, length-scales, noise) in logs, like ours.
    expected, expected_gradient = regressor.log_marginal_likelihood(theta, eval_gradient=True)
    value, gradient = model.negative_log_posterior(theta, x, y)
    assert value == pytest.approx(-expected, rel=1e-8)
    np.testing.assert_allclose(gradient, -expected_gradient, rtol=1e-8, atol=1e-8)


@every_kernel
@every_scale
@every_noise
def test_posterior(form, ard, noise, data):
    x, y, u = data
    model, theta, other = pair(form, ard, noise)
    # k1 is the noise-free part; the noise goes into alpha, so that predictions are of the function itself.
    regressor = GaussianProcessRegressor(other.k1, alpha=noise, optimizer=None).fit(x, y)
    mean, covariance = regressor.predict(u, return_cov=True)
    posterior = Posterior(model, theta, x, y)
    prediction = posterior.predict(u)
    np.testing.assert_allclose(prediction.mean, mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(prediction.variance, np.diag(covariance), rtol=1e-8, atol=1e-8)


def test_a_fitted_mean_is_a_constant_kernel_with_its_posterior_mode(data):
    """y = m + f, m ~ N(0, s²): the MAP m and the mean of f given m are those of the process with k + s²."""
    x, y, u = data
    model, theta, _ = pair("matern52", True, 1e-2)
    level = Model(model.kernel, model.noise, mean_sd=3.0)
    other = sk.ConstantKernel(AMPLITUDE) * sk.Matern(np.exp(theta[1:-1]), nu=2.5) + sk.ConstantKernel(9.0)
    regressor = GaussianProcessRegressor(other, alpha=1e-2, optimizer=None).fit(x, y + 5.0)
    np.testing.assert_allclose(
        Posterior(level, theta, x, y + 5.0).predict(u).mean, regressor.predict(u), rtol=1e-8
    )


def test_gradient_with_priors_and_mean_matches_differences(data):
    from differences import assert_gradient

    x, y, _ = data
    model = Model(Scaled(Stationary(Matern(2.5), Scale(DIM))))
    theta = np.array([0.3, *np.log([0.5, 0.9, 1.4, 0.7]), math.log(0.05)])
    gradient = model.negative_log_posterior(theta, x, y + 2.0)[1]
    assert_gradient(gradient, lambda t: model.negative_log_posterior(t, x, y + 2.0)[0], theta)
