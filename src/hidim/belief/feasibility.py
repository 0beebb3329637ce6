"""Where the objective has values: a Gaussian process on success and failure.

Trials that ended well are +1, failed ones −1, and a process g with the same kernel as the losses', but with
hyperparameters of its own, is regressed on these labels:

    P(feasible at u) = P(g(u) > 0) = Φ(μ(u) / σ(u))

Least squares on labels, and no probit likelihood: the posterior stays exact, and the fit is the one there
is. The noise has a floor: without, it vanishes, and the process follows every label with short length-scales
instead of seeing the half-space behind them. It may grow: failures that come by chance are then outvoted by
their neighbours. Where they are not, the failed trial also counts as observed at a loss, since a large
improvement times a small probability would be tried again and again: a little worse than the model's mean
there, so that an optimum at the edge can still be found.

If any of the last twenty suggestions failed, *caution* grows from 0 towards 1: failed trials count as the
worst loss so far; the noise of the labels is counted in, which is better calibrated far from the data and
blurs the edge near them; and the probability is taken to a power. Caution costs exploration, and is in vain
where failures have no place: it is called for only if the process predicts labels that it has not seen better
than their mean does.

The hyperparameters are remembered in the meta of the suggestion that fitted them:

    meta["feasible"] = {"prior": of which model, "n": trials used, "theta": […], "place": have they one}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from hidim._types import Array, Mask
from hidim.belief.priors import evenly
from hidim.frame import Observations
from hidim.frame.observe import UNSEARCHED
from hidim.gp.fit import fit
from hidim.gp.hyperparameter import Hyperparameter
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior
from hidim.optim.base import Objective, Score
from hidim.trial import History, TrialState

#: The smallest variance of the labels' noise; a choice that was not varied, nor were those below. What the
#: rules do together is in benchmarks/results/crashes.jsonl: 0 to 3 % of late trials crash.
NOISE = 0.1

#: How many of the last suggestions are looked at, and how many failures among them call for all caution.
LAST, MANY = 20, 4

#: The power to which the probability is taken with all caution; a larger one costs exploration.
POWER = 20.0

#: How much worse than expected a failed trial counts without caution, in standard deviations of the losses:
#: so that optima at the edge are found. Counted as the worst loss, some crash benchmarks were better and some
#: worse (repeated Hartmann .28 → .041, Rosenbrock 6 → 24).
WORSE = 0.3

#: Refit when the number of finished trials has grown by this share, as for losses, within so many calls.
GROWTH, CALLS, LIMITS = 0.15, 15_000, (5, 30)

#: Trials that are fitted at the most, as many of them failed as of all; predictions know all.
PART = 512


def label_noise() -> Hyperparameter:
    """log σ_ε², from the floor up to that of labels which have nothing to do with their places."""
    return Hyperparameter("log_noise", 1, math.log(NOISE), math.log(NOISE), math.log(2.0))


class Feasibility(NamedTuple):
    """The process on labels, and what a suggestion has to remember if it was fitted anew."""

    posterior: Posterior
    has_place: bool
    caution: float
    meta: dict[str, Any]

    def weighted(self, objective: Objective, *, positive: bool) -> Objective:
        """A `positive` objective times the probability of success; any other one plus its logarithm.

        That is right for logarithms. Others are on the scale of standardised losses, and a place where one
        success in three is expected loses as much as a loss worse by a standard deviation.
        """

        def score(u: Array) -> Score:
            inner, chance = objective(u), self.log_chance(u)
            if not positive:
                return Score(inner.value + chance.value, lambda g: inner.to_inputs(g) + chance.to_inputs(g))
            share = np.exp(chance.value)
            return Score(
                inner.value * share,
                lambda g: inner.to_inputs(g * share) + chance.to_inputs(g * inner.value * share),
            )

        return score

    def discouraged(self, posterior: Posterior, failed: Array) -> Posterior:
        """The posterior of losses with failed trials (f, p) that are no accidents counted as observed."""
        failed = failed[self.hopeless]
        if len(failed) == 0:
            return posterior
        worst = float(posterior.y.max())
        if self.caution > 0.0 or not self.has_place:
            return posterior.extended_at_once(failed, np.full(len(failed), worst))
        return posterior.extended_at_once(failed, np.minimum(posterior.predict(failed).mean + WORSE, worst))

    @property
    def hopeless(self) -> Mask:
        """Which of the failed trials (f,) are no accidents."""
        failed = self.posterior.y < 0.0
        return self.posterior.smoothed[failed] < 0.0

    def log_chance(self, u: Array) -> Score:
        """The logarithm of the probability of success at `u` (r, p), or of its power."""
        mean, variance, to_inputs = self.posterior.predict(u)
        power = 1.0 + (POWER - 1.0) * self.caution
        variance = variance + self.caution * self.posterior.noise
        sd = np.sqrt(variance)
        z = mean / sd
        value = log_ndtr(z)
        slope = power * np.exp(-0.5 * z * z - 0.5 * math.log(2.0 * math.pi) - value)  # φ/Φ
        return Score(power * value, lambda g: to_inputs(g * slope / sd, -0.5 * g * slope * z / variance))


def learn_feasibility(
    model: Model, tag: str, history: History, seen: Observations, held: Mapping[str, float]
) -> Feasibility | None:
    """The process on labels; None as long as nothing has failed.

    Args:
        model: of the losses.
        tag: by which the history knows the model.
        seen: points as the kernel wants them.
        held: what the model of the losses holds as yet, and where.
    """
    if len(seen.failed) == 0:
        return None
    model = replace(model, noise=label_noise())
    x = np.vstack([seen.x, seen.failed])
    labels = np.concatenate([np.ones(len(seen.x)), -np.ones(len(seen.failed))])
    last = _remembered(history, model, tag)
    theta = model.start if last is None else np.clip(np.array(last["theta"]), *model.bounds)
    if last is not None and len(x) < last["n"] + max(1, math.floor(GROWTH * last["n"])):
        known = Posterior(model, theta, x, labels)
        return Feasibility(known, last["place"], caution(history) * last["place"], {})
    start = model.put(theta, held)
    rows, holding = evenly(labels, PART), model.holding(held) if held else None
    calls = int(np.clip(CALLS / len(rows), *LIMITS))
    fitted = fit(model, x[rows], labels[rows], [start], max_evaluations=calls, held=holding)
    posterior = Posterior(model, fitted.theta, x, labels)
    place = has_place(posterior)
    meta = {"prior": tag, "n": len(x), "theta": fitted.theta.tolist(), "place": place}
    return Feasibility(posterior, place, caution(history) * place, {"feasible": meta})


def _remembered(history: History, model: Model, tag: str) -> dict[str, Any] | None:
    """What the last suggestion that was fitted to failures remembers, if it is of this model."""
    last: dict[str, Any] = next((t.meta["feasible"] for t in reversed(history) if "feasible" in t.meta), {})
    whole = last.keys() >= {"n", "theta", "place"} and last.get("prior") == tag
    return last if whole and len(last["theta"]) == model.size else None


def has_place(posterior: Posterior) -> bool:
    """Whether labels are better predicted by their neighbours than by the mean of all others."""
    y, n = posterior.y, len(posterior.y)
    others = (y.sum() - y) / (n - 1)
    spread = np.var(y) + 1.0 / n
    by_mean = -0.5 * (np.log(2.0 * math.pi * spread) + (y - others) ** 2 / spread)
    return bool(posterior.leave_one_out().log_density.mean() > by_mean.mean())


def caution(history: History) -> float:
    """How careful the next suggestion has to be, from 0 to 1, by the failures among the last ones.

    Trials that no search has suggested say nothing of that, however they ended, nor do looks at options.
    """
    last = [
        t for t in history.finished if t.meta.get("way", "added") not in UNSEARCHED and "option" not in t.meta
    ][-LAST:]
    failures = sum(trial.state is TrialState.FAILED for trial in last)
    return min(failures / MANY, 1.0)
