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


class Step(NamedTuple):
    """A finished suggestion: which alternative made it, the best loss before it, and its own."""

    which: Any
    before: float
    loss: float

    @property
    def improved(self) -> bool:
        return self.loss < self.before

    @property
    def gain(self) -> float:
        """By how much it was better than all before; 0 if it was not, or if there was nothing before."""
        return self.before - self.loss if self.loss < self.before < math.inf else 0.0


def steps(history: History, key: str, *, maximize: bool) -> list[Step]:
    """The finished suggestions that have meta[key], in the order of finishing.

    A failed trial is a trial without success.
    """
    best, found = math.inf, []
    for trial in history.finished:
        loss = trial.loss(maximize=maximize)
        if key in trial.meta:
            found.append(Step(trial.meta[key], best, loss))
        best = min(best, loss)
    return found


def shares(past: Sequence[Step], count: int) -> Array:
    """Probabilities (count,) of alternatives 0 to count − 1, by what each gained with a try.

    Roots of gains: one large step shall not silence all others, and many tiny ones shall not outvote it. By
    counts of improvements Styblinski–Tang in 40 dimensions came to 2.2 in 450 trials, by roots to .4.
    """
    gained, tried, weight = np.zeros(count), np.zeros(count), 1.0
    for step in reversed(past):
        if step.which < count:
            gained[step.which] += weight * math.sqrt(step.gain)
            tried[step.which] += weight
        weight *= FORGET
    if not np.isfinite(gained.sum()) or gained.sum() == 0.0:
        return np.full(count, 1.0 / count)
    rate = (gained + BEGIN * gained.sum() / tried.sum()) / (tried + BEGIN)
    return np.asarray(ANYWAY / count + (1.0 - ANYWAY) * rate / rate.sum())
