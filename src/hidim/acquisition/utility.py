"""Utilities: which acquisition function counts for the next suggestion, given beliefs and time.

A utility tosses its coins first. What is left is a `Decision`, the same for every posterior that it is asked
about: so a search may ask again about the same function under longer length-scales.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hidim._settings import at_least, of_type
from hidim._types import Array, Mask, Rng
from hidim.acquisition.base import Acquisition, Belief, averaged
from hidim.acquisition.beta import Beta, Fixed
from hidim.acquisition.confidence import ConfidenceBound
from hidim.acquisition.improvement import ExpectedImprovement, LogExpectedImprovement
from hidim.errors import MethodError
from hidim.optim.base import Objective

#: The margin when looking elsewhere, as a multiple of that of bold suggestions; after how many ties on a
#: plateau it doubles, and how often at the most. Two of five runs of a task with 22 thresholds, on which this
#: was chosen, stayed on a plateau about the centre for 32 and 35 suggestions without doubling, for 8 and 10
#: with it. On ten functions cut into steps, and on discrete-47, there was no difference beyond chance.
SMALL, DOUBLING, MOST = 0.3, 2.0, 5.0

#: The same of bounds: after how many ties √β doubles, and how often at the most. Chosen on the same task,
#: where three runs of `add-gp(size=1)` left their plateaus sooner.
WIDER, WIDEST = 8.0, 2.0


class Moment(NamedTuple):
    """When a utility is asked.

    Args:
        noisy: whether values are noisy.
        elsewhere: whether to look elsewhere than around the best, see `hidim.belief.plateau`.
        ties: on a plateau, how many trials have the best value.
        done: the share of the planned trials that were asked for; 0 where none were planned, or no more are.
        margin: by how much an improvement has to be larger than nothing to count; None if nobody says.
        own: says of inputs (n, d) which of them count for the best, as (n,); None if all do.
    """

    noisy: bool = False
    elsewhere: bool = False
    ties: int = 0
    done: float = 0.0
    margin: float | None = None
    own: Callable[[Array], Mask] | None = None

    @property
    def demand(self) -> float:
        """The margin, as a multiple of the usual one: none, unless to look elsewhere; more with every tie.

        Noisy values that are equal are so by chance.
        """
        asked = self.elsewhere and not self.noisy
        return SMALL * math.exp2(min(self.ties / DOUBLING, MOST)) if asked else 0.0

    @property
    def doubt(self) -> float:
        """By how much bounds are wider on a plateau."""
        return math.exp2(min(self.ties / WIDER, WIDEST))


class Decision(NamedTuple):
    """A utility whose coins are tossed.

    Args:
        acquisition: of a belief, the place of which among several is given, too.
        logarithmic: scores are logarithms, to be averaged as what they are logarithms of.
        positive: scores are positive, and a probability is a factor; otherwise its logarithm is added.
        meta: what a suggestion has to remember.
        roots: of a belief, √β of every group, if the utility is the sum of the bounds of the prior's groups.
    """

    acquisition: Callable[[Belief, int], Acquisition]
    logarithmic: bool = False
    positive: bool = False
    meta: Mapping[str, Any] = MappingProxyType({})
    roots: Callable[[Belief], Array] | None = None

    def objective(self, beliefs: Sequence[Belief]) -> Objective:
        """The score of points, averaged over beliefs."""
        scores = [self.acquisition(p, place).on(p) for place, p in enumerate(beliefs)]
        return averaged(scores, logarithms=self.logarithmic)


class Utility(ABC):
    """What a point is worth."""

    #: What it needs of the prior: "additive" for a sum over its groups, which is searched group by group.
    needs: ClassVar[frozenset[str]] = frozenset()

    @property
    def restlessness(self) -> float:
        """The share of suggestions that look elsewhere when a run has settled."""
        return 0.0

    @property
    def calmness(self) -> int:
        """For how many times as long as others a run has to be settled before they do."""
        return 1

    @property
    def chances(self) -> float:
        """The share of suggestions that give another option of a choice its chance."""
        return 0.0

    @property
    def ending(self) -> float:
        """The share of the planned trials after which none looks elsewhere for that."""
        return 1.0

    @abstractmethod
    def decided(self, moment: Moment, rng: Rng) -> Decision:
        """The coins are tossed."""


@dataclass(frozen=True)
class Improvement(Utility):
    """Expected improvement.

    Args:
        logarithm: take it: the maximiser is the same, but improvement underflows.
        plateau: the margin beyond which improvements count on a plateau, which grows with the ties; in
            standard deviations of the transformed losses. `Bold` has one of its own.
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
            own = y if moment.own is None else y[moment.own(belief.x)]
            return float((own if len(own) else y).min()) - margin

        margin = self.plateau * moment.demand if moment.margin is None else moment.margin
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
class Bold(Utility):
    """Now and then only large improvements count, and of noisy values bounds do.

    A model that has settled in a local optimum always sees a little more to gain there. A share of the
    suggestions therefore count only improvements beyond a margin, which refining cannot give, and look
    elsewhere. On a plateau, parameters that are known not to matter could be changed for ever: there the
    others have a margin too, smaller at first, that grows with the ties; and so have some in a run that has
    settled. What counts as an improvement over noisy values is itself uncertain, hence another utility for
    them. Share and margin of bold suggestions are choices that were not varied.

    Args:
        exact: for values without noise.
        noisy: for noisy ones.
        bold: share of suggestions that count only improvements beyond `margin`.
        margin: in standard deviations of the transformed losses; bounds and draws have none.
        restless: share of suggestions that look elsewhere when a run has settled. A larger one leaves basins
            sooner, and polishes less: Levy's function in 8 dimensions was left at 7e-6 with 0, at 4e-5 with
            .5 and at 1e-4 with .8 (200 trials, means of five runs).
        calm: for how many times as long as a run that is called settled it has to be, see
            `hidim.frame.settled`, before suggestions are restless.
        last: the share of the planned trials, at their end, that are neither bold nor restless and give no
            chances: what they found elsewhere could not be refined any more.
        fair: share of suggestions that give an option of a choice its chance which the best trial has not
            taken, where parameters hang on options, see `hidim.frame.chances`.
    """

    exact: Utility = field(default_factory=Improvement)
    noisy: Utility = field(default_factory=Bound)
    bold: float = 0.2
    margin: float = 0.1
    restless: float = 0.5
    last: float = 0.1
    fair: float = 0.25
    calm: int = 1

    def __post_init__(self) -> None:
        of_type(self, exact=Utility, noisy=Utility)
        at_least(self, bold=0.0, margin=0.0, restless=0.0, last=0.0, fair=0.0, calm=1)
        for name in ("bold", "restless", "last", "fair"):
            if (share := getattr(self, name)) > 1.0:
                raise MethodError(f"{name}={share!r} is a share of the suggestions: give at most 1")
        for own in (self.exact, self.noisy):
            if isinstance(own, Improvement) and own.plateau > 0.0:
                raise MethodError(
                    f"plateau={own.plateau!r} would have no effect: set margin=, which counts on them, too"
                )

    @property
    def restlessness(self) -> float:
        return self.restless

    @property
    def calmness(self) -> int:
        return self.calm

    @property
    def chances(self) -> float:
        return self.fair

    @property
    def ending(self) -> float:
        return 1.0 - self.last

    def decided(self, moment: Moment, rng: Rng) -> Decision:
        ending = 0.0 < moment.done >= self.ending
        bold = not ending and bool(rng.random() < self.bold)
        margin = self.margin * max(moment.demand, float(bold))
        chosen = self.noisy if moment.noisy else self.exact
        decision = chosen.decided(moment._replace(margin=margin), rng)
        return decision._replace(meta={**decision.meta, "bold": bold})


#: Every utility by its name.
UTILITIES: dict[str, Utility] = {
    "bold": Bold(),
    "ei": Improvement(logarithm=False),
    "group-bounds": GroupBounds(),
    "log-ei": Improvement(),
    "ucb": Bound(),
}
