"""Moves along integers and labels, where gradients do not lead."""

from __future__ import annotations

import numpy as np

from hidim._types import Array, Mask
from hidim.space import Int, Space
from hidim.space.columns import Kind

#: Integers with at least this many levels are refined like real numbers.
FINE = 32


def smooth(space: Space) -> Mask:
    """Columns (D,) that are worth refining by gradients."""
    kind, levels = space.columns.kind, space.columns.levels
    return np.asarray((kind == Kind.CONTINUOUS) | ((kind == Kind.INTEGER) & (levels >= FINE)))


def jumped(space: Space, points: Array, moved: Mask, rng: np.random.Generator) -> Array:
    """Points (r, D) whose moved labels are drawn anew, and every other moved coarse integer as well.

    The rest of the coarse integers take a step of about one level, which a small perturbation would not.
    """
    kind, levels = space.columns.kind, space.columns.levels
    labels = kind == Kind.LABEL
    coarse = (kind == Kind.INTEGER) & (levels < FINE)
    if not (labels.any() or coarse.any()):
        return points
    redrawn = moved & (labels | (coarse & (rng.random(points.shape) < 0.5)))
    steps = rng.standard_normal(points.shape) / np.where(coarse, levels, 1.0)
    stepped = np.where(moved & coarse, points + steps, points)
    return np.clip(np.where(redrawn, rng.random(points.shape), stepped), 0.0, 1.0)


def neighbours(space: Space, point: Array, rng: np.random.Generator, *, most: int = 256) -> Array:
    """Points (k, D) that differ from `point` (D,) in one discrete column, by a label or one integer step."""
    steps: list[tuple[int, float]] = []
    for vertex in space.vertices:
        column, parameter = vertex.start, vertex.parameter
        if np.isnan(point[column]) or parameter.levels == 1:
            continue
        if isinstance(parameter, Int):
            values = parameter.scale.from_unit(point[column : column + 1]) + np.array([-1.0, 1.0])
            inside = values[(values >= parameter.low) & (values <= parameter.high)]
            steps += [(column, u) for u in parameter.scale.to_unit(inside).tolist()]
        elif np.isfinite(parameter.levels):
            size = int(parameter.levels)
            steps += [(column, (index + 0.5) / size) for index in range(size)]
    if len(steps) > most:
        steps = [steps[i] for i in rng.choice(len(steps), most, replace=False)]
    if not steps:
        return np.empty((0, len(point)))
    columns, levels = zip(*steps, strict=True)
    moved = np.repeat(point[None], len(steps), axis=0)
    moved[np.arange(len(steps)), columns] = levels
    snapped = space.snap(moved)
    differs = np.any(np.nan_to_num(snapped, nan=-1.0) != np.nan_to_num(point, nan=-1.0), axis=1)
    return snapped[differs]
