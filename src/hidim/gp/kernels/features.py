"""Random features: prior draws of a process, for Thompson sampling.

Φ (n, m) with E[Φ Φᵀ] / m = K. A kernel has them if a rule is registered here for it, as for all of which the
flat prior is made; the others get a `MethodError` that says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch
from typing import NamedTuple, TypeAlias

import numpy as np

from hidim._types import Array, Pullback, Rng
from hidim.errors import MethodError
from hidim.gp.kernels.algebra import Constant, Scaled
from hidim.gp.kernels.base import Cross, Kernel, Product, product
from hidim.gp.kernels.hamming import Hamming
from hidim.gp.kernels.stationary import Stationary


class Features(NamedTuple):
    """Φ (n, m), and what turns ∂L/∂Φ into ∂L/∂X."""

    value: Array
    to_inputs: Pullback


FeatureMap: TypeAlias = Callable[[Array], Features]


@singledispatch
def features(kernel: Kernel, theta: Array, rng: Rng, count: int, width: int) -> FeatureMap:
    """`count` random features of inputs with `width` columns, whose products estimate k without bias."""
    raise MethodError(
        f"the kernel {type(kernel).__name__} has no random features, which Thompson sampling needs: use "
        "another utility, as 'log-ei' or 'ucb'"
    )


@features.register
def _(kernel: Stationary, theta: Array, rng: Rng, count: int, width: int) -> FeatureMap:
    """√2 cos(ωᵀz + b) with ω from the spectral density (Rahimi and Recht 2007)."""
    image = kernel.inputs(theta, np.zeros((1, width))).value
    frequencies = kernel.form.frequencies(rng, image.shape[1], count)
    phase = rng.uniform(0.0, 2.0 * math.pi, count)

    def feature_map(x: Array) -> Features:
        mapped = kernel.inputs(theta, x)
        angle = mapped.value @ frequencies + phase

        def to_inputs(g: Array) -> Array:
            return mapped.to_inputs((-math.sqrt(2.0) * g * np.sin(angle)) @ frequencies.T)

        return Features(math.sqrt(2.0) * np.cos(angle), to_inputs)

    return feature_map


@features.register
def _(kernel: Hamming, theta: Array, rng: Rng, count: int, width: int) -> FeatureMap:
    """Products of random signs: a column's sign depends on its label with probability 1 − e^{−w}."""
    labels = kernel.labels
    signs = rng.choice([-1.0, 1.0], size=(int(labels.offsets[-1]), count))
    ignored = rng.random((len(labels), count)) < np.exp(-kernel.weights(theta))[:, None]
    signs[np.repeat(ignored, labels.levels + 1, axis=0)] = 1.0

    def feature_map(x: Array) -> Features:
        negative = labels.one_hot(x) @ (signs < 0.0)
        return Features(1.0 - 2.0 * np.mod(negative, 2.0), lambda _: np.zeros_like(x))

    return feature_map


@features.register
def _(kernel: Product, theta: Array, rng: Rng, count: int, width: int) -> FeatureMap:
    first, second = kernel.split(theta)
    left = features(kernel.left, first, rng, count, width)
    right = features(kernel.right, second, rng, count, width)
    # Independent draws: the expectation of the product is the product of the expectations.
    return lambda x: Features(*product(Cross(*left(x)), Cross(*right(x))))


@features.register
def _(kernel: Scaled, theta: Array, rng: Rng, count: int, width: int) -> FeatureMap:
    root = math.exp(0.5 * theta[0])
    inner = features(kernel.inner, theta[1:], rng, count, width)

    def feature_map(x: Array) -> Features:
        phi = inner(x)
        return Features(root * phi.value, lambda g: phi.to_inputs(root * g))

    return feature_map


@features.register
def _(kernel: Constant, theta: Array, rng: Rng, count: int, width: int) -> FeatureMap:
    return lambda x: Features(np.ones((len(x), count)), lambda _: np.zeros_like(x))
