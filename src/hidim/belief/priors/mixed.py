"""A sum of what adds up and of what interacts: evidence decides how much is which.

    k = σ_a² Σ over nodes k_v  +  σ_p² k(all parameters)

The first part is Add-Tree's (see `Tree`), without warps, the second the product kernel of `Flat`, to which an
inactive number is mid-range and an inactive label a label of its own. Either may vanish. Beside the sum stand
the second part alone, and that with all columns alike: where everything interacts, the sum is more than the
data can tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np

from hidim._settings import one_of
from hidim._types import Array
from hidim.belief.priors.base import Ability, Prior, Structure
from hidim.belief.priors.flat import ALIKE, label_kernel
from hidim.belief.priors.tree import nodes
from hidim.frame import Frame, Ground
from hidim.gp.densities import Normal
from hidim.gp.kernels import FORMS, Constant, FormName, Groups, Kernel, Scaled, Stationary
from hidim.gp.kernels.algebra import ABSENT
from hidim.gp.maps import Chain, Fill, HierarchicalScale, Select
from hidim.gp.model import Model, noise_parameter
from hidim.space.columns import Kind

#: Of log σ_a²: as large as the whole, or nothing at all.
WIDTH = 2.0


@dataclass(frozen=True)
class Mixed(Prior):
    """Kernels of the nodes of the tree, added up, and a product kernel over all parameters.

    Args:
        form: of the product kernel: "matern" (ν = 5/2), "matern32", "matern12" or "se".
        nodes: of the kernels of nodes.
    """

    form: FormName = "matern"
    nodes: FormName = "se"

    def __post_init__(self) -> None:
        one_of(self, form=get_args(FormName), nodes=get_args(FormName))

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"additive"})

    def model(self, ground: Ground, *, noisy: bool = False, structure: Structure = None) -> Model:
        groups = Groups(
            nodes(ground.space), form=FORMS[self.nodes], lengthscales="hierarchical", warped=False
        )
        additive = Scaled(groups, prior=Normal(0.0, WIDTH), optional=True, name="log_additive_amplitude")
        return Model(additive + Scaled(self._product(ground)), noise_parameter(noisy=noisy))

    def _product(self, ground: Ground) -> Kernel:
        numbers, labels = np.flatnonzero(ground.kind != Kind.LABEL), label_kernel(ground)
        if not len(numbers):
            return Constant() if labels is None else labels
        inputs = Chain(Select(numbers), Fill(), HierarchicalScale(len(numbers)))
        kernel = Stationary(FORMS[self.form], inputs)
        return kernel if labels is None else kernel * labels

    def inputs(self, ground: Ground, points: Array) -> Array:
        return points

    def siblings(self) -> tuple[Mapping[str, float], ...]:
        alone = {"log_additive_amplitude": ABSENT}
        return alone, alone | ALIKE

    def refusal(self, frame: Frame) -> str | None:
        seen = "the tree of a space cannot be seen through an embedding: use frame='cube'"
        return seen if frame.embeds else None
