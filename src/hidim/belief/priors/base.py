"""What a prior is: the model of a function before any data, and how points look to its kernel."""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from hidim._types import Array, Indices, Rng
from hidim.frame import Frame, Ground
from hidim.gp.model import Model

#: What has been learnt of the structure of a function, as groups or directions: plain JSON, None for nothing.
Structure: TypeAlias = Any

Ability: TypeAlias = Literal["additive", "groups", "scales", "center", "structure"]


class Prior(ABC):
    """A family of models, one for every ground and every structure."""

    #: Parameters that are held while little is known of a ground, and in a simpler model; their values.
    late: ClassVar[Mapping[str, float]] = MappingProxyType({})

    @property
    @abstractmethod
    def abilities(self) -> frozenset[Ability]:
        """What other parts may ask of it.

        "additive": a sum over groups of columns, each of which has a posterior of its own; "groups": a part
        of it is such a sum, or all; "scales": nothing but length-scales to be fitted; "center": it looks at
        the centre of the ground; "structure": it can learn one.
        """

    @abstractmethod
    def model(self, ground: Ground, *, noisy: bool = False, structure: Structure = None) -> Model:
        """Kernel, noise and mean."""

    @abstractmethod
    def inputs(self, ground: Ground, points: Array) -> Array:
        """Points (n, d) of the ground as the kernel wants them: of the same shape, with other values for NaN.

        What is active stays as it is, since searches climb on these inputs.
        """

    def held(self, ground: Ground, trials: int) -> Mapping[str, float]:
        """Parameters of the model that are held after so few trials, and at which values."""
        return self.late if ground.is_unknown(trials) else {}

    @abstractmethod
    def refusal(self, frame: Frame) -> str | None:
        """Why the model makes no sense in that frame; None if it does."""


class Lesson(NamedTuple):
    """What a structure is learnt from.

    Args:
        ground: where the inputs come from.
        x: (n, p), inputs of the kernel.
        y: (n,), standardised outcomes.
        variances: with which they came, (n,), or None.
        noisy: whether values are noisy.
        structure: the one in force, to go on from.
        theta: hyperparameters of its model, if they are known.
    """

    ground: Ground
    x: Array
    y: Array
    variances: Array | None = None
    noisy: bool = False
    structure: Structure = None
    theta: Array | None = None

    def part(self, most: int) -> Lesson:
        """The same with at most so many observations, evenly by rank."""
        if len(self.y) <= most:
            return self
        rows = evenly(self.y, most)
        few = None if self.variances is None else self.variances[rows]
        return self._replace(x=self.x[rows], y=self.y[rows], variances=few)


def evenly(y: Array, most: int) -> Indices:
    """At most so many rows of (n,), evenly by rank, in ascending order."""
    ranked = np.argsort(y, kind="stable")
    return np.sort(ranked[np.linspace(0, len(y) - 1, min(most, len(y))).astype(np.intp)])


class Learnable(Prior):
    """A family of models whose structure is learnt: which columns belong together, which directions count."""

    @property
    @abstractmethod
    def learns(self) -> bool:
        """Whether there is anything to learn, under these settings."""

    @abstractmethod
    def learnt(self, lesson: Lesson, rng: Rng) -> Structure:
        """The structure by the evidence of the observations."""


def tag(prior: Prior, dim: int, structure: Structure = None) -> str:
    """A checksum that tells models apart: other priors, other numbers of columns, other structures."""
    told = f"{prior!r} {dim} {json.dumps(structure)}"
    return f"{zlib.crc32(told.encode()):08x}"
