"""Scores of candidate points under a posterior."""

from hidim.acquisition.base import Acquisition, Belief, averaged
from hidim.acquisition.confidence import ConfidenceBound
from hidim.acquisition.improvement import ExpectedImprovement, LogExpectedImprovement, log_h

#: One example of every acquisition function, for the contract suite.
ACQUISITIONS: dict[str, Acquisition] = {
    "ei": ExpectedImprovement(best=0.0),
    "log-ei": LogExpectedImprovement(best=-0.5),
    "ucb": ConfidenceBound(root=2.0),
}

__all__ = [
    "ACQUISITIONS",
    "Acquisition",
    "Belief",
    "ConfidenceBound",
    "ExpectedImprovement",
    "LogExpectedImprovement",
    "averaged",
    "log_h",
]
