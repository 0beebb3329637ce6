"""DIRECT: dividing rectangles, deterministic and without gradients (Jones et al. 1993; Gablonsky 2001)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidim._types import Array, Rng
from hidim.optim.base import Maximiser, Objective, Optimum, best_of


@dataclass(frozen=True)
class Direct(Maximiser):
    """scipy's DIRECT_L. Best in a handful of dimensions; the given starts are scored beside it.

    Args:
        max_evaluations: points scored at the most.
    """

    max_evaluations: int = 2000

    def __call__(
        self,
        objective: Objective,
        lower: Array,
        upper: Array,
        rng: Rng,  # deterministic: not used
        starts: Array | None = None,
    ) -> Optimum:
        from scipy.optimize import Bounds, direct

        del rng
        fixed = upper <= lower  # DIRECT wants boxes with an inside

        def cost(free: Array) -> float:
            point = lower.copy()
            point[~fixed] = free
            value = float(objective(point[None]).value[0])
            return -value if np.isfinite(value) else 1e300

        points = lower[None].copy() if starts is None else np.clip(starts, lower, upper)
        evaluations = len(points)
        if not fixed.all():
            result = direct(
                cost,
                Bounds(lower[~fixed], upper[~fixed]),
                maxfun=self.max_evaluations,
                maxiter=self.max_evaluations,
                locally_biased=True,
                vol_tol=0.0,
                len_tol=1e-8,
            )
            found = lower.copy()
            found[~fixed] = result.x
            points = np.vstack([points, found])
            evaluations += int(result.nfev) + 1
        return best_of(points, objective(points).value, evaluations)
