"""Everything that can be said about a history, computed once and on demand."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hidim._threads import single_threaded
from hidim._types import Array
from hidim.errors import HidimError, ParameterError
from hidim.insight.branches import Branches, branches
from hidim.insight.components import Components, components
from hidim.insight.fitting import plain
from hidim.insight.importance import Importance, importance
from hidim.insight.interactions import Interactions, interactions
from hidim.insight.learned import Learned, check_width, learn
from hidim.insight.slices import Slice, cut
from hidim.insight.words import explain
from hidim.space import Space, Vector
from hidim.space.tree import Vertex
from hidim.studies import read_study
from hidim.trial import History, Trial

#: Parameters with smaller shares than this are not worth a slice of their own.
NOTABLE = 0.005


class Insight:
    """What the trials of an optimisation tell about its objective.

    A model of the values is fitted on the complete trials when it is first needed. Where there can be none
    (fewer than 5 complete trials, all values equal, more than 5000 columns) `importance` and `slices` raise a
    `HidimError` that says so, and `explain` tells what is known without it.

    Args:
        space: what can vary.
        history: all trials.
        maximize: whether large values are good; by default as the history says.
        best: the trial to explain; by default the complete one with the best value.

    Example:
        >>> from hidim import Float, Space
        >>> space = Space(x=Float(-1, 1), idle=Float(0, 1))
        >>> points = space.sample(np.random.default_rng(0), 20)
        >>> trials = [Trial(p, i).completed(p["x"] ** 2, rank=i) for i, p in enumerate(points)]
        >>> insight = Insight(space, History(trials))
        >>> print(insight.importance())
        x     100 %
        idle   <1 %
        >>> x = insight.slices("x")[0]
        >>> x.median[[0, -1]].round(2).tolist()
        [1.0, 1.0]
    """

    def __init__(
        self, space: Space, history: History, *, maximize: bool | None = None, best: Trial | None = None
    ) -> None:
        self.space = space
        self.history = history
        self.maximize = history.maximize if maximize is None else maximize
        self.pruned = 0
        self._best = best

    @classmethod
    def from_study(cls, study: Any, space: Space | None = None) -> Insight:
        """Of a study of Optuna's, whoever its sampler was.

        Args:
            study: with one objective.
            space: if it is known; else it is what the trials show.
        """
        reading = read_study(study, space)
        insight = cls(reading.space, reading.history)
        insight.pruned = reading.pruned
        return insight

    def __repr__(self) -> str:
        return f"Insight({self.space.dim} columns, {self.history.counted})"

    def __getstate__(self) -> dict[str, Any]:
        """What it was made of: models are fitted again where they are needed."""
        return {name: vars(self)[name] for name in ("space", "history", "maximize", "pruned", "_best")}

    @cached_property
    def best(self) -> Trial:
        """The trial that is explained."""
        if self._best is not None:
            return self._best
        if not self.history.complete:
            raise HidimError("no trial is complete, so there is no best one")
        return self.ranked[0]

    @cached_property
    def ranked(self) -> list[Trial]:
        """Complete trials, the best first and the earlier of equals before the later."""
        order = np.argsort(self.history.losses(maximize=self.maximize), kind="stable")
        complete = self.history.complete
        return [complete[place] for place in order]

    @cached_property
    def points(self) -> Array:
        """The points (n, D) of `ranked` in the unit cube; inactive columns are NaN."""
        return self.space.encode_all([trial.params for trial in self.ranked])

    @cached_property
    def learned(self) -> Learned:
        """The model of the values."""
        check_width(self.space)
        return single_threaded(learn)(plain(self.space), self.history, maximize=self.maximize)

    @cached_property
    def _importance(self) -> Importance:
        return single_threaded(importance)(self.learned)

    def importance(self) -> Importance:
        """For what share of the variation of the (transformed) objective each parameter is responsible."""
        return self._importance

    def slices(self, *names: str, through: Mapping[str, Any] | None = None, most: int = 6) -> list[Slice]:
        """The objective along single parameters, all others held.

        Args:
            names: of parameters that are active at the point; by default the most important ones.
            through: the point; by default the params of the best trial.
            most: how many, if no names are given.
        """
        learned = self.learned
        point = self.space.encode(self.best.params if through is None else through)
        columns = [self._column(name) for name in names] if names else self._notable(point, most)
        for column in columns:
            if np.isnan(point[column]):
                name = self.space.columns.names[column]
                raise ParameterError(f"parameter {name!r} is inactive at this point: choose another point")
        cut_one = single_threaded(cut)
        return [cut_one(learned, self.vertex(c), c, point, self.points) for c in columns]

    @cached_property
    def _branches(self) -> Branches:
        best = self.best if self.history.complete else None
        return single_threaded(branches)(self.space, self.history, maximize=self.maximize, best=best)

    def branches(self) -> Branches:
        """What is known about every branch of a conditional space: trials, best value, expected best.

        A second model is fitted for it, a sum over the nodes of the tree. Where there can be none, `unknown`
        says why, and the rest is told without it. Of a space without branches a `HidimError` says so.
        """
        return self._branches

    def components(self, groups: Sequence[Sequence[str]] | None = None) -> Components:
        """The objective as a sum over groups of parameters: their shares, and what each parameter does.

        A second model is fitted for it, in the units of the objective.

        Args:
            groups: names of parameters; by default the groups, or directions, that the method has learnt, and
                single parameters if it has learnt none.
        """
        return single_threaded(components)(
            self.space, self.history, self.best, maximize=self.maximize, groups=groups
        )

    @cached_property
    def _interactions(self) -> Interactions:
        return single_threaded(interactions)(self.space, self.history, maximize=self.maximize)

    def interactions(self) -> Interactions:
        """How much adds up over single parameters, which of them interact, and which do not matter.

        A second model is fitted for it, of values that are not transformed.
        """
        return self._interactions

    def explain(self) -> str:
        """What was found, how the search went and which parameters matter, in words."""
        return explain(self)

    def _notable(self, point: Array, most: int) -> list[int]:
        order, shares = self._importance.order, self._importance.shares
        active = order[~np.isnan(point[order])]
        notable = active[shares[active] >= NOTABLE]
        return [int(column) for column in (notable if len(notable) else active[:1])[:most]]

    def vertex(self, column: int) -> Vertex:
        """The parameter to which a column of the unit cube belongs."""
        vertices = self.space.vertices
        place = np.searchsorted([vertex.start for vertex in vertices], column, side="right")
        return vertices[int(place) - 1]

    def _column(self, name: str) -> int:
        names = self.space.columns.names
        if name in names:
            return names.index(name)
        vertices = [v for v in self.space.vertices if name in (v.name, v.title) and v.parameter.width]
        if len(vertices) == 1 and not isinstance(vertices[0].parameter, Vector):
            return vertices[0].start
        if len(vertices) == 1:
            raise ParameterError(f"{name!r} is a vector: name one of its coordinates, as '{name}[0]'")
        close = [v.title for v in vertices] or difflib.get_close_matches(name, names, n=3)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise ParameterError(f"there is no single parameter {name!r}{hint}")
