"""Hyperparameters from the data and from what the history remembers."""

from hidim.belief.inference.adaptive import Adaptive
from hidim.belief.inference.base import Fitted, Inference, Study
from hidim.belief.inference.given import Given
from hidim.belief.inference.peak import Peak
from hidim.belief.inference.relearning import Relearning
from hidim.belief.inference.schedule import Schedule
from hidim.belief.inference.slices import Slices

#: Every inference by its name.
INFERENCES: dict[str, Inference] = {
    "adaptive": Adaptive(),
    "given": Given(),
    "map": Peak(),
    "relearning": Relearning(),
    "schedule": Schedule(),
    "slice": Slices(),
}

__all__ = [
    "INFERENCES",
    "Adaptive",
    "Fitted",
    "Given",
    "Inference",
    "Peak",
    "Relearning",
    "Schedule",
    "Slices",
    "Study",
]
