"""CMA-ES: covariance matrix adaptation, gradient-free and rotation-invariant (the package `cmaes`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidim._types import Array, Mask, Rng
from hidim.optim.base import Maximiser, Objective, Optimum, best_of

#: The first step, as a share of the box.
SIGMA = 0.2

#: A point outside the box is drawn anew so often, as the package does by itself, before it is clipped; beyond
#: so many dimensions hardly any would be inside, and 100 draws each took minutes in 200 dimensions.
USUAL, FEW = 100, 10


@dataclass(frozen=True)
class CMAES(Maximiser):
    """CMA-ES from the best start (or the centre), each generation scored as one batch.

    Args:
        max_evaluations: points scored at the most.
    """

    max_evaluations: int = 2000

    def __call__(
        self, objective: Objective, lower: Array, upper: Array, rng: Rng, starts: Array | None = None
    ) -> Optimum:
        points = 0.5 * (lower + upper)[None] if starts is None else np.clip(starts, lower, upper)
        best = best_of(points, objective(points).value, len(points))
        free = upper > lower
        dim = int(free.sum())
        if dim < 2:  # the package needs two dimensions: a line is searched by a grid
            grid = np.repeat(best.point[None], 513, axis=0)
            grid[1:, free] = (lower + np.linspace(0.0, 1.0, 512)[:, None] * (upper - lower))[:, free]
            return best_of(grid, objective(grid).value, best.evaluations + len(grid))
        return self._search(objective, lower, upper, rng, best, free)

    def _search(
        self, objective: Objective, lower: Array, upper: Array, rng: Rng, best: Optimum, free: Mask
    ) -> Optimum:
        from cmaes import CMA

        width = (upper - lower)[free]
        box = np.column_stack([np.zeros(len(width)), np.ones(len(width))])
        start = (best.point - lower)[free] / width
        tries = USUAL if len(width) <= FEW else 1
        strategy = CMA(
            mean=start, sigma=SIGMA, bounds=box, seed=int(rng.integers(2**31)), n_max_resampling=tries
        )
        spent = best.evaluations
        while spent + strategy.population_size <= self.max_evaluations and not strategy.should_stop():
            unit = np.array([strategy.ask() for _ in range(strategy.population_size)])
            points = np.repeat(best.point[None], len(unit), axis=0)
            points[:, free] = np.clip(lower[free] + unit * width, lower[free], upper[free])
            values = objective(points).value
            spent += len(unit)
            costs = -np.nan_to_num(values, nan=-1e300, posinf=1e300, neginf=-1e300)
            strategy.tell(list(zip(unit, costs, strict=True)))
            leader = best_of(points, values, spent)
            best = leader if leader.value > best.value else best._replace(evaluations=spent)
        return best
