"""A method that nobody wrote before: a prior of its own, and parts that exist."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hidim.belief.priors import Prior
from hidim.gp.kernels import Matern, Scaled, SquaredExponential, Stationary
from hidim.gp.maps import Linear, Scale
from hidim.gp.model import Model, noise_parameter
from hidim.methods import configured


@dataclass(frozen=True)
class Pursuit(Prior):
    """One direction that is learnt, and a rough rest."""

    @property
    def abilities(self):
        return frozenset()

    def model(self, ground, *, noisy=False, structure=None):
        along = Stationary(SquaredExponential(), Linear(ground.dim, 1))
        rest = Stationary(Matern(1.5), Scale(ground.dim, ard=False))
        return Model(Scaled(along) + Scaled(rest), noise_parameter(noisy=noisy))

    def inputs(self, ground, points):
        return np.nan_to_num(points, nan=0.5)

    def models(self, ground, trials):
        return ({},)

    def refusal(self, frame):
        return None


NEWCOMER = replace(configured("gp", prior=Pursuit(), search="multistart", utility="log-ei"), name="newcomer")
