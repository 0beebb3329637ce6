"""Sums, products, amplitudes, masks and constants: kernels made of kernels."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hidim._types import Array, Indices, Mask
from hidim.gp.kernels.base import Against, Cross, FeatureMap, Features, Gram, Kernel, constant_diagonal
from hidim.gp.maps import Map
from hidim.gp.parameter import Parameter
from hidim.gp.priors import Normal, Prior

_NONE = np.empty(0)


class _Pair(Kernel):
    """Two kernels side by side; θ is the parameters of the left one, then of the right one."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right
        self.parameters = left.parameters + right.parameters

    def _split(self, theta: Array) -> tuple[Array, Array]:
        return theta[: self.left.size], theta[self.left.size :]


class Sum(_Pair):
    """k = k₁ + k₂."""

    def gram(self, theta: Array, x: Array) -> Gram:
        first, second = self._split(theta)
        a, b = self.left.gram(first, x), self.right.gram(second, x)
        return Gram(a.value + b.value, lambda g: np.concatenate([a.to_parameters(g), b.to_parameters(g)]))

    def against(self, theta: Array, x: Array) -> Against:
        first, second = self._split(theta)
        left, right = self.left.against(first, x), self.right.against(second, x)

        def cross(u: Array) -> Cross:
            a, b = left(u), right(u)
            return Cross(a.value + b.value, lambda g: a.to_inputs(g) + b.to_inputs(g))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        first, second = self._split(theta)
        a, b = self.left.diagonal(first, u), self.right.diagonal(second, u)
        return Cross(a.value + b.value, lambda g: a.to_inputs(g) + b.to_inputs(g))

    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        first, second = self._split(theta)
        half = (count + 1) // 2
        left = self.left.features(first, rng, half, width)
        right = self.right.features(second, rng, count - half or 1, width)

        def feature_map(x: Array) -> Features:
            a, b = left(x), right(x)
            m, split = a.value.shape[1] + b.value.shape[1], a.value.shape[1]
            scale_a, scale_b = math.sqrt(m / split), math.sqrt(m / (m - split))
            value = np.hstack([scale_a * a.value, scale_b * b.value])
            return Features(
                value,
                lambda g: a.to_inputs(scale_a * g[:, :split]) + b.to_inputs(scale_b * g[:, split:]),
            )

        return feature_map


class Product(_Pair):
    """k = k₁ · k₂."""

    def gram(self, theta: Array, x: Array) -> Gram:
        first, second = self._split(theta)
        a, b = self.left.gram(first, x), self.right.gram(second, x)
        return Gram(
            a.value * b.value,
            lambda g: np.concatenate([a.to_parameters(g * b.value), b.to_parameters(g * a.value)]),
        )

    def against(self, theta: Array, x: Array) -> Against:
        first, second = self._split(theta)
        left, right = self.left.against(first, x), self.right.against(second, x)
        return lambda u: _product(left(u), right(u))

    def diagonal(self, theta: Array, u: Array) -> Cross:
        first, second = self._split(theta)
        return _product(self.left.diagonal(first, u), self.right.diagonal(second, u))

    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        first, second = self._split(theta)
        left = self.left.features(first, rng, count, width)
        right = self.right.features(second, rng, count, width)
        # Independent draws: the expectation of the product is the product of the expectations.
        return lambda x: Features(*_product(left(x), right(x)))


def _product(a: Cross | Features, b: Cross | Features) -> Cross:
    return Cross(a.value * b.value, lambda g: a.to_inputs(g * b.value) + b.to_inputs(g * a.value))


class Scaled(Kernel):
    """k = σ² k₁, with log σ² as first parameter.

    Args:
        inner: k₁.
        prior: on log σ²; outcomes are standardised, so the default sits around 1.
    """

    def __init__(self, inner: Kernel, *, prior: Prior | None = None) -> None:
        self.inner = inner
        prior = prior or Normal(0.0, 1.0)
        self.parameters = (Parameter("log_amplitude", 1, 0.0, -7.0, 7.0, prior), *inner.parameters)

    def gram(self, theta: Array, x: Array) -> Gram:
        amplitude = math.exp(theta[0])
        inner = self.inner.gram(theta[1:], x)
        value = amplitude * inner.value

        def to_parameters(g: Array) -> Array:
            return np.concatenate([[amplitude * np.vdot(g, inner.value)], inner.to_parameters(amplitude * g)])

        return Gram(value, to_parameters)

    def against(self, theta: Array, x: Array) -> Against:
        amplitude = math.exp(theta[0])
        inner = self.inner.against(theta[1:], x)

        def cross(u: Array) -> Cross:
            k = inner(u)
            return Cross(amplitude * k.value, lambda g: k.to_inputs(amplitude * g))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        amplitude = math.exp(theta[0])
        inner = self.inner.diagonal(theta[1:], u)
        return Cross(amplitude * inner.value, lambda g: inner.to_inputs(amplitude * g))

    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        root = math.exp(0.5 * theta[0])
        inner = self.inner.features(theta[1:], rng, count, width)

        def feature_map(x: Array) -> Features:
            phi = inner(x)
            return Features(root * phi.value, lambda g: phi.to_inputs(root * g))

        return feature_map

    def blocks(self, x: Array) -> list[Indices]:
        return self.inner.blocks(x)


