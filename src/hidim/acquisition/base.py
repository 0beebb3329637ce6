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


def averaged(objectives: Sequence[Objective]) -> Objective:
    """log of the mean of exp(score) over several posteriors: integrates log EI over hyperparameters.

    For scores that are not logarithms it is a soft maximum; use it with LogExpectedImprovement.
    """

    def score(u: Array) -> Score:
        parts = [objective(u) for objective in objectives]
        values = np.stack([part.value for part in parts])
        top = values.max(axis=0)
        weights = np.exp(values - top)
        total = weights.sum(axis=0)

        def pullback(g: Array) -> Array:
            shares = g * weights / total
            pulled = [part.to_inputs(w) for part, w in zip(parts, shares, strict=True)]
            return np.asarray(np.sum(pulled, axis=0))

        return Score(top + np.log(total / len(parts)), pullback)

    return score
