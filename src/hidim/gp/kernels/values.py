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
from hidim.gp.kernels.cylinder import Polynomial, weighted
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
    last: tuple[bytes, Array] | None = None

    def remembered(theta: Array) -> Array:
        nonlocal last
        key = theta.tobytes()
        if last is None or last[0] != key:
            last = key, compute(theta)
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
    powers = kernel.powers(x)
    return lambda theta: weighted(kernel.weights(theta), powers)
