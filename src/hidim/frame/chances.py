"""Options that deserve another chance.

A search tunes what hangs on the option that was good first, and all others then look bad beside it: they were
never tuned. A model does not expect of them what it has not seen of any. So options that differ in one choice
from the best trial get suggestions of their own now and then, the best one of each as if there were nothing
else, and are given up when these stop gaining (as arms are in rising bandits, Li et al. 2020).

    meta["way"] = "chance", meta["option"] = which, as "model=svm"
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Mask, Rng
from hidim.frame.base import Scene
from hidim.frame.novelty import Seen
from hidim.frame.settled import UNSEARCHED
from hidim.space.nodes import Branch, Node, beside, tree
from hidim.trial import Trial

#: The way of suggestions that give an option its chance.
CHANCE = "chance"

#: Suggestions before an option can be given up. On ten conditional problems, four to six runs each, on which
#: this and the share of such suggestions were chosen, 4 and 6 with a share of .25, and .4, were alike.
FEW = 6

#: Random points of an option, all of which have been tried if it has nothing new to offer.
LOOKED_AT = 8


class Standing(NamedTuple):
    """What is known of an option.

    Args:
        losses: (m,) of its complete trials, in their order.
        searched: (m,), which of them a search suggested.
        tries: such suggestions in all, with failed and running ones.
    """

    losses: Array
    searched: Mask
    tries: int

    def is_open(self, best: float) -> bool:
        """Whether it may yet be better than `best`.

        That is so with few tries, or if it would be after twice what the last half of them has gained.
        """
        if self.tries < FEW:
            return True
        places = np.flatnonzero(self.searched)
        if not len(places):
            return False  # all have failed
        since = places[len(places) // 2]
        own = self.losses.min()
        return bool(own - 2.0 * (self.losses[:since].min(initial=math.inf) - own) < best)


def chance(scene: Scene, rng: Rng) -> Branch | None:
    """An option beside those of the best trial, from which more may be expected than was found."""
    seen, space = scene.seen, scene.ground.space
    best = int(np.argmin(seen.y))
    losses = 0.125 * seen.y  # differences of the largest numbers stay finite
    open_ = []
    for branch in beside(root_of(scene), space.columns, seen.x[best]):
        own = branch.holds(seen.x)
        searched = _searched(scene.trials.complete)[own]
        others = ((scene.trials.failed, seen.failed), (scene.trials.running, seen.running))
        tries = int(searched.sum()) + sum(
            int((_searched(trials) & branch.holds(points)).sum()) for trials, points in others
        )
        standing = Standing(losses[own], searched, tries)
        if standing.is_open(float(losses[best])):
            known = tries >= FEW
            rank = (known, tries if known else standing.losses.min(initial=math.inf), rng.random())
            open_.append((rank, branch))
    # Those with few tries first, the best of them until it has had its share; then whichever had fewest.
    for _, branch in sorted(open_, key=lambda entry: entry[0]):
        points = scene.ground.within(branch).snap(scene.ground.sample(rng, LOOKED_AT))
        if Seen.of(seen).first_new(points) is not None:
            return branch
    return None


def root_of(scene: Scene) -> Node:
    """The tree of the scene's space."""
    memo, key = scene.task.memo, (scene.key, scene.ground.dim)
    known: Node | None = memo.get(tree, key)
    return memo.keep(tree, key, tree(scene.ground.space)) if known is None else known


def _searched(trials: Sequence[Trial]) -> Mask:
    return np.array([t.meta.get("way", "added") not in UNSEARCHED for t in trials], dtype=np.bool_)
