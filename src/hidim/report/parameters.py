"""The parameters of a space as the page lists them: single columns, or vectors too long to be taken apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hidim._limits import COLUMNS_OF_INSIGHT
from hidim._types import Array
from hidim.insight import Importance
from hidim.report.limits import Limits
from hidim.report.texts import clipped, number, numbers
from hidim.space import Choice, Float, Int, Space, Vector
from hidim.space.labels import Label
from hidim.space.parameters import Parameter
from hidim.space.tree import Vertex
from hidim.trial import Trial

#: Trials that are encoded at a time.
CHUNK = 256


@dataclass(frozen=True, eq=False)
class Line:
    """A line of the list of parameters.

    Args:
        vertex: to which it belongs.
        column: of the unit cube; None for a vector that is not taken apart.
        name: readable, as "lr", "w[3]", "model=svm/C".
    """

    vertex: Vertex
    column: int | None
    name: str

    @property
    def parameter(self) -> Parameter:
        return self.vertex.parameter if self.column is None else self.vertex.along(self.column)


def is_narrow(space: Space) -> bool:
    """Whether points are short enough to be looked at column by column."""
    return space.dim <= COLUMNS_OF_INSIGHT


def lines(space: Space, shares: Importance | None) -> list[Line]:
    """All parameters, the most important first; in the order of declaration if that is not known."""
    if not is_narrow(space):
        return [_whole(vertex) for vertex in space.vertices if vertex.parameter.width]
    owners = np.repeat(np.arange(len(space.vertices)), [v.parameter.width for v in space.vertices])
    order = np.arange(space.dim) if shares is None else shares.order
    names, vertices = space.columns.names, space.vertices
    return [Line(vertices[owners[column]], int(column), names[column]) for column in order]


def _whole(vertex: Vertex) -> Line:
    """A parameter of a space that is too wide to be taken apart."""
    single = not isinstance(vertex.parameter, Vector)
    return Line(vertex, vertex.start if single else None, vertex.title)


def described(line: Line, limits: Limits) -> dict[str, Any]:
    """What the page knows of a parameter, whatever the trials were."""
    parameter = line.parameter
    told: dict[str, Any] = {"name": clipped(line.name, limits.name)}
    path, sign, _ = line.vertex.title.rpartition(f"/{line.vertex.name}")
    if sign:
        told |= {
            "under": clipped(path, limits.name),
            "leaf": clipped(line.name[len(path) + 1 :], limits.name),
        }
    match parameter:
        case Choice():
            told |= {"kind": "choice", "labels": labelled(parameter.labels, limits)}
        case Vector():
            low, high = float(np.min(parameter.low)), float(np.max(parameter.high))
            told |= {"kind": "vector", "low": low, "high": high, "dim": parameter.dim}
        case Float() | Int():
            kind = "int" if isinstance(parameter, Int) else "float"
            told |= {"kind": kind, "low": number(parameter.low), "high": number(parameter.high)}
    if not isinstance(parameter, Choice) and np.any(parameter.log):
        told["log"] = True
    return told


def labelled(labels: Sequence[Label], limits: Limits) -> list[str]:
    """Labels as text: strings as they are, others as Python writes them."""
    shown = [label if isinstance(label, str) else repr(label) for label in labels[: limits.labels]]
    kept = [clipped(text, limits.name) for text in shown]
    return [*kept, f"… {len(labels) - len(kept)} more"] if len(labels) > len(kept) else kept


def values(space: Space, trials: Sequence[Trial], chosen: Sequence[Line], limits: Limits) -> list[list[Any]]:
    """For every chosen line its values in all trials: numbers, places of labels, None where inactive."""
    found = _units(space, trials, chosen) if is_narrow(space) else _given(space, trials, chosen)
    told = []
    for line, column in zip(chosen, found.T, strict=True):
        if isinstance(line.parameter, Choice):  # what has no label of its own on the page is "… more"
            column = np.minimum(column, limits.labels)
        told.append(numbers(column, 5))
    return told


def _units(space: Space, trials: Sequence[Trial], chosen: Sequence[Line]) -> Array:
    """Values (n, k) by way of the unit cube, which knows what is inactive."""
    columns = np.array([line.column for line in chosen], dtype=np.intp)
    found = np.empty((len(trials), len(chosen)))
    for start in range(0, len(trials), CHUNK):
        part = trials[start : start + CHUNK]
        found[start : start + CHUNK] = space.encode_all([trial.params for trial in part])[:, columns]
    for place, line in enumerate(chosen):
        active = ~np.isnan(found[:, place])
        scale = line.parameter.scale
        found[active, place] = scale.from_unit(found[active, place])
    return found


def _given(space: Space, trials: Sequence[Trial], chosen: Sequence[Line]) -> Array:
    """Values (n, k) by name, of a space that is too wide for points; NaN where a name has two meanings."""
    uses = Counter(vertex.name for vertex in space.vertices)
    found = np.full((len(trials), len(chosen)), np.nan)
    for place, line in enumerate(chosen):
        name, parameter = line.vertex.name, line.parameter
        if uses[name] > 1:
            continue
        for row, trial in enumerate(trials):
            if name in trial.params:
                value = trial.params[name]
                found[row, place] = (
                    parameter.positions[value] if isinstance(parameter, Choice) else float(value)
                )
    return found
