"""Covariances of the same inputs under many parameters, one after the other.

A sampler changes one parameter at a time. What does not depend on it is not computed again: a product keeps
the factors whose parameters have stayed, a polynomial its powers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import TypeAlias

import numpy as np

from hidim._types import Array
from hidim.gp.kernels.algebra import Scaled
from hidim.gp.kernels.base import Kernel, Product, Sum
from hidim.gp.kernels.cylinder import Polynomial
from hidim.gp.kernels.stationary import Stationary
from hidim.gp.maps import Chain

#: θ to K(X, X) (n, n), to be read and not to be written.
Values: TypeAlias = Callable[[Array], Array]


@singledispatch
def values(kernel: Kernel, x: Array) -> Values:
    """K(X, X) for one `x` (n, p) and changing θ."""
    return lambda theta: kernel.gram(theta, x).value


def _remembering(compute: Values) -> Values:
    """The last value again, if θ is the last θ."""
    last: tuple[Array, Array] | None = None

    def remembered(theta: Array) -> Array:
        nonlocal last
        if last is None or not np.array_equal(theta, last[0]):
            last = theta.copy(), compute(theta)
        return last[1]

    return remembered


@values.register
def _(kernel: Scaled, x: Array) -> Values:
    inner = _remembering(values(kernel.inner, x))
    return lambda theta: np.exp(theta[0]) * inner(theta[1:])


@values.register
def _(kernel: Sum, x: Array) -> Values:
    left, right = (_remembering(values(part, x)) for part in (kernel.left, kernel.right))
    return lambda theta: left(kernel.split(theta)[0]) + right(kernel.split(theta)[1])


@values.register
def _(kernel: Product, x: Array) -> Values:
    left, right = (_remembering(values(part, x)) for part in (kernel.left, kernel.right))
    return lambda theta: left(kernel.split(theta)[0]) * right(kernel.split(theta)[1])


@values.register
def _(kernel: Stationary, x: Array) -> Values:
    match kernel.inputs:
        case Chain(maps=(first, *rest)) if first.size == 0:  # the same for every θ
            return values(Stationary(kernel.form, Chain(*rest)), first(np.empty(0), x).value)
    return lambda theta: kernel.gram(theta, x).value


@values.register
def _(kernel: Polynomial, x: Array) -> Values:
    powers, shape = kernel.powers(x).reshape(len(kernel.moments), -1), (len(x), len(x))
    return lambda theta: (kernel.weights(theta) @ powers).reshape(shape)
