"""What a run found, and what can be learnt from it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hidim.space import Space
from hidim.trial import History, Trial

if TYPE_CHECKING:
    from hidim.insight import Importance, Insight


@dataclass(frozen=True)
class Result:
    """The best trial, all trials, and views of both.

    Args:
        best: the trial with the best value; of a noisy objective that with the best mean by the model, whose
            `value` is still what was observed there.
        history: all trials in the order of asking.
        space: what could vary.
        maximize: whether large values are good.
        noisy: whether the objective is noisy, so that `best` is the model's choice.
        stopped: why the run ended.
        own_seconds: how long hidim took for itself.
    """

    best: Trial
    history: History
    space: Space
    maximize: bool = False
    noisy: bool = False
    stopped: str = ""
    own_seconds: float = 0.0

    def __repr__(self) -> str:
        how = ", the best mean of noisy values" if self.noisy else ""
        return f"Result(best={self.best.value!r}{how} at {self.best.params!r}, {self.history!r})"

    @property
    def objective_seconds(self) -> float:
        """How long the objective took, over all workers."""
        return sum(trial.seconds or 0.0 for trial in self.history)

    def insight(self) -> Insight:
        """A model of the objective, fitted to all trials, to be asked about its parameters."""
        from hidim.insight import Insight

        return Insight(self.space, self.history, maximize=self.maximize, best=self.best)

    def importance(self) -> Importance:
        """For which share of the objective's variation each parameter is responsible, largest first.

        A mapping from names to shares, which `print` shows as a table; `.coordinates` has those of vectors.
        """
        return self.insight().importance()

    def explain(self) -> str:
        """The run in words: what was found, what matters, what to try next."""
        return self.insight().explain()

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """A figure of convergence, importance and slices through the best point; saved if `path` is given."""
        from hidim import plot

        return plot.overview(self.space, self.history, maximize=self.maximize, best=self.best, path=path)
