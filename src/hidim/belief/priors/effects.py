"""The prior of the default: what adds up and what interacts; evidence decides how much is which.

    k = σ_e² Σ_i k_i  +  σ_a² Σ_v k_v  +  σ_p² k(all parameters)

The first part is a sum over parameters, the main effects (see `hidim.gp.kernels.effects`); the second, in
conditional spaces, one over the nodes of their tree as in Add-Tree (see `Tree`), with warps where data
insist. The third is the product kernel of `Flat`, to which an inactive number is mid-range and an inactive
label a label of its own. Each may vanish.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hidim._types import Array
from hidim.belief.priors.base import Ability, Prior, Structure
from hidim.belief.priors.flat import label_kernel
from hidim.belief.priors.tree import nodes
from hidim.frame import Frame, Ground, Subspaces
from hidim.gp.densities import Normal, StudentT
from hidim.gp.kernels import FORMS, Constant, Groups, Kernel, Scaled, Stationary
from hidim.gp.kernels.algebra import ABSENT
from hidim.gp.kernels.effects import USUAL, Effects
from hidim.gp.maps import Chain, Fill, HierarchicalScale, Select
from hidim.gp.model import Model, noise_parameter
from hidim.space.columns import Kind

#: Of log σ_a² and log σ_e²: either part may be all of the function, or a hundredth.
AMPLITUDE = Normal(0.0, 2.0)

#: Of the logarithms of the exponents of warps of nodes: there are none, unless data insist.
WARPS = StudentT(1.0, 0.0, 0.1)

#: No main effects.
NONE = {
    "log_effect_amplitude": ABSENT,
    "log_effect_lengthscale": math.log(USUAL),
    "log_effect_deviation": 0.0,
}


@dataclass(frozen=True)
class MainEffects(Prior):
    """Functions of single parameters and of nodes, added up, and a product kernel over all parameters."""

    late: ClassVar[Mapping[str, float]] = NONE

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"groups"})

    def model(self, ground: Ground, *, noisy: bool = False, structure: Structure = None) -> Model:
        kernel: Kernel = Scaled(_product(ground), optional=True)
        if ground.space.is_conditional:
            terms = nodes(ground.space)
            groups = Groups(terms, form=FORMS["se"], lengthscales="hierarchical", warped=True, warps=WARPS)
            kernel = Scaled(groups, prior=AMPLITUDE, optional=True, name="log_node_amplitude") + kernel
        effects = Scaled(_effects(ground), prior=AMPLITUDE, optional=True, name="log_effect_amplitude")
        return Model(effects + kernel, noise_parameter(noisy=noisy))

    def inputs(self, ground: Ground, points: Array) -> Array:
        return points

    def refusal(self, frame: Frame) -> str | None:
        seen = "in the box of an embedding nothing adds up: use frame='cube', or prior='embedded'"
        return seen if isinstance(frame, Subspaces) else None


def _effects(ground: Ground) -> Kernel:
    varying, is_label = ground.levels > 1, ground.kind == Kind.LABEL
    labels = np.flatnonzero(varying & is_label)
    return Effects(np.flatnonzero(varying & ~is_label), labels, ground.levels[labels].astype(np.intp))


def _product(ground: Ground) -> Kernel:
    numbers, labels = np.flatnonzero(ground.kind != Kind.LABEL), label_kernel(ground)
    if not len(numbers):
        return Constant() if labels is None else labels
    scale = HierarchicalScale(len(numbers), sparse=not ground.space.is_conditional)
    every = len(numbers) == ground.dim and not ground.space.is_conditional
    kernel = Stationary(FORMS["matern"], scale if every else Chain(Select(numbers), Fill(), scale))
    return kernel if labels is None else kernel * labels
