"""What an acquisition function is: a score of candidate points under a posterior. Larger is better.

All of hidim minimises; `best` is the smallest outcome so far.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from hidim._types import Array
from hidim.gp.posterior import Posterior
from hidim.optim.base import Objective, Score


class Acquisition(ABC):
    """Turns a posterior into an objective for a maximiser."""

    @abstractmethod
    def on(self, posterior: Posterior) -> Objective:
        """The score of points (r, p) under `posterior`, with gradient."""


def averaged(objectives: Sequence[Objective], *, logarithms: bool = True) -> Objective:
    """The mean score over several posteriors, which integrates it over hyperparameters.

    Scores that are `logarithms` (log EI) are averaged as what they are logarithms of.
    """
    if len(objectives) == 1:
        return objectives[0]

    def score(u: Array) -> Score:
        parts = [objective(u) for objective in objectives]
        values = np.stack([part.value for part in parts])
        if logarithms:
            top = values.max(axis=0)
            shares = np.exp(values - top)
            mean = top + np.log(shares.mean(axis=0))
            shares /= shares.sum(axis=0)
        else:
            mean, shares = values.mean(axis=0), np.full_like(values, 1.0 / len(parts))

        def pullback(g: Array) -> Array:
            pulled = [part.to_inputs(g * share) for part, share in zip(parts, shares, strict=True)]
            return np.asarray(np.sum(pulled, axis=0))

        return Score(mean, pullback)

    return score
