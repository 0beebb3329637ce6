"""A sum of kernels over the nodes of a conditional space (Add-Tree; Ma and Blaschko 2020), or over its paths.

What branches have in common, their path up to the fork and shared parameters, is learnt from all trials. A
choice with nothing under any of its options is a label of its node: it may interact with the node's numbers,
which a vertex of its own would rule out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from hidim._settings import at_least, of_type, one_of
from hidim._types import Array, Indices
from hidim.belief.priors.base import Ability, Prior, Structure
from hidim.errors import MethodError
from hidim.frame import Frame, Ground
from hidim.gp.kernels import FORMS, FormName, Groups, Scaled, Term
from hidim.gp.kernels.groups import Lengthscales
from hidim.gp.model import Model, noise_parameter
from hidim.space import Space
from hidim.space.nodes import Node, count_paths, every_path, everywhere, tree

Unit = Literal["nodes", "paths"]

#: Independent processes are made for at most this many leaves: paths may be exponentially many.
MOST_LEAVES = 1000


@dataclass(frozen=True)
class Tree(Prior):
    """A term for every node of the tree, or an independent process for every path.

    Args:
        by: "nodes"; or "paths" for what Add-Tree is compared with. Length-scales are still common to all.
        form: "se", "matern" (ν = 5/2), "matern32" or "matern12".
        lengthscales: as in `Flat`; the level that they have in common is one for all nodes.
        warped: whether numbers are warped, see `hidim.gp.kernels.Groups`.
        spread: by how much amplitudes of nodes may differ, see `hidim.gp.kernels.Groups`.
    """

    by: Unit = "nodes"
    form: FormName = "se"
    lengthscales: Lengthscales = "hierarchical"
    warped: bool = True
    spread: float = 0.0

    def __post_init__(self) -> None:
        one_of(self, by=get_args(Unit), form=get_args(FormName), lengthscales=get_args(Lengthscales))
        of_type(self, warped=bool)
        at_least(self, spread=0.0)

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"additive", "groups"} if self.by == "nodes" else ())

    def model(self, ground: Ground, *, noisy: bool = False, structure: Structure = None) -> Model:
        terms = nodes(ground.space) if self.by == "nodes" else leaves(ground.space)
        form, lengthscales = FORMS[self.form], self.lengthscales
        kernel = Groups(terms, form=form, lengthscales=lengthscales, warped=self.warped, spread=self.spread)
        return Model(Scaled(kernel), noise_parameter(noisy=noisy))

    def inputs(self, ground: Ground, points: Array) -> Array:
        return points

    def refusal(self, frame: Frame) -> str | None:
        seen = "the tree of a space cannot be seen through an embedding: use frame='cube'"
        return seen if frame.embeds else None


def nodes(space: Space) -> list[Term]:
    """A term for every node of the tree that has columns, or a label that leads to it."""
    found = [node for node in everywhere(tree(space)) if len(node.columns) or node.gate is not None]
    terms = [_term(space, node.numbers, node.labels, () if len(node.columns) else (node,)) for node in found]
    return terms or [Term(())]


def leaves(space: Space) -> list[Term]:
    """A term for every path."""
    root = tree(space)
    if (count := count_paths(root)) > MOST_LEAVES:
        raise MethodError(
            f"by='paths' makes a process for each of {count} paths, more than {MOST_LEAVES}: use by='nodes'"
        )
    found = []
    for path in every_path(root):
        numbers, labels = (np.concatenate([getattr(n, kind) for n in path]) for kind in ("numbers", "labels"))
        found.append(_term(space, numbers, labels, path))
    return found


def _term(space: Space, numbers: Indices, labels: Indices, gated: tuple[Node, ...]) -> Term:
    levels = space.columns.levels
    gates = [(*node.gate, int(levels[node.gate[0]])) for node in gated if node.gate is not None]
    return Term(numbers, labels, levels[labels].astype(np.intp), gates)
