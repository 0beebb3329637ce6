"""What the history says of alternatives: how much their suggestions have gained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hidim._types import Array
from hidim.trial import History

#: Factor by which the memory of tries and gains decays with every finished suggestion: about thirty.
FORGET = 0.97

#: Tries at the usual rate with which every alternative begins, and the share of suggestions that is spread
#: evenly, so that none can starve. Choices that were not varied.
BEGIN, ANYWAY = 2.0, 0.3

#: Of how many of the last losses the median says what is within reach; a choice.
LATELY = 20


class Step(NamedTuple):
    """A finished suggestion.

    Args:
        which: the alternative that made it.
        before: the best loss before it.
        loss: its own.
        reach: by how much the median of the last losses before it was above the best.
        own: whether it is what the alternative wanted, and nothing in its place.
    """

    which: Any
    before: float
    loss: float
    reach: float = math.inf
    own: bool = True

    @property
    def improved(self) -> bool:
        return self.loss < self.before

    @property
    def gain(self) -> float:
        """By how much it was better than all before, as a share of what was within reach, and 1 at the most.

        So steps count alike while losses fall through many orders of magnitude.
        """
        if not self.loss < self.before < math.inf:
            return 0.0
        gain = self.before - self.loss
        return 1.0 if gain >= self.reach else gain / self.reach


def steps(history: History, key: str, *, maximize: bool) -> list[Step]:
    """The finished suggestions that have meta[key], in the order of finishing.

    A failed trial is a trial without success.
    """
    trials = history.finished
    losses = np.array([trial.loss(maximize=maximize) for trial in trials])
    before = np.minimum.accumulate(np.append(math.inf, losses))[:-1]
    median = _lately(losses)
    with np.errstate(over="ignore"):  # values at the ends of the range of numbers are infinitely far apart
        reach = np.subtract(median, before, where=median < math.inf, out=np.full(len(losses), math.inf))
    return [
        Step(trial.meta[key], best, loss, far, "instead" not in trial.meta)
        for trial, best, loss, far in zip(
            trials, before.tolist(), losses.tolist(), reach.tolist(), strict=True
        )
        if key in trial.meta
    ]


def _lately(losses: Array) -> Array:
    """The median of the last finite losses before each of them (n,); inf where there is none."""
    finite = np.isfinite(losses)
    known = np.concatenate([np.full(LATELY, math.inf), losses[finite]])
    windows = np.sort(np.lib.stride_tricks.sliding_window_view(known, LATELY), axis=1)
    number = np.minimum(np.arange(len(windows)), LATELY)  # of losses in a window; the others are inf
    middle = np.column_stack([np.maximum(number - 1, 0) // 2, number // 2])
    medians = np.sum(0.5 * np.take_along_axis(windows, middle, axis=1), axis=1)  # halved first: no overflow
    return np.asarray(medians[np.cumsum(finite) - finite])


def shares(past: Sequence[Step], count: int) -> Array:
    """Probabilities (count,) of alternatives 0 to count − 1, by what each gained with a try.

    Roots of gains: many tiny ones shall not outvote a large one, and a large one shall not silence all
    others. By counts of improvements Styblinski–Tang in 40 dimensions came to 2.2 in 450 trials, by roots of
    gains to .4 (one run each).
    """
    gained, tried, weight = np.zeros(count), np.zeros(count), 1.0
    for step in reversed(past):
        if step.own and isinstance(step.which, int) and 0 <= step.which < count:
            gained[step.which] += weight * math.sqrt(step.gain)
            tried[step.which] += weight
        weight *= FORGET
    if not gained.sum() > 0.0:
        return np.full(count, 1.0 / count)
    rate = (gained + BEGIN * gained.sum() / tried.sum()) / (tried + BEGIN)
    return np.asarray(ANYWAY / count + (1.0 - ANYWAY) * rate / rate.sum())
