"""Confidence bounds: −(μ − √β σ), the negative lower bound, so that larger is better when minimising."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidim._types import Array
from hidim.acquisition.base import Acquisition, Belief
from hidim.optim.base import Objective, Score


@dataclass(frozen=True)
class ConfidenceBound(Acquisition):
    """GP-UCB (Srinivas et al. 2010) turned to minimisation.

    Args:
        root: √β.
    """

    root: float = 2.0

    def on(self, belief: Belief) -> Objective:
        root = self.root

        def score(u: Array) -> Score:
            mean, variance, to_inputs = belief.predict(u)
            sd = np.sqrt(variance)
            return Score(root * sd - mean, lambda g: to_inputs(-g, g * root / (2.0 * sd)))

        return score
