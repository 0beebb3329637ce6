"""Hyperparameters at the maximum of their posterior density, by L-BFGS-B with closed-form gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from hidim._types import Array, Mask
from hidim.errors import NumericalError
from hidim.gp.hyperparameter import Hyperparameter, log_prior
from hidim.gp.kernels.blocks import blocks as blocks_of
from hidim.gp.model import Model

#: θ is rounded to this many decimals before it is used, so that what is stored is what was used.
DECIMALS = 4


class Fit(NamedTuple):
    """θ (size,), the negative log posterior there, and how often it was evaluated."""

    theta: Array
    loss: float
    evaluations: int


def fit(
    model: Model,
    x: Array,
    y: Array,
    starts: Sequence[Array],
    *,
    max_evaluations: int = 50,
    held: Mask | None = None,
    variances: Array | None = None,
    priors: Sequence[Hyperparameter] | None = None,
) -> Fit:
    """The best local optimum found from `starts`; a start that fails is passed over.

    Entries of θ that are `held` stay at their value in the first start. `variances` (n,) are those with which
    the observations came, and `priors` the hyperparameters with other densities than the model's.

    If every evaluation fails, the first start is returned with an infinite loss: the caller keeps the
    parameters that it had.
    """
    low, high = model.bounds
    if held is not None:
        low, high = np.where(held, starts[0], low), np.where(held, starts[0], high)
    best = Fit(np.clip(starts[0], low, high), np.inf, 0)
    count, blocks = 0, blocks_of(model.kernel, x)

    def loss(theta: Array) -> tuple[float, Array]:
        nonlocal best, count
        count += 1
        try:
            value, gradient = model.negative_log_posterior(theta, x, y, variances, blocks)
            for sign, parameters in () if priors is None else ((1.0, model.parameters), (-1.0, priors)):
                density, slope = log_prior(parameters, theta)
                value, gradient = value + sign * density, gradient + sign * slope
        except NumericalError:
            return 1e10, np.zeros_like(theta)
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            return 1e10, np.zeros_like(theta)
        if value < best.loss:
            best = Fit(theta.copy(), value, 0)
        return value, gradient

    for start in starts:
        minimize(
            loss,
            np.clip(start, low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([low, high]),
            options={"maxfun": max_evaluations, "maxiter": max_evaluations, "ftol": 1e-9, "gtol": 1e-3},
        )
    return Fit(np.clip(np.round(best.theta, DECIMALS), low, high), best.loss, count)
