"""Log densities, up to a constant, with their gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hidim._types import Array


class Density(ABC):
    """Independent, identical priors on the entries of one parameter."""

    @abstractmethod
    def __call__(self, values: Array) -> tuple[float, Array]:
        """Sum of log densities of `values` (k,) up to a constant, and its gradient (k,)."""


@dataclass(frozen=True)
class Improper(Density):
    def __call__(self, values: Array) -> tuple[float, Array]:
        return 0.0, np.zeros_like(values)


@dataclass(frozen=True)
class Normal(Density):
    mean: float
    sd: float

    def __call__(self, values: Array) -> tuple[float, Array]:
        z = (values - self.mean) / self.sd
        return -0.5 * float(z @ z), -z / self.sd


@dataclass(frozen=True)
class SplitNormal(Density):
    """Two halves of normal densities with one peak: what lies below it costs more, or less, than above."""

    mean: float
    below: float
    above: float

    def __call__(self, values: Array) -> tuple[float, Array]:
        sd = np.where(values < self.mean, self.below, self.above)
        z = (values - self.mean) / sd
        return -0.5 * float(z @ z), -z / sd


@dataclass(frozen=True)
class StudentT(Density):
    """Heavy tails: most values stay near `location`, a few may leave it at a logarithmic price."""

    freedom: float
    location: float
    scale: float

    def __call__(self, values: Array) -> tuple[float, Array]:
        z = (values - self.location) / self.scale
        half = 0.5 * (self.freedom + 1.0)
        inner = 1.0 + z * z / self.freedom
        value = -half * float(np.sum(np.log(inner)))
        return value, -half * (2.0 * z / self.freedom) / inner / self.scale


@dataclass(frozen=True)
class Horseshoe(Density):
    """log log(1 + (scale / v)²) of v = e^value: a peak at no noise at all, and a heavy tail."""

    scale: float

    def __call__(self, values: Array) -> tuple[float, Array]:
        ratio = np.exp(2.0 * (np.log(self.scale) - values))
        inner = np.log1p(ratio)
        return float(np.sum(np.log(inner))), -2.0 * ratio / ((1.0 + ratio) * inner)


@dataclass(frozen=True)
class SpikeAndSlab(Density):
    """Half a normal spike at 0, half a uniform slab on one side of it (Ishwaran and Rao 2005)."""

    sd: float
    width: float

    def __call__(self, values: Array) -> tuple[float, Array]:
        peak = np.sqrt(2.0 / np.pi) / self.sd  # a normal density folded to one side
        spike = peak * np.exp(-0.5 * (values / self.sd) ** 2)
        density = 0.5 * (spike + 1.0 / self.width)
        return float(np.sum(np.log(density))), -0.5 * spike * values / self.sd**2 / density
