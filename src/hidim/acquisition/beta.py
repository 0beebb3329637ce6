"""How wide confidence bounds are: √β as time goes on."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from hidim._settings import at_least
from hidim.acquisition.base import Belief
from hidim.errors import MethodError

#: g(t)^d is at most e to this.
LARGEST_POWER = 50.0


class Beta(ABC):
    """β of a confidence bound."""

    #: Whether the groups of a sum have a β each, by their numbers of columns, or all that of the largest.
    by_group: ClassVar[bool] = False

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

    by_group: ClassVar[bool] = True

    factor: float = 0.2

    def __post_init__(self) -> None:
        at_least(self, factor=0.0)

    def root(self, belief: Belief, dim: int) -> float:
        return math.sqrt(self.factor * dim * math.log(2.0 * max(len(belief.y), 1)))


@dataclass(frozen=True)
class Adapting(Beta):
    """A-GP-UCB (Berkenkamp et al. 2019): length-scales that shrink and a bound that grows with time.

    θ_t = min(θ_MAP, θ_0/g(t)), β_t^½ = b(t) g(t)^d B_0 + 4 σ (I + 1 + ln 1/δ)^½ (Add-Tree §4.3 and §5), where
    I is the information gain ½ log |1 + K/σ²| and d the largest number of columns of a node. Paper and code
    leave b, g, B_0 and δ open; here b(t) = 1 + log g(t) (eq. 12 and 13). θ_0 and B_0 were changed from 1 with
    runs of figure 4a.

    Args:
        lengthscale: θ_0, as a share of the range of a parameter, times √d.
        norm: B_0.
        delta: δ, the probability with which the bounds may fail.
    """

    lengthscale: float = 0.5
    norm: float = 2.0
    delta: float = 0.1

    def __post_init__(self) -> None:
        at_least(self, lengthscale=1e-3, norm=0.0, delta=1e-12)
        if self.delta >= 1.0:
            raise MethodError(f"{type(self).__name__}(delta={self.delta!r}): a probability below 1")

    @abstractmethod
    def log_growth(self, belief: Belief, dim: int) -> float:
        """log g(t)."""

    def longest(self, belief: Belief, dim: int) -> float:
        """log θ_0/g(t), the longest length-scale at this time."""
        return math.log(self.lengthscale * math.sqrt(dim)) - self.log_growth(belief, dim)

    def root(self, belief: Belief, dim: int) -> float:
        growth = self.log_growth(belief, dim)
        bound = (1.0 + growth) * math.exp(min(dim * growth, LARGEST_POWER)) * self.norm
        return bound + self.doubt(belief)

    def doubt(self, belief: Belief) -> float:
        """4 σ (I + 1 + ln 1/δ)^½."""
        information = max(belief.information(), 0.0)
        return 4.0 * math.sqrt(belief.noise * (information + 1.0 - math.log(self.delta)))


@dataclass(frozen=True)
class Adaptation(Adapting):
    """g(t) = (1 + t/period)^power; neither was varied.

    Args:
        power: how fast g grows. By Proposition 11, power · d < ¼ is needed for no regret in the end: by
            default it is .1, or .2/d if that is less.
        period: after how many trials it has grown to 2^power.
    """

    power: float | None = None
    period: float = 20.0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, period=1e-3)
        if self.power is not None:
            at_least(self, power=0.0)

    def log_growth(self, belief: Belief, dim: int) -> float:
        power = min(0.1, 0.2 / max(dim, 1)) if self.power is None else self.power
        return power * math.log1p(len(belief.y) / self.period)


@dataclass(frozen=True)
class Matching(Adapting):
    """g and b as large as a reference regret allows (Add-Tree §4.4).

    The cumulative regret is estimated by what bounds it, (t β_t I_t)^½, and matched with c t^reference. So
    β_t^½ = c t^(reference − ½)/I_t^½, where c makes it B_0 after a single observation, but never less than
    with g = b = 1, and g(t) is what b(t) g(t)^d B_0 leaves of it. I is that under the belief at hand: the one
    before length-scales are shortened decides by how much, the one after it the bound. Values without noise
    tell nearly as much each time, and then there is hardly anything left for g.

    Args:
        reference: the power of t with which regret may grow: more explores more; below 1 for no regret in the
            end, above ½, which no bound is below.
    """

    reference: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.5 < self.reference < 1.0:
            raise MethodError(f"Matching(reference={self.reference!r}): between 0.5 and 1")

    def log_growth(self, belief: Belief, dim: int) -> float:
        t, single = max(len(belief.y), 1), 0.5 * math.log1p(1.0 / belief.noise)
        root = self.norm * math.sqrt(single / max(belief.information(), single)) * t ** (self.reference - 0.5)
        left = (root - self.doubt(belief)) / max(self.norm, 1e-300)
        return _log_growth(math.log(left), dim) if left > 1.0 else 0.0


def _log_growth(target: float, dim: int) -> float:
    """u = log g with d u + log(1 + u) = `target`, that is b g^d = e^target; by bisection."""
    low, high = 0.0, target / max(dim, 1)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if dim * middle + math.log1p(middle) < target else (low, middle)
    return 0.5 * (low + high)


#: Every β by its name.
BETAS: dict[str, Beta] = {
    "fixed": Fixed(),
    "logarithmic": Logarithmic(),
    "a-gp-ucb": Adaptation(),
    "matching": Matching(),
}
