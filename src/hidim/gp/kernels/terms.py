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


def summands(kernel: Kernel, theta: Array) -> list[Summand]:
    """What a sum adds up, a sum over groups being one of them; without those that are absent."""
    if isinstance(kernel, Sum):
        first, second = kernel.split(theta)
        return [*summands(kernel.left, first), *summands(kernel.right, second)]
    absent = isinstance(kernel, Scaled) and kernel.absent(theta)
    return [] if absent else [Summand(kernel, theta)]


def additive_part(kernel: Kernel, theta: Array) -> Summand | None:
    """The summand of a sum that is itself a sum over groups; None if there is none."""
    found = (part for part in summands(kernel, theta) if groups_in(part.kernel) is not None)
    return next(found, None)


def effects_part(kernel: Kernel, theta: Array) -> tuple[Effects, Array, float] | None:
    """The main effects of a sum, their θ and log σ²; None if there are none."""
    for part in summands(kernel, theta):
        match part.kernel:
            case Scaled(inner=Effects() as inner):
                return inner, part.theta[1:], float(part.theta[0])
    return None
