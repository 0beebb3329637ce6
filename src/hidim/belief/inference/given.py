"""Hyperparameters that are given and never fitted, as in papers that fix the length-scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hidim._settings import at_least, one_of
from hidim._types import Array, Rng
from hidim.belief.inference.base import Fitted, Inference, Study
from hidim.belief.inference.peak import is_due, new_fit, read_fit
from hidim.errors import MethodError
from hidim.gp.model import Model
from hidim.gp.outcome import OUTCOMES


@dataclass(frozen=True)
class Given(Inference):
    """One length-scale for all columns and one variance of the noise.

    Every other hyperparameter stays where fits would start. A length-scale is in the units of the prior:
    those of the ranges for most, of the radius for a cylinder, of the box of an embedding.

    Args:
        lengthscale: of every number.
        noise: variance of the observations, as a share of that of all of them.
        outcome: the transform of the losses; "identity" only standardises them.
        growth: the covariance is factorised anew when the number of trials has grown by this share.
    """

    lengthscale: float = 0.1
    noise: float = 1e-4
    outcome: str = "identity"
    growth: float = 0.15

    def __post_init__(self) -> None:
        one_of(self, outcome=tuple(OUTCOMES))
        at_least(self, growth=0.0, lengthscale=0.001, noise=1e-8)

    def fitted(self, study: Study, rng: Rng) -> Fitted:
        last, given = self.known(study), [self.lengthscale, self.noise]
        same = last is not None and (last.memory.get("given"), last.outcome) == (given, self.outcome)
        if last is not None and same and not is_due(study, last, self.outcome, self.growth):
            return last._replace(judged=False)
        structure = None if last is None else last.structure
        theta = self._theta(study.model(structure))
        fitted = new_fit(study, theta[None], self.outcome, 0, structure, given=given)
        return fitted._replace(judged=False)

    def known(self, study: Study) -> Fitted | None:
        return read_fit(study)

    def _theta(self, model: Model) -> Array:
        theta = np.where(model.holds("log_lengthscale"), math.log(self.lengthscale), model.start)
        theta[-1] = math.log(self.noise)
        low, high = model.bounds
        if not (low <= theta).all() or not (theta <= high).all():
            level = model.holds("log_lengthscale")
            scales = f", lengthscale {_range(low[level][0], high[level][0])}" if level.any() else ""
            raise MethodError(f"{self!r}: noise must be {_range(low[-1], high[-1])}{scales}, for this model")
        return theta


def _range(low: float, high: float) -> str:
    return f"from {math.exp(low):.3g} to {math.exp(high):.3g}"
