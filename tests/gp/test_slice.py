"""Draws of hyperparameters."""

from __future__ import annotations

import numpy as np

from hidim import Float, Space
from hidim.belief.priors import Flat
from hidim.frame import Ground
from hidim.gp.slice import sample


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
