"""Where the objective has values: a Gaussian process on success and failure.

Trials that ended well are +1, failed ones −1, and a process g with the same kernel as the losses', but with
hyperparameters of its own, is regressed on these labels:

    P(feasible at u) = P(g(u) > 0) = Φ(μ(u) / σ(u))

Least squares on labels instead of a probit likelihood, because the posterior stays exact and the fit is the
one there is; the fitted noise tells failures that come by chance, which say nothing about a place, from those
that have a place. The hyperparameters are remembered in the meta of the suggestion that fitted them:

    meta["feasible"] = {"n": finished trials used, "theta": […]}
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from hidim._types import Array
from hidim.gp.fit import fit
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior
from hidim.methods.base import Observations
from hidim.optim.base import Objective, Score
from hidim.trial import History

#: Refit when the number of finished trials has grown by this share.
GROWTH = 0.15


class Feasibility(NamedTuple):
    """The process on labels, and what a suggestion has to remember if it was fitted anew."""

    posterior: Posterior
    meta: dict[str, Any]

    def weighted(self, objective: Objective, *, logarithm: bool) -> Objective:
        """`objective` times the probability of success; plus its logarithm if it is a `logarithm` itself."""

        def score(u: Array) -> Score:
            inner, chance = objective(u), self._log_chance(u)
            if logarithm:
                return Score(inner.value + chance.value, lambda g: inner.to_inputs(g) + chance.to_inputs(g))
            share = np.exp(chance.value)
            return Score(
                inner.value * share,
                lambda g: inner.to_inputs(g * share) + chance.to_inputs(g * inner.value * share),
            )

        return score

    def _log_chance(self, u: Array) -> Score:
        mean, variance, to_inputs = self.posterior.predict(u)
        sd = np.sqrt(variance)
        z = mean / sd
        value = log_ndtr(z)
        slope = np.exp(-0.5 * z * z - 0.5 * math.log(2.0 * math.pi) - value)  # φ/Φ
        return Score(value, lambda g: to_inputs(g * slope / sd, -0.5 * g * slope * z / variance))


def learn_feasibility(
    model: Model, history: History, seen: Observations, theta: Array
) -> Feasibility | None:
    """The process on labels; None as long as nothing has failed.

    Args:
        model: of the losses; `theta` are its hyperparameters, where the first fit starts.
        seen: points as the kernel wants them.
    """
    if len(seen.failed) == 0:
        return None
    x = np.vstack([seen.x, seen.failed])
    labels = np.concatenate([np.ones(len(seen.x)), -np.ones(len(seen.failed))])
    last = next((t.meta["feasible"] for t in reversed(history) if "feasible" in t.meta), None)
    if last is not None and len(last["theta"]) != model.size:
        last = None  # of another model
    if last is not None and len(x) < last["n"] + max(1, math.floor(GROWTH * last["n"])):
        return Feasibility(Posterior(model, np.array(last["theta"]), x, labels), {})
    start = theta if last is None else np.array(last["theta"])
    calls = int(np.clip(15_000 / len(x), 5, 30))
    fitted = fit(model, x, labels, [start], max_evaluations=calls)
    meta = {"feasible": {"n": len(x), "theta": fitted.theta.tolist()}}
    return Feasibility(Posterior(model, fitted.theta, x, labels), meta)
