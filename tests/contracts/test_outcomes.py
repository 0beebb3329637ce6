"""What every transform in `OUTCOMES` must do."""

from __future__ import annotations

import numpy as np
import pytest

from hidim.gp import linalg
from hidim.gp.outcome import OUTCOMES, evidence

every_outcome = pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES.keys())

SAMPLES = {
    "normal": np.random.default_rng(0).standard_normal(40),
    "skewed": np.exp(2.0 * np.random.default_rng(1).standard_normal(40)),
    "far from zero": 1e6 + np.random.default_rng(2).random(40),
    "tiny": 1e-300 * np.random.default_rng(3).random(40),
    "huge": 1e300 * np.random.default_rng(4).random(40),
    "outlier": np.append(np.random.default_rng(5).random(39), 1e30),
    "two": np.array([1.0, 2.0]),
}

every_sample = pytest.mark.parametrize("y", SAMPLES.values(), ids=SAMPLES.keys())


@every_outcome
@every_sample
def test_keeps_the_order(outcome, y):
    steps = np.diff(outcome(np.sort(y)))
    assert np.isfinite(steps).all()
    assert (steps >= 0.0).all()
    assert steps.max() > 0.0


@every_outcome
@pytest.mark.parametrize("name", ["normal", "skewed", "two"])
def test_strictly_increasing(outcome, name):
    assert (np.diff(outcome(np.sort(SAMPLES[name]))) > 0.0).all()


@every_outcome
@every_sample
def test_the_result_is_standardised(outcome, y):
    t = outcome(y)
    assert abs(t.mean()) < 1e-9
    assert t.std() == pytest.approx(1.0, rel=1e-9)


@every_outcome
@pytest.mark.parametrize("value", [0.0, 0.1, -3.7, 1e300, 1e-300])
def test_equal_outcomes_become_zeros(outcome, value):
    np.testing.assert_array_equal(outcome(np.full(10, value)), 0.0)


@every_outcome
@pytest.mark.parametrize("name", ["normal", "skewed"])
def test_log_derivative_matches_differences(outcome, name):
    base, step = SAMPLES[name], 1e-6
    # One call for all three, so that they share the statistics on which the transform depends.
    values, logs = outcome.raw(np.concatenate([base - step, base, base + step]))
    below, _, above = np.split(values, 3)
    np.testing.assert_allclose((above - below) / (2 * step), np.exp(np.split(logs, 3)[1]), rtol=1e-6)


@every_sample
def test_evidence_is_finite_for_every_transform(y):
    scores = evidence(np.asfortranarray(np.eye(len(y))), y)
    assert scores.keys() == OUTCOMES.keys()
    assert np.isfinite(list(scores.values())).all()


def test_evidence_prefers_the_transform_that_made_the_data():
    rng = np.random.default_rng(7)
    x = np.sort(rng.random(60))
    covariance = np.exp(-0.5 * (x[:, None] - x) ** 2 / 0.2**2) + 1e-4 * np.eye(60)
    factor = linalg.cholesky(covariance)[0]
    smooth = factor @ rng.standard_normal(60)
    scores = evidence(factor, smooth)
    assert scores["identity"] > max(v for k, v in scores.items() if k.startswith("log-gap"))
    scores = evidence(factor, np.exp(3.0 * smooth))
    assert max(scores, key=scores.__getitem__) != "identity"


def test_evidence_does_not_depend_on_units():
    y, factor = SAMPLES["skewed"], np.asfortranarray(np.eye(40))
    one, other = evidence(factor, y), evidence(factor, 1000.0 * y - 7.0)
    gaps = [other[name] - one[name] for name in OUTCOMES]
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)  # only the common Jacobian of the units


def test_ties_at_the_minimum_do_not_buy_evidence():
    """A plateau of equal best losses, as counts and error rates have, must not win by its Jacobian."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.zeros(65), rng.integers(1, 20, size=35).astype(float)])
    scores = evidence(np.eye(100), y)
    assert max(scores.values()) - scores["identity"] < 100.0
