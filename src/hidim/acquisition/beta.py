"""How wide confidence bounds are: √β as time goes on."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from hidim._settings import at_least
from hidim.acquisition.base import Belief
from hidim.errors import MethodError

#: g(t)^d is at most e to this.
LARGEST_POWER = 50.0


class Beta(ABC):
    """β of a confidence bound."""

    @abstractmethod
    def root(self, belief: Belief, dim: int) -> float:
        """√β.

        Args:
            belief: about the losses; time t is the number of its observations.
            dim: d, the number of columns of the function that is bounded, or of its largest term.
        """


@dataclass(frozen=True)
class Fixed(Beta):
    """The same at all times; two standard deviations, unless told otherwise."""

    beta: float = 4.0

    def __post_init__(self) -> None:
        at_least(self, beta=0.0)

    def root(self, belief: Belief, dim: int) -> float:
        return math.sqrt(self.beta)


@dataclass(frozen=True)
class Logarithmic(Beta):
    """β_t = factor · d · log 2t, as in the code of Add-GP-UCB (Kandasamy et al. 2015)."""

    factor: float = 0.2

    def __post_init__(self) -> None:
        at_least(self, factor=0.0)

    def root(self, belief: Belief, dim: int) -> float:
        return math.sqrt(self.factor * dim * math.log(2.0 * max(len(belief.y), 1)))


@dataclass(frozen=True)
class Adaptation(Beta):
    """A-GP-UCB (Berkenkamp et al. 2019): length-scales that shrink and a bound that grows with time.

    θ_t = min(θ_MAP, θ_0/g(t)), β_t^½ = b(t) g(t)^d B_0 + 4 σ (I + 1 + ln 1/δ)^½ (Add-Tree §4.3 and §5), where
    I is the information gain ½ log |1 + K/σ²| and d the largest number of columns of a node. Paper and code
    leave b, g, B_0 and δ open; here g(t) = (1 + t/period)^power and b(t) = 1 + log g(t) (eq. 12 and 13). θ_0
    and B_0 were changed from 1 with runs of figure 4a; the others were not varied.

    Args:
        lengthscale: θ_0, as a share of the range of a parameter, times √d.
        norm: B_0.
        delta: δ, the probability with which the bounds may fail.
        power: how fast g grows. By Proposition 11, power · d < ¼ is needed for no regret in the end: by
            default it is .1, or .2/d if that is less.
        period: after how many trials it has grown to 2^power.
    """

    lengthscale: float = 0.5
    norm: float = 2.0
    delta: float = 0.1
    power: float | None = None
    period: float = 20.0

    def __post_init__(self) -> None:
        at_least(self, lengthscale=1e-3, norm=0.0, delta=1e-12, period=1e-3)
        if self.power is not None:
            at_least(self, power=0.0)
        if self.delta >= 1.0:
            raise MethodError(f"Adaptation(delta={self.delta!r}): a probability below 1")

    def growth(self, t: int, dim: int) -> float:
        """g(t)."""
        power = min(0.1, 0.2 / max(dim, 1)) if self.power is None else self.power
        return float((1.0 + t / self.period) ** power)

    def longest(self, t: int, dim: int) -> float:
        """log θ_0/g(t), the longest length-scale at time t."""
        return math.log(self.lengthscale * math.sqrt(dim) / self.growth(t, dim))

    def root(self, belief: Belief, dim: int) -> float:
        noise, information = belief.noise, belief.information()
        growth = math.log(self.growth(len(belief.y), dim))
        bound = (1.0 + growth) * math.exp(min(dim * growth, LARGEST_POWER)) * self.norm
        return bound + 4.0 * math.sqrt(noise * (max(information, 0.0) + 1.0 - math.log(self.delta)))


#: Every β by its name.
BETAS: dict[str, Beta] = {"fixed": Fixed(), "logarithmic": Logarithmic(), "a-gp-ucb": Adaptation()}
