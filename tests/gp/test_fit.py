from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hidim.gp.densities import Improper
from hidim.gp.fit import DECIMALS, fit
from hidim.gp.hyperparameter import log_prior
from hidim.gp.kernels import Matern, Scaled, Stationary
from hidim.gp.maps import HierarchicalScale, Scale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior


@pytest.fixture(scope="module")
def data():
    """A draw from a known process in which the second column does not matter."""
    rng = np.random.default_rng(0)
    x = rng.random((60, 2))
    truth = Model(Scaled(Stationary(Matern(2.5), Scale(2))), mean_sd=0.0)
    theta = np.array([0.0, math.log(0.3), math.log(1e4), math.log(1e-4)])
    prior = Posterior(truth, theta, x[:1], np.zeros(1))
    covariance = truth.kernel.gram(theta[:-1], x).value + 1e-4 * np.eye(60)
    assert prior.noise == pytest.approx(1e-4)
    return x, np.linalg.cholesky(covariance) @ rng.standard_normal(60)


@pytest.mark.parametrize("scale", [Scale(2), Scale(2, ard=False), HierarchicalScale(2)])
def test_a_fit_is_a_stationary_point_within_bounds(scale, data):
    model = Model(Scaled(Stationary(Matern(2.5), scale)))
    found = fit(model, *data, [model.start], max_evaluations=200)
    low, high = model.bounds
    assert (found.theta >= low).all()
    assert (found.theta <= high).all()
    assert found.loss < model.negative_log_posterior(model.start, *data)[0]
    gradient = model.negative_log_posterior(found.theta, *data)[1]
    inside = (found.theta > low + 1e-3) & (found.theta < high - 1e-3)
    assert np.abs(gradient[inside]).max() < 0.1  # in units of log density per e-fold


def test_no_better_point_lies_near_a_fit(data):
    model = Model(Scaled(Stationary(Matern(2.5), HierarchicalScale(2))))
    found = fit(model, *data, [model.start], max_evaluations=200)
    rng = np.random.default_rng(1)
    low, high = model.bounds
    around = np.clip(found.theta + 0.3 * rng.standard_normal((50, model.size)), low, high)
    assert min(model.negative_log_posterior(t, *data)[0] for t in around) > found.loss - 1e-3


def test_a_column_that_does_not_matter_gets_a_long_scale(data):
    model = Model(Scaled(Stationary(Matern(2.5), HierarchicalScale(2))))
    theta = fit(model, *data, [model.start], max_evaluations=200).theta
    scales = np.exp(theta[1] + theta[2:4])
    assert scales[1] > 5.0 * scales[0]
    assert 0.1 < scales[0] < 1.0


def test_what_is_returned_is_rounded_so_that_what_is_stored_is_what_was_used(data):
    model = Model(Scaled(Stationary(Matern(2.5), Scale(2))))
    theta = fit(model, *data, [model.start]).theta
    inside = (theta > model.bounds[0]) & (theta < model.bounds[1])
    np.testing.assert_array_equal(theta[inside], np.round(theta[inside], DECIMALS))


def test_a_second_start_never_makes_it_worse(data):
    model = Model(Scaled(Stationary(Matern(2.5), Scale(2))))
    poor = model.bounds[0] + 0.1
    one, two = fit(model, *data, [poor]), fit(model, *data, [poor, model.start])
    assert two.loss <= one.loss
    assert two.evaluations > one.evaluations


def test_if_nothing_can_be_evaluated_the_first_start_is_kept(data):
    x, y = data
    model = Model(Scaled(Stationary(Matern(2.5), Scale(2))))
    found = fit(model, x, np.full_like(y, np.nan), [model.start])
    np.testing.assert_allclose(found.theta, model.start, atol=10.0**-DECIMALS)
    assert found.loss == math.inf


def test_what_is_held_stays(data):
    model = Model(Scaled(Stationary(Matern(2.5), HierarchicalScale(2))))
    held = model.holds("log_lengthscale_deviation")
    found = fit(model, *data, [model.start], held=held)
    assert held.tolist() == [False, False, True, True, False]
    assert found.theta[held].tolist() == [0.0, 0.0]
    assert found.loss < model.negative_log_posterior(model.start, *data)[0]
    assert found.loss >= fit(model, *data, [found.theta], max_evaluations=200).loss


def test_other_priors_are_those_of_the_climb(data):
    model = Model(Scaled(Stationary(Matern(2.5), HierarchicalScale(2))))
    flat = [replace(parameter, prior=Improper()) for parameter in model.parameters]
    found = fit(model, *data, [model.start], priors=flat, held=np.ones(model.size, bool))
    alone = model.negative_log_posterior(model.start, *data)[0] + log_prior(model.parameters, model.start)[0]
    assert found.loss == pytest.approx(alone)
