"""Thompson sampling: the negative of one function drawn from the posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidim._types import Array
from hidim.acquisition.base import Acquisition, Belief
from hidim.optim.base import Objective, Score


@dataclass(frozen=True)
class Thompson(Acquisition):
    """A path-wise draw; the same seed gives the same function."""

    seed: int
    features: int = 1024

    def on(self, belief: Belief) -> Objective:
        path = belief.drawn(np.random.default_rng(self.seed), self.features)

        def score(u: Array) -> Score:
            value, to_inputs = path(u)
            return Score(-value, lambda g: to_inputs(-g))

        return score