class Through(Kernel):
    """k(x, x') = k₁(m(x), m(x')) for a map m without parameters, evaluated once for all parts of k₁.

    Args:
        inputs: m.
        inner: k₁.
    """

    def __init__(self, inputs: Map, inner: Kernel) -> None:
        self.inputs = inputs
        self.inner = inner
        self.parameters = inner.parameters

    def gram(self, theta: Array, x: Array) -> Gram:
        return self.inner.gram(theta, self.inputs(_NONE, x).value)

    def against(self, theta: Array, x: Array) -> Against:
        inner = self.inner.against(theta, self.inputs(_NONE, x).value)

        def cross(u: Array) -> Cross:
            mapped = self.inputs(_NONE, u)
            k = inner(mapped.value)
            return Cross(k.value, lambda g: mapped.to_inputs(k.to_inputs(g)))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        mapped = self.inputs(_NONE, u)
        inner = self.inner.diagonal(theta, mapped.value)
        return Cross(inner.value, lambda g: mapped.to_inputs(inner.to_inputs(g)))

    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        image = self.inputs(_NONE, np.zeros((1, width))).value.shape[1]
        inner = self.inner.features(theta, rng, count, image)

        def feature_map(x: Array) -> Features:
            mapped = self.inputs(_NONE, x)
            phi = inner(mapped.value)
            return Features(phi.value, lambda g: mapped.to_inputs(phi.to_inputs(g)))

        return feature_map


class Constant(Kernel):
    """k = 1: a random level shared by all inputs. Scaled, it is an unknown mean with a normal prior."""

    def gram(self, theta: Array, x: Array) -> Gram:
        return Gram(np.ones((len(x), len(x))), lambda _: np.empty(0))

    def against(self, theta: Array, x: Array) -> Against:
        return lambda u: Cross(np.ones((len(u), len(x))), lambda _: np.zeros_like(u))

    def diagonal(self, theta: Array, u: Array) -> Cross:
        return constant_diagonal(u, 1.0)

    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        return lambda x: Features(np.ones((len(x), count)), lambda _: np.zeros_like(x))


class Masked(Kernel):
    """k(x, x') = δ(x) δ(x') k₁(x, x') for an indicator δ of inputs: zero where either is outside.

    Rows outside are handed to k₁ with NaN replaced by ½, and their covariances set to zero afterwards.

    Args:
        inner: k₁.
        inside: maps (n, p) to a boolean (n,).
    """

    def __init__(self, inner: Kernel, inside: Callable[[Array], Mask]) -> None:
        self.inner = inner
        self.inside = inside
        self.parameters = inner.parameters

    def _prepare(self, x: Array) -> tuple[Array, Array]:
        inside = self.inside(x)
        return np.where(inside[:, None], x, np.nan_to_num(x, nan=0.5)), inside.astype(np.float64)

    def gram(self, theta: Array, x: Array) -> Gram:
        filled, inside = self._prepare(x)
        inner = self.inner.gram(theta, filled)
        mask = inside[:, None] * inside
        return Gram(inner.value * mask, lambda g: inner.to_parameters(g * mask))

    def against(self, theta: Array, x: Array) -> Against:
        filled, right = self._prepare(x)
        inner = self.inner.against(theta, filled)

        def cross(u: Array) -> Cross:
            queried, left = self._prepare(u)
            k, mask = inner(queried), left[:, None] * right
            return Cross(k.value * mask, lambda g: k.to_inputs(g * mask))

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        queried, inside = self._prepare(u)
        inner = self.inner.diagonal(theta, queried)
        return Cross(inner.value * inside, lambda g: inner.to_inputs(g * inside))

    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        inner = self.inner.features(theta, rng, count, width)

        def feature_map(x: Array) -> Features:
            filled, inside = self._prepare(x)
            phi, column = inner(filled), inside[:, None]
            return Features(phi.value * column, lambda g: phi.to_inputs(g * column))

        return feature_map
