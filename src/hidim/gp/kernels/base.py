"""What every kernel can do.

Notation: X (n, p) training inputs, U (r, p) query inputs, θ the kernel's flat parameter vector,
G = ∂L/∂K the gradient of some scalar L with respect to a covariance matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from hidim._types import Array, Indices, Pullback
from hidim.gp.parameter import Parameter, total


class Gram(NamedTuple):
    """K(X, X) (n, n), and what turns a symmetric G into ∂L/∂θ."""

    value: Array
    to_parameters: Pullback


class Cross(NamedTuple):
    """K(U, X) (r, n), and what turns G into ∂L/∂U (r, p)."""

    value: Array
    to_inputs: Pullback


#: K(·, X) for a fixed X: what depends on X alone is computed once, then U may vary.
Against: TypeAlias = Callable[[Array], Cross]


class Features(NamedTuple):
    """Φ (n, m) with E[Φ Φᵀ] / m = K, and what turns ∂L/∂Φ into ∂L/∂X."""

    value: Array
    to_inputs: Pullback


FeatureMap: TypeAlias = Callable[[Array], Features]


class Kernel(ABC):
    """A positive semi-definite function of two inputs, with closed-form gradients.

    Kernels are added, multiplied (`+`, `*`) and composed from maps; a new kernel is usually a new
    composition.
    """

    parameters: tuple[Parameter, ...] = ()

    @cached_property
    def size(self) -> int:
        """Length of θ."""
        return total(self.parameters)

    @abstractmethod
    def gram(self, theta: Array, x: Array) -> Gram:
        """K(X, X) with its pullback to the parameters."""

    @abstractmethod
    def against(self, theta: Array, x: Array) -> Against:
        """K(·, X) with pullbacks to the query."""

    @abstractmethod
    def diagonal(self, theta: Array, u: Array) -> Cross:
        """k(u, u) for every row, as (r,); the pullback takes G of shape (r,)."""

    @abstractmethod
    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        """`count` random features of inputs with `width` columns, whose products estimate k without bias."""

    def blocks(self, x: Array) -> list[Indices]:
        """Rows of (n, p) in groups that have no covariance with each other, each in ascending order."""
        return [np.arange(len(x))]

    def __add__(self, other: Kernel) -> Kernel:
        from hidim.gp.kernels.algebra import Sum

        return Sum(self, other)

    def __mul__(self, other: Kernel) -> Kernel:
        from hidim.gp.kernels.algebra import Product

        return Product(self, other)


def constant_diagonal(u: Array, value: float) -> Cross:
    """The diagonal of a kernel whose variance is the same everywhere."""
    return Cross(np.full(len(u), value), lambda _: np.zeros_like(u))
