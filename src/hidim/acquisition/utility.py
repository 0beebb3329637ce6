"""Utilities: which acquisition function counts for the next suggestion, given beliefs and time.

What is asked of a utility is a `Decision`, the same for every posterior that it is asked
about: so a search may ask again about the same function under longer length-scales.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from hidim._settings import at_least, of_type
from hidim._types import Array, Mask, Rng
from hidim.acquisition.base import Acquisition, Belief, averaged
from hidim.acquisition.beta import Beta, Fixed
from hidim.acquisition.confidence import ConfidenceBound
from hidim.acquisition.improvement import ExpectedImprovement, LogExpectedImprovement
from hidim.optim.base import Objective

#: On a plateau: the margin of the first tie, as a multiple of that which is set; after how many ties it
#: doubles, and how often at the most; and the margin of the default, in standard deviations of the
#: transformed losses. Two of five runs of a task with 22 thresholds, on which this was chosen, stayed on a
#: plateau about the centre for 32 and 35 suggestions without doubling, for 8 and 10 with it.
SMALL, DOUBLING, MOST, PLATEAU = 0.3, 2.0, 5.0, 0.1

#: The same of bounds: after how many ties √β doubles, and how often at the most. Chosen on the same task,
#: where three runs of `add-gp(size=1)` left their plateaus sooner.
WIDER, WIDEST = 8.0, 2.0


class Moment(NamedTuple):
    """When a utility is asked.

    Args:
        noisy: whether values are noisy.
        ties: on a plateau, how many trials have the best value.
        improvable: which of the observations (n,) are to be improved on; all by default.
    """

    noisy: bool = False
    ties: int = 0
    improvable: Mask | None = None

    @property
    def demand(self) -> float:
        """The margin, as a multiple of the usual one: none, unless on a plateau; more with every tie.

        Noisy values that are equal are so by chance.
        """
        asked = self.ties > 0 and not self.noisy
        return SMALL * math.exp2(min(self.ties / DOUBLING, MOST)) if asked else 0.0

    @property
    def doubt(self) -> float:
        """By how much bounds are wider on a plateau."""
        return math.exp2(min(self.ties / WIDER, WIDEST))


class Decision(NamedTuple):
    """What a utility asks of the next suggestion.

    Args:
        acquisition: of a belief, the place of which among several is given, too.
        logarithmic: scores are logarithms, to be averaged as what they are logarithms of.
        positive: scores are positive, and a probability is a factor; otherwise its logarithm is added.
        roots: of a belief, √β of every group, if the utility is the sum of the bounds of the prior's groups.
    """

    acquisition: Callable[[Belief, int], Acquisition]
    logarithmic: bool = False
    positive: bool = False
    roots: Callable[[Belief], Array] | None = None

    def objective(self, beliefs: Sequence[Belief]) -> Objective:
        """The score of points, averaged over beliefs."""
        scores = [self.acquisition(p, place).on(p) for place, p in enumerate(beliefs)]
        return averaged(scores, logarithms=self.logarithmic)


class Utility(ABC):
    """What a point is worth."""

    #: What it needs of the prior: "additive" for a sum over its groups, which is searched group by group.
    needs: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def decided(self, moment: Moment, rng: Rng) -> Decision:
        """What counts for the next suggestion."""


@dataclass(frozen=True)
class Improvement(Utility):
    """Expected improvement.

    Args:
        logarithm: take it: the maximiser is the same, but improvement underflows.
        plateau: the margin beyond which improvements count on a plateau, which grows with the ties; in
            standard deviations of the transformed losses.
    """

    logarithm: bool = True
    plateau: float = 0.0

    def __post_init__(self) -> None:
        of_type(self, logarithm=bool)
        at_least(self, plateau=0.0)

    def decided(self, moment: Moment, rng: Rng) -> Decision:
        def best(belief: Belief) -> float:
            # The best of what is believed, too: else there is something to gain where a trial is pending. The
            # smallest of many noisy losses is smaller than anything that can be had.
            y = belief.smoothed if moment.noisy else belief.y
            if moment.improvable is not None:
                y = y[: len(moment.improvable)][moment.improvable]
            return float(y.min()) - margin

        margin = self.plateau * moment.demand
        if self.logarithm:
            return Decision(lambda p, _: LogExpectedImprovement(best(p)), logarithmic=True)
        return Decision(lambda p, _: ExpectedImprovement(best(p)), positive=True)


@dataclass(frozen=True)
class Bound(Utility):
    """The confidence bound, GP-UCB (Srinivas et al. 2010)."""

    beta: Beta = field(default_factory=Fixed)

    def __post_init__(self) -> None:
        of_type(self, beta=Beta)

    def decided(self, moment: Moment, rng: Rng) -> Decision:
        return Decision(lambda belief, _: ConfidenceBound(self.beta.root(belief, belief.dim) * moment.doubt))


@dataclass(frozen=True)
class GroupBounds(Utility):
    """The sum of the confidence bounds of the prior's groups (Add-Tree, Algorithm 2).

    Since the sum of their deviations is larger than that of their sum, it explores more than `Bound` does.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"additive"})

    beta: Beta = field(default_factory=Fixed)

    def __post_init__(self) -> None:
        of_type(self, beta=Beta)

    def decided(self, moment: Moment, rng: Rng) -> Decision:
        def roots(belief: Belief) -> Array:
            if not self.beta.by_group:
                root = self.beta.root(belief, belief.widest) * moment.doubt
                return np.full(len(belief.groups), root)
            return np.array([self.beta.root(belief, max(len(c), 1)) for c in belief.groups]) * moment.doubt

        return Decision(lambda belief, _: ConfidenceBound(float(roots(belief).max())), roots=roots)


@dataclass(frozen=True)
class Usual(Utility):
    """The logarithm of expected improvement; of noisy values, for which the best is uncertain, the bound.

    On a plateau parameters that are known not to matter could be changed for ever: there only improvements
    beyond a margin count, which grows with the ties.
    """

    def decided(self, moment: Moment, rng: Rng) -> Decision:
        chosen = Bound() if moment.noisy else Improvement(plateau=PLATEAU)
        return chosen.decided(moment, rng)


#: Every utility by its name.
UTILITIES: dict[str, Utility] = {
    "ei": Improvement(logarithm=False),
    "group-bounds": GroupBounds(),
    "log-ei": Improvement(),
    "ucb": Bound(),
    "usual": Usual(),
}
