"""Starts that move the coordinates with most to gain."""

import numpy as np

from hidim.gp.kernels import Effects, Matern, Scaled, Stationary
from hidim.gp.maps import Chain, Fill, HierarchicalScale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior
from hidim.search.effects import by_effects


def posterior_of(function, dim, labels=0, count=120):
    rng = np.random.default_rng(0)
    x = rng.random((count, dim + labels))
    x[:, dim:] = (np.floor(3.0 * x[:, dim:]) + 0.5) / 3.0
    y = np.array([function(row) for row in x])
    effects = Effects(np.arange(dim), np.arange(dim, dim + labels), [3] * labels)
    inputs = Chain(Fill(), HierarchicalScale(dim + labels))
    kernel = Scaled(effects, optional=True) + Scaled(Stationary(Matern(2.5), inputs))
    model = Model(kernel)
    return Posterior(model, model.start, x, (y - y.mean()) / y.std())


def test_the_coordinates_that_gain_most_are_moved_first_and_to_their_best_values():
    target = np.array([0.2, 0.8, 0.5, 0.35])
    belief = posterior_of(lambda x: float(np.sum(np.array([9.0, 3.0, 1.0, 0.1]) * (x - target) ** 2)), 4)
    points, moved = by_effects(belief, np.full((1, 4), 0.95), np.random.default_rng(1))
    single = moved[moved.sum(axis=1) == 1]
    assert np.mean(single[:, 0]) > 0.9
    everything = points[moved[:, :3].all(axis=1)]
    assert np.abs(np.median(everything[:, :2], axis=0) - target[:2]).max() < 0.08


def test_labels_are_moved_to_the_best_of_theirs():
    belief = posterior_of(lambda x: float(x[0] - 3.0 * (abs(x[1] - 0.5) < 0.1)), 1, labels=1)
    points, moved = by_effects(belief, np.array([[0.5, 5 / 6]]), np.random.default_rng(1))
    assert np.mean(points[moved[:, 1], 1] == 0.5) > 0.9


def test_the_same_generator_state_gives_the_same_starts():
    belief = posterior_of(lambda x: float(x @ x), 2)
    first, again = (by_effects(belief, np.full((2, 2), 0.5), np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])


def test_columns_that_do_not_exist_are_not_moved_instead_of_others_but_have_their_best_values():
    target = np.array([0.2, 0.8, 0.5])
    belief = posterior_of(lambda x: float(np.sum(np.array([1.0, 0.5, 9.0]) * (x - target) ** 2)), 3)
    best = np.array([[0.95, np.nan, 0.95]])
    points, moved = by_effects(belief, best, np.random.default_rng(1))
    assert moved[:, 1].all()
    assert abs(np.median(points[:, 1]) - 0.8) < 0.1
    single = moved[moved.sum(axis=1) == 2]  # the missing one, and one that exists
    assert np.mean(single[:, 2]) > 0.9  # which has more to gain
    assert not np.isnan(points).any()
