"""Hyperparameters at their peak, and now and then a structure: Algorithms 1 to 3 of RPP-GP-UCB, step 1.

meta["fit"] = {…, "structure": what was learnt, "learnt": from how many trials}, else as `Peak` has it
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hidim._settings import at_least, one_of
from hidim._types import Rng
from hidim.belief.inference.base import Fitted, Inference, Study
from hidim.belief.inference.peak import CHOSEN, best_outcome, climbed, is_due, new_fit, part_of, read_fit
from hidim.belief.priors import Learnable, Lesson, Structure
from hidim.gp.model import Model
from hidim.gp.outcome import OUTCOMES

#: Hyperparameters are fitted to at most so many trials, or so many for each of them, evenly by rank, and the
#: transform of losses is judged by these. A handful of hyperparameters, as in the papers, is known from a
#: part; at T = 1000 the fit was half of the time.
MOST, EACH = 256, 25


@dataclass(frozen=True)
class Relearning(Inference):
    """Maximum a posteriori, with a structure that is learnt anew every few trials.

    Args:
        outcome, growth: as in `Peak`.
        cycle: N_cyc, trials after which the structure is learnt again, from where it stands.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"structure"})

    outcome: str = "auto"
    growth: float = 0.15
    cycle: int = 25

    def __post_init__(self) -> None:
        one_of(self, outcome=(*CHOSEN, *OUTCOMES))
        at_least(self, growth=0.0, cycle=1)

    def fitted(self, study: Study, rng: Rng) -> Fitted:
        last, n = self.known(study), len(study.seen.y)
        if last is None or n >= last.memory["learnt"] + self.cycle:
            structure, learnt = self._learnt(study, last, rng), n
        elif is_due(study, last, self.outcome, self.growth):
            structure, learnt = last.structure, last.memory["learnt"]
        else:
            return last
        model = study.model(structure)
        fits = last is not None and last.thetas.shape[1] == model.size  # else it was one of other groups
        theta, name, cold = climbed(study, model, last if fits else None, self.outcome, _most(model))
        return new_fit(study, theta[None], name, cold, structure, learnt=learnt)

    def _learnt(self, study: Study, last: Fitted | None, rng: Rng) -> Structure:
        assert isinstance(study.prior, Learnable)  # what it needs
        known = None if last is None else last.structure
        model = study.model(known)
        theta = model.start if last is None else last.thetas[0]
        name = best_outcome(study, model, theta, self.outcome, part_of(study, _most(model)))
        x, y, given = study.seen.x, OUTCOMES[name](study.seen.y), study.variances(name)
        lesson = Lesson(study.scene.ground, x, y, given, study.noisy, known, np.asarray(theta))
        return study.prior.learnt(lesson, rng)

    def known(self, study: Study) -> Fitted | None:
        return read_fit(study, "learnt")


def _most(model: Model) -> int:
    """Trials to which hyperparameters are fitted at the most."""
    return max(MOST, EACH * model.size)
