"""Learning Ŵ = (1 − α) W + α I: directions first, then how far to go from the axes towards them."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from hidim._types import Array, Indices, Rng
from hidim.belief.priors.base import Lesson
from hidim.gp.fit import fit
from hidim.gp.kernels import Groups, Scaled, Through
from hidim.gp.maps import Mixing
from hidim.gp.model import Model, noise_parameter
from hidim.gp.pursuit import aligned, pursued
from hidim.gp.restriction import mixed, restricted_alpha

Pursuit = Literal["greedy", "gradient"]

#: Decimals of learnt weights, and of α, whose distance from 1 may be 1e-5.
DECIMALS, ALPHA_DECIMALS = 4, 9

#: Observations from which directions are learnt at the most.
MOST_PURSUED = 500

#: Likelihoods for all of W by their gradient: so many over n, within limits. With 15, a planted direction
#: among six was not found from 120 observations, with 60 to three digits.
CALLS, LIMITS = 15_000, (20, 60)


def learnt_mixing(
    lesson: Lesson,
    kernel: Groups,
    columns: Indices,
    theta: Array,
    last: Array | None,
    delta: float,
    pursuit: Pursuit,
    rng: Rng,
) -> tuple[dict[str, Any], Array]:
    """{"weights": W (s, s), "alpha": α}, from where the last relearning ended, and hyperparameters for it.

    Args:
        kernel: the sum over groups of mixed columns.
        columns: which (s,) are mixed.
        theta: hyperparameters of the scaled kernel and noise.
        last: W of the last relearning, if there was one.
        delta: δ.
    """
    some, thetas = lesson.part(MOST_PURSUED), [theta]
    if pursuit == "gradient":
        found, fitted = _by_gradient(some, kernel, columns, theta, last)
        thetas.append(fitted)
    else:
        found = aligned(pursued(some.x[:, columns], some.y, len(columns), rng, last))
    weights = np.round(found, DECIMALS)

    def losses(w: Array) -> list[float]:
        model = Model(Scaled(Through(Mixing(columns, w), kernel)), noise_parameter(noisy=lesson.noisy))
        density = model.log_density(some.x, some.y, some.variances)
        return [-density(one) for one in thetas]

    alpha = restricted_alpha(weights, delta, lambda w: min(losses(w)))
    # Rounded to the side on which the restriction holds.
    alpha = min(math.ceil(alpha * 10**ALPHA_DECIMALS) / 10**ALPHA_DECIMALS, 1.0)
    best = thetas[int(np.argmin(losses(mixed(weights, alpha))))] if len(thetas) > 1 else theta
    return {"weights": weights.tolist(), "alpha": alpha}, best


def mixing_of(columns: Indices, structure: dict[str, Any]) -> Mixing:
    """The change of axes by Ŵ."""
    return Mixing(columns, mixed(np.array(structure["weights"]), structure["alpha"]))


def _by_gradient(
    some: Lesson, kernel: Groups, columns: Indices, theta: Array, last: Array | None
) -> tuple[Array, Array]:
    """The most probable W near the identity, and the hyperparameters that go with it.

    Entries of 1/√D, the width of the prior, make as much of a direction as its axis. Every column stays in
    its place, which is that of its group, and as long as it is, which says how much the direction matters.
    """
    identity = np.eye(len(columns))
    mixing = Mixing(columns, identity, sd=1.0 / math.sqrt(len(columns)))
    model = Model(Scaled(Through(mixing, kernel)), noise_parameter(noisy=some.noisy))
    deviation = np.zeros_like(identity) if last is None else last - identity
    start = np.concatenate([theta[:1], deviation.ravel(), theta[1:]])
    calls = int(np.clip(CALLS / len(some.y), *LIMITS))
    found = fit(model, some.x, some.y, [start], max_evaluations=calls, variances=some.variances)
    mixing_deviation = model.holds("mixing_deviation")
    w = identity + found.theta[mixing_deviation].reshape(identity.shape)
    return w * np.where(np.diagonal(w) < 0.0, -1.0, 1.0), found.theta[~mixing_deviation]
