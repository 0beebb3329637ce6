"""The objective along one parameter, all others held at a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hidim._types import Array
from hidim.insight.learned import Learned
from hidim.space import Choice, Float, Int
from hidim.space.labels import Label
from hidim.space.parameters import Parameter
from hidim.space.scales import Spaced
from hidim.space.tree import Vertex

#: Points of the grid along a number; what has at most as many levels gets one for each.
GRID = 129


@dataclass(frozen=True, eq=False)
class Slice:
    """What the model expects of the objective along one parameter, in the units of both.

    Args:
        name: of the parameter, as "lr", "w[3]", "model=svm/C".
        grid: its values (g,), increasing; for a choice its labels.
        median: of the objective without noise (g,).
        low: lower end of the central 95 % interval (g,).
        high: upper end (g,).
        at: the parameter's value at the point through which the slice goes.
        log: whether the parameter is on a logarithmic scale.
        whole: whether the grid has all values that there are.
    """

    name: str
    grid: Array | tuple[Label, ...]
    median: Array
    low: Array
    high: Array
    at: Any
    log: bool = False
    whole: bool = False


def cut(learned: Learned, vertex: Vertex, column: int, point: Array, others: Array) -> Slice:
    """The slice along `column`, which belongs to `vertex`.

    Args:
        learned: the model.
        vertex: the parameter.
        column: its column, for a vector one of them.
        point: encoded (D,), inactive columns NaN.
        others: points (m, D), the best first: an option other than that of `point` makes parameters active
            for which it has no value, and they are taken from the first of these that has the option.
    """
    parameter, name = vertex.along(column), learned.space.columns.names[column]
    at = parameter.scale.from_unit(point[column : column + 1])[0]
    values = _grid(parameter, at)
    marks = parameter.scale.to_unit(values)
    points = np.repeat(point[None], len(marks), axis=0)
    points[:, column] = marks
    if isinstance(parameter, Choice):
        band = learned.values(learned.space.snap(_completed(points, column, others)))
        return Slice(name, parameter.labels, *band, at=parameter.labels[int(at)], whole=True)
    band = learned.values(learned.space.snap(points))
    log, whole = isinstance(parameter, Float | Int) and parameter.log, len(values) == parameter.levels
    exact = int(at) if isinstance(parameter, Int) else float(at)
    return Slice(name, values, *band, at=exact, log=log, whole=whole)


def _grid(parameter: Parameter, at: float) -> Array:
    """Values of a parameter (of a choice: positions): all if they are few, else evenly, `at` included."""
    match parameter:
        case Choice(options=options):
            return np.arange(len(options), dtype=np.float64)
        case Int(low=low, high=high, step=step) if parameter.levels <= GRID:
            return np.arange(low, high + 1, step, dtype=np.float64)
        case Float(steps=Spaced() as steps) if steps.levels <= GRID:
            return steps.at(np.arange(steps.levels, dtype=np.float64))
        case _:
            even = parameter.scale.from_unit(np.linspace(0.0, 1.0, GRID))
            return np.unique(np.append(even, at))


def _completed(points: Array, column: int, others: Array) -> Array:
    """Points (g, D), one for every option of a choice, with values for what the option makes active."""
    completed = points.copy()
    for row in completed:
        akin = others[np.abs(others[:, column] - row[column]) < 0.25 / len(points)]
        if len(akin):
            row[:] = np.where(np.isnan(row), akin[0], row)
    return completed
