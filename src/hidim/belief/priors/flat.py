"""One product kernel over all parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from hidim._settings import one_of
from hidim._types import Array
from hidim.belief.priors.base import Ability, Prior, Structure
from hidim.frame import Frame, Ground
from hidim.gp.kernels import FORMS, Constant, FormName, Hamming, Kernel, Scaled, Stationary
from hidim.gp.maps import Chain, HierarchicalScale, Linear, Map, Scale, Select
from hidim.gp.model import Model, noise_parameter
from hidim.space.columns import Kind

FlatLengthscales = Literal["hierarchical", "isotropic", "ard"]


def label_kernel(ground: Ground) -> Hamming | None:
    """The kernel on labels, if there are any that vary."""
    labels = np.flatnonzero((ground.kind == Kind.LABEL) & (ground.levels > 1))
    return Hamming(labels, ground.levels[labels].astype(np.intp)) if len(labels) else None


@dataclass(frozen=True)
class Flat(Prior):
    """A stationary kernel on numbers times a Hamming kernel on labels, with an amplitude.

    A number that is inactive counts as mid-range, a label that is inactive as a label of its own.

    Args:
        lengthscales: "hierarchical" (isotropic until the data insist), "isotropic", or "ard" (independent,
            with the dimension-scaled log-normal prior).
        form: of the covariance: "matern" (ν = 5/2), "matern32", "matern12" or "se".
    """

    lengthscales: FlatLengthscales = "hierarchical"
    form: FormName = "matern"

    def __post_init__(self) -> None:
        one_of(self, lengthscales=get_args(FlatLengthscales), form=get_args(FormName))

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset()

    def model(self, ground: Ground, *, noisy: bool = False, structure: Structure = None) -> Model:
        numbers = np.flatnonzero(ground.kind != Kind.LABEL)
        labels = label_kernel(ground)
        factors: list[Kernel] = []
        if len(numbers):
            scale = self._scale(len(numbers))
            if ground.embedding is not None:  # a box of another size than the unit cube, for which priors are
                scale = Chain(
                    Linear(*2 * (ground.dim,), fixed=np.diag(1.0 / (ground.upper - ground.lower))), scale
                )
            inputs = scale if len(numbers) == ground.dim else Chain(Select(numbers), scale)
            factors.append(Stationary(FORMS[self.form], inputs))
        if labels is not None:
            factors.append(labels)
        if not factors:
            factors.append(Constant())  # nothing varies
        kernel = factors[0] if len(factors) == 1 else factors[0] * factors[1]
        return Model(Scaled(kernel), noise_parameter(noisy=noisy))

    def _scale(self, dim: int) -> Map:
        if self.lengthscales == "hierarchical":
            return HierarchicalScale(dim, sparse=True)
        return Scale(dim, ard=self.lengthscales == "ard")

    def inputs(self, ground: Ground, points: Array) -> Array:
        if ground.embedding is not None or not ground.space.is_conditional:
            return points
        return np.where(np.isnan(points) & (ground.kind != Kind.LABEL), 0.5, points)

    def refusal(self, frame: Frame) -> str | None:
        return None
