"""What a run found, and what can be learnt from it."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hidim import _files, lines
from hidim._html import table
from hidim._threads import single_threaded
from hidim._types import Params
from hidim.errors import HidimError, TrialError
from hidim.events import Event
from hidim.frame.noise import is_noisy
from hidim.methods import METHODS, Method
from hidim.space import Space
from hidim.task import Task
from hidim.trial import CompleteTrial, History

if TYPE_CHECKING:
    from hidim.insight import Branches, Components, Importance, Insight, Interactions

logger = logging.getLogger("hidim")

#: Characters of the best configuration that are shown.
WIDEST = 240


@dataclass(frozen=True)
class Result:
    """The best trial, all trials, and views of both.

    Args:
        best: the trial with the best value; if `by_model`, that with the best mean by the method's model, and
            `best.value` is still what was observed there.
        history: all trials in the order of asking.
        space: what could vary.
        maximize: whether large values are good.
        noisy: whether the objective is noisy.
        by_model: whether `best` is the model's choice, as it is for noisy objectives once there is a model.
        stopped: why the run ended.
        own_seconds: how long hidim took for itself.
        seed: of the run, whether it was given or drawn.
        method: the name of the method.
        chosen: the name of the method at work, which `method="auto"` chose.
        about: what else was to be remembered of the run.
        resumed: how many of the trials were in the journal already.
    """

    best: CompleteTrial
    history: History
    space: Space
    maximize: bool = False
    noisy: bool = False
    by_model: bool = False
    stopped: str = ""
    own_seconds: float = 0.0
    seed: int = 0
    method: str = "auto"
    chosen: str = "auto"
    about: Mapping[str, Any] = field(default_factory=dict)
    resumed: int = 0

    def __repr__(self) -> str:
        how = "by the model's mean, observed " if self.by_model else ""
        with np.printoptions(threshold=6, edgeitems=2, precision=4, linewidth=sys.maxsize):
            ordered = sorted(self.best_params.items(), key=lambda pair: hasattr(pair[1], "shape"))
            params = ", ".join(f"{name} = {value!r}" for name, value in ordered)
        lines = [
            f"Result: best {how}{self.best_value!r}, trial {self.best.number} of {len(self.history)} "
            f"({self.history.counted})",
            params if len(params) <= WIDEST else f"{params[:WIDEST]}…",
            f"{self.stopped}; {self.resumed} from the journal" if self.resumed else self.stopped,
        ]
        return "\n  ".join(line for line in lines if line)

    def _repr_html_(self) -> str:
        how = "by the model's mean, observed " if self.by_model else ""
        title = f"best {how}{self.best_value!r}, trial {self.best.number} of {len(self.history)}"
        return table(title, self.best_params.items()) + self.history.sparkline

    @property
    def best_value(self) -> float:
        """What was observed at the best trial."""
        return self.best.value

    @property
    def best_params(self) -> Params:
        """The configuration of the best trial."""
        return self.best.params

    @property
    def objective_seconds(self) -> float:
        """How long the objective took, over all workers; not that of an earlier run."""
        return sum(trial.seconds or 0.0 for trial in self.history if not trial.meta.get("earlier"))

    @classmethod
    def from_journal(cls, path: str | os.PathLike[str]) -> Result:
        """What a run has found so far, by its journal, whether it is still running or not."""
        return Kept.in_journal(path).result("as the journal says")

    def insight(self) -> Insight:
        """A model of the objective, fitted to all trials, to be asked about its parameters."""
        return self._insight

    @cached_property
    def _insight(self) -> Insight:
        from hidim.insight import Insight

        return Insight(self.space, self.history, maximize=self.maximize, best=self.best)

    def importance(self) -> Importance:
        """For which share of the objective's variation each parameter is responsible, largest first.

        A mapping from names to shares, which `print` shows as a table; `.coordinates` has those of vectors.
        """
        return self.insight().importance()

    def branches(self) -> Branches:
        """Of a conditional space, the trials, the best value and the expected best value of every branch.

        A mapping from titles, as "model=svm", of which "" has all; `hidim.plot.tree` draws it.
        """
        return self.insight().branches()

    def components(self, groups: Sequence[Sequence[str]] | None = None) -> Components:
        """The objective as a sum over groups of parameters, the one with the largest share first.

        `print` shows it as a table; `hidim.plot.components` draws the effects of single parameters.

        Args:
            groups: names of parameters; by default what the method has learnt, else single parameters.
        """
        return self.insight().components(groups)

    def interactions(self) -> Interactions:
        """How much of the objective adds up over single parameters, which interact, which do not matter.

        `print` shows it as a table.
        """
        return self.insight().interactions()

    def explain(self) -> str:
        """The run in words: what was found, what matters, what to try next."""
        return self.insight().explain()

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """A figure of convergence, importance, slices through the best point, and branches if there are any.

        It is saved if `path` is given.
        """
        from hidim import plot

        return plot.overview(self.space, self.history, maximize=self.maximize, best=self.best, path=path)

    def report(
        self,
        path: str | os.PathLike[str] = "hidim-report.html",
        *,
        title: str | None = None,
        command: Sequence[str] | None = None,
        refresh: float | None = None,
    ) -> Path:
        """Write the run as one page for a browser, and return its path.

        Convergence, the best configuration to copy, what matters and how, the tree of a conditional space,
        failed trials, and a table of all: one file below 5 MB that needs no network. What could not be
        computed, or has no room, is said on the page.

        Args:
            path: of the page; an old one is replaced in one step.
            title: of the page.
            command: the command line that was tuned, to be shown.
            refresh: seconds after which the page loads itself anew, while a run goes on; then what models are
                asked must be quick, and the rest is left out.
        """
        from hidim.report import write_report

        return write_report(self, path, title=title, command=command, refresh=refresh)


@dataclass(frozen=True)
class Kept:
    """A run as it was kept, whether it has come to a value yet or not.

    Args:
        task: what is searched.
        method: by which.
        history: all trials.
        about: what else was to be remembered.
    """

    task: Task
    method: Method
    history: History
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def in_journal(cls, path: str | os.PathLike[str]) -> Kept:
        name, data = str(path), _files.read_bytes(_files.path_of(path))
        run, space, settings = lines.described(name, data)
        trials, _ = lines.renumbered(lines.read(name, data, space).trials)
        history = History([trial.frozen() for trial in trials], maximize=settings["maximize"])
        return cls(Task(space, **settings), _method(run), history, run.get("about", {}))

    def result(self, stopped: str) -> Result:
        """What it has found; `TrialError` if that is nothing yet."""
        return replace(result_of(self.task, self.method, self.history, stopped), about=self.about)


def result_of(task: Task, method: Method, history: History, stopped: str, own_seconds: float = 0.0) -> Result:
    """What the trials of a run amount to."""
    best, by_model = best_of(task, method, history)
    return Result(
        best=best,
        history=history,
        space=task.space,
        maximize=task.maximize,
        noisy=is_noisy(task, history),
        by_model=by_model,
        stopped=stopped,
        own_seconds=own_seconds,
        seed=task.seed,
        method=method.name,
        chosen=method.chosen(task).name,
    )


def best_of(task: Task, method: Method, history: History) -> tuple[CompleteTrial, bool]:
    """The complete trial with the best value, the first of equals; of a noisy objective the one with the best
    mean by the method's model, if there is one. And whether it is the model's choice."""
    complete = history.complete
    if not complete:
        raise TrialError(
            "no trial is complete yet: tell at least one finite value before asking for the best"
        )
    means = single_threaded(method.means)(task, history) if is_noisy(task, history) else None
    order = history.losses(maximize=task.maximize) if means is None else means
    return complete[int(np.argmin(order))].copied(), means is not None


def _method(run: Event) -> Method:
    """That of the run that wrote a journal; one of somebody's own is left to the default."""
    try:
        return lines.method_of(run)
    except HidimError as error:
        logger.warning("the best trial of the journal is judged by the default method: %s", error)
        return METHODS["auto"]
