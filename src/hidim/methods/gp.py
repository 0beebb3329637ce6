"""The default: a Gaussian process that does not have to be told what the function looks like.

    design       the centre, then a Latin hypercube
    surrogate    Matérn-5/2, hierarchical heavy-tailed length-scales, losses transformed as the evidence says
    acquisition  log expected improvement, for some suggestions of at least a margin
    search       three ways of proposing, mixed by their success (methods/proposal.py)

A model that has settled in a local optimum always sees a little more to gain there. A fifth of the
suggestions therefore count only improvements beyond a tenth of a standard deviation of the transformed
losses, which refining cannot give, and look elsewhere. On a plateau, where several of the last trials had
exactly the best value, parameters that are known not to matter could be changed for ever. There the others
have a margin too, if a smaller one; every other suggestion starts from random points, far away; and no
transform is used that would make much of what is close to the best value.

Pending trials count as observed at the model's own mean: the variance around them collapses, and the next
suggestion goes elsewhere. How failures are avoided is said in methods/feasibility.py, how noise is found out
in methods/noise.py.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from hidim._types import Array
from hidim.acquisition import (
    ACQUISITIONS,
    Acquisition,
    ConfidenceBound,
    ExpectedImprovement,
    LogExpectedImprovement,
    Thompson,
    averaged,
)
from hidim.errors import MethodError, NumericalError
from hidim.gp.posterior import Posterior
from hidim.methods.base import Method, Observations, Suggestion, Task, at_least, observe
from hidim.methods.credit import box_length, choose_way, outcomes
from hidim.methods.feasibility import learn_feasibility
from hidim.methods.noise import is_noisy, is_probe_due, probe
from hidim.methods.proposal import Proposer, Target
from hidim.methods.scatter import design, unseen
from hidim.methods.surrogate import Surrogate
from hidim.trial import History

logger = logging.getLogger("hidim")


@dataclass(frozen=True)
class GaussianProcess(Method):
    """Bayesian optimisation with a Gaussian process, for 1 to about a thousand dimensions.

    Args:
        initial: trials of the initial design.
        surrogate: the model and its fitting; its settings give the plain variants of the literature.
        proposer: how points with a high acquisition are found.
        acquisition: "log-ei", "ei", "ucb" (β = 4) or "thompson"; "auto" is "log-ei", and "ucb" if the values
            are noisy, because what counts as an improvement over noisy values is itself uncertain.
        bold: share of suggestions that count only improvements beyond `margin`; not for "ucb" and "thompson".
        margin: in standard deviations of the transformed losses.

    Example:
        >>> GaussianProcess(surrogate=Surrogate(lengthscales="isotropic")).initial
        10
    """

    name: ClassVar[str] = "gp"
    acquisitions: ClassVar[tuple[str, ...]] = ("auto", *ACQUISITIONS)

    initial: int = 10
    surrogate: Surrogate = field(default_factory=Surrogate)
    proposer: Proposer = field(default_factory=Proposer)
    acquisition: str = "auto"
    bold: float = 0.2
    margin: float = 0.1

    def __post_init__(self) -> None:
        at_least(self, initial=1, bold=0.0, margin=0.0)
        if self.acquisition not in self.acquisitions:
            known = ", ".join(self.acquisitions)
            raise MethodError(f"acquisition={self.acquisition!r} is unknown: choose one of {known}")

    def suggest(self, task: Task, history: History, rng: np.random.Generator) -> Suggestion:
        seen = observe(task, history)
        if len(history) < self.initial or len(seen.y) < 2:
            return design(task, history, self.initial, rng)
        try:
            return self._model_based(task, history, seen, rng)
        except NumericalError as error:
            logger.warning("trial %d is a design point, because the model failed: %s", len(history), error)
            return design(task, history, self.initial, rng, fallback=str(error))

    def _model_based(
        self, task: Task, history: History, seen: Observations, rng: np.random.Generator
    ) -> Suggestion:
        noisy, plateau = is_noisy(task, history), is_plateau(history, maximize=task.maximize)
        posteriors, fitted = self.surrogate.posteriors(task, history, seen, noisy, rng, gentle=plateau)
        meta: dict[str, Any] = {"fit": fitted.meta()} if fitted.number == len(history) else {}
        if not noisy and is_probe_due(task, history, math.exp(fitted.thetas[0, -1])):
            found = probe(task, history, seen, rng)
            if found is not None:
                point, twin = found
                return unseen(task, seen, point[None], rng, meta | {"way": "probe", "probe": twin})
        bold = bool(rng.random() < self.bold)
        margin = self.margin if bold else SMALL * self.margin if plateau else 0.0
        target, believed, learnt = self._target(task, history, seen, posteriors, margin, noisy, rng)
        past = outcomes(history, maximize=task.maximize)
        way = "far" if plateau and rng.random() < FAR else choose_way(past, rng)
        losses = posteriors[0].smoothed if noisy else seen.y
        best = seen.x[np.argsort(losses, kind="stable")[: self.proposer.incumbents]]
        points = self._points(way, target, believed, task, best, box_length(past), rng)
        meta |= {"way": way, "bold": bold} | learnt
        return unseen(task, seen, points, rng, meta, repeat=noisy)

    def _points(
        self,
        way: str,
        target: Target,
        believed: list[Posterior],
        task: Task,
        best: Array,
        length: float,
        rng: np.random.Generator,
    ) -> Array:
        """Points (k, D) worth a suggestion, best first."""
        return self.proposer.propose(way, target, task.space, best, length, rng)

    def _target(
        self,
        task: Task,
        history: History,
        seen: Observations,
        posteriors: list[Posterior],
        margin: float,
        noisy: bool,
        rng: np.random.Generator,
    ) -> tuple[Target, list[Posterior], dict[str, Any]]:
        """What is maximised, the posteriors behind it, and what the suggestion has to remember of it."""
        kind = self.acquisition
        if kind == "auto":
            kind = "ucb" if noisy else "log-ei"
        blanked = partial(self.surrogate.blanked, task.space)
        failed, running = blanked(seen.failed), blanked(seen.running)
        usable = seen._replace(x=posteriors[0].x, failed=failed)
        feasibility = learn_feasibility(posteriors[0].model, history, usable)
        if feasibility is not None:
            posteriors = [feasibility.discouraged(posterior, failed) for posterior in posteriors]
        believed = [posterior.believing(running) for posterior in posteriors]
        scores = [_acquisition(kind, p, margin, noisy, rng).on(p) for p in believed]
        objective = averaged(scores, logarithms=kind == "log-ei")
        best = _best(believed[0], noisy) if kind == "log-ei" and len(believed) == 1 else None
        if feasibility is None:
            return Target(objective, blanked, best), believed, {}
        weighted = feasibility.weighted(objective, positive=kind == "ei")
        return Target(weighted, blanked, best), believed, feasibility.meta

    def means(self, task: Task, history: History) -> Array | None:
        try:
            return self.surrogate.means(task, history, observe(task, history))
        except NumericalError as error:
            logger.warning("the best trial is that with the best value, because the model failed: %s", error)
            return None


#: How many of the last trials are looked at for ties with the best value, and how many are a plateau.
LATELY, TIES = 10, 2

#: The margin on a plateau, as a share of that of bold suggestions.
SMALL = 0.3

#: The share of suggestions on a plateau that are far from what is known.
FAR = 0.5


def is_plateau(history: History, *, maximize: bool) -> bool:
    """Whether several of the last trials have exactly the best value: more of that kind teach nothing."""
    values = [float(trial.value or 0.0) for trial in history.complete]
    if not values:
        return False
    best = max(values) if maximize else min(values)
    first = values.index(best)
    return sum(value == best for value in values[max(first + 1, len(values) - LATELY) :]) >= TIES


def _best(posterior: Posterior, noisy: bool) -> float:
    # The best of what is believed, too: else there is something to gain where a trial is pending. The
    # smallest of many noisy losses is smaller than anything that can be had.
    return float((posterior.smoothed if noisy else posterior.y).min())


def _acquisition(
    kind: str, posterior: Posterior, margin: float, noisy: bool, rng: np.random.Generator
) -> Acquisition:
    target = _best(posterior, noisy) - margin
    match kind:
        case "ei":
            return ExpectedImprovement(target)
        case "ucb":
            return ConfidenceBound()
        case "thompson":
            return Thompson(int(rng.integers(2**32)))
        case _:
            return LogExpectedImprovement(target)
