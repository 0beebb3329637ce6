"""The model behind every insight: one Gaussian process, fitted anew on all complete trials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hidim._limits import COLUMNS_OF_INSIGHT
from hidim._types import Array, Mask
from hidim.errors import HidimError
from hidim.frame import Observations, observe
from hidim.frame.noise import is_noisy
from hidim.gp.kernels.base import Against
from hidim.gp.outcome import OUTCOMES, exponent
from hidim.gp.posterior import Posterior
from hidim.insight.fitting import View, even, fitted
from hidim.insight.penalties import Cut
from hidim.insight.units import Units
from hidim.space import Space
from hidim.task import Task
from hidim.trial import History

#: Fewer complete trials than this tell nothing about any parameter.
ENOUGH = 5
#: Of more complete trials, this many are chosen evenly by rank: the fit takes seconds, not minutes.
MOST_TRIALS = 500
#: Losses beyond 2^±EXTREME are divided by a power of two.
EXTREME = 900
#: Half the width of a central 95 % interval, in standard deviations.
CENTRAL = 1.96
#: Noise that is worth a word, as a standard deviation of standardised losses.
CONSIDERABLE = 0.1


class Band(NamedTuple):
    """Median and central 95 % interval of the objective, in its own units; arrays (r,)."""

    median: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Learned:
    """A fitted model of the objective over a space.

    Args:
        view: the space as the model sees it.
        posterior: of the transformed, standardised losses.
        units: back from those to losses.
        sign: −1 if large values are good, so that losses are the values times it.
        had: columns (D,) that some of these trials had; of others it knows nothing.
        cut: the gap before penalties, if losses were seen without it.
        differ: whether evaluations of the same configuration are known to differ.
    """

    view: View
    posterior: Posterior
    units: Units
    sign: float
    had: Mask
    cut: Cut | None = None
    differ: bool = False

    @property
    def is_noisy(self) -> bool:
        """Whether single values say little of what they are without noise; a model has a little always."""
        return self.differ or bool(np.sqrt(self.posterior.noise) >= CONSIDERABLE)

    @property
    def space(self) -> Space:
        return self.view.space

    @cached_property
    def quality(self) -> float:
        """How well single trials are predicted from all others: R², 1 at best, 0 or less if not at all."""
        residual = self.posterior.leave_one_out().residual
        return 1.0 - float(np.mean(residual**2) / np.var(self.posterior.y))

    @cached_property
    def _kernel(self) -> Against:
        return self.posterior.model.kernel.against(self.posterior.theta[:-1], self.posterior.x)

    def mean(self, points: Array) -> Array:
        """Expected transformed losses (r,) at points (r, D); inactive columns are NaN."""
        k = self._kernel(self.view.inputs(points)).value
        return np.asarray(self.posterior.mean + k @ self.posterior.alpha)

    def slopes(self, points: Array) -> Array:
        """Gradients (r, D) of `mean`; 0 for labels and inactive columns."""
        prediction = self.posterior.predict(self.view.inputs(points))
        gradients = prediction.to_inputs(np.ones(len(points)), np.zeros(len(points)))
        return np.where(np.isnan(points), 0.0, gradients)

    def values(self, points: Array) -> Band:
        """The objective, without noise, at points (r, D)."""
        prediction = self.posterior.predict(self.view.inputs(points))
        return self._in_units(prediction.mean, np.sqrt(prediction.variance))

    def noise(self, points: Array) -> Band:
        """Where single evaluations at points (r, D) would lie, were the mean known exactly."""
        mean = self.mean(points)
        return self._in_units(mean, np.full(len(mean), math.sqrt(self.posterior.noise)))

    def _in_units(self, mean: Array, deviation: Array) -> Band:
        low, high = self.units(mean - CENTRAL * deviation), self.units(mean + CENTRAL * deviation)
        median = self.units(mean)
        return Band(median, low, high) if self.sign > 0.0 else Band(-median, -high, -low)


def check_width(space: Space) -> None:
    """Raise `HidimError` if there are too many columns for a model, or for a `View`, which lists them."""
    if space.dim > COLUMNS_OF_INSIGHT:
        raise HidimError(
            f"the space has {space.dim} columns, and the model of the values is for at most "
            f"{COLUMNS_OF_INSIGHT}"
        )


def learn(view: View, history: History, *, maximize: bool) -> Learned:
    """The model of all complete trials, or a `HidimError` that says why there is none."""
    space, complete = view.space, history.complete
    if not space.dim:
        raise HidimError("every parameter of the space is fixed: there is nothing to learn of them")
    if len(complete) < ENOUGH:
        raise HidimError(
            f"a model of the values needs at least {ENOUGH} complete trials, and there are {len(complete)}: "
            "run more trials"
        )
    task = Task(space, maximize=maximize)
    seen = even(observe(task, History(complete)), MOST_TRIALS)
    if not np.any(OUTCOMES["identity"](seen.y)):  # equal but for rounding
        raise HidimError(
            f"all {len(complete)} values are {complete[0].value:g}: nothing tells one parameter from another"
        )
    seen, by = _moderate(seen)
    posterior, cut = fitted(view, seen)
    units = Units(posterior.y, seen.y, None if cut is None else cut.penalties(seen.y), by)
    had = np.asarray(~np.isnan(seen.x).all(axis=0))
    return Learned(view, posterior, units, -1.0 if maximize else 1.0, had, cut, is_noisy(task, history))


def _moderate(seen: Observations) -> tuple[Observations, int]:
    """Observations with losses divided by 2^e, and e: 0 unless differences would overflow or vanish."""
    by = exponent(seen.y)
    if abs(by) <= EXTREME:
        return seen, 0
    variances = seen.variances
    if variances is not None:
        with np.errstate(over="ignore"):
            variances = np.minimum(np.ldexp(np.ldexp(variances, -by), -by), 1e300)
    return seen._replace(y=np.ldexp(seen.y, -by), variances=variances), by
