"""Main effects: the kernel, what is left of it when it is absent, and functions that are drawn."""

import math

import numpy as np
import pytest

from differences import assert_gradient
from hidim.acquisition.improvement import LogExpectedImprovement
from hidim.gp import linalg
from hidim.gp.kernels import Effects, Matern, Scaled, Stationary
from hidim.gp.kernels.algebra import ABSENT
from hidim.gp.kernels.effects import MARGIN, NEGLIGIBLE
from hidim.gp.maps import HierarchicalScale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior


def start(kernel):
    return np.concatenate([np.broadcast_to(p.start, p.size) for p in kernel.parameters])


@pytest.mark.parametrize("lengthscale", [0.1, 0.4, 1.0])
def test_an_effect_has_unit_variance_on_average(lengthscale):
    kernel, grid = Effects([0]), (np.arange(2000)[:, None] + 0.5) / 2000
    variance = kernel.diagonal(np.array([math.log(lengthscale), 0.0]), grid).value
    assert variance.mean() == pytest.approx(1.0, rel=1e-3)
    assert variance[0] < 1.05  # no more at the edges than inside


def test_short_effects_are_those_of_a_matern_kernel():
    grid = np.linspace(0.0, 1.0, 40)[:, None]
    found = Effects([0]).gram(np.array([math.log(0.3), 0.0]), grid).value
    apart = math.sqrt(5.0) * np.abs(grid - grid.T) / 0.3
    exact = (1.0 + apart + apart**2 / 3.0) * np.exp(-apart)
    inner = slice(12, 28)
    np.testing.assert_allclose(found[inner, inner], exact[inner, inner], atol=0.06)


def test_a_column_that_does_not_exist_has_no_effect():
    kernel = Effects([0], [1], [3])
    here, there = np.array([[0.3, 0.5]]), np.array([[np.nan, 0.5], [0.3, np.nan], [np.nan, np.nan]])
    both = kernel.diagonal(start(kernel), here).value[0]
    first, second, none = kernel.diagonal(start(kernel), there).value
    assert none == 0.0
    assert first + second == pytest.approx(both)


def test_where_all_terms_are_absent_improvement_is_small_and_a_number():
    product = Scaled(Stationary(Matern(), HierarchicalScale(2)), optional=True)
    model = Model(Scaled(Effects([0, 1]), optional=True, name="log_effect_amplitude") + product)
    theta = model.put(model.start, {"log_effect_amplitude": ABSENT, "log_amplitude": ABSENT})
    x = np.random.default_rng(0).random((5, 2))
    with np.errstate(all="raise"):
        score = LogExpectedImprovement(0.0).on(Posterior(model, theta, x, x.sum(axis=1)))(x)
        assert np.isfinite(score.value).all()
        assert np.isfinite(score.to_inputs(np.ones(5))).all()


def test_an_absent_term_is_nothing_and_costs_nothing():
    class Costly(Effects):
        def _features(self, x, most):
            raise AssertionError("computed")

    kernel, x = Scaled(Costly([0, 1]), optional=True), np.random.default_rng(0).random((4, 2))
    theta = start(kernel)
    theta[0] = ABSENT
    gram = kernel.gram(theta, x)
    assert not gram.value.any()
    assert not gram.to_parameters(np.ones((4, 4))).any()
    assert not kernel.against(theta, x)(x).value.any()
    assert not kernel.diagonal(theta, x).value.any()


@pytest.fixture
def posterior():
    rng = np.random.default_rng(3)
    x = rng.random((40, 3))
    x[:, 2] = (np.floor(2.0 * x[:, 2]) + 0.5) / 2.0
    y = np.sin(5.0 * x[:, 0]) + (x[:, 1] - 0.3) ** 2 + 0.5 * (x[:, 2] > 0.5) + 0.3 * x[:, 0] * x[:, 1]
    effects = Scaled(Effects([0, 1], [2], [2]), optional=True, name="log_effect_amplitude")
    model = Model(effects + Scaled(Stationary(Matern(2.5), HierarchicalScale(3))))
    return Posterior(model, model.start, x, (y - y.mean()) / y.std())


def test_the_mean_effects_are_the_posterior_of_their_term(posterior):
    effects, coefficients, _ = posterior.effects(np.random.default_rng(0), 0)
    u = np.random.default_rng(1).random((9, 3))
    u[:, 2] = 0.25
    found = effects.at(coefficients, u)[0].sum(axis=1)
    np.testing.assert_allclose(found, posterior.term(0)(u).mean, atol=1e-9)


def test_effects_and_the_others_make_the_mean(posterior):
    effects, coefficients, others = posterior.effects(np.random.default_rng(0), 0)
    u = np.random.default_rng(1).random((9, 3))
    u[:, 2] = 0.25
    total = posterior.mean + effects.at(coefficients, u)[0].sum(axis=1) + others(u)
    np.testing.assert_allclose(total, posterior.predict(u).mean, atol=1e-9)


