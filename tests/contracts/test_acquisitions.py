"""What every acquisition function in `ACQUISITIONS` must do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from differences import assert_gradient
from hidim.acquisition import ACQUISITIONS, ExpectedImprovement, LogExpectedImprovement, averaged
from hidim.gp.kernels import Matern, Scaled, Stationary
from hidim.gp.maps import Scale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior

every_acquisition = pytest.mark.parametrize("acquisition", ACQUISITIONS.values(), ids=ACQUISITIONS.keys())

MODEL = Model(Scaled(Stationary(Matern(2.5), Scale(3))))


def posterior(shift: float = 0.0) -> Posterior:
    rng = np.random.default_rng(0)
    theta = np.array([0.2, *np.log([0.4, 0.7, 1.1]), math.log(1e-2)]) + shift
    return Posterior(MODEL, theta, rng.random((12, 3)), rng.standard_normal(12))


@pytest.fixture
def u() -> np.ndarray:
    return np.random.default_rng(5).random((6, 3))


@every_acquisition
def test_gradient_in_inputs(acquisition, u):
    score = acquisition.on(posterior())
    g = np.random.default_rng(6).standard_normal(len(u))
    assert_gradient(score(u).to_inputs(g), lambda v: float(g @ score(v).value), u)


@every_acquisition
def test_one_finite_score_for_every_row(acquisition, u):
    value = acquisition.on(posterior())(u).value
    assert value.shape == (len(u),)
    assert np.isfinite(value).all()
    single = [acquisition.on(posterior())(row[None]).value[0] for row in u]
    np.testing.assert_allclose(value, single, rtol=1e-9)


@every_acquisition
def test_finite_value_and_gradient_at_the_data(acquisition):
    known = posterior()
    score = acquisition.on(known)(known.x)
    assert np.isfinite(score.value).all()
    assert np.isfinite(score.to_inputs(np.ones(len(known.x)))).all()


@every_acquisition
def test_prefers_lower_means_where_all_else_is_equal(acquisition, u):
    lower = posterior().with_outcomes(posterior().y - 1.0)
    assert (acquisition.on(lower)(u).value > acquisition.on(posterior())(u).value).all()


@pytest.mark.parametrize("best", [-40.0, -1.0, 3.0])
def test_log_expected_improvement_has_gradients_where_improvement_underflows(best, u):
    score = LogExpectedImprovement(best).on(posterior())
    g = np.random.default_rng(6).standard_normal(len(u))
    assert_gradient(score(u).to_inputs(g), lambda v: float(g @ score(v).value), u)


def test_an_average_over_posteriors_is_the_logarithm_of_the_mean_improvement(u):
    pair = [posterior(), posterior(0.3)]
    score = averaged([LogExpectedImprovement(0.0).on(p) for p in pair])
    plain = np.mean([ExpectedImprovement(0.0).on(p)(u).value for p in pair], axis=0)
    np.testing.assert_allclose(score(u).value, np.log(plain), rtol=1e-10)
    g = np.random.default_rng(6).standard_normal(len(u))
    assert_gradient(score(u).to_inputs(g), lambda v: float(g @ score(v).value), u)
