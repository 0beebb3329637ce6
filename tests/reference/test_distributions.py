"""Priors, transforms and the slice sampler against scipy and known densities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from differences import assert_gradient
from hidim.gp.densities import Improper, Normal, SplitNormal, StudentT
from hidim.gp.hyperparameter import Hyperparameter, log_prior
from hidim.gp.kernels import Matern, Scaled, Stationary
from hidim.gp.maps import Scale, dimension_scaled
from hidim.gp.model import Model
from hidim.gp.outcome import OUTCOMES, YeoJohnson, standardised
from hidim.gp.slice import sample, sweep

PRIORS = {
    "flat": (Improper(), stats.uniform(-100, 200)),
    "normal": (Normal(0.5, 2.0), stats.norm(0.5, 2.0)),
    "student-t": (StudentT(1.0, 0.2, 0.3), stats.t(1.0, 0.2, 0.3)),
    "student-t 4": (StudentT(4.0, -1.0, 2.0), stats.t(4.0, -1.0, 2.0)),
}


@pytest.mark.parametrize("name", PRIORS)
def test_priors_are_log_densities_up_to_a_constant(name):
    prior, reference = PRIORS[name]
    values = np.array([-7.0, -0.3, 0.0, 0.4, 12.0])
    ours = np.array([prior(np.array([v]))[0] for v in values])
    np.testing.assert_allclose(np.diff(ours), np.diff(reference.logpdf(values)), rtol=1e-10, atol=1e-12)
    assert prior(values)[0] == pytest.approx(ours.sum(), rel=1e-12)
    assert_gradient(prior(values)[1], lambda v: prior(v)[0], values)


def test_the_prior_of_a_model_is_the_sum_over_its_parameters():
    parameters = (
        Hyperparameter("a", 2, 0, -9, 9, Normal(0, 1)),
        Hyperparameter("b", 1, 0, -9, 9, StudentT(1, 0, 1)),
    )
    theta = np.array([0.5, -1.0, 2.0])
    value, gradient = log_prior(parameters, theta)
    assert value == pytest.approx(Normal(0, 1)(theta[:2])[0] + StudentT(1, 0, 1)(theta[2:])[0])
    assert_gradient(gradient, lambda t: log_prior(parameters, t)[0], theta)


def test_the_dimension_scaled_prior_is_that_of_the_paper():
    """Hvarfner et al. 2024: log ℓ ~ N(√2 + ½ log D, √3)."""
    prior = dimension_scaled(100)
    assert (prior.mean, prior.sd) == pytest.approx((math.sqrt(2) + 0.5 * math.log(100), math.sqrt(3)))


@pytest.mark.parametrize("name", [name for name in OUTCOMES if name.startswith("yeo")])
def test_yeo_johnson_against_scipy(name):
    outcome = OUTCOMES[name]
    assert isinstance(outcome, YeoJohnson)
    y = np.exp(np.random.default_rng(0).standard_normal(50))
    expected = stats.yeojohnson(standardised(y), outcome.power)
    np.testing.assert_allclose(outcome.raw(y)[0], expected, rtol=1e-10, atol=1e-12)


def effective(chain: np.ndarray) -> float:
    """Effective number of independent draws, from the autocorrelations up to the first that is below 0.05."""
    centred = chain - chain.mean()
    total = 1.0
    for lag in range(1, len(chain) // 4):
        rho = float(centred[:-lag] @ centred[lag:] / (centred @ centred))
        if rho < 0.05:
            break
        total += 2.0 * rho
    return len(chain) / total


def assert_mean(draws: np.ndarray, mean: float, sd: float) -> None:
    assert abs(draws.mean() - mean) < 4.5 * sd / math.sqrt(effective(draws))


def test_slice_sampling_of_a_correlated_normal():
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    precision, mean = np.linalg.inv(covariance), np.array([0.5, -1.0])
    rng = np.random.default_rng(0)
    theta, draws = mean, []
    for _ in range(6000):
        theta = sweep(
            lambda t: -0.5 * float((t - mean) @ precision @ (t - mean)),
            theta,
            np.full(2, -50),
            np.full(2, 50),
            rng,
        )
        draws.append(theta)
    chain = np.array(draws)
    for k in range(2):
        assert_mean(chain[:, k], mean[k], math.sqrt(covariance[k, k]))
        # The square of a normal has the standard deviation √2 σ².
        assert_mean((chain[:, k] - mean[k]) ** 2, covariance[k, k], math.sqrt(2.0) * covariance[k, k])
    product = (chain - mean).prod(axis=1)
    assert_mean(product, 0.6, math.sqrt(1.0 * 2.0 + 0.6**2))


def test_slice_sampling_of_a_bounded_density():
    """x ∝ exp(−x) on [0, 1]: mean 1 − 1/(e − 1), and no draw outside."""
    rng, theta, draws = np.random.default_rng(1), np.array([0.5]), []
    for _ in range(6000):
        theta = sweep(lambda t: -float(t[0]), theta, np.zeros(1), np.ones(1), rng)
        draws.append(theta[0])
    chain = np.array(draws)
    assert chain.min() >= 0.0
    assert chain.max() <= 1.0
    exact = stats.truncexpon(1.0)
    assert_mean(chain, exact.mean(), exact.std())
    assert exact.mean() == pytest.approx(1.0 - 1.0 / (math.e - 1.0))
    assert_mean(chain < 0.25, exact.cdf(0.25), math.sqrt(exact.cdf(0.25) * exact.sf(0.25)))


def test_slice_sampling_leaves_a_point_where_the_density_vanishes_all_around():
    moved = sweep(
        lambda t: 0.0 if t[0] == 0.5 else -math.inf,
        np.array([0.5]),
        np.zeros(1),
        np.ones(1),
        np.random.default_rng(0),
    )
    assert moved[0] == 0.5


def test_sampled_hyperparameters_follow_their_prior_when_there_is_nothing_to_learn():
    """One observation says nothing on length-scales: their draws follow the prior."""
    kernel = Scaled(Stationary(Matern(2.5), Scale(1, prior=Normal(0.3, 0.5))), prior=Normal(0.0, 0.3))
    model = Model(kernel, Hyperparameter("log_noise", 1, -2.0, -9.0, 3.0, Normal(-2.0, 0.5)), mean_sd=0.0)
    x, y = np.array([[0.5]]), np.array([0.0])
    draws = sample(model, x, y, model.start, np.random.default_rng(0), count=600, burn_in=10)
    assert draws.shape == (600, model.size)
    low, high = model.bounds
    assert (draws >= low).all()
    assert (draws <= high).all()
    assert_mean(draws[:, 1], 0.3, 0.5)
    assert_mean((draws[:, 1] - 0.3) ** 2, 0.25, math.sqrt(2.0) * 0.25)


def test_a_split_normal_is_a_normal_on_either_side_and_smooth_in_between():
    prior = SplitNormal(1.0, below=0.5, above=3.0)
    for side, sd in ((np.array([-0.2, 0.9]), 0.5), (np.array([1.1, 7.0]), 3.0)):
        assert prior(side)[0] == pytest.approx(Normal(1.0, sd)(side)[0])
        np.testing.assert_allclose(prior(side)[1], Normal(1.0, sd)(side)[1])
    assert prior(np.array([1.0])) == (0.0, np.array([0.0]))
