"""What the models of a run say: each part once, bounded in time, and with a reason where it is missing.

The model behind importance and slices takes seconds, in proportion to its trials and columns. The other parts
fit models of their own, and take longer than it by about the factors below. What takes more than is left of
the patience is left out, and the page says so.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from hidim._types import Array
from hidim.errors import HidimError
from hidim.insight import Branches, Components, Importance, Insight, Interactions, Slice
from hidim.insight.components import last_structure
from hidim.insight.learned import MOST_TRIALS, Learned
from hidim.insight.words import explain
from hidim.report.parameters import is_narrow
from hidim.space import Space
from hidim.space.tree import Vertex
from hidim.trial import History, Trial

logger = logging.getLogger("hidim")

#: Trials times columns that a model takes in a second, and seconds that it may always take.
PACE, LEAST = 2e5, 1.0
#: How much longer the parts take than the first model does.
TIMES = {"branches": 6.0, "components": 6.0, "interactions": 6.0}

T = TypeVar("T")


@dataclass(frozen=True)
class Part(Generic[T]):
    """What was found, or why nothing was."""

    found: T | None = None
    why: str = ""

    def get(self) -> T:
        """What was found; a `HidimError` says why nothing was."""
        if self.found is None:
            raise HidimError(self.why)
        return self.found


@dataclass(eq=False)
class Known:
    """All parts that a page shows.

    Args:
        insight: which computes them.
        slices: how many, at the most.
        patience: seconds of the processor for all of them together.
    """

    insight: Insight
    slices_wanted: int
    patience: float
    importance: Part[Importance] = field(init=False)
    slices: Part[Sequence[Slice]] = field(init=False)
    branches: Part[Branches] = field(init=False)
    components: Part[Components] = field(init=False)
    interactions: Part[Interactions] = field(init=False)
    words: str = field(init=False)

    def __post_init__(self) -> None:
        insight, begin = self.insight, time.process_time()
        columns = insight.space.dim if is_narrow(insight.space) else 0  # there is no model of more
        needed = min(len(insight.history.complete), MOST_TRIALS) * columns / PACE
        if needed > max(self.patience, LEAST):
            self.importance = Part(why=_left_out("importance", needed))
            self.slices = Part(why=_left_out("plot", needed))
        else:
            model = attempt("a model", lambda: insight.learned)
            needed = max(time.process_time() - begin, needed) if model.found else 0.0
            self.importance = attempt("importance", insight.importance)
            self.slices = attempt("slices", self._slices)
        self._fit, self._end = needed, begin + self.patience
        no_branches: Part[Branches] = Part(why="the space has no branches")
        self.branches = (
            self._in_time("branches", insight.branches) if insight.space.is_conditional else no_branches
        )
        learnt = is_narrow(insight.space) and last_structure(insight.history) is not None
        no_groups: Part[Components] = Part(why="the method learns no groups")
        self.components = self._in_time("components", insight.components) if learnt else no_groups
        self.interactions = self._in_time("interactions", insight.interactions)
        told = attempt("explain", lambda: explain(_Told(self)))
        self.words = told.found or f"Nothing can be told in words: {told.why}."

    def _in_time(self, name: str, compute: Callable[[], T]) -> Part[T]:
        needed = TIMES[name] * self._fit
        if needed and time.process_time() + needed > self._end:
            return Part(why=_left_out(name, needed))
        return attempt(name, compute)

    def _slices(self) -> Sequence[Slice]:
        """Along the most important columns that are active at the best point."""
        insight, names = self.insight, self.insight.space.columns.names
        insight.learned  # noqa: B018 - says why there is none before a point is encoded
        point = insight.space.encode(insight.best.params)
        order = self.importance.found.order if self.importance.found else np.arange(len(point))
        active = order[~np.isnan(point[order])][: self.slices_wanted]
        return insight.slices(*(names[column] for column in active)) if len(active) else []


def _left_out(name: str, needed: float) -> str:
    return f"left out, for it takes about {needed:.0f} s: result.{name}() has it"


def attempt(name: str, compute: Callable[[], T]) -> Part[T]:
    """A part of a page; whatever goes wrong there must not take the page with it."""
    try:
        return Part(compute())
    except HidimError as error:
        return Part(why=str(error))
    except Exception as error:  # told on the page and here
        logger.warning("the report goes without %s", name, exc_info=True)
        return Part(why=f"{type(error).__name__}: {error}")


class _Told:
    """An insight that hands out what is known already, for the words about it."""

    def __init__(self, known: Known) -> None:
        self._known, self._insight = known, known.insight
        self.space: Space = known.insight.space
        self.history: History = known.insight.history
        self.maximize: bool = known.insight.maximize
        self.pruned: int = known.insight.pruned

    @property
    def best(self) -> Trial:
        return self._insight.best

    @property
    def ranked(self) -> list[Trial]:
        return self._insight.ranked

    @property
    def points(self) -> Array:
        return self._insight.points

    @property
    def learned(self) -> Learned:
        return self._insight.learned

    def vertex(self, column: int) -> Vertex:
        return self._insight.vertex(column)

    def importance(self) -> Importance:
        return self._known.importance.get()

    def branches(self) -> Branches:
        return self._known.branches.get()

    def components(self) -> Components:
        return self._known.components.get()

    def interactions(self) -> Interactions:
        return self._known.interactions.get()
