"""Where fits start if columns differ.

Priors hold the columns of a hierarchical model together, so that few trials suffice. A climb from where all
are alike therefore seldom leaves the nearest peak, though one at which some columns matter and most do not
may be far higher: in a run of Branin's function, two of 100 dimensions, by 340 nats after 60 trials, in one
of Hartmann's, six of 100, by 130 after 80. So fits also start where a climb has led without that hold, and
where columns do not matter by what ties say. Evidence decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hidim._types import Array, Mask
from hidim.belief.priors import Prior
from hidim.frame import Ground
from hidim.gp.densities import Normal
from hidim.gp.fit import fit
from hidim.gp.hyperparameter import log_prior
from hidim.gp.kernels.algebra import ABSENT
from hidim.gp.kernels.hamming import LOWEST
from hidim.gp.maps import LOG_SCALE_HIGH
from hidim.gp.model import Model
from hidim.space.columns import Kind

#: What holds columns together: levels, and the deviations of columns from them.
TOGETHER = {
    "log_lengthscale": "log_lengthscale_deviation",
    "log_label_weight": "log_label_weight_deviation",
}

#: What holds deviations instead: a choice that was not varied.
LOOSE = Normal(0.0, 3.0)

#: Of the columns that matter by what ties say, log length-scales relative to the usual ones at which fits may
#: start: from one that is far off, a climb would end at columns without any reach.
REACHES = (-2.0, -1.25, -0.5, 0.25)

#: Levels that are tried afterwards: so many quantiles of what columns have.
QUANTILES = 21

#: Main effects, which are absent where fits start.
EFFECTS = ("log_additive_amplitude", "log_effect_lengthscale", "log_effect_deviation")


def are_set_apart(prior: Prior, ground: Ground) -> bool:
    """Whether fits start where columns differ, too: of spaces without conditions that have numbers.

    Of 200 switches alone, five runs of five ended a little higher for it.
    """
    plain = ground.embedding is None and not ground.space.is_conditional
    return "apart" in prior.abilities and plain and bool((ground.kind != Kind.LABEL).any())


def freed(
    model: Model,
    x: Array,
    losses: Array,
    held: Mapping[str, float],
    calls: int,
    variances: Array | None = None,
) -> Array:
    """θ to which a climb leads if nothing holds columns together.

    Args:
        x: (n, p); losses: (n,); variances: with which they came (n,), none by default.
        held: parameters that are held, and their values.
        calls: likelihoods for the climb.
    """
    start = model.put(_without_effects(model), held)
    loose = [replace(p, prior=LOOSE) if p.name in TOGETHER.values() else p for p in model.parameters]
    fixed = model.holding((*held, *TOGETHER, *EFFECTS))
    found = fit(
        model, x, losses, [start], max_evaluations=calls, held=fixed, variances=variances, priors=loose
    )
    return model.put(_levelled(model, found.theta), held)


def without(model: Model, ground: Ground, idle: Mask, held: Mapping[str, float], reach: float = 0.0) -> Array:
    """θ where the `idle` columns (d,) do not matter, and the others alike.

    Args:
        held: parameters that are held, and their values.
        reach: log length-scale of the others, relative to the usual one; minus the log weight of labels.
    """
    theta, is_label = _without_effects(model), ground.kind == Kind.LABEL
    numbers, labels = idle[~is_label], idle[is_label & (ground.levels > 1)]
    usual = reach + 0.5 * math.log(max(int((~numbers).sum()), 1))
    weight = min(-1.0, math.log(2.0 / max(int((~labels).sum()), 1))) - reach
    for level, own, most, none in (
        ("log_lengthscale", numbers, usual, LOG_SCALE_HIGH),
        ("log_label_weight", labels, weight, LOWEST),
    ):
        if (apart := model.holds(TOGETHER[level])).any():
            theta[model.holds(level)] = most
            theta[apart] = np.where(own, none - most, 0.0)
    return model.put(_levelled(model, theta), held)


def idle_by_ties(x: Array, y: Array) -> Mask:
    """The columns (d,) in which points (n, d) with the same value (n,) differ.

    Two points at which a function without noise has the same value to the last bit differ, as a rule, in
    columns that do not matter, and a search that moves few columns of many finds such ties all the time. A
    plateau has ties, too: so this is a guess. The largest value does not count, which may stand for whatever
    has none.

    Example:
        >>> x = np.array([[0.1, 0.5], [0.1, 0.9], [0.7, 0.2], [0.3, 0.2]])
        >>> idle_by_ties(x, np.array([1.0, 1.0, 4.0, 4.0])).tolist()
        [False, True]
    """
    order = np.argsort(y, kind="stable")
    x, y = x[order], y[order]
    tied = (y[1:] == y[:-1]) & (y[1:] < y[-1])
    return np.asarray((x[1:][tied] != x[:-1][tied]).any(axis=0))


def _without_effects(model: Model) -> Array:
    return model.put(model.start.copy(), {"log_additive_amplitude": ABSENT})


def _levelled(model: Model, theta: Array) -> Array:
    """The same scales by the most probable levels."""
    for level, deviations in TOGETHER.items():
        own, apart = model.holds(level), model.holds(deviations)
        if not apart.any():
            continue
        (low,), (high,) = (bound[own] for bound in model.bounds)
        each = np.clip(theta[own] + theta[apart], low, high)
        best, most = theta, -np.inf
        for middle in np.unique(np.quantile(each, np.linspace(0.0, 1.0, QUANTILES))):
            found = theta.copy()
            found[own], found[apart] = middle, each - middle
            density = log_prior(model.parameters, found)[0]
            if density > most:
                best, most = found, density
        theta = best
    return theta
