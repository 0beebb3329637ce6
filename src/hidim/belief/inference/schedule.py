"""Length-scales on a schedule that rather errs on the short side (REMBO, Algorithm 3).

The length-scale ℓ is refitted by marginal likelihood within [L, U] every so many suggestions. If several
suggestions in a row had hardly any predicted deviation, the search has stopped exploring: then U is lowered
to 0.9 ℓ and ℓ is refitted at once. The state is folded from what suggestions remember:

    meta["fit"] = {"scales": [log ℓ, …], "upper": [log U, …], "calm": C, "outcome": name}
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hidim._settings import at_least, one_of
from hidim._types import Array, Rng
from hidim.belief.inference.base import Fitted, Inference, Study
from hidim.errors import NumericalError
from hidim.gp import linalg
from hidim.gp.fit import DECIMALS
from hidim.gp.model import Model
from hidim.gp.outcome import GENTLE, OUTCOMES, evidence
from hidim.gp.posterior import factorise
from hidim.optim.base import Score
from hidim.optim.direct import Direct

#: log σ² of the noise: next to none, that of the authors' code, or that of standardised values with noise,
#: which has to be assumed, since length-scales alone are fitted.
EXACT, NOISY = math.log(1e-10), math.log(0.05)


class Scales(NamedTuple):
    """log ℓ (p,), log U (p,), and C, the number of calm suggestions in a row."""

    fitted: Array
    upper: Array
    calm: int

    def memory(self) -> dict[str, Any]:
        return {"scales": self.fitted.tolist(), "upper": self.upper.tolist(), "calm": self.calm}


@dataclass(frozen=True)
class Schedule(Inference):
    """When length-scales are refitted, and within which bounds: all but `evaluations` as in the paper.

    Args:
        outcome: "auto" chooses a transform of the losses by evidence, but among smooth ones: a squared
            exponential process cannot follow a cusp at the optimum. "identity" is the paper's.
        shortest: L.
        longest: U at the start.
        every: refit after so many suggestions.
        patience: calm suggestions in a row after which U is lowered.
        threshold: t_σ, the predicted standard deviation below which a suggestion is calm.
        fit_evaluations: of the likelihood for each length-scale, by DIRECT on the logarithmic scale.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"scales"})

    outcome: str = "auto"
    shortest: float = 0.01
    longest: float = 50.0
    every: int = 20
    patience: int = 5
    threshold: float = 0.002
    fit_evaluations: int = 40

    def __post_init__(self) -> None:
        one_of(self, outcome=("auto", *OUTCOMES))
        at_least(self, shortest=1e-6, threshold=0.0)
        at_least(self, longest=float(self.shortest))
        at_least(self, every=1, patience=1, fit_evaluations=3)

    def fitted(self, study: Study, rng: Rng) -> Fitted:
        model = study.model()
        noise, last = NOISY if study.noisy else EXACT, _read(study)
        name = self._outcome(study, last)

        def fit(low: Array, upper: Array) -> Array:
            nonlocal name
            name, scales = self._refitted(study, model, noise, name, low, upper)
            return scales

        # Distances between configurations grow with √D, and so do the kernel's own starts.
        longest = max(self.longest, math.exp(float(model.start[:-1].max())))
        scales = self.current(last, study.scene.asked, model.kernel.size, fit, longest)
        fitted = _fitted(study, scales, noise, name)

        def noted(deviation: float) -> dict[str, Any]:
            return fitted.memory | {"calm": self.noted(scales.calm, deviation)}

        return fitted._replace(noted=noted)

    def known(self, study: Study) -> Fitted | None:
        last = _read(study)
        if last is None or len(study.seen.y) < 2:
            return None
        scales = Scales(np.array(last["scales"]), np.array(last["upper"]), last["calm"])
        return _fitted(study, scales, NOISY, "identity")

    def _outcome(self, study: Study, last: dict[str, Any] | None) -> str:
        """The transform in force. Noisy losses stay as they are, so that means of several runs compare."""
        if study.noisy:
            return "identity"
        if self.outcome != "auto":
            return self.outcome
        return "identity" if last is None else str(last["outcome"])

    def _refitted(
        self, study: Study, model: Model, noise: float, name: str, low: Array, upper: Array
    ) -> tuple[str, Array]:
        """Transform and length-scales: the latter for the old transform, that for them, and once more."""
        x, y = study.seen.x, study.seen.y
        scales = self.best(partial(_likelihood, model, x, OUTCOMES[name](y), noise), low, upper)
        if self.outcome != "auto" or study.noisy:
            return name, scales
        scores = evidence(factorise(model, np.append(scales, noise), x), y, GENTLE)
        better = max(scores, key=scores.__getitem__)
        if better == name:
            return name, scales
        return better, self.best(partial(_likelihood, model, x, OUTCOMES[better](y), noise), low, upper)

    def current(
        self,
        last: dict[str, Any] | None,
        asked: int,
        size: int,
        fit: Callable[[Array, Array], Array],
        longest: float,
    ) -> Scales:
        """The scales for the next suggestion.

        Args:
            last: what the last suggestion remembers.
            asked: how many there were.
            size: p, the number of scales.
            fit: gives the best log ℓ in a box [log L, log U] (line 15).
            longest: U at the start.
        """
        low = np.full(size, math.log(self.shortest))
        if last is None:
            upper = np.full(size, math.log(longest))
            return Scales(fit(low, upper), upper, 0)
        scales = Scales(np.array(last["scales"]), np.array(last["upper"]), last["calm"])
        if scales.calm >= self.patience:  # lines 11–14
            upper = np.maximum(math.log(0.9) + scales.fitted, low)
            return Scales(fit(low, upper), upper, 0)
        if asked % self.every == 0:  # line 10
            return scales._replace(fitted=fit(low, scales.upper))
        return scales

    def best(self, likelihood: Callable[[Array], float], low: Array, upper: Array) -> Array:
        """Line 15, by DIRECT; rounded, so that what is stored is what was used.

        Args:
            likelihood: log p(y | log ℓ).
            low, upper: log L and log U (p,).
        """

        def score(points: Array) -> Score:
            return Score(np.array([likelihood(p) for p in points]), np.zeros_like)

        search = Direct(max_evaluations=self.fit_evaluations * len(low))
        found = search(score, low, upper, np.random.default_rng(0)).point
        return np.clip(np.round(found, DECIMALS), low, upper)

    def noted(self, calm: int, deviation: float) -> int:
        """C after a suggestion with that predicted standard deviation (lines 4–8)."""
        return calm + 1 if deviation < self.threshold else 0


def _read(study: Study) -> dict[str, Any] | None:
    """What the last suggestion remembers, if it is of such a model."""
    last, size = study.last("scales", "upper", "calm"), study.model().kernel.size
    return last if last is not None and len(last["scales"]) == len(last["upper"]) == size else None


def _fitted(study: Study, scales: Scales, noise: float, outcome: str) -> Fitted:
    memory = study.memory(outcome, **scales.memory())
    return Fitted(np.append(scales.fitted, noise)[None], outcome, len(study.seen.y), memory, is_new=True)


def _likelihood(model: Model, x: Array, y: Array, noise: float, scales: Array) -> float:
    """log p(y | ℓ), up to a constant."""
    try:
        factor = factorise(model, np.append(scales, noise), x)
    except NumericalError:
        return -math.inf
    return -0.5 * float(y @ linalg.solve(factor, y)) - linalg.half_log_determinant(factor)
