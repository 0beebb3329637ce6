"""What an acquisition function is: a score of candidate points under a belief. Larger is better.

All of hidim minimises; `best` is the smallest outcome so far.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from hidim._types import Array, Indices, Rng
from hidim.gp.maps import Mixing
from hidim.gp.posterior import DrawnEffects, Prediction
from hidim.optim.base import Objective, Score


class Belief(Protocol):
    """What is believed of a function: all that utilities and searches need to know of a posterior."""

    @property
    def x(self) -> Array:
        """Inputs (n, d)."""

    @property
    def y(self) -> Array:
        """Outcomes (n,)."""

    @property
    def smoothed(self) -> Array:
        """Means (n,) where these were observed."""

    @property
    def noise(self) -> float:
        """The variance of the observations."""

    @property
    def dim(self) -> int:
        """The number of columns of an input."""

    @property
    def widest(self) -> int:
        """That of the largest group, if the function is a sum over groups; `dim` if not."""

    @property
    def groups(self) -> tuple[Indices, ...]:
        """The columns of every group, if the function is a sum over groups; all of them if not."""

    def additive(self) -> Belief | None:
        """Of the part of it that is a sum over groups: of all, of a part, or None if there is none."""

    def unmixed(self) -> tuple[Belief, Mixing | None]:
        """The same as a function of what it mixes of its inputs, and how; groups are columns of these."""

    @property
    def has_effects(self) -> bool:
        """Whether main effects are a part of it."""

    def effects(self, rng: Rng, draws: int) -> DrawnEffects:
        """The main effects: their mean, and draws."""

    def alone(self, u: Array, which: Indices) -> Prediction:
        """Of the term of the group `which` (r,) at each row of (r, p), which is NaN in all other columns."""

    def information(self) -> float:
        """How much the observations say of the function, ½ log |1 + K/σ²|."""

    def predict(self, u: Array) -> Prediction:
        """Mean and variance of the function at `u` (r, p)."""


class Acquisition(ABC):
    """Turns a belief into an objective for a maximiser."""

    @abstractmethod
    def on(self, belief: Belief) -> Objective:
        """The score of points (r, p) under `belief`, with gradient."""


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
