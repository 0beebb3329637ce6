"""Functions of squared distance: ρ(‖z − z'‖²) after an input map z = m(x).

Everything is written in the *squared* distance, whose derivative at zero is finite for every form but
Matérn-1/2:

    form      ρ(D²), r = √(2ν) D                ρ'(D²)
    SE        exp(−D²/2)                        −½ ρ
    ν = 1/2   e^{−r}                            −e^{−r} / (2 r)
    ν = 3/2   (1 + r) e^{−r}                    −(3/2) e^{−r}
    ν = 5/2   (1 + r + r²/3) e^{−r}             −(5/6) (1 + r) e^{−r}

Pullback: with w = G ∘ ρ'(D²), ∂L/∂Z₁ = 2 (rowsum(w) Z₁ − w Z₂), one matrix product whatever the map.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hidim._types import Array
from hidim.gp.kernels.base import Against, Cross, Gram, Kernel, constant_diagonal
from hidim.gp.linalg import squared_distances
from hidim.gp.maps import Map


class Form(ABC):
    """ρ as a function of squared distance."""

    @abstractmethod
    def __call__(self, d2: Array) -> tuple[Array, Array]:
        """ρ(D²) and ρ'(D²), elementwise."""


@dataclass(frozen=True)
class SquaredExponential(Form):
    def __call__(self, d2: Array) -> tuple[Array, Array]:
        value = np.exp(-0.5 * d2)
        return value, -0.5 * value


@dataclass(frozen=True)
class Matern(Form):
    """Matérn with smoothness ν = 1/2, 3/2 or 5/2."""

    nu: float = 2.5

    def __post_init__(self) -> None:
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"Matern(nu={self.nu!r}): nu must be 0.5, 1.5 or 2.5")

    def __call__(self, d2: Array) -> tuple[Array, Array]:
        r = (2.0 * self.nu) * d2
        np.sqrt(r, out=r)
        decay = -r
        np.exp(decay, out=decay)
        if self.nu == 0.5:
            # ρ' is infinite at zero, where it only ever multiplies z − z' = 0: zero will do.
            return decay, np.divide(-0.5 * decay, r, out=np.zeros_like(r), where=r > 0.0)
        if self.nu == 1.5:
            return decay + decay * r, -1.5 * decay
        # In place: this is the innermost loop of every fit, and memory traffic is its price.
        slope = 1.0 + r
        slope *= decay
        r *= r
        r *= decay
        r *= 1.0 / 3.0
        r += slope
        slope *= -5.0 / 6.0
        return r, slope


FormName = Literal["matern", "matern32", "matern12", "se"]

#: Every form by its name.
FORMS: dict[str, Form] = {
    "matern": Matern(2.5),
    "matern32": Matern(1.5),
    "matern12": Matern(0.5),
    "se": SquaredExponential(),
}


class Stationary(Kernel):
    """k(x, x') = ρ(‖m(x) − m(x')‖²), unit variance.

    Args:
        form: ρ.
        inputs: the map m; its parameters are the kernel's.
    """

    def __init__(self, form: Form, inputs: Map) -> None:
        self.form = form
        self.inputs = inputs
        self.parameters = inputs.parameters

    def gram(self, theta: Array, x: Array) -> Gram:
        mapped = self.inputs(theta, x)
        z = mapped.value
        d2 = squared_distances(z, z)
        d2.flat[:: len(z) + 1] = 0.0
        value, slope = self.form(d2)

        def to_parameters(g: Array) -> Array:
            w = g * slope
            # G is symmetric, so both arguments of the kernel contribute the same.
            grad = z * w.sum(axis=1)[:, None]
            grad -= w @ z
            grad *= 4.0
            return mapped.to_parameters(grad)

        return Gram(value, to_parameters)

    def against(self, theta: Array, x: Array) -> Against:
        z2 = self.inputs(theta, x).value
        norms = np.vecdot(z2, z2)
        doubled = np.ascontiguousarray(-2.0 * z2.T)

        def cross(u: Array) -> Cross:
            mapped = self.inputs(theta, u)
            z1 = mapped.value
            d2 = z1 @ doubled
            d2 += norms
            d2 += np.vecdot(z1, z1)[:, None]
            value, slope = self.form(np.maximum(d2, 0.0, out=d2))

            def to_inputs(g: Array) -> Array:
                w = g * slope
                grad = z1 * w.sum(axis=1)[:, None]
                grad -= w @ z2
                grad *= 2.0
                return mapped.to_inputs(grad)

            return Cross(value, to_inputs)

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        return constant_diagonal(u, 1.0)
