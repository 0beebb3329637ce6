"""Amplitudes, maps in common, and constants: kernels made of one kernel, or of none."""

from __future__ import annotations

import math

import numpy as np

from hidim._types import Array
from hidim.gp.densities import Density, Normal
from hidim.gp.hyperparameter import Hyperparameter
from hidim.gp.kernels.base import Against, Cross, Gram, Kernel, constant_diagonal
from hidim.gp.maps import Map

#: log σ² of a term that may be absent, where it is.
ABSENT = -14.0


class Scaled(Kernel):
    """k = σ² k₁, with log σ² as first parameter.

    Args:
        inner: k₁.
        prior: on log σ²; outcomes are standardised, so the default sits around 1.
        optional: the term may be absent: at the lower limit `ABSENT` of log σ² it is 0, and costs nothing.
        name: of log σ², if a sum has several.
    """

    def __init__(
        self,
        inner: Kernel,
        *,
        prior: Density | None = None,
        optional: bool = False,
        name: str = "log_amplitude",
    ) -> None:
        self.inner = inner
        self.optional = optional
        prior = prior or Normal(0.0, 1.0)
        # Between 1/1000 and 1000 times the variance of standardised outcomes: limits never met in practice.
        low = ABSENT if optional else -7.0
        self.parameters = (Hyperparameter(name, 1, 0.0, low, 7.0, prior), *inner.parameters)

    def absent(self, theta: Array) -> bool:
        """Whether the term is 0 under θ."""
        return self.optional and bool(theta[0] <= ABSENT)

    def gram(self, theta: Array, x: Array) -> Gram:
        if self.absent(theta):
            return Gram(np.zeros((len(x), len(x))), lambda _: np.zeros(self.size))
        amplitude = math.exp(theta[0])
        inner = self.inner.gram(theta[1:], x)
        value = amplitude * inner.value

        def to_parameters(g: Array) -> Array:
            return np.concatenate([[amplitude * np.vdot(g, inner.value)], inner.to_parameters(amplitude * g)])

        return Gram(value, to_parameters)

    def against(self, theta: Array, x: Array) -> Against:
        if self.absent(theta):
            return lambda u: Cross(np.zeros((len(u), len(x))), lambda _: np.zeros_like(u))
        amplitude = math.exp(theta[0])
        inner = self.inner.against(theta[1:], x)

        def cross(u: Array) -> Cross:
            k = inner(u)
            return Cross(amplitude * k.value, lambda g: k.to_inputs(amplitude * g))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        if self.absent(theta):
            return constant_diagonal(u, 0.0)
        amplitude = math.exp(theta[0])
        inner = self.inner.diagonal(theta[1:], u)
        return Cross(amplitude * inner.value, lambda g: inner.to_inputs(amplitude * g))


class Through(Kernel):
    """k(x, x') = k₁(m(x), m(x')), with the map evaluated once for all parts of k₁.

    θ is the parameters of the map, then those of k₁.

    Args:
        inputs: m.
        inner: k₁.
    """

    def __init__(self, inputs: Map, inner: Kernel) -> None:
        self.inputs = inputs
        self.inner = inner
        self.parameters = inputs.parameters + inner.parameters

    def split(self, theta: Array) -> tuple[Array, Array]:
        """θ of the map, and that of k₁."""
        return theta[: self.inputs.size], theta[self.inputs.size :]

    def gram(self, theta: Array, x: Array) -> Gram:
        first, second = self.split(theta)
        mapped = self.inputs(first, x)
        inner = self.inner.gram(second, mapped.value)
        if not self.inputs.size:
            return inner

        def to_parameters(g: Array) -> Array:
            # G and k₁ are symmetric: every image counts as a left and, equally, as a right argument.
            pulled = 2.0 * self.inner.against(second, mapped.value)(mapped.value).to_inputs(g)
            return np.concatenate([mapped.to_parameters(pulled), inner.to_parameters(g)])

        return Gram(inner.value, to_parameters)

    def against(self, theta: Array, x: Array) -> Against:
        first, second = self.split(theta)
        inner = self.inner.against(second, self.inputs(first, x).value)

        def cross(u: Array) -> Cross:
            mapped = self.inputs(first, u)
            k = inner(mapped.value)
            return Cross(k.value, lambda g: mapped.to_inputs(k.to_inputs(g)))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        first, second = self.split(theta)
        mapped = self.inputs(first, u)
        inner = self.inner.diagonal(second, mapped.value)
        return Cross(inner.value, lambda g: mapped.to_inputs(inner.to_inputs(g)))


class Constant(Kernel):
    """k = 1: what all inputs have in common."""

    def gram(self, theta: Array, x: Array) -> Gram:
        return Gram(np.ones((len(x), len(x))), lambda _: np.empty(0))

    def against(self, theta: Array, x: Array) -> Against:
        return lambda u: Cross(np.ones((len(u), len(x))), lambda _: np.zeros_like(u))

    def diagonal(self, theta: Array, u: Array) -> Cross:
        return constant_diagonal(u, 1.0)
