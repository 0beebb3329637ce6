"""Maximisers of a box, as REMBO uses them: line 4 of its algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from hidim._settings import at_least, one_of
from hidim._types import Array, Rng
from hidim.optim.base import Objective
from hidim.optim.cmaes import CMAES
from hidim.optim.direct import Direct
from hidim.optim.lbfgs import ascend
from hidim.optim.multistart import Multistart
from hidim.search.base import Found, Search, Situation, Target

MaximiserName = Literal["auto", "direct+cma-es", "direct", "multistart"]

#: Dimensions in which some hundred rectangles of DIRECT cover a box. Beyond, gradients cut median gaps on
#: branin-25 at d = 4 and 6 from .06–.45 to .015–.043 (20 runs a cell); d = 3 was not compared.
COVERED = 3

#: Starts near the best point, and how far away, as a share of half the box; choices that were not varied.
NEAR, SHARE = 16, 0.05

#: Starts inside a ground that does not fill its box, and Sobol points of the box beside them: few, since most
#: of the box lies outside. Settled on the zonotope's own benchmark, whose medians moved up to 28-fold.
INSIDE, FEW = 256, 16

#: Calls for the last digits, after DIRECT and CMA-ES have come close; not varied.
POLISH = 20


@dataclass(frozen=True)
class Box(Search):
    """One maximiser for the whole box.

    Args:
        maximiser: "direct+cma-es" takes the better of the two, as in REMBO, and polishes it by a few steps
            along the gradient; "multistart" climbs from many points at once, and is several times faster;
            "auto" is the former up to three dimensions and the latter beyond, where the rectangles of DIRECT
            no longer cover the box, and in a zonotope, most of whose box lies outside; "direct" is DIRECT
            without CMA-ES.
        evaluations: of the acquisition function for each of DIRECT and CMA-ES; the paper does not say, and
            the authors' code gives DIRECT 500.
    """

    maximiser: MaximiserName = "auto"
    evaluations: int = 200

    def __post_init__(self) -> None:
        one_of(self, maximiser=get_args(MaximiserName))
        at_least(self, evaluations=10)

    def __call__(self, target: Target, situation: Situation, rng: Rng) -> Found:
        ground, spare = situation.scene.ground, situation.scene.spare
        found = self._maximised(target.settled(ground), situation, rng)
        if len(spare):  # drawn anyway, and next if what was found is known already
            spare = spare[np.argsort(-target.scores(spare), kind="stable")]
        return Found(np.vstack([ground.snap(found[None]), spare]), "maximised")

    def _maximised(self, objective: Objective, situation: Situation, rng: Rng) -> Array:
        ground = situation.scene.ground
        lower, upper, best = ground.lower, ground.upper, np.nan_to_num(situation.ranked[0], nan=0.5)
        covered = ground.dim <= COVERED and ground.fills_box
        if self.maximiser == "multistart" or (self.maximiser == "auto" and not covered):
            starts = best + SHARE * 0.5 * (upper - lower) * rng.standard_normal((NEAR, ground.dim))
            if not ground.fills_box:
                inside = np.vstack([starts, ground.sample(rng, INSIDE)])
                return Multistart(raw=FEW)(objective, lower, upper, rng, inside).point
            return Multistart()(objective, lower, upper, rng, starts).point
        found = [
            maximiser(objective, lower, upper, rng, best[None])
            for maximiser in (Direct(self.evaluations), CMAES(self.evaluations))
            if self.maximiser != "direct" or isinstance(maximiser, Direct)
        ]
        winner = max(found, key=lambda optimum: optimum.value).point
        return np.asarray(ascend(objective, winner[None], lower, upper, max_calls=POLISH)[0][0])
