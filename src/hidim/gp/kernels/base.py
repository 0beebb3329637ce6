"""What every kernel can do, and how two of them make one.

Notation: X (n, p) training inputs, U (r, p) query inputs, θ the kernel's flat parameter vector,
G = ∂L/∂K the gradient of some scalar L with respect to a covariance matrix.

An input that does not exist, because its parameter is inactive, is NaN; kernels that can be asked about such
inputs say so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from hidim._types import Array, Pullback
from hidim.gp.hyperparameter import Hyperparameter, total


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


class Kernel(ABC):
    """A positive semi-definite function of two inputs, with closed-form gradients.

    Kernels are added, multiplied (`+`, `*`) and composed from maps; a new kernel is usually a new
    composition.
    """

    parameters: tuple[Hyperparameter, ...] = ()

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

    def __add__(self, other: Kernel) -> Kernel:
        return Sum(self, other)

    def __mul__(self, other: Kernel) -> Kernel:
        return Product(self, other)


class _Pair(Kernel):
    """Two kernels side by side; θ is the parameters of the left one, then of the right one."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right
        self.parameters = left.parameters + right.parameters

    def split(self, theta: Array) -> tuple[Array, Array]:
        """θ of the left kernel, and that of the right one."""
        return theta[: self.left.size], theta[self.left.size :]


class Sum(_Pair):
    """k = k₁ + k₂."""

    def gram(self, theta: Array, x: Array) -> Gram:
        first, second = self.split(theta)
        a, b = self.left.gram(first, x), self.right.gram(second, x)
        return Gram(a.value + b.value, lambda g: np.concatenate([a.to_parameters(g), b.to_parameters(g)]))

    def against(self, theta: Array, x: Array) -> Against:
        first, second = self.split(theta)
        left, right = self.left.against(first, x), self.right.against(second, x)
        return lambda u: _sum(left(u), right(u))

    def diagonal(self, theta: Array, u: Array) -> Cross:
        first, second = self.split(theta)
        return _sum(self.left.diagonal(first, u), self.right.diagonal(second, u))


class Product(_Pair):
    """k = k₁ · k₂."""

    def gram(self, theta: Array, x: Array) -> Gram:
        first, second = self.split(theta)
        a, b = self.left.gram(first, x), self.right.gram(second, x)
        return Gram(
            a.value * b.value,
            lambda g: np.concatenate([a.to_parameters(g * b.value), b.to_parameters(g * a.value)]),
        )

    def against(self, theta: Array, x: Array) -> Against:
        first, second = self.split(theta)
        left, right = self.left.against(first, x), self.right.against(second, x)
        return lambda u: product(left(u), right(u))

    def diagonal(self, theta: Array, u: Array) -> Cross:
        first, second = self.split(theta)
        return product(self.left.diagonal(first, u), self.right.diagonal(second, u))


def _sum(a: Cross, b: Cross) -> Cross:
    return Cross(a.value + b.value, lambda g: a.to_inputs(g) + b.to_inputs(g))


def product(a: Cross, b: Cross) -> Cross:
    return Cross(a.value * b.value, lambda g: a.to_inputs(g * b.value) + b.to_inputs(g * a.value))


def constant_diagonal(u: Array, value: float) -> Cross:
    """The diagonal of a kernel whose variance is the same everywhere."""
    return Cross(np.full(len(u), value), lambda _: np.zeros_like(u))
