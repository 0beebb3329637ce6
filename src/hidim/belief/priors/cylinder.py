"""A cylinder about a centre, where good settings are expected (BOCK; Oh, Gavves and Welling 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np

from hidim._settings import at_least, of_type, one_of
from hidim._types import Array
from hidim.belief.priors.base import Ability, Prior, Structure
from hidim.belief.priors.flat import label_kernel
from hidim.frame import Frame, Ground
from hidim.gp.densities import Horseshoe, Improper
from hidim.gp.hyperparameter import Hyperparameter
from hidim.gp.kernels import FORMS, Constant, Cylinder, FormName, Kernel, Scaled
from hidim.gp.model import Model
from hidim.space.columns import Kind

#: Scale of the prior on the variance of the noise, the authors' √2 · .1; and limits as for other models.
NOISE = math.sqrt(2.0) * 0.1


@dataclass(frozen=True)
class Cylindrical(Prior):
    """Numbers by how far they are from the frame's centre and in which direction; labels by a Hamming kernel.

    There are as many hyperparameters in a thousand dimensions as in two. A number that is inactive counts as
    that of the centre, a label that is inactive as a label of its own.

    Args:
        degree: P, of the polynomial in the cosine of two directions; in the paper, more took longer and was
            hardly better.
        form: of the covariance along the radius: "matern" (ν = 5/2), "matern32", "matern12" or "se".
        warped: whether the radius is warped, so that what is near the centre is spread out; without, it is
            the paper's BOCK−W.
        edge: whether predictions are as sure as if the end of the query's direction had been observed, too:
            the paper's BOCK+B.
    """

    degree: int = 3
    form: FormName = "matern"
    warped: bool = True
    edge: bool = False

    def __post_init__(self) -> None:
        at_least(self, degree=1)
        one_of(self, form=get_args(FormName))
        of_type(self, warped=bool, edge=bool)

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"center"})

    def model(self, ground: Ground, *, noisy: bool = False, structure: Structure = None) -> Model:
        numbers = np.flatnonzero((ground.kind != Kind.LABEL) & (ground.levels > 1))
        labels = label_kernel(ground)
        kernel: Kernel = labels or Constant()
        if len(numbers):
            kernel = Cylinder(
                numbers,
                ground.middle[numbers],
                ground.reach(numbers),
                degree=self.degree,
                form=FORMS[self.form],
                half=ground.half,
                warped=self.warped,
                others=labels,
                edge=self.edge,
            )
        low, high, start = math.log(1e-8), math.log(2.0), math.log(1e-2 if noisy else 1e-4)
        noise = Hyperparameter("log_noise", 1, start, low, high, Horseshoe(NOISE))
        return Model(Scaled(kernel, prior=Improper()), noise)

    def inputs(self, ground: Ground, points: Array) -> Array:
        return np.where(np.isnan(points) & (ground.kind != Kind.LABEL), ground.middle, points)

    def refusal(self, frame: Frame) -> str | None:
        return None