def test_effects_that_are_drawn_have_the_moments_of_their_term(posterior):
    effects, coefficients, _ = posterior.effects(np.random.default_rng(0), 4000)
    u = np.array([[0.2, 0.7, 0.25], [0.9, 0.1, 0.75]])
    drawn, exact = effects.at(coefficients[1:], u).sum(axis=2), posterior.term(0)(u)
    np.testing.assert_allclose(
        drawn.mean(axis=0), exact.mean, atol=5.0 * np.sqrt(exact.variance.max() / 4000)
    )
    np.testing.assert_allclose(drawn.var(axis=0), exact.variance, rtol=0.15)


def test_along_the_grid_effects_are_what_they_are_at_points(posterior):
    effects, coefficients, _ = posterior.effects(np.random.default_rng(0), 2)
    grid = np.linspace(0.0, 1.0, 5)
    points = np.column_stack([grid, grid, np.full(5, 0.25)])
    np.testing.assert_allclose(
        effects.along(coefficients, grid), effects.at(coefficients, points)[..., :2], atol=1e-12
    )


def test_a_model_whose_effects_are_absent_has_none(posterior):
    theta = posterior.theta.copy()
    theta[0] = ABSENT
    assert posterior.has_effects
    assert not Posterior(posterior.model, theta, posterior.x, posterior.y).has_effects


def test_draws_know_a_part_of_many_observations_and_the_mean_all_of_them(posterior, monkeypatch):
    factored = []
    original = linalg.cholesky
    monkeypatch.setattr(
        linalg, "cholesky", lambda a, ridge=0.0: factored.append(len(a)) or original(a, ridge)
    )
    of_all = posterior.effects(np.random.default_rng(0), 5).coefficients
    assert max(factored) == len(posterior.y)
    factored.clear()
    monkeypatch.setattr("hidim.gp.posterior.DRAWN", 8)
    of_few = posterior.effects(np.random.default_rng(0), 5).coefficients
    assert max(factored) == 8
    np.testing.assert_array_equal(of_few[0], of_all[0])
    assert np.all(np.isfinite(of_few))
    assert not np.array_equal(of_few, of_all)


def every_sine(kernel, theta, x):
    """The Gram matrix of one number by all sines, none of which counts for nothing."""
    omega = math.pi * np.arange(1, kernel.rank + 1) / (1.0 + 2.0 * MARGIN)
    spectrum = (5.0 * math.exp(-2.0 * theta[0]) + omega**2) ** -3.0
    middles = (np.arange(20_000) + 0.5) / 20_000
    spectrum /= spectrum @ np.mean(np.sin(np.outer(omega, middles + MARGIN)) ** 2, axis=1)
    sines = np.sin((x + MARGIN) * omega)
    return math.exp(theta[1]) * (sines * spectrum) @ sines.T


@pytest.mark.parametrize("lengthscale", [0.03, 0.2, 0.7, 2.5])
def test_sines_that_are_left_out_are_not_missed(lengthscale):
    kernel, x = Effects([0]), np.random.default_rng(0).random((30, 1))
    theta = np.array([math.log(lengthscale), 0.3])
    expected = every_sine(kernel, theta, x)
    found = kernel.gram(theta, x).value
    np.testing.assert_allclose(found, expected, atol=5 * math.exp(NEGLIGIBLE) * expected.max())


@pytest.mark.parametrize("lengthscale", [0.03, 2.5])
def test_gradients_are_those_of_the_sines_that_are_left(lengthscale):
    kernel, rng = Effects([0, 2], [1], [3]), np.random.default_rng(0)
    x, theta = rng.random((7, 3)), np.array([math.log(lengthscale), 0.3, -0.2, 0.1])
    g = rng.standard_normal((7, 7))
    g += g.T
    closed = kernel.gram(theta, x).to_parameters(g)
    assert_gradient(closed, lambda t: float(np.vdot(g, kernel.gram(t, x).value)), theta)
    cross, numbers = kernel.against(theta, rng.random((5, 3))), x[:, [0, 2]]

    def at(values):
        return np.column_stack([values[:, 0], x[:, 1], values[:, 1]])

    closed = cross(x).to_inputs(g[:, :5])[:, [0, 2]]
    assert_gradient(closed, lambda v: float(np.vdot(g[:, :5], cross(at(v)).value)), numbers)
    closed = kernel.diagonal(theta, x).to_inputs(g[0])[:, [0, 2]]
    assert_gradient(closed, lambda v: float(g[0] @ kernel.diagonal(theta, at(v)).value), numbers)
