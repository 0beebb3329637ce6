"""The space that the trials of a study show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from hidim.errors import SpaceError
from hidim.space import Choice, Space
from hidim.space.assemble import assembled
from hidim.space.labels import Label
from hidim.studies.coders import Coder, could_be_choice, kind, options
from hidim.studies.notes import Once
from hidim.studies.ranges import Ranges, kind_of
from hidim.studies.tree import Gate, affordable, dependencies, edges


class Shape:
    """What finished trials had, one after the other.

    Args:
        given: the space, if it is known.
        tell: by which warnings are said.
    """

    def __init__(self, given: Space | None, tell: Once) -> None:
        self._given, self._tell = given, tell
        self._ranges: dict[str, Ranges] = {}
        self._had: list[frozenset[str]] = []  # by trial
        self._complete: list[bool] = []
        # Of what may be a gate, by trial; None where it was missing, or of another kind.
        self._values: dict[tuple[str, Any], list[Any]] = {}

    def add(
        self, number: int, values: Mapping[str, Any], distributions: Mapping[str, Any], *, complete: bool
    ) -> None:
        """A finished trial; one that is not complete may have stopped before it asked for everything."""
        kinds: dict[str, Any] = {}
        for name, distribution in distributions.items():
            ranges = self._ranges.get(name) or Ranges()
            try:
                _ = name in self._ranges or Space({name: Choice("")})  # there may be odd names
                ranges.add(number, distribution)
            except SpaceError as error:
                self._tell("the range of %r in trial %d is passed over: %s", name, number, error)
                continue
            self._ranges[name] = ranges
            if could_be_choice(distribution):
                kinds[name] = kind_of(distribution)
                self._values.setdefault((name, kinds[name]), [None] * len(self._had))
        for (name, of), column in self._values.items():
            there = kinds.get(name) == of
            column.append(distributions[name].to_internal_repr(values[name]) if there else None)
        self._had.append(frozenset(distributions))
        self._complete.append(complete)

    @property
    def names(self) -> Collection[str]:
        """Of all parameters that were seen."""
        return self._ranges.keys()

    def describe(self) -> tuple[Space, dict[str, Coder]]:
        """The space, and how values of parameters that were seen are written here and there.

        Those with a single value have coders, too, and are in no space that was not given.
        """
        current = {name: ranges.current for name, ranges in self._ordered()}
        if self._given is not None:
            given = {vertex.name: vertex.parameter for vertex in self._given.vertices}
            own = {name: each.labels for name, each in given.items() if isinstance(each, Choice)}
            coders = {name: Coder(each, name in own, own.get(name, ())) for name, each in current.items()}
            return self._given, coders
        varying = {name: each for name, each in current.items() if not each.single()}
        found = self._dependencies(list(varying))
        opening = {gate for gate, _ in found.values()}
        coders = {name: Coder(each, name in opening) for name, each in current.items()}
        parameters = {name: coders[name].parameter for name in varying}
        there = {name: p.labels for name, p in parameters.items() if isinstance(p, Choice)}
        labels = {name: self._ever(name, there[name]) for name in opening}
        known = {
            name: [edge for edge in every if edge[1] in there[edge[0]]]
            for name, every in edges(found, labels).items()
        }
        written, cut = affordable(list(parameters), known)
        if cut:
            self._tell("the tree is too large to be written down: %s stand at its root", ", ".join(cut))
        return assembled(parameters, written), coders

    def _ordered(self) -> list[tuple[str, Ranges]]:
        """By the first trial, then by name: storages need not keep the order of suggestions."""
        return sorted(self._ranges.items(), key=lambda pair: (pair[1].first, pair[0]))

    def _ever(self, name: str, now: Sequence[Label]) -> Sequence[Label]:
        """The labels of all options that a gate ever had."""
        whole = self._ranges[name].whole
        return now if kind(whole) == "categorical" else options(whole)

    def _dependencies(self, names: list[str]) -> dict[str, tuple[str, tuple[int, ...]]]:
        kinds = dict.fromkeys(self._had)
        if len(kinds) <= 1:
            return {}
        place = {kind_: row for row, kind_ in enumerate(kinds)}
        table = np.array([[name in kind_ for name in names] for kind_ in kinds], dtype=bool)
        gates = [gate for name in names if (gate := self._gate(name)) is not None]
        which = np.array([place[had] for had in self._had], dtype=np.intp)
        return dependencies(names, table, which, np.array(self._complete), gates)

    def _gate(self, name: str) -> Gate | None:
        whole = self._ranges[name].whole
        column = self._values.get((name, kind_of(whole)))
        if column is None or not could_be_choice(whole):
            return None
        values = np.array([-1.0 if value is None else float(value) for value in column])
        missing = np.array([value is None for value in column])
        if kind(whole) == "categorical":
            return Gate(name, np.where(missing, -1.0, values), len(whole.choices), ordered=False)
        codes = (values - whole.low) / whole.step
        return Gate(name, np.where(missing, -1.0, codes), len(options(whole)), ordered=True)
