"""log h and LogEI against 60-digit arithmetic, and against the logarithm of EI."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from hidim.acquisition import ExpectedImprovement, LogExpectedImprovement, log_h
from hidim.gp.kernels import Matern, Scaled, Stationary
from hidim.gp.maps import Scale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior

# Both sides of the changes of formula at −1 and −30, and then by powers of ten.
Z = [
    10.0,
    5.0,
    1.0,
    0.1,
    0.0,
    -0.1,
    -0.5,
    -0.999,
    -1.0,
    -1.001,
    -2.0,
    -5.0,
    -10.0,
    -20.0,
    -25.0,
    -29.9,
    -30.0,
]
Z += [-30.1, -40.0, -60.0, -1e2, -1e3, -1e4, -1e6, -1e8, -1e10]


def exact(z: float) -> tuple[float, float]:
    """log(φ + zΦ) and Φ/(φ + zΦ). The difference loses twice as many digits as z² has, so many are kept."""
    with mpmath.workdps(60 + 4 * max(0, round(math.log10(abs(z) + 1)))):
        x = mpmath.mpf(z)
        # φ + zΦ = φ (1 − |z| M) for z < 0, where φ itself would be exp(−5e19).
        log_density = -x * x / 2 - mpmath.log(2 * mpmath.pi) / 2
        # Mills ratio M(z) = Φ(z)/φ(z), by its continued relation to erfc; asymptotic beyond its range.
        ratio = _mills(x)
        gap = 1 + x * ratio
        return float(log_density + mpmath.log(gap)), float(ratio / gap)


def _mills(x: mpmath.mpf) -> mpmath.mpf:
    if x > -1000:
        return mpmath.ncdf(x) / mpmath.npdf(x)
    # Σ (−1)^k (2k−1)!! / |x|^(2k+1): at |x| ≥ 1000 thirty terms are exact to far more than 60 digits.
    total, term = mpmath.mpf(0), 1 / -x
    for k in range(30):
        total += term
        term *= -(2 * k + 1) / x**2
    return total


@pytest.mark.parametrize("z", Z)
def test_log_h_and_its_derivative_to_ten_digits(z):
    value, slope = (array[0] for array in log_h(np.array([z])))
    expected, expected_slope = exact(z)
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-13)
    assert slope == pytest.approx(expected_slope, rel=1e-10)


def test_log_h_rises_without_steps_where_the_formula_changes():
    for edge in (-1.0, -30.0):
        z = edge + np.linspace(-1e-3, 1e-3, 2001)
        value, slope = log_h(z)
        assert (np.diff(value) > 0.0).all()
        assert (np.abs(np.diff(slope)) < 1e-5).all()


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    rng = np.random.default_rng(0)
    model = Model(Scaled(Stationary(Matern(2.5), Scale(2))))
    theta = np.array([0.0, *np.log([0.4, 0.6]), math.log(1e-3)])
    return Posterior(model, theta, rng.random((10, 2)), rng.standard_normal(10))


@pytest.mark.parametrize("best", [-3.0, -1.0, 0.0, 2.0, 6.0])
def test_log_improvement_is_the_logarithm_of_improvement(best, posterior):
    u = np.random.default_rng(4).random((50, 2))
    plain = ExpectedImprovement(best).on(posterior)(u).value
    # φ + zΦ cancels below z = −5 or so: there only the logarithm is right.
    prediction = posterior.predict(u)
    safe = (best - prediction.mean) / np.sqrt(prediction.variance) > -5.0
    assert safe.any()
    logs = LogExpectedImprovement(best).on(posterior)(u).value
    np.testing.assert_allclose(logs[safe], np.log(plain[safe]), rtol=1e-8, atol=1e-8)


def test_improvement_against_numerical_integration(posterior):
    """EI = ∫ max(best − y, 0) N(y; μ, σ²) dy."""
    from scipy import integrate, stats

    u = np.array([[0.2, 0.7], [0.9, 0.1]])
    prediction = posterior.predict(u)
    for value, mean, sd in zip(
        ExpectedImprovement(-0.3).on(posterior)(u).value,
        prediction.mean,
        np.sqrt(prediction.variance),
        strict=True,
    ):
        low = mean - 12.0 * sd
        expected, _ = integrate.quad(
            lambda y, mean=mean, sd=sd: (-0.3 - y) * stats.norm.pdf(y, mean, sd), low, -0.3, epsabs=1e-13
        )
        assert value == pytest.approx(expected, rel=1e-8)
