"""What a search is: it finds points with a high utility."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hidim._types import Array, Rng
from hidim.acquisition.base import Belief
from hidim.frame import Ground, Scene
from hidim.optim.base import Objective, Score


@dataclass(frozen=True, eq=False)
class Target:
    """What is maximised.

    Args:
        objective: scores inputs of the kernel.
        rough: makes nearly the same, for a first look at many points: under the first of several posteriors,
            and that of a part of the observations.
        inputs: makes them of points of the ground.
        belief: behind the objective, the first if there are several; failed trials are discouraged in it
            and running ones believed.
        roots: √β of every group, if the utility is the sum of the bounds of the prior's groups; else None.
        stretched: the same target under length-scales so many times as long; each costs a factorisation of
            every posterior, and no fit.
    """

    objective: Objective
    rough: Callable[[], Objective]
    inputs: Callable[[Array], Array]
    belief: Belief
    roots: Array | None
    stretched: Callable[[float], Target]

    def scores(self, points: Array) -> Array:
        """Of points (r, d) of the ground, as (r,)."""
        return np.nan_to_num(self.objective(self.inputs(points)).value, nan=-np.inf)

    def settled(self, ground: Ground) -> Objective:
        """The objective of points anywhere in the box, by those with a configuration of their own."""

        def objective(points: Array) -> Score:
            moved = ground.settle(points)
            score = self.objective(self.inputs(moved.value))
            return Score(score.value, lambda g: moved.to_inputs(score.to_inputs(g)))

        return objective


class Situation(NamedTuple):
    """In which a search starts.

    Args:
        scene: where, and what was seen.
        ranked: (n, d), the points of complete trials, best first; of noisy ones by their means.
        is_flat: whether the best points lie on a plateau.
    """

    scene: Scene
    ranked: Array
    is_flat: bool = False


class Found(NamedTuple):
    """Points (k, d), on their levels, best first; by which way, and what else is for the record."""

    points: Array
    way: str
    meta: Mapping[str, Any] = MappingProxyType({})


class Search(ABC):
    """Finds points with a high utility."""

    #: What it needs of the prior: "groups" if it searches group by group.
    needs: ClassVar[frozenset[str]] = frozenset()

    @property
    def stretches(self) -> bool:
        """Whether it asks for the utility at other length-scales: then there have to be some."""
        return False

    @abstractmethod
    def __call__(self, target: Target, situation: Situation, rng: Rng) -> Found:
        """Points worth a suggestion."""
