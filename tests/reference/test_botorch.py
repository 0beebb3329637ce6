"""Posterior and LogEI against BoTorch's, stored by make_botorch_logei.py."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hidim.acquisition import LogExpectedImprovement
from hidim.gp.kernels import Matern, Scaled, Stationary
from hidim.gp.maps import Scale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior

STORED = json.loads(Path(__file__).with_name("botorch_logei.json").read_text(encoding="utf-8"))
U = np.array(STORED["u"])


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    model = Model(Scaled(Stationary(Matern(2.5), Scale(U.shape[1]))), mean_sd=0.0)
    theta = np.log([STORED["amplitude"], *STORED["lengthscales"], STORED["noise"]])
    return Posterior(model, theta, np.array(STORED["x"]), np.array(STORED["y"]))


def test_posterior(posterior):
    prediction = posterior.predict(U)
    np.testing.assert_allclose(prediction.mean, STORED["mean"], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(prediction.variance, STORED["variance"], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("best", STORED["log_ei"])
def test_log_expected_improvement(best, posterior):
    score = LogExpectedImprovement(float(best)).on(posterior)(U).value
    np.testing.assert_allclose(score, STORED["log_ei"][best], rtol=1e-8, atol=1e-8)
