"""The objective as a sum of functions of few parameters: how much each of them matters, and how.

The groups are those that the method learnt, or given ones, or single parameters; after a change of axes,
directions take the place of parameters. The values are not transformed, so that the parts add up in the units
of the objective:

    value = constant + Σ over groups of (effect of the group)          up to the noise of the model

The effect of a group is the posterior mean of a term of the sum (RPP-GP-UCB, eq. 3), and its share is the
variance of that over the space, relative to the sum of these variances. No data can tell to which group a
constant belongs: so effects of single parameters are told as changes against the best trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hidim._types import Array, Indices
from hidim.belief.priors import Additive, Structure
from hidim.belief.priors.directions import mixing_of
from hidim.belief.priors.grouping import as_groups, mixable, named_groups, together
from hidim.gp import linalg
from hidim.gp.kernels.base import Against
from hidim.gp.kernels.terms import Summand, terms
from hidim.gp.maps import Mixing
from hidim.gp.posterior import Posterior
from hidim.insight.fitting import View
from hidim.insight.importance import percent
from hidim.insight.learned import CENTRAL, Learned, check_width, learn
from hidim.insight.text import missing, short
from hidim.space import Choice, Float, Int, Space
from hidim.space.columns import Kind
from hidim.space.nodes import is_fork
from hidim.space.tree import Vertex
from hidim.trial import History, Trial

#: Points of the space over which effects are averaged, and of the grid of an effect.
POINTS, GRID = 1024, 65

#: Weights of a direction that are named: the largest ones, each at least this share of the largest.
NAMED, NOTABLE = 4, 0.1

#: A direction whose other weights add up to less than this share of that of its axis is the axis.
SLANT = 0.05

#: Scale of the prior by which the amplitudes of groups may differ: shares are what is asked for.
SPREAD = 0.5


@dataclass(frozen=True, eq=False)
class Effect:
    """By how much the value changes with one parameter, or along one direction, from that of the best trial.

    Args:
        name: of the parameter, as "lr", "w[3]"; of a direction its largest weights, as "0.8 a - 0.6 b".
        grid: values (g,) of the parameter, labels of a choice; of a direction places along it, 0 in the
            middle of the space.
        mean: of the change (g,), in units of the objective.
        low, high: ends of its central 95 % interval (g,).
        at: the value or place of the best trial, where the change is 0; None if it is inactive there.
        log: whether the parameter is on a logarithmic scale.
        weights: of a direction, by the names of all parameters that are mixed, largest first; else empty.
            They are per range of a parameter, logarithmic if that is.
    """

    name: str
    grid: Array | tuple[Any, ...] = field(repr=False)
    mean: Array = field(repr=False)
    low: Array = field(repr=False)
    high: Array = field(repr=False)
    at: Any
    log: bool
    weights: dict[str, float]


@dataclass(frozen=True, eq=False)
class Component:
    """One group.

    Args:
        names: of its parameters or directions.
        share: of the variation of the objective over the space that the model sees.
        effects: one for each name.
    """

    names: tuple[str, ...]
    share: float
    effects: tuple[Effect, ...]

    @property
    def title(self) -> str:
        """The names, as a line of text."""
        return ("  |  " if any(effect.weights for effect in self.effects) else ", ").join(self.names)

    def __str__(self) -> str:
        return f"{percent(self.share):>5}  {short(self.title, 100)}"


class Components(Sequence[Component]):
    """The groups, the one with the largest share first.

    Args:
        found: all of them.
        quality: R² of the sum on left-out trials.
        forks: choices on which other parameters depend; they are in no group.
    """

    def __init__(self, found: Sequence[Component], quality: float, forks: Sequence[str] = ()) -> None:
        self._found = tuple(sorted(found, key=lambda component: -component.share))
        self.quality = quality
        self.forks = tuple(forks)

    def __getitem__(self, place: Any) -> Any:
        """The group at a place, groups at a slice of places, or the group with the title or name."""
        if not isinstance(place, str):
            return self._found[place]
        found = next((c for c in self if c.title == place or place in c.names), None)
        if found is None and place in self.forks:
            raise KeyError(f"{place!r} is in no group, as others depend on it: branches() tells of it")
        if found is None:
            raise missing("group", place, [name for component in self for name in component.names])
        return found

    def __contains__(self, item: object) -> bool:
        return any(item is c or item == c.title or item in c.names for c in self)

    def __len__(self) -> int:
        return len(self._found)

    def __str__(self) -> str:
        lines = [str(component) for component in self]
        if self.forks:
            lines.append(f"What {short(', '.join(self.forks), 60)} decides is told by branches().")
        return "\n".join([*lines, f"R² {self.quality:.2f} on left-out trials"])

    def __repr__(self) -> str:
        return f"Components({len(self)} groups, R² {self.quality:.2f} on left-out trials)"


def last_structure(history: History) -> Structure:
    """The groups and directions that the method learnt last; None if it learnt none."""
    for trial in reversed(history):
        if "fit" in trial.meta:
            structure = trial.meta["fit"].get("structure")
            return structure if isinstance(structure, dict) and "groups" in structure else None
    return None


def components(
    space: Space,
    history: History,
    best: Trial,
    *,
    maximize: bool,
    groups: Sequence[Sequence[str]] | None = None,
) -> Components:
    """The objective as a sum over groups.

    Args:
        groups: names of parameters; by default those that the method learnt, else every parameter is one.
    """
    check_width(space)
    structure = last_structure(history)
    if groups is not None or structure is None:
        names = () if groups is None else as_groups(groups)
        structure = {"groups": [g.tolist() for g in named_groups(space, names, together(space))]}
    prior = Additive(lengthscales="hierarchical", form="matern", spread=SPREAD)
    numbers = np.flatnonzero(space.columns.kind != Kind.LABEL)
    view = View(space, prior, numbers, structure, ("identity",), cuts=False)
    learned = learn(view, history, maximize=maximize)
    mixing = mixing_of(mixable(space), structure) if "weights" in structure else None
    found = _Decomposition(learned, mixing, space.encode(best.params))
    forks = [vertex.title for vertex in space.vertices if is_fork(vertex)]
    return Components([found.component(place) for place in range(len(found.terms))], learned.quality, forks)


@dataclass(frozen=True, eq=False)
class _Decomposition:
    """A model that is a sum, in the coordinates of its groups.

    Args:
        learned: the model.
        mixing: the change of axes, if there is one.
        best: the best point (D,); inactive columns NaN.
    """

    learned: Learned
    mixing: Mixing | None
    best: Array

    @property
    def space(self) -> Space:
        return self.learned.space

    @cached_property
    def posterior(self) -> Posterior:
        """As a function of the coordinates of the groups."""
        return self.learned.posterior.unmixed()[0]

    @cached_property
    def terms(self) -> list[Indices]:
        """The columns of every group that has any."""
        return [columns for columns in self.posterior.groups if len(columns)]

    @cached_property
    def _at(self) -> Array:
        """The best point (D,)."""
        return np.asarray(self._into(self.best[None])[0])

    @cached_property
    def scale(self) -> float:
        """How much of the objective one unit of the model is; negative if large values are good."""
        units = self.learned.units(np.array([0.0, 1.0]))
        return self.learned.sign * float(units[1] - units[0])

    @cached_property
    def points(self) -> Array:
        """Points (r, D) of the space, in the coordinates of the groups."""
        return self._into(self.space.snap(np.random.default_rng(0).random((POINTS, self.space.dim))))

    @cached_property
    def shares(self) -> Array:
        effects = np.array([self._effect(place, self.points) for place in range(len(self.terms))])
        variances = np.var(effects / max(float(np.abs(effects).max()), 1e-300), axis=1)  # of any size
        return np.asarray(variances / max(float(variances.sum()), 1e-300))

    def _into(self, points: Array) -> Array:
        return points if self.mixing is None else self.mixing(np.empty(0), points).value

    @cached_property
    def _summands(self) -> list[tuple[Summand, Against]]:
        """The terms of the groups, each with its covariance with the observations."""
        known = self.posterior
        every = terms(known.model.kernel, known.theta[:-1])
        own = [one for one, columns in zip(every, known.groups, strict=True) if len(columns)]
        return [(one, one.kernel.against(one.theta, known.x)) for one in own]

    def _effect(self, place: int, rows: Array) -> Array:
        """The mean of a term (r,) at rows (r, D), in units of the objective; 0 where it is not."""
        return self.scale * np.asarray(self._summands[place][1](rows).value @ self.posterior.alpha)

    def _change(self, place: int, rows: Array, origin: Array) -> tuple[Array, Array]:
        """Mean and deviation (r,) of a term at rows (r, D), less its value at `origin` (D,)."""
        known, ((kernel, theta), k) = self.posterior, self._summands[place]
        here = origin[None]
        difference = k(rows).value - k(here).value
        variance = kernel.diagonal(theta, rows).value + kernel.diagonal(theta, here).value
        variance = variance - 2.0 * kernel.against(theta, here)(rows).value[:, 0]
        solved = linalg.solve_lower(known.factor, difference.T)
        variance = np.maximum(variance - np.einsum("ij,ij->j", solved, solved), 0.0)
        return self.scale * (difference @ known.alpha), abs(self.scale) * np.sqrt(variance)

    def component(self, place: int) -> Component:
        effects = tuple(self._along(place, int(column)) for column in self.terms[place])
        return Component(tuple(effect.name for effect in effects), float(self.shares[place]), effects)

    def _along(self, place: int, column: int) -> Effect:
        """The effect of a term along one of its columns."""
        best = self._at
        active = not np.isnan(best[column])
        marks, grid, log, weights = self._axis(column)
        origin = np.where(
            np.isnan(best), 0.5, best
        )  # what is inactive in the best trial is looked at mid-range
        rows = np.repeat(origin[None], len(marks), axis=0)
        rows[:, column] = marks
        mean, deviation = self._change(place, rows, origin)
        name = direction_name(weights) if weights else self.space.columns.names[column]
        at = self._value(column, float(origin[column]), weights) if active else None
        band = mean - CENTRAL * deviation, mean + CENTRAL * deviation
        return Effect(name, grid, mean, *band, at=at, log=log, weights=weights)

    def _value(self, column: int, mark: float, weights: dict[str, float]) -> Any:
        """What a place along a column stands for."""
        if weights:
            return mark - 0.5
        parameter = self._vertex(column).along(column)
        value = parameter.scale.from_unit(np.array([mark]))[0]
        return parameter.labels[int(value)] if isinstance(parameter, Choice) else float(value)

    def _vertex(self, column: int) -> Vertex:
        return next(v for v in reversed(self.space.vertices) if v.start <= column)

    def _axis(self, column: int) -> tuple[Array, Array | tuple[Any, ...], bool, dict[str, float]]:
        """Places (g,) along a column, what they stand for, whether on a logarithmic scale, and weights."""
        if self.mixing is not None and column in self.mixing.columns:
            own = int(np.flatnonzero(self.mixing.columns == column)[0])
            names = [self.space.columns.names[c] for c in self.mixing.columns]
            values = self.mixing.weights[:, own]
            order = np.argsort(-np.abs(values), kind="stable")
            if np.abs(values).sum() < (1.0 + SLANT) * abs(values[own]):  # the axis itself
                return self._parameter(column)
            seen = np.append(self.points[:, column], self._at[column])
            marks = np.linspace(float(seen.min()), float(seen.max()), GRID)
            return marks, marks - 0.5, False, {names[i]: float(values[i]) for i in order}
        return self._parameter(column)

    def _parameter(self, column: int) -> tuple[Array, Array | tuple[Any, ...], bool, dict[str, float]]:
        parameter = self._vertex(column).along(column)
        if isinstance(parameter, Choice):
            return (
                parameter.scale.to_unit(np.arange(len(parameter.options), dtype=np.float64)),
                parameter.labels,
                False,
                {},
            )
        marks = np.linspace(0.0, 1.0, GRID)
        if np.isfinite(parameter.levels):
            marks = np.unique(parameter.scale.to_unit(parameter.scale.from_unit(marks)))
        log = isinstance(parameter, Float | Int) and parameter.log
        return marks, np.asarray(parameter.scale.from_unit(marks)), log, {}


def direction_name(weights: dict[str, float], most: int = NAMED) -> str:
    """The largest weights of a direction.

    Example:
        >>> direction_name({"a": 0.9, "b": -0.4, "c": 0.01})
        '0.9 a - 0.4 b'
    """
    largest = max(map(abs, weights.values()))
    told = [(name, w) for name, w in weights.items() if abs(w) >= NOTABLE * largest][:most]
    text = " ".join(f"{'-' if w < 0 else '+'} {abs(w):.2g} {name}" for name, w in told)
    return text.removeprefix("+ ").replace("- ", "-", 1) if text[0] == "-" else text.removeprefix("+ ")
