"""Score many points, climb from the best few, all as one batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidim._types import Array, Rng
from hidim.optim.base import Maximiser, Objective, Optimum, best_of
from hidim.optim.climb import CLIMBERS, ClimberName
from hidim.optim.starts import sobol

#: An ascent stops when it gains less.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Multistart(Maximiser):
    """Multistart projected L-BFGS.

    Args:
        raw: Sobol points scored besides the given starts.
        restarts: how many of the best are refined.
        max_calls: batched calls of the objective for the refinement.
        climber: of `CLIMBERS`.
    """

    raw: int = 256
    restarts: int = 8
    max_calls: int = 60
    climber: ClimberName = "l-bfgs"

    def __call__(
        self, objective: Objective, lower: Array, upper: Array, rng: Rng, starts: Array | None = None
    ) -> Optimum:
        points = lower + (upper - lower) * sobol(len(lower), self.raw, rng)
        if starts is not None:
            points = np.vstack([np.clip(starts, lower, upper), points])
        values = np.nan_to_num(objective(points).value, nan=-np.inf)
        best = np.argsort(-values, kind="stable")[: self.restarts]
        climb, starts = CLIMBERS[self.climber], points[best]
        refined, scores, spent = climb(
            objective, starts, lower, upper, max_calls=self.max_calls, tolerance=TOLERANCE
        )
        return best_of(refined, scores, len(points) + spent)
