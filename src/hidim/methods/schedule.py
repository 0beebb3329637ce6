"""Length-scales on a schedule that rather errs on the short side (REMBO, Algorithm 3).

The length-scale ℓ is refitted by marginal likelihood within [L, U] every so many suggestions. If several
suggestions in a row had hardly any predicted deviation, the search has stopped exploring: then U is lowered
to 0.9 ℓ and ℓ is refitted at once. The state is folded from what suggestions remember in their meta:

    meta["scales"] = {"fitted": [log ℓ, …], "upper": [log U, …], "calm": C}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hidim._types import Array
from hidim.gp.fit import DECIMALS
from hidim.methods.base import at_least
from hidim.optim.base import Score
from hidim.optim.direct import Direct


class Scales(NamedTuple):
    """log ℓ (p,), log U (p,), and C, the number of calm suggestions in a row."""

    fitted: Array
    upper: Array
    calm: int

    def meta(self) -> dict[str, Any]:
        return {"fitted": self.fitted.tolist(), "upper": self.upper.tolist(), "calm": self.calm}


@dataclass(frozen=True)
class Schedule:
    """When length-scales are refitted, and within which bounds.

    Args:
        shortest: L.
        longest: U at the start.
        every: refit after so many suggestions.
        patience: calm suggestions in a row after which U is lowered.
        threshold: t_σ, the predicted standard deviation below which a suggestion is calm.
        evaluations: of the likelihood for a refit, by DIRECT on the logarithmic scale.
    """

    shortest: float = 0.01
    longest: float = 50.0
    every: int = 20
    patience: int = 5
    threshold: float = 0.002
    evaluations: int = 40

    def __post_init__(self) -> None:
        at_least(self, shortest=1e-6, longest=float(self.shortest), threshold=0.0)
        at_least(self, every=1, patience=1, evaluations=3)

    def current(
        self,
        past: Sequence[dict[str, Any]],
        asked: int,
        size: int,
        fit: Callable[[Array, Array], Array],
        longest: float,
    ) -> Scales:
        """The scales for the next suggestion.

        Args:
            past: metas of the suggestions so far.
            asked: how many there were.
            size: p, the number of scales.
            fit: gives the best log ℓ in a box [log L, log U] (line 15).
            longest: U at the start.
        """
        low = np.full(size, math.log(self.shortest))
        last = next((meta["scales"] for meta in reversed(past) if "scales" in meta), None)
        if last is None or len(last["fitted"]) != size:
            upper = np.full(size, math.log(longest))
            return Scales(fit(low, upper), upper, 0)
        scales = Scales(np.array(last["fitted"]), np.array(last["upper"]), last["calm"])
        if scales.calm >= self.patience:  # lines 11–14
            upper = np.maximum(math.log(0.9) + scales.fitted, low)
            return Scales(fit(low, upper), upper, 0)
        if asked % self.every == 0:  # line 10
            return scales._replace(fitted=fit(low, scales.upper))
        return scales

    def best(self, likelihood: Callable[[Array], float], low: Array, upper: Array) -> Array:
        """Line 15, by DIRECT; rounded, so that what is stored is what was used.

        Args:
            likelihood: log p(y | log ℓ).
            low, upper: log L and log U (p,).
        """

        def score(points: Array) -> Score:
            return Score(np.array([likelihood(p) for p in points]), np.zeros_like)

        search = Direct(max_evaluations=self.evaluations * len(low))
        found = search(score, low, upper, np.random.default_rng(0)).point
        return np.clip(np.round(found, DECIMALS), low, upper)

    def noted(self, scales: Scales, deviation: float) -> Scales:
        """The scales after a suggestion with that predicted standard deviation (lines 4–8)."""
        return scales._replace(calm=scales.calm + 1 if deviation < self.threshold else 0)
