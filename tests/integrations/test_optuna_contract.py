"""Optuna's own contract of a sampler."""

from __future__ import annotations

import optuna
import pytest
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

import hidim

optuna.logging.set_verbosity(optuna.logging.ERROR)


class TestOptunaSampler(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: hidim.OptunaSampler(seed=0)
