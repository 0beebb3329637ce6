"""What an inference is: hyperparameters and structure from the data and from what the history remembers.

What it found is kept in the meta of the trial whose suggestion needed it:

    meta["fit"] = {"by": inference, "prior": tag of the model, "outcome": transform of the losses, …}

Between fits the Cholesky factor is extended row by row. The factor of the fit's n trials, extended by single
rows in the order of finishing, is the definition: whether it comes from the cache or is computed anew after
a reload, every bit is the same.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hidim._types import Array, Rng
from hidim.belief.priors import Prior, Structure, tag
from hidim.frame import Observations, Scene
from hidim.gp.model import Model
from hidim.gp.outcome import GENTLE, OUTCOMES, Outcome
from hidim.gp.posterior import Posterior

#: Numbers in the factors of posteriors under longer length-scales that are kept: 256 MB.
STRETCHED = 32_000_000

#: Fewer than a search asks for are not worth keeping: each would be dropped before it is needed again.
FEW = 8


class Fitted(NamedTuple):
    """Hyperparameters in force.

    Args:
        thetas: (k, size), to be averaged or chosen from.
        outcome: the transform of the losses.
        n: of how many observations the factor is computed at once; the others extend it.
        memory: what the history knows of them, or has to; as meta["fit"].
        is_new: whether they were fitted for this suggestion, which then has to remember it.
        rows: which of the thetas count for this suggestion; all by default.
        structure: of the model.
        noted: what `memory` becomes when the standard deviation at the suggested point is known.
        judged: whether it was the data by which the noise was judged.
    """

    thetas: Array
    outcome: str
    n: int
    memory: dict[str, Any]
    is_new: bool
    rows: tuple[int, ...] | None = None
    structure: Structure = None
    noted: Callable[[float], dict[str, Any]] | None = None
    judged: bool = True


@dataclass(frozen=True, eq=False)
class Study:
    """What an inference is asked: which hyperparameters fit these observations?

    Args:
        prior: the family of models.
        by: the name of the inference, which does not take over what another one remembered.
        scene: where, and what was observed.
        noisy: whether values are noisy.
        comparable: keep losses as they are, so that means of several scenes compare.
    """

    prior: Prior
    by: str
    scene: Scene
    noisy: bool
    comparable: bool = False

    @cached_property
    def seen(self) -> Observations:
        """The observations, with points as the kernel wants them."""
        seen, ground = self.scene.seen, self.scene.ground
        return seen._replace(x=self.prior.inputs(ground, seen.x))

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The transforms of losses among which evidence may choose."""
        if self.comparable:
            return {"identity": OUTCOMES["identity"]}
        return GENTLE if self.noisy else OUTCOMES

    def model(self, structure: Structure = None) -> Model:
        """The prior's model for a structure; made once."""
        memo, ground = self.scene.task.memo, self.scene.ground
        center = None if ground.center is None else ground.center.tobytes()
        key = (self.scene.key, ground.dim, center, ground.ball, self.noisy, json.dumps(structure))
        known: Model | None = memo.get(self.prior, key)
        if known is None:
            known = self.prior.model(self.scene.ground, noisy=self.noisy, structure=structure)
            memo.keep(self.prior, key, known)
        return known

    def last(self, *wanted: str) -> dict[str, Any] | None:
        """The last fit of this model by this inference that is remembered, and has all fields wanted."""
        for trial in reversed(self.scene.trials):
            if "fit" in trial.meta:
                found: dict[str, Any] = trial.meta["fit"]
                same = found.get("by") == self.by and found.get("prior") == self.tag(found.get("structure"))
                if same and found.get("outcome") in OUTCOMES and found.keys() >= set(wanted):
                    return found
        return None

    def memory(self, outcome: str, structure: Structure = None, **rest: Any) -> dict[str, Any]:
        """What `last` will find."""
        told = {} if structure is None else {"structure": structure}
        return {"by": self.by, "prior": self.tag(structure), "outcome": outcome} | told | rest

    def tag(self, structure: Structure = None) -> str:
        """By which the history knows the model."""
        return tag(self.prior, self.scene.ground.dim, structure)

    def variances(self, outcome: str) -> Array | None:
        """Given variances (n,) on the scale of transformed losses, to first order."""
        seen = self.scene.seen
        return None if seen.variances is None else OUTCOMES[outcome].variances(seen.y, seen.variances)

    def posteriors(self, fitted: Fitted, factor: float = 1.0) -> list[Posterior]:
        """The posteriors of transformed losses that count for the next suggestion, to be averaged.

        Args:
            factor: by which length-scales are longer than fitted.
        """
        rows = range(len(fitted.thetas)) if fitted.rows is None else fitted.rows
        return [self.posterior(fitted, row, factor) for row in rows]

    def remembered(self, fitted: Fitted, posterior: Posterior, point: Array) -> dict[str, Any]:
        """What the suggestion of `point` (d,) adds to its meta."""
        if fitted.noted is not None:
            at = self.prior.inputs(self.scene.ground, point[None])
            return {"fit": fitted.noted(math.sqrt(float(posterior.predict(at).variance[0])))}
        return {"fit": fitted.memory} if fitted.is_new else {}

    def posterior(self, fitted: Fitted, row: int, factor: float = 1.0) -> Posterior:
        """The posterior of transformed losses under one of the fitted θ, or under longer length-scales.

        Args:
            factor: by which these are longer. Like the others, such posteriors are extended from suggestion
                to suggestion.
        """
        x, losses = self.seen.x, OUTCOMES[fitted.outcome](self.seen.y)
        model, theta = self.model(fitted.structure), fitted.thetas[row]
        if factor != 1.0:
            theta = model.stretched(theta, factor)
        given = self.variances(fitted.outcome)
        if given is not None:
            # With every new value the scale of the losses changes, and with it that of the given variances:
            # no factor can be extended.
            return Posterior(model, theta, x, losses, variances=given)
        most = len(fitted.thetas) if factor == 1.0 else STRETCHED // len(x) ** 2
        if factor != 1.0 and most < FEW:
            return Posterior(model, theta, x, losses)
        memo, owner = self.scene.task.memo, (self.prior, self.by, self.scene.key, factor != 1.0)
        key = row if factor == 1.0 else (row, theta.tobytes())  # at their limit, longer ones are the same
        n, posterior = memo.get(owner, key) or (0, None)
        if posterior is None or n != fitted.n or not _continues(posterior, model, theta, x):
            posterior = Posterior(model, theta, x[: fitted.n], losses[: fitted.n])
        known = len(posterior.y)
        posterior = posterior.extended(x[known:], losses[known:]).with_outcomes(losses)
        memo.keep(owner, key, (fitted.n, posterior), most=most)
        return posterior


def _continues(posterior: Posterior, model: Model, theta: Array, x: Array) -> bool:
    """Whether a cached posterior is of this history: a task may have served another one."""
    return (
        posterior.model is model
        and np.array_equal(posterior.theta, theta)
        and np.array_equal(posterior.x, x[: len(posterior.y)], equal_nan=True)
    )


class Inference(ABC):
    """How hyperparameters are found."""

    #: What it needs of the prior: "scales" if it fits length-scales and nothing else.
    needs: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def fitted(self, study: Study, rng: Rng) -> Fitted:
        """The hyperparameters in force for the next suggestion: fitted anew, or those of the last fit."""

    @abstractmethod
    def known(self, study: Study) -> Fitted | None:
        """Those of the last fit, for judging complete trials; None if there was none."""
