"""Gaussian random embeddings with clipping (REMBO; Wang et al. 2016, §3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hidim._types import Array, Indices, Rng
from hidim.embed.base import Embedding
from hidim.embed.counter import normals
from hidim.errors import MethodError

BoxName = Literal["sqrt", "theorem", "log"]

#: Between which the lengths of such points lie; of the longest half of the coordinates are clipped.
LENGTHS = (0.375, 1.5)


@dataclass(frozen=True)
class Gaussian(Embedding):
    """A with independent standard normal entries.

    Theorem 3 of the paper: if d_e ≤ d coordinates matter, an optimum lies within d_e/ε of the origin with
    probability 1 − ε. Such boxes are mostly too large; with the usual √d some embeddings hold no optimum, and
    several of them make up for that.

    Args:
        box: "sqrt" for r = √d, that of the paper's experiments; "theorem" for r = d/ε, with d for the unknown
            d_e; "log" for r = 1.5 log d, that of the authors' demo, and at least 1.
        failure: ε, for "theorem".

    Example:
        >>> embedding = Gaussian(high=10**9, low=2, seed=0)
        >>> embedding.lift(np.zeros((1, 2)), np.array([123_456_789])).tolist()
        [[0.0]]
    """

    box: BoxName = "sqrt"
    failure: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.box not in ("sqrt", "theorem", "log"):
            raise MethodError(f"box={self.box!r} is unknown: choose one of sqrt, theorem, log")
        if not 0.0 < self.failure < 1.0:
            raise MethodError(f"failure={self.failure!r} must lie between 0 and 1")

    def rows(self, indices: Indices) -> Array:
        places = np.asarray(indices, dtype=np.int64)[:, None] * self.low + np.arange(self.low)
        return normals(self.seed, places)

    def inside(self, rng: Rng, n: int) -> Array:
        """Random points (n, d) of which so much is not clipped that their images differ in all coordinates.

        Coordinates of A y are N(0, ‖y‖²), whatever d is. Those of most points of the box are clipped.
        """
        y = rng.standard_normal((n, self.low))
        y *= rng.uniform(*LENGTHS, size=(n, 1)) / np.linalg.norm(y, axis=1, keepdims=True)
        return np.clip(y, -self.radius, self.radius)

    @property
    def radius(self) -> float:
        match self.box:
            case "sqrt":
                return math.sqrt(self.low)
            case "theorem":
                return self.low / self.failure
            case _:
                return max(1.5 * math.log(self.low), 1.0)
