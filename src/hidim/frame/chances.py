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
from hidim.trial import Trial, TrialState

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
        losses: (m,) of its finished trials, in their order; inf if they failed.
        searched: (m,), which of them a search suggested.
        tries: such suggestions in all, with running ones.
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
        own, places = self.losses.min(initial=math.inf), np.flatnonzero(self.searched)
        if not len(places) or math.isinf(own):
            return False  # all are running, or have failed
        before = self.losses[: places[len(places) // 2]].min(initial=math.inf)
        return bool(own - 2.0 * (before - own) < best)


def chance(scene: Scene, rng: Rng, *, noisy: bool = False) -> Branch | None:
    """An option beside those of the best trial, from which more may be expected than was found.

    Args:
        noisy: whether values are, so that trials may be repeated.
    """
    points, losses, best = _finished(scene)
    searched, running = _searched(scene.trials.finished), _searched(scene.trials.running)
    hopeful = []
    for branch in beside(root_of(scene), scene.ground.space.columns, points[best]):
        own = branch.holds(points)
        tries = int(searched[own].sum() + running[branch.holds(scene.seen.running)].sum())
        standing = Standing(losses[own], searched[own], tries)
        if standing.is_open(float(losses[best])):
            # Whichever had fewest tries: first values, on which nothing was tuned, say little. By these, the
            # best option of `network` had to wait until trial 50 to 80 of 100.
            hopeful.append(((tries, standing.losses.min(initial=math.inf), rng.random()), branch))
    tried = Seen.of(scene.seen, repeat=noisy)
    for _, branch in sorted(hopeful, key=lambda entry: entry[0]):
        some = scene.ground.within(branch).snap(scene.ground.sample(rng, LOOKED_AT))
        if tried.first_new(some) is not None:
            return branch
    return None


def _finished(scene: Scene) -> tuple[Array, Array, int]:
    """Points (m, d) and losses (m,) of finished trials, in their order, and the place of the best of them.

    Losses are an eighth of what they are, so that differences of the largest numbers stay finite, and inf for
    failed trials.
    """
    trials, seen = scene.trials.finished, scene.seen
    complete = np.array([trial.state is TrialState.COMPLETE for trial in trials])
    points, losses = np.empty((len(trials), scene.ground.dim)), np.full(len(trials), math.inf)
    points[complete], points[~complete] = seen.x, seen.failed
    losses[complete] = 0.125 * seen.y
    return points, losses, int(np.argmin(losses))


def root_of(scene: Scene) -> Node:
    """The tree of the scene's space."""
    memo, key = scene.task.memo, (scene.key, scene.ground.dim)
    known: Node | None = memo.get(tree, key)
    return memo.keep(tree, key, tree(scene.ground.space)) if known is None else known


def _searched(trials: Sequence[Trial]) -> Mask:
    return np.array([t.meta.get("way", "added") not in UNSEARCHED for t in trials], dtype=np.bool_)
