"""Length-scales that shrink as time goes on (A-GP-UCB; Berkenkamp et al. 2019), as Add-Tree has them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hidim._settings import of_type
from hidim._types import Rng
from hidim.acquisition.beta import Adaptation, Adapting
from hidim.belief.inference.base import Fitted, Inference, Study
from hidim.belief.inference.peak import Peak
from hidim.gp.kernels.groups import widest
from hidim.gp.outcome import OUTCOMES
from hidim.gp.posterior import Posterior


@dataclass(frozen=True)
class Adaptive(Inference):
    """θ_t = min(θ, θ_0/g(t)), with θ from another inference (Add-Tree §5).

    Args:
        inner: finds θ.
        adaptation: θ_0 and g; that of the utility's bound should be the same.
    """

    inner: Inference = field(default_factory=Peak)
    adaptation: Adapting = field(default_factory=Adaptation)

    def __post_init__(self) -> None:
        of_type(self, inner=Inference, adaptation=Adapting)

    def fitted(self, study: Study, rng: Rng) -> Fitted:
        found = self.inner.fitted(study, rng)
        if not found.is_new:
            return found
        model, x, losses = study.model(found.structure), study.seen.x, OUTCOMES[found.outcome](study.seen.y)
        belief = Posterior(model, found.thetas[0], x, losses, variances=study.variances(found.outcome))
        longest = self.adaptation.longest(belief, widest(model.kernel, study.scene.ground.dim))
        thetas = np.stack([model.shortened(theta, longest) for theta in found.thetas])
        return found._replace(thetas=thetas, memory=found.memory | {"thetas": thetas.tolist()})

    def known(self, study: Study) -> Fitted | None:
        return self.inner.known(study)
