"""The terms of a sum: what a covariance is made of, and hence a function drawn from it.

If k = Σ k_v, the function is a sum of independent ones f_v, each with a posterior of its own:

    μ_v(U) = k_v(U, X) α          σ_v²(U) = k_v(u, u) − k_v(U, X) K⁻¹ k_v(X, U)        RPP-GP-UCB, eq. 3
"""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from hidim._types import Array
from hidim.gp.kernels.algebra import Scaled, Through
from hidim.gp.kernels.base import Kernel, Sum
from hidim.gp.kernels.effects import Effects
from hidim.gp.kernels.groups import Groups, groups_in


class Summand(NamedTuple):
    """One term of a sum, over the inputs of all of it, and its θ."""

    kernel: Kernel
    theta: Array


@singledispatch
def terms(kernel: Kernel, theta: Array) -> list[Summand]:
    """The terms of which `kernel` is the sum under θ; what is no sum is one term."""
    return [Summand(kernel, theta)]


@terms.register
def _(kernel: Sum, theta: Array) -> list[Summand]:
    first, second = kernel.split(theta)
    return [*terms(kernel.left, first), *terms(kernel.right, second)]


@terms.register
def _(kernel: Groups, theta: Array) -> list[Summand]:
    return [Summand(kernel.only(place), theta) for place in range(len(kernel.terms))]


@terms.register
def _(kernel: Scaled, theta: Array) -> list[Summand]:
    return [
        Summand(Scaled(inner), np.concatenate([theta[:1], own]))
        for inner, own in terms(kernel.inner, theta[1:])
    ]


@terms.register
def _(kernel: Through, theta: Array) -> list[Summand]:
    first, second = kernel.split(theta)
    return [
        Summand(Through(kernel.inputs, inner), np.concatenate([first, own]))
        for inner, own in terms(kernel.inner, second)
    ]


def additive_part(kernel: Kernel, theta: Array) -> Summand | None:
    """The summand of a sum that is itself a sum over groups; None if there is none, or if it is absent."""
    if isinstance(kernel, Sum):
        first, second = kernel.split(theta)
        return additive_part(kernel.left, first) or additive_part(kernel.right, second)
    if groups_in(kernel) is None or (isinstance(kernel, Scaled) and kernel.absent(theta)):
        return None
    return Summand(kernel, theta)


def effects_part(kernel: Kernel, theta: Array) -> tuple[Effects, Array, float] | None:
    """The main effects of a sum, their θ and log σ²; None if there are none, or if they are absent."""
    match kernel:
        case Sum():
            first, second = kernel.split(theta)
            return effects_part(kernel.left, first) or effects_part(kernel.right, second)
        case Scaled(inner=Effects() as inner) if not kernel.absent(theta):
            return inner, theta[1:], float(theta[0])
    return None
