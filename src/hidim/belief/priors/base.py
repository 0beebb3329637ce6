"""What a prior is: the model of a function before any data, and how points look to its kernel."""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from typing import Any, Literal, TypeAlias

from hidim._types import Array
from hidim.frame import Frame, Ground
from hidim.gp.model import Model

#: What has been learnt of the structure of a function, as groups or directions: plain JSON, None for nothing.
Structure: TypeAlias = Any

Ability: TypeAlias = Literal["additive", "scales", "draws", "center"]


class Prior(ABC):
    """A family of models, one for every ground and every structure."""

    @property
    @abstractmethod
    def abilities(self) -> frozenset[Ability]:
        """What other parts may ask of it.

        "additive": a sum over groups of columns, each of which has a posterior of its own; "scales": nothing
        but length-scales to be fitted; "draws": functions can be drawn from it; "center": it looks at the
        centre of the ground.
        """

    @abstractmethod
    def model(self, ground: Ground, *, noisy: bool = False, structure: Structure = None) -> Model:
        """Kernel, noise and mean."""

    @abstractmethod
    def inputs(self, ground: Ground, points: Array) -> Array:
        """Points (n, d) of the ground as the kernel wants them: of the same shape, with other values for NaN.

        What is active stays as it is, since searches climb on these inputs.
        """

    @abstractmethod
    def tied(self) -> tuple[str, ...]:
        """Names of the parameters by which single columns differ from the others; 0 is no difference."""

    @abstractmethod
    def refusal(self, frame: Frame) -> str | None:
        """Why the model makes no sense in that frame; None if it does."""


def tag(prior: Prior, dim: int, structure: Structure = None) -> str:
    """A checksum that tells models apart: other priors, other numbers of columns, other structures."""
    return f"{zlib.crc32(f'{prior!r} {dim} {json.dumps(structure)}'.encode()):08x}"
