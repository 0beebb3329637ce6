"""Several draws of the hyperparameters by slice sampling, whose utilities are averaged."""

from __future__ import annotations

from dataclasses import dataclass

from hidim._settings import at_least, of_type, one_of
from hidim._types import Rng
from hidim.belief.inference.base import Fitted, Inference, Study
from hidim.belief.inference.peak import CHOSEN, best_outcome, climbed, is_due, new_fit, read_fit
from hidim.gp.outcome import OUTCOMES
from hidim.gp.slice import sample


@dataclass(frozen=True)
class Slices(Inference):
    """Draws from the posterior density of θ, which go into the next fit by way of the history.

    Args:
        outcome, growth: as in `Peak`.
        draws: how many are kept; time grows with them, and the error of the average falls with their root.
        thinning: sweeps for each of them.
        warm: a chain goes on where that of the last fit ended. Otherwise every fit climbs to the peak first,
            and the chain begins there.
        burn_in: sweeps before the first draw; of a warm chain, at its very beginning. From the peak a few
            will do; BOCK's chains, which do not climb, take 100.
    """

    outcome: str = "auto"
    growth: float = 0.15
    draws: int = 5
    thinning: int = 2
    warm: bool = False
    burn_in: int = 3

    def __post_init__(self) -> None:
        one_of(self, outcome=(*CHOSEN, *OUTCOMES))
        at_least(self, growth=0.0, draws=1, thinning=1, burn_in=0)
        of_type(self, warm=bool)

    def fitted(self, study: Study, rng: Rng) -> Fitted:
        last = self.known(study)
        if last is not None and not is_due(study, last, self.outcome, self.growth):
            return last
        structure = None if last is None else last.structure
        model, seen = study.model(structure), study.seen
        cold = len(seen.y)
        if self.warm:
            theta = model.start if last is None else last.thetas[-1]
            name = best_outcome(study, model, theta, self.outcome)
        else:
            theta, name, cold = climbed(study, model, last, self.outcome)
        thetas = sample(
            model,
            seen.x,
            OUTCOMES[name](seen.y),
            theta,
            rng,
            count=self.draws,
            burn_in=0 if self.warm and last is not None else self.burn_in,
            thinning=self.thinning,
            variances=study.variances(name),
        )
        return new_fit(study, thetas, name, cold, structure)

    def known(self, study: Study) -> Fitted | None:
        return read_fit(study)
