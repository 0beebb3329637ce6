"""One parameter of a study: what Optuna calls a distribution, as a parameter of hidim, and values of both."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from hidim._optional import require
from hidim.errors import SpaceError
from hidim.space import labels as names
from hidim.space.labels import Label
from hidim.space.parameters import LARGEST_INT, Choice, Float, Int, Parameter

#: Integers with more values than this are no choices, whatever depends on them.
MOST_OPTIONS = 64


@dataclass(frozen=True, eq=False)
class Coder:
    """Values of one parameter, here and there.

    Args:
        distribution: Optuna's.
        as_choice: whether an integer is a choice, because others depend on it.
        known: the labels that the given space has for it, if any.
    """

    distribution: Any
    as_choice: bool = False
    known: tuple[Label, ...] = ()

    @cached_property
    def parameter(self) -> Parameter:
        """Without parameters under its options."""
        match kind(self.distribution):
            case "categorical":
                return Choice(dict.fromkeys(self._labels))
            case "int" if self.as_choice:
                return Choice(dict.fromkeys(options(self.distribution)), ordered=True)
            case _:
                return number(self.distribution)

    @cached_property
    def _labels(self) -> tuple[Label, ...]:
        found = labels_of(self.distribution.choices)
        texts = dict(zip(labels_written(self.known), self.known, strict=True))
        return tuple(label if label in self.known else texts.get(label, label) for label in found)

    @property
    def single(self) -> Any:
        """The only value of a distribution that has one."""
        if kind(self.distribution) == "categorical":
            return self.distribution.choices[0]
        return self.distribution.low

    def read(self, value: Any) -> Any:
        """A value of Optuna's as the parameter has it; one that is out of range stays so."""
        if kind(self.distribution) == "categorical":
            return self._labels[int(self.distribution.to_internal_repr(value))]
        if self.distribution.single():
            return value
        if isinstance(self.parameter, Choice | Int):
            return whole if (whole := int(value)) == value else value
        steps = self.parameter.steps if isinstance(self.parameter, Float) else None
        if steps is not None and steps.low <= value <= steps.high:  # its sums are rounded otherwise
            return float(steps.at(np.rint(steps.positions(np.array(float(value))))))
        return float(value)

    def write(self, value: Any) -> Any:
        """A value of the parameter as Optuna has it; a number out of range becomes the nearest one."""
        if kind(self.distribution) == "categorical":
            if value not in self._labels:
                raise SpaceError(
                    f"the space says {value!r} where the objective suggests one of "
                    f"{self.distribution.choices}: give both the same labels"
                )
            return self.distribution.choices[self._labels.index(value)]
        if isinstance(value, bool) or not isinstance(value, Real):
            raise SpaceError(
                f"the space says {value!r} where the objective suggests a number from "
                f"{self.distribution.low} to {self.distribution.high}: give both the same kind of parameter"
            )
        return nearest(self.distribution, value)


def value_at(parameter: Parameter, u: float) -> Any:
    """The value at `u` of the unit interval."""
    value = parameter.scale.from_unit(np.array(u)).item()
    if isinstance(parameter, Choice):
        return parameter.labels[int(value)]
    return int(value) if isinstance(parameter, Int) else value


def kind(distribution: Any) -> str:
    """ "categorical", "int" or "float"."""
    known = require("optuna.distributions", extra="optuna")
    match distribution:
        case known.CategoricalDistribution():
            return "categorical"
        case known.IntDistribution():
            return "int"
        case known.FloatDistribution():
            return "float"
        case _:
            raise SpaceError(
                f"hidim does not know {distribution}; suggest floats, integers or categories, or use a "
                "sampler that knows it"
            )


def number(distribution: Any) -> Parameter:
    """The parameter that means the same as a distribution of numbers."""
    low, high, log, step = distribution.low, distribution.high, distribution.log, distribution.step
    if kind(distribution) == "int" and step == 1 and max(-low, high) <= LARGEST_INT:
        return Int(low, high, log=log)
    if step is not None and not log:
        with suppress(SpaceError):  # steps too fine to tell apart: they are rounded on the way back
            return Float(low, high, step=step)
    return Float(low, high, log=log)


def options(distribution: Any) -> range:
    """The values of an integer."""
    return range(distribution.low, distribution.high + 1, distribution.step)


def could_be_choice(distribution: Any) -> bool:
    """Whether other parameters may depend on it."""
    of = kind(distribution)
    if of != "int":
        return of == "categorical"
    return bool((distribution.high - distribution.low) // distribution.step < MOST_OPTIONS)


def nearest(distribution: Any, value: Any) -> Any:
    """The number of the distribution that is closest to `value`, in the type that Optuna wants."""
    low, high, step = distribution.low, distribution.high, distribution.step
    if step is not None:
        value = low + round((value - low) / step) * step
    value = min(max(value, low), high)
    return round(value) if kind(distribution) == "int" else float(value)


def labels_of(choices: Sequence[Any]) -> tuple[Label, ...]:
    """Labels for the categories: what they are, or, where a label cannot be that, their text.

    Lists count as the tuples that they mostly were before a storage made them lists.

    Example:
        >>> labels_of(["relu", None, (64, 64), 1, True, [1, 2], {"a": 1}])
        ('relu', None, (64, 64), '1', 'True', (1, 2), "{'a': 1}")
    """
    found = [_label(choice) for choice in choices]
    counts = Counter(found)
    clash = [counts[label] > 1 for label in found]  # 1 == 1.0 == True
    found = [
        repr(choice) if twice else label for label, choice, twice in zip(found, choices, clash, strict=True)
    ]
    if len(set(found)) == len(found):
        return tuple(found)
    return tuple(f"{place}: {choice!r}" for place, choice in enumerate(choices))


def labels_written(labels: Sequence[Label]) -> list[Any]:
    """Labels as categories; tuples, which storages cannot hold, as their text."""
    return [repr(label) if isinstance(label, tuple) else label for label in labels]


def _label(choice: Any) -> Label:
    try:
        return names.checked(names.from_plain(choice))
    except SpaceError:
        return repr(choice)


def hull(distributions: Sequence[Any]) -> Any:
    """The smallest distribution of numbers that holds all of these, which are of one kind."""
    known, first = require("optuna.distributions", extra="optuna"), distributions[0]
    low, high = min(d.low for d in distributions), max(d.high for d in distributions)
    step = first.step
    if step is not None and any(d.step != step or not _is_whole((d.low - low) / step) for d in distributions):
        step = 1 if kind(first) == "int" else None
    made = known.IntDistribution if kind(first) == "int" else known.FloatDistribution  # others are of old
    return made(low, high, log=first.log, step=step)


def _is_whole(steps: float) -> bool:
    return math.isclose(steps, round(steps), abs_tol=1e-9)


def distribution_of(parameter: Parameter) -> Any:
    """Optuna's distribution for a parameter that is no vector."""
    known = require("optuna.distributions", extra="optuna")
    match parameter:
        case Float(low=low, high=high, log=log, step=step):
            return known.FloatDistribution(low, high, log=log, step=step)
        case Int(low=low, high=high, log=log, step=step):
            return known.IntDistribution(low, high, log=log, step=step)
        case Choice(labels=labels):
            return known.CategoricalDistribution(labels_written(labels))
        case _:
            raise SpaceError(f"Optuna has no vectors; replace {parameter} by one Float per coordinate")
