"""What every input map in `MAPS` must do."""

from __future__ import annotations

import numpy as np
import pytest

from differences import assert_gradient
from hidim.gp.fit import fit
from hidim.gp.hyperparameter import starts
from hidim.gp.kernels import Matern, Scaled, Stationary
from hidim.gp.maps import MAPS, Chain, HierarchicalScale, Linear, Scale, Warp
from hidim.gp.model import Model

COLUMNS = 3

every_map = pytest.mark.parametrize("piece", MAPS.values(), ids=MAPS.keys())


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2)


def theta_of(piece, rng):
    return starts(piece.parameters) + 0.4 * rng.standard_normal(piece.size)


@every_map
def test_gradient_in_parameters(piece, rng):
    x, theta = rng.random((5, COLUMNS)), theta_of(piece, rng)
    mapped = piece(theta, x)
    g = rng.standard_normal(mapped.value.shape)
    closed = mapped.to_parameters(g)
    assert closed.shape == (piece.size,)
    assert_gradient(closed, lambda t: float(np.vdot(g, piece(t, x).value)), theta)


@every_map
def test_gradient_in_parameters_where_fits_start(piece, rng):
    x, theta = rng.random((5, COLUMNS)), starts(piece.parameters)
    mapped = piece(theta, x)
    g = rng.standard_normal(mapped.value.shape)
    assert_gradient(mapped.to_parameters(g), lambda t: float(np.vdot(g, piece(t, x).value)), theta)


@every_map
def test_gradient_in_inputs(piece, rng):
    x, theta = rng.random((5, COLUMNS)), theta_of(piece, rng)
    mapped = piece(theta, x)
    g = rng.standard_normal(mapped.value.shape)
    assert_gradient(mapped.to_inputs(g), lambda v: float(np.vdot(g, piece(theta, v).value)), x)


@every_map
def test_what_it_is_given_stays_as_it_was(piece, rng):
    x, theta = rng.random((5, COLUMNS)), theta_of(piece, rng)
    kept = x.copy(), theta.copy()
    mapped = piece(theta, x)
    g = np.ones(mapped.value.shape)
    mapped.to_parameters(g)
    mapped.to_inputs(g)
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(theta, kept[1])
    np.testing.assert_array_equal(g, 1.0)


@every_map
def test_rows_are_mapped_independently(piece, rng):
    x, theta = rng.random((5, COLUMNS)), theta_of(piece, rng)
    single = np.vstack([piece(theta, row[None]).value for row in x])
    np.testing.assert_allclose(piece(theta, x).value, single, rtol=1e-14)


def test_no_deviation_is_isotropic(rng):
    x = rng.random((5, COLUMNS))
    hierarchical = HierarchicalScale(COLUMNS)(np.array([0.3, 0.0, 0.0, 0.0]), x).value
    np.testing.assert_array_equal(hierarchical, Scale(COLUMNS, ard=False)(np.array([0.3]), x).value)


def test_length_scales_of_a_hierarchy_stay_within_their_range(rng):
    piece, x = HierarchicalScale(COLUMNS), rng.random((5, COLUMNS))
    mapped = piece(np.array([9.0, 15.0, -15.0, 0.0]), x)
    np.testing.assert_allclose(x[:, 0] / mapped.value[:, 0], 1e4)
    assert mapped.to_parameters(np.ones(x.shape))[1] == 0.0  # at the end of its range, nothing moves it


def test_a_neutral_warp_is_the_identity_even_on_the_faces_of_the_cube():
    x = np.array([[0.0, 0.5, 1.0]])
    mapped = Warp(COLUMNS)(np.zeros(6), x)
    np.testing.assert_allclose(mapped.value, x, atol=2e-9)
    assert np.isfinite(mapped.to_inputs(np.ones((1, 3)))).all()
    assert np.isfinite(mapped.to_parameters(np.ones((1, 3)))).all()


def test_a_chain_applies_first_to_last(rng):
    x = rng.random((4, COLUMNS))
    scale, project = Scale(COLUMNS), Linear(COLUMNS, 2)
    a, b = theta_of(scale, rng), theta_of(project, rng)
    chained = Chain(scale, project)(np.concatenate([a, b]), x).value
    np.testing.assert_allclose(chained, (x / np.exp(a)) @ b.reshape(3, 2), rtol=1e-14)


def test_a_projection_is_found_from_where_it_starts(rng):
    """y = sin(4 wᵀx): at W = 0 every gradient would vanish, and a fit would end where it began."""
    w = rng.standard_normal(6)
    x = rng.random((80, 6))
    y = np.sin(4 * x @ (w / np.linalg.norm(w)))
    model = Model(Scaled(Stationary(Matern(2.5), Linear(6, 1))))
    found = fit(model, x, (y - y.mean()) / y.std(), [model.start], max_evaluations=200)
    learnt = found.theta[model.holds("projection")]
    assert abs(learnt @ w) / np.linalg.norm(learnt) / np.linalg.norm(w) > 0.99


def test_a_projection_starts_where_it_is_told(rng):
    start = rng.standard_normal((4, 2))
    np.testing.assert_array_equal(starts(Linear(4, 2, start=start).parameters), start.ravel())
