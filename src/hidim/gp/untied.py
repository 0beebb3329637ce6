"""Where a fit starts whose columns differ.

Priors hold the columns of a hierarchical model together, so that few trials suffice. A climb from where all
are alike therefore seldom leaves the nearest peak, though one at which some columns matter and most do not
may be far higher: in a run of Branin's function, two of 100 dimensions, by 340 nats after 60 trials, in one
of Hartmann's, six of 100, by 130 after 80. So a fit also starts where a climb has led without that hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from hidim._types import Array
from hidim.gp.densities import Normal
from hidim.gp.fit import fit
from hidim.gp.model import Model

#: What holds columns together: levels, and the deviations of columns from them.
TOGETHER = {
    "log_lengthscale": "log_lengthscale_deviation",
    "log_label_weight": "log_label_weight_deviation",
}

#: What holds deviations instead: a choice that was not varied.
LOOSE = Normal(0.0, 3.0)


def untied(
    model: Model,
    x: Array,
    losses: Array,
    start: Array,
    held: Iterable[str],
    calls: int,
    variances: Array | None = None,
) -> Array:
    """θ to which a climb leads if nothing holds columns together.

    Args:
        x: (n, p); losses: (n,); variances: with which they came (n,), none by default.
        start: θ where it begins.
        held: parameters that are held besides the levels.
        calls: likelihoods for the climb.
    """
    loose = [replace(p, prior=LOOSE) if p.name in TOGETHER.values() else p for p in model.parameters]
    fixed = model.holding((*held, *TOGETHER))
    found = fit(
        model, x, losses, [start], max_evaluations=calls, held=fixed, variances=variances, priors=loose
    )
    return _levelled(model, found.theta)


def _levelled(model: Model, theta: Array) -> Array:
    """The same scales, by the level of most columns."""
    theta = theta.copy()
    for level, deviations in TOGETHER.items():
        own, apart = model.holds(level), model.holds(deviations)
        if apart.any():
            (low,), (high,) = (bound[own] for bound in model.bounds)
            each = np.clip(theta[own] + theta[apart], low, high)
            theta[own] = np.median(each)
            theta[apart] = each - theta[own]
    return theta
