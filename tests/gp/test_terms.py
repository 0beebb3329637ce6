"""Posteriors of the terms of a sum."""

from __future__ import annotations

import numpy as np
import pytest

from differences import assert_gradient
from hidim.gp.kernels import Groups, Scaled, SquaredExponential, Stationary, Term, Through
from hidim.gp.kernels.terms import terms
from hidim.gp.maps import Mixing, Scale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior

GROUPS = [Term([0, 3]), Term([1]), Term([2, 4])]
WEIGHTS = np.eye(5) + 0.2 * np.random.default_rng(8).standard_normal((5, 5))


def summed(**settings):
    return Groups(GROUPS, form=SquaredExponential(), **settings)


KERNELS = {
    "groups": Scaled(summed(lengthscales="isotropic")),
    "own length-scales": Scaled(summed(lengthscales="grouped", spread=0.5)),
    "overlapping": Scaled(Groups([Term([0, 1, 2]), Term([2, 3, 4])], common=True)),
    "mixed": Scaled(Through(Mixing(range(5), WEIGHTS), summed(lengthscales="isotropic"))),
    "sum": Scaled(Stationary(SquaredExponential(), Scale(5))) + Scaled(summed(lengthscales="ard")),
}
every = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def posterior(kernel, n: int = 40, seed: int = 0) -> Posterior:
    rng = np.random.default_rng(seed)
    x = rng.random((n, 5))
    y = np.sin(5 * x[:, 0]) * x[:, 3] + x[:, 1] ** 2 - x[:, 2] * x[:, 4] + 0.7
    model = Model(kernel)
    theta = model.start + 0.3 * rng.standard_normal(model.size)
    return Posterior(model, theta, x, y)


@every
def test_the_means_of_the_terms_and_the_constant_sum_to_the_mean(kernel):
    known, u = posterior(kernel), np.random.default_rng(1).random((30, 5))
    count = len(terms(kernel, known.theta[:-1]))
    assert count >= 2
    total = known.mean + sum(known.term(place)(u).mean for place in range(count))
    np.testing.assert_allclose(total, known.predict(u).mean, rtol=0, atol=1e-9)


@every
def test_a_term_equals_its_textbook_formula(kernel):
    """Equation 3 of RPP-GP-UCB, with an inverse instead of a factor."""
    known, u = posterior(kernel), np.random.default_rng(1).random((7, 5))
    theta = known.theta[:-1]
    inverse = np.linalg.inv(kernel.gram(theta, known.x).value + known.noise * np.eye(len(known.y)))
    for place, (own, entries) in enumerate(terms(kernel, theta)):
        k = own.against(entries, known.x)(u).value
        found = known.term(place)(u)
        np.testing.assert_allclose(found.mean, k @ inverse @ (known.y - known.mean), atol=1e-8)
        variance = own.diagonal(entries, u).value - np.einsum("ij,jk,ik->i", k, inverse, k)
        np.testing.assert_allclose(found.variance, variance, atol=1e-8)


@every
def test_gradients_of_a_term(kernel):
    known, u = posterior(kernel), np.random.default_rng(1).random((4, 5))
    a, b = np.random.default_rng(2).standard_normal((2, 4))
    for place in range(len(terms(kernel, known.theta[:-1]))):
        term = known.term(place)
        closed = term(u).to_inputs(a, b)
        assert_gradient(closed, lambda v, t=term: float(a @ t(v).mean + b @ t(v).variance), u)


def test_a_row_with_the_columns_of_one_group_is_that_group():
    known, u = posterior(KERNELS["groups"]), np.random.default_rng(1).random((6, 5))
    for place, term in enumerate(GROUPS):
        alone = np.full(u.shape, np.nan)
        alone[:, term.columns] = u[:, term.columns]
        np.testing.assert_allclose(
            known.predict(alone).mean - known.mean, known.term(place)(u).mean, atol=1e-12
        )


def test_the_same_process_as_a_function_of_mixed_inputs():
    known, u = posterior(KERNELS["mixed"]), np.random.default_rng(1).random((6, 5))
    unmixed, mixing = known.unmixed()
    image = mixing(np.empty(0), u).value
    np.testing.assert_allclose(unmixed.predict(image).mean, known.predict(u).mean, atol=1e-10)
    np.testing.assert_allclose(unmixed.predict(image).variance, known.predict(u).variance, atol=1e-10)
    np.testing.assert_allclose(mixing.back(image), u, atol=1e-12)


def test_the_box_around_mixed_inputs_holds_every_corner_and_touches_them():
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * 5)).reshape(5, -1).T
    mixing = Mixing(range(5), WEIGHTS)
    images = mixing(np.empty(0), corners).value
    lower, upper = mixing.box(5)
    np.testing.assert_allclose(images.min(axis=0), lower, atol=1e-12)
    np.testing.assert_allclose(images.max(axis=0), upper, atol=1e-12)
