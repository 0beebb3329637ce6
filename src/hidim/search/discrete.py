"""Moves along integers, steps and labels, where gradients do not lead."""

from __future__ import annotations

import numpy as np

from hidim._types import Array, Mask, Rng
from hidim.frame import Ground
from hidim.space import Int
from hidim.space.columns import Kind

#: Integers with at least this many levels are refined like real numbers: with fewer, rounding undoes most
#: steps along a gradient, with more, single steps take too long. A choice that was not varied.
FINE = 32

#: Neighbours of a point that are looked at, at the most; beyond, they are drawn. It bounds the time.
MOST_NEIGHBOURS = 256


def smooth(ground: Ground) -> Mask:
    """Coordinates (d,) that are worth refining by gradients."""
    return np.asarray(
        (ground.kind == Kind.CONTINUOUS) | ((ground.kind == Kind.INTEGER) & (ground.levels >= FINE))
    )


def jumped(ground: Ground, points: Array, moved: Mask, rng: Rng) -> Array:
    """Points (r, d) whose moved labels are drawn anew, and half of the moved coarse integers, too: a choice.

    The rest of the coarse integers take a step of about one level, which a small perturbation would not.
    """
    labels = ground.kind == Kind.LABEL
    coarse = (ground.kind == Kind.INTEGER) & (ground.levels < FINE)
    if not (labels.any() or coarse.any()):
        return points
    redrawn = moved & (labels | (coarse & (rng.random(points.shape) < 0.5)))
    steps = rng.standard_normal(points.shape) / np.where(coarse, ground.levels, 1.0)
    stepped = np.where(moved & coarse, points + steps, points)
    return np.clip(np.where(redrawn, rng.random(points.shape), stepped), 0.0, 1.0)


def neighbours(ground: Ground, point: Array, rng: Rng) -> Array:
    """Points (k, d) that differ from `point` (d,) in one discrete column, by a label or one step."""
    steps: list[tuple[int, float]] = []
    for vertex in ground.vertices:
        column, parameter = vertex.start, vertex.parameter
        if np.isnan(point[column]) or parameter.levels == 1:
            continue
        if isinstance(parameter, Int) and parameter.step == 1:
            values = parameter.scale.from_unit(point[column : column + 1]) + np.array([-1.0, 1.0])
            inside = values[(values >= parameter.low) & (values <= parameter.high)]
            steps += [(column, u) for u in parameter.scale.to_unit(inside).tolist()]
        elif ground.kind[column] == Kind.INTEGER:  # all cells have the same width
            beside = point[column] + np.array([-1.0, 1.0]) / parameter.levels
            steps += [(column, u) for u in beside[(beside > 0.0) & (beside < 1.0)].tolist()]
        elif np.isfinite(parameter.levels):
            places = parameter.scale.to_unit(np.arange(parameter.levels))
            steps += [(column, u) for u in places.tolist()]
    if len(steps) > MOST_NEIGHBOURS:
        steps = [steps[i] for i in rng.choice(len(steps), MOST_NEIGHBOURS, replace=False)]
    if not steps:
        return np.empty((0, len(point)))
    columns, levels = zip(*steps, strict=True)
    moved = np.repeat(point[None], len(steps), axis=0)
    moved[np.arange(len(steps)), columns] = levels
    snapped = ground.snap(moved)
    differs = np.any(np.nan_to_num(snapped, nan=-1.0) != np.nan_to_num(point, nan=-1.0), axis=1)
    return snapped[differs]
