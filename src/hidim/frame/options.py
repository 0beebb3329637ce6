"""Options of a conditional space that may be better yet than those of the best trial.

The one that fewest suggestions have tried comes first, whatever its values: on first ones nothing was tuned.
An option is given up when it does not gain any more (as arms are in rising bandits, Li et al. 2020).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hidim._types import Array, Mask, Rng
from hidim.frame.base import Scene
from hidim.frame.novelty import Seen
from hidim.frame.observe import UNSEARCHED
from hidim.space.nodes import Branch, Node, beside, tree
from hidim.trial import Trial

#: Suggestions before an option can be given up.
FEW = 6

#: Random points of an option, all of which have been tried if it has nothing new to offer.
LOOKED_AT = 8


def open_option(scene: Scene, rng: Rng) -> Branch | None:
    """An option beside those of the best trial from which more may be expected than was found."""
    seen, ground, losses = scene.seen, scene.ground, 0.125 * scene.seen.y  # differences stay finite
    searched, running = _searched(scene.trials.complete), _searched(scene.trials.running)
    hopeful = []
    for option in beside(root_of(scene), ground.space.columns, seen.x[int(np.argmin(losses))]):
        own = option.holds(seen.x)
        tries = int(searched[own].sum() + running[option.holds(seen.running)].sum())
        if tries < FEW or _gains(losses[own], searched[own], float(losses.min())):
            hopeful.append((tries, losses[own].min(initial=math.inf), rng.random(), option))
    tried = Seen.of(seen)
    for *_, option in sorted(hopeful, key=lambda entry: entry[:3]):
        some = ground.within(option).snap(ground.sample(rng, LOOKED_AT))
        if tried.first_new(some) is not None:
            return option
    return None


def root_of(scene: Scene) -> Node:
    """The tree of the scene's space."""
    memo, key = scene.task.memo, (scene.key, scene.ground.dim)
    known: Node | None = memo.get(tree, key)
    return memo.keep(tree, key, tree(scene.ground.space)) if known is None else known


def _gains(losses: Array, searched: Mask, best: float) -> bool:
    """Whether twice what the last half of the tries has gained would lead below `best`."""
    places = np.flatnonzero(searched)
    if not len(places):
        return False  # all are running
    own, before = losses.min(), losses[: places[len(places) // 2]].min(initial=math.inf)
    return bool(own - 2.0 * (before - own) < best)


def _searched(trials: Sequence[Trial]) -> Mask:
    return np.array([t.meta.get("way", "added") not in UNSEARCHED for t in trials], dtype=np.bool_)
