"""Draws of hyperparameters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import invgamma, ks_2samp, kstest, norm

from hidim import Float, Space
from hidim.belief.priors import Flat
from hidim.frame import Ground
from hidim.gp.densities import Normal
from hidim.gp.hyperparameter import Hyperparameter
from hidim.gp.kernels import Constant, Scaled
from hidim.gp.model import Model
from hidim.gp.slice import sample, sweep


def test_noise_that_was_given_is_not_found_once_more():
    rng = np.random.default_rng(0)
    x = rng.random((60, 1))
    y = np.sin(6 * x[:, 0]) + 0.5 * rng.standard_normal(60)
    model = Flat().model(Ground(Space(x=Float(0, 1))), noisy=True)
    found = []
    for variances in (None, np.full(60, 0.25)):
        draws = sample(
            model, x, y, model.start, np.random.default_rng(1), count=30, burn_in=10, variances=variances
        )
        found.append(float(np.exp(draws[:, -1]).mean()))
    assert 0.15 < found[0] < 0.5
    assert found[1] < 0.3 * found[0]


def _moved(start: np.ndarray, log_density, low: float, high: float) -> np.ndarray:
    """Every draw moved by one sweep of its own."""
    rng, bounds = np.random.default_rng(5), (np.array([low]), np.array([high]))
    return np.array([sweep(log_density, np.array([value]), *bounds, rng)[0] for value in start])


@pytest.mark.parametrize("sd", [0.1, 1.0, 4.0, 30.0])
def test_a_sweep_leaves_a_normal_density_as_it_is(sd):
    """Draws from the density, each moved once, are draws from the density: narrower and wider than a step."""
    start = sd * np.random.default_rng(0).standard_normal(4000)
    moved = _moved(start, lambda theta: -0.5 * float(theta[0] / sd) ** 2, -200.0, 200.0)
    assert kstest(moved, norm(scale=sd).cdf).pvalue > 0.005
    assert np.corrcoef(start, moved)[0, 1] < (0.2 if sd < 2 else 0.999)


def test_a_sweep_leaves_two_peaks_and_a_limit_as_they_are():
    """Where steps out end by their number and at the bounds, only the right rules keep the balance."""
    rng = np.random.default_rng(1)
    chosen = rng.random(30_000) < 0.7
    peaks = np.where(chosen, rng.normal(1.0, 0.4, 30_000), rng.normal(4.5, 1.2, 30_000))
    start = peaks[(peaks > 0.0) & (peaks < 12.0)][:20_000]

    def log_density(theta: np.ndarray) -> float:
        near, far = (theta[0] - 1.0) / 0.4, (theta[0] - 4.5) / 1.2
        return math.log(0.7 / 0.4 * math.exp(-0.5 * near**2) + 0.3 / 1.2 * math.exp(-0.5 * far**2))

    moved = _moved(start, log_density, 0.0, 12.0)
    assert ks_2samp(start, moved).pvalue > 0.005
    assert np.mean((start < 2.5) != (moved < 2.5)) > 0.02  # and it does cross the valley


def test_a_chain_has_the_posterior_of_a_noise_that_is_known_in_closed_form():
    """No function, only noise: σ² given y is inverse gamma, under a flat prior on its logarithm."""
    y = np.random.default_rng(0).standard_normal(12)
    flat = Hyperparameter("log_noise", 1, 0.0, np.log(1e-3), np.log(1e3))
    nothing = Scaled(Constant(), prior=Normal(-7.0, 1e-3))
    model = Model(nothing, flat, mean_sd=0.0)
    draws = sample(model, np.zeros((12, 1)), y, model.start, np.random.default_rng(1), count=2000)
    exact = invgamma(6.0, scale=0.5 * float(y @ y))
    thinned = np.exp(draws[::4, -1])
    assert kstest(thinned, exact.cdf).pvalue > 0.005
