"""The Gaussian process of a method, kept up to date with the history.

Hyperparameters are fitted on a schedule, warm-started from the last fit, and remembered in the meta of the
trial whose suggestion made the fit:

    meta["fit"] = {"n": trials used, "cold": n at the last cold start, "thetas": [[…]], "outcome": name}

Between fits the Cholesky factor is extended row by row. The factor of the fit's n trials, extended by single
rows in the order of finishing, is the definition: whether it comes from the cache or is computed anew after
a reload, every bit is the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from hidim._types import Array, Mask
from hidim.errors import MethodError
from hidim.gp.fit import fit
from hidim.gp.kernels import Constant, Hamming, Kernel, Matern, Scaled, Stationary
from hidim.gp.maps import Chain, HierarchicalScale, Map, Scale, Select
from hidim.gp.model import Model, noise_parameter
from hidim.gp.outcome import GENTLE, OUTCOMES, Outcome, evidence
from hidim.gp.posterior import Posterior, factorise
from hidim.gp.slice import sample
from hidim.methods.base import Observations, Task, at_least
from hidim.methods.noise import is_noisy
from hidim.space import Space
from hidim.space.columns import Kind
from hidim.trial import History

Lengthscales = Literal["mixed", "hierarchical", "isotropic", "ard"]
Inference = Literal["map", "slice"]

#: Histories with more complete trials than this are fitted from nothing on a part of them first.
LONG = 800


class Fitted(NamedTuple):
    """Hyperparameters in force: who fitted them, on how many trials, and what they are."""

    number: int
    n: int
    cold: int
    thetas: Array
    outcome: str

    def meta(self) -> dict[str, Any]:
        return {"n": self.n, "cold": self.cold, "thetas": self.thetas.tolist(), "outcome": self.outcome}


@dataclass(frozen=True)
class Surrogate:
    """A Matérn-5/2 process over mixed spaces, and when and how its hyperparameters are fitted.

    Args:
        lengthscales: "hierarchical" (isotropic until the data insist), "isotropic", "ard" (independent, with
            the dimension-scaled log-normal prior), or "mixed": for every suggestion a coin decides between
            "hierarchical" and its isotropic twin. Where each is right it finds what the other misses, and two
            models that disagree keep the search from settling too early.
        outcome: "auto" chooses a transform of the losses by evidence; or the name of one in `OUTCOMES`.
        inference: "map", or "slice" for several draws whose acquisition is averaged.
        draws: number of draws with "slice".
        growth: refit when the number of complete trials has grown by this share since the last fit.
    """

    lengthscales: Lengthscales = "mixed"
    outcome: str = "auto"
    inference: Inference = "map"
    draws: int = 5
    growth: float = 0.15

    def __post_init__(self) -> None:
        allowed = {
            "lengthscales": get_args(Lengthscales),
            "inference": get_args(Inference),
            "outcome": ("auto", *OUTCOMES),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise MethodError(
                    f"{name}={getattr(self, name)!r} is unknown: choose one of {', '.join(values)}"
                )

        at_least(self, draws=1, growth=0.0)

    def model(self, space: Space, *, noisy: bool = False) -> Model:
        """Matérn-5/2 on numeric columns times a Hamming kernel on labels, with an amplitude."""
        kind, levels = space.columns.kind, space.columns.levels
        numeric, labels = (
            np.flatnonzero(kind != Kind.LABEL),
            np.flatnonzero((kind == Kind.LABEL) & (levels > 1)),
        )
        factors: list[Kernel] = []
        if len(numeric):
            scale: Map = self._scale(len(numeric))
            inputs = scale if len(numeric) == space.dim else Chain(Select(numeric), scale)
            factors.append(Stationary(Matern(2.5), inputs))
        if len(labels):
            factors.append(Hamming(labels, levels[labels].astype(np.intp)))
        if not factors:
            factors.append(Constant())  # nothing varies
        kernel = factors[0] if len(factors) == 1 else factors[0] * factors[1]
        return Model(Scaled(kernel), noise_parameter(noisy=noisy))

    def blanked(self, space: Space, points: Array) -> Array:
        """Points (n, D) as the kernel wants them."""
        return blanked(space, points)

    def _scale(self, dim: int) -> Map:
        if self.lengthscales in ("mixed", "hierarchical"):
            return HierarchicalScale(dim)
        return Scale(dim, ard=self.lengthscales == "ard")

    def posteriors(
        self,
        task: Task,
        history: History,
        seen: Observations,
        noisy: bool,
        rng: np.random.Generator,
        *,
        gentle: bool = False,
    ) -> tuple[list[Posterior], Fitted]:
        """Posteriors on transformed losses, to be averaged, and the hyperparameters in force.

        Args:
            gentle: choose among transforms that do not stretch what is close to the best value; of noisy
                values these are used anyway.
        """
        gentle = gentle or noisy
        seen = seen._replace(x=self.blanked(task.space, seen.x))
        model = self._model_once(task, noisy=noisy)
        last = _last_fit(history, model)
        ungentle = gentle and last is not None and last.outcome not in GENTLE and self.outcome == "auto"
        if last is None or ungentle or self._is_due(last, seen.y):
            last = self._refit(model, seen, last, len(history), noisy, gentle, rng)
        rows = list(range(len(last.thetas)))
        if self.inference == "map" and len(rows) > 1:
            rows = [int(rng.integers(len(rows)))]
        return [self._posterior(task, model, last, row, seen) for row in rows], last

    def means(self, task: Task, history: History, seen: Observations) -> Array | None:
        """Mean transformed losses (n,) of the complete trials by the last fit; None if there was none."""
        model = self._model_once(task, noisy=is_noisy(task, history))
        last = _last_fit(history, model)
        if last is None or last.n > len(seen.y):
            return None
        seen = seen._replace(x=self.blanked(task.space, seen.x))
        return self._posterior(task, model, last, 0, seen).smoothed

    def _model_once(self, task: Task, *, noisy: bool) -> Model:
        owner, model = task.memo.get("model", (None, None))
        if model is None or owner != (self, noisy):
            model = self.model(task.space, noisy=noisy)
            task.memo["model"] = ((self, noisy), model)
        kept: Model = model
        return kept

    def _is_due(self, last: Fitted, y: Array) -> bool:
        if len(y) >= last.n + max(1, math.floor(self.growth * last.n)):
            return True
        # A single outlier or a new best by orders of magnitude moves all transformed losses, and the
        # hyperparameters no longer fit them.
        spread = float(np.std(OUTCOMES[last.outcome](y)[: last.n]))
        return len(y) > last.n and not 0.5 < spread < 2.0

    def _refit(
        self,
        model: Model,
        seen: Observations,
        last: Fitted | None,
        number: int,
        noisy: bool,
        gentle: bool,
        rng: np.random.Generator,
    ) -> Fitted:
        x, y, n = seen.x, seen.y, len(seen.y)
        candidates = GENTLE if gentle else OUTCOMES
        warm = model.start if last is None else last.thetas[0]
        cold = last is None or n >= 1.5 * last.cold
        starts = [warm] if last is None or not cold else [warm, model.start]
        calls = int(np.clip(15_000 / n, 5, 50 if cold else 25))
        name = self.outcome if self.outcome != "auto" else _best_outcome(model, warm, seen, candidates)
        noise = _variances(name, seen)
        if cold and n > LONG:
            # Coarse to fine: most of the way is found on a part of the trials, at a fraction of the price.
            part = slice(None, None, math.ceil(2 * n / LONG))
            starts = [
                fit(model, x[part], OUTCOMES[name](y)[part], starts, variances=_part(noise, part)).theta
            ]
        fitted = fit(model, x, OUTCOMES[name](y), starts, max_evaluations=calls, variances=noise)
        if self.outcome == "auto":
            # The transform was judged under the old length-scales: look again, and mend once.
            again = _best_outcome(model, fitted.theta, seen, candidates)
            if again != name:
                name, noise = again, _variances(again, seen)
                losses = OUTCOMES[name](y)
                fitted = fit(model, x, losses, [fitted.theta], max_evaluations=calls, variances=noise)
        losses = OUTCOMES[name](y)
        thetas = fitted.theta[None]
        if self.inference == "slice":
            draws = {"count": self.draws, "burn_in": 3, "thinning": 2}
            thetas = sample(model, x, losses, fitted.theta, rng, **draws, variances=noise)
        elif self.lengthscales == "mixed" and (tied := _deviations(model)).any():
            start = model.start if last is None else last.thetas[-1]
            if noisy:
                start = fitted.theta  # a twin that once took everything for noise would never leave that
            start = np.where(tied, 0.0, start)
            few = int(np.clip(6_000 / n, 4, 12))
            twin = fit(model, x, losses, [start], max_evaluations=few, held=tied, variances=noise)
            thetas = np.stack([fitted.theta, twin.theta])
        return Fitted(number, n, n if cold or last is None else last.cold, thetas, name)

    def _posterior(
        self, task: Task, model: Model, fitted: Fitted, draw: int, seen: Observations
    ) -> Posterior:
        x, losses = seen.x, OUTCOMES[fitted.outcome](seen.y)
        if seen.variances is not None:
            # With every new value the scale of the losses changes, and with it that of the given variances:
            # no factor can be extended.
            variances = _variances(fitted.outcome, seen)
            return Posterior(model, fitted.thetas[draw], x, losses, variances=variances)
        key = f"posterior {draw}"
        cached: tuple[int, Posterior] | None = task.memo.get(key)
        if cached is not None and _continues(cached, fitted, draw, x):
            posterior = cached[1]
        else:
            posterior = Posterior(model, fitted.thetas[draw], x[: fitted.n], losses[: fitted.n])
        known = len(posterior.y)
        posterior = posterior.extended(x[known:], losses[known:]).with_outcomes(losses)
        task.memo[key] = (fitted.number, posterior)
        return posterior


def _continues(cached: tuple[int, Posterior], fitted: Fitted, draw: int, x: Array) -> bool:
    """Whether the cached posterior is of this history: a task may have served another one."""
    number, posterior = cached
    return (
        number == fitted.number
        and np.array_equal(posterior.theta, fitted.thetas[draw])
        and np.array_equal(posterior.x, x[: len(posterior.y)])
    )


def blanked(space: Space, points: Array) -> Array:
    """Points as the kernel wants them: inactive numbers in mid-range, inactive labels negative."""
    if not space.is_conditional:
        return points
    return np.where(np.isnan(points), np.where(space.columns.kind == Kind.LABEL, -1.0, 0.5), points)


def _best_outcome(model: Model, theta: Array, seen: Observations, candidates: Mapping[str, Outcome]) -> str:
    scores = evidence(factorise(model, theta, seen.x, _variances("identity", seen)), seen.y, candidates)
    return max(scores, key=scores.__getitem__)


def _variances(outcome: str, seen: Observations) -> Array | None:
    """Given variances (n,) on the scale of transformed losses, to first order."""
    if seen.variances is None:
        return None
    return OUTCOMES[outcome].variances(seen.y, seen.variances)


def _deviations(model: Model) -> Mask:
    """Which entries of θ let single columns be different from the others."""
    names = ("log_lengthscale_deviation", "log_label_weight_deviation", "log_alpha", "log_beta")
    return np.asarray(np.any([model.holds(name) for name in names], axis=0))


def _part(variances: Array | None, part: slice) -> Array | None:
    return None if variances is None else variances[part]


def _last_fit(history: History, model: Model) -> Fitted | None:
    for trial in reversed(history):
        if "fit" in trial.meta:
            data = trial.meta["fit"]
            thetas = np.array(data["thetas"], dtype=np.float64)
            if thetas.shape[1] != model.size or data["outcome"] not in OUTCOMES:
                return None  # of another model
            return Fitted(trial.number, data["n"], data["cold"], thetas, data["outcome"])
    return None
