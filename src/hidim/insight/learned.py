"""The model behind every insight: one Gaussian process, fitted anew on all complete trials.

The method that made the trials may have had no model, or one that serves the search and not the reader. Here
the length-scales are hierarchical, and the fit starts a second time from a guess that the first one cannot
reach: its prior ties every column to the others, and a column whose effect has no slope on average (the best
value in mid-range) never feels a pull to leave. So columns that correlate with the losses, by their value or
by its square, more than the strongest of as many idle ones would, start untied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Indices
from hidim.errors import HidimError
from hidim.gp import linalg
from hidim.gp.fit import fit
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior
from hidim.insight.units import Units
from hidim.methods.base import Task, observe
from hidim.methods.surrogate import Surrogate, blanked
from hidim.space import Space
from hidim.space.columns import Kind
from hidim.trial import History, Trial

#: Fewer complete trials than this tell nothing about any parameter.
ENOUGH = 5
#: Of more complete trials, this many are chosen evenly by rank: the fit takes seconds, not minutes.
MOST_TRIALS = 500
#: Spaces with more columns are beyond the model.
MOST_COLUMNS = 5000
#: Half the width of a central 95 % interval, in standard deviations.
CENTRAL = 1.96


class Band(NamedTuple):
    """Median and central 95 % interval of the objective, in its own units; arrays (r,)."""

    median: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Learned:
    """A fitted model of the objective over a space.

    Args:
        space: where.
        posterior: of the transformed, standardised losses.
        units: back from those to losses.
        sign: −1 if large values are good, so that losses are the values times it.
    """

    space: Space
    posterior: Posterior
    units: Units
    sign: float

    @cached_property
    def quality(self) -> float:
        """How well single trials are predicted from all others: R², 1 at best, 0 or less if not at all."""
        precision = np.diagonal(linalg.inverse(self.posterior.factor))
        residual = self.posterior.alpha / precision
        return 1.0 - float(np.mean(residual**2) / np.var(self.posterior.y))

    def mean(self, points: Array) -> Array:
        """Expected transformed losses (r,) at points (r, D); inactive columns are NaN."""
        model = self.posterior.model.kernel.against(self.posterior.theta[:-1], self.posterior.x)
        k = model(blanked(self.space, points)).value
        return np.asarray(self.posterior.mean + k @ self.posterior.alpha)

    def slopes(self, points: Array) -> Array:
        """Gradients (r, D) of `mean`; 0 for labels and inactive columns."""
        prediction = self.posterior.predict(blanked(self.space, points))
        gradients = prediction.to_inputs(np.ones(len(points)), np.zeros(len(points)))
        return np.where(np.isnan(points), 0.0, gradients)

    def values(self, points: Array) -> Band:
        """The objective, without noise, at points (r, D)."""
        prediction = self.posterior.predict(blanked(self.space, points))
        return self._in_units(prediction.mean, np.sqrt(prediction.variance))

    def noise(self, points: Array) -> Band:
        """Where single evaluations at points (r, D) would lie, were the mean known exactly."""
        mean = self.mean(points)
        return self._in_units(mean, np.full(len(mean), math.sqrt(self.posterior.noise)))

    def _in_units(self, mean: Array, deviation: Array) -> Band:
        low, high = self.units(mean - CENTRAL * deviation), self.units(mean + CENTRAL * deviation)
        median = self.units(mean)
        return Band(median, low, high) if self.sign > 0.0 else Band(-median, -high, -low)


def learn(space: Space, history: History, *, maximize: bool) -> Learned:
    """The model of all complete trials, or a `HidimError` that says why there is none."""
    complete = history.complete
    if space.dim > MOST_COLUMNS:
        raise HidimError(
            f"the space has {space.dim} columns, and the model of the values is for at most {MOST_COLUMNS}"
        )
    if len(complete) < ENOUGH:
        raise HidimError(
            f"a model of the values needs at least {ENOUGH} complete trials, and there are {len(complete)}: "
            "run more trials"
        )
    task = Task(space, maximize=maximize)
    seen = observe(task, History(_thinned(complete)))
    if np.ptp(seen.y) == 0.0:
        raise HidimError(
            f"all {len(complete)} values are {complete[0].value:g}: nothing tells one parameter from another"
        )
    # No history: what the method fitted for its own ends is not to be taken over.
    surrogate = Surrogate(lengthscales="hierarchical")
    (first, *_), _ = surrogate.posteriors(task, History(), seen, np.random.default_rng(0))
    posterior = Posterior(
        first.model, _refined(space, first), first.x, first.y, variances=first.variances
    )
    return Learned(space, posterior, Units(first.y, seen.y), -1.0 if maximize else 1.0)


def _thinned(complete: list[Trial]) -> list[Trial]:
    if len(complete) <= MOST_TRIALS:
        return complete
    ranked = sorted(complete, key=lambda trial: trial.value or 0.0)
    return [ranked[i] for i in np.linspace(0, len(ranked) - 1, MOST_TRIALS).astype(np.intp)]


def _refined(space: Space, posterior: Posterior) -> Array:
    """θ of the better of two fits: as it was, and from a start with the correlated columns untied."""
    model, theta = posterior.model, posterior.theta
    numeric = np.flatnonzero(space.columns.kind != Kind.LABEL)
    untied = _correlated(posterior.x[:, numeric], posterior.y)
    if len(untied) == 0:
        return theta
    fitted = fit(
        model,
        posterior.x,
        posterior.y,
        [theta, _untie(model, theta, untied)],
        max_evaluations=int(np.clip(15_000 / len(posterior.y), 15, 50)),
        variances=posterior.variances,
    )
    return fitted.theta if np.isfinite(fitted.loss) else theta


def _correlated(x: Array, y: Array) -> Indices:
    """Columns of x (n, p) whose correlation with y (n,) is beyond that of the strongest of p idle ones."""
    features = np.concatenate([x, np.square(x - x.mean(axis=0))], axis=1)
    features -= features.mean(axis=0)
    norms = np.linalg.norm(features, axis=0) * np.linalg.norm(y - y.mean())
    inner = np.abs((y - y.mean()) @ features)
    correlation = np.divide(inner, norms, out=np.zeros_like(norms), where=norms > 1e-12)
    chance = math.sqrt(2.0 * math.log(2.0 * max(features.shape[1], 1)) / len(y))
    return np.flatnonzero(correlation.reshape(2, -1).max(axis=0) > chance)


def _untie(model: Model, theta: Array, columns: Indices) -> Array:
    """θ with the length-scales of these numeric columns at 1, the width of the cube."""
    start = theta.copy()
    deviations = np.flatnonzero(model.holds("log_lengthscale_deviation"))
    start[deviations[columns]] = -theta[model.holds("log_lengthscale")][0]
    return start
