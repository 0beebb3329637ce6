"""The best settings of the groups of a sum, each on its own.

Under an additive model every group v of columns has a posterior of its own (RPP-GP-UCB eq. 3; Add-Tree §4.2),
and with it a confidence bound κ σ_v − μ_v. The sum of these bounds is largest where each of them is, so that
all groups are maximised at once, in one batch, in as few dimensions as each has (RPP-GP-UCB eq. 4 and 5).

The columns are those of the ground, or what a mixing of them makes of these: then groups are searched in the
smallest box around the image of the cube, and what was found is taken back and clipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from hidim._types import Array, Indices, Mask, Rng
from hidim.acquisition.base import Belief
from hidim.frame import Ground
from hidim.gp.maps import Mixing
from hidim.optim.base import Objective, Score
from hidim.optim.lbfgs import ascend
from hidim.search.discrete import smooth
from hidim.space.tree import Vertex

#: Settings are scored in parts of about this many numbers, 160 MB: there may be thousands of groups.
MOST_NUMBERS = 20_000_000

#: Settings that are scored for a group: the least keeps big trees searched, the most small ones quick.
EACH = (8, 256)

#: The best points whose settings are scored, too: as many as make so many comparisons with trials for all
#: groups together, and at least.
COMPARED, LEAST = 4_000_000, 30

#: Standard deviation of the copies of a group's best settings, as a share of the range; not varied.
NEAR = 0.05


class Block(NamedTuple):
    """A group: its columns (w,), or the column and value that lead to one without columns.

    Args:
        place: of the group among those of the belief; −1 for one without columns.
    """

    columns: Indices
    gate: tuple[int, float] | None = None
    place: int = -1


class Setting(NamedTuple):
    """A group's best setting as a row (D,) that is NaN in all other columns, and its bound."""

    row: Array
    bound: float


class Effort(NamedTuple):
    """How much work a search of groups is.

    Args:
        settings: that are scored, over all groups; each gets its share, within limits.
        lanes: settings of each group that are refined.
    """

    settings: int = 2048
    lanes: int = 1


#: Takes bounds as a function of the belief, settings (l, w) and their boxes to better ones, and their bounds.
Refine: TypeAlias = Callable[[Callable[[Belief], Objective], Array, Array, Array], tuple[Array, Array]]


def climbing(belief: Belief, calls: int, tolerance: float) -> Refine:
    """Along the gradient."""

    def refine(
        bounds: Callable[[Belief], Objective], starts: Array, lower: Array, upper: Array
    ) -> tuple[Array, Array]:
        objective = bounds(belief)
        return ascend(objective, starts, lower, upper, max_calls=calls, tolerance=tolerance)[:2]

    return refine


@dataclass(frozen=True, eq=False)
class Axes:
    """The coordinates in which groups are searched.

    Args:
        ground: of the points.
        mixing: by which the coordinates are made of those of the ground, if they are not the same.
    """

    ground: Ground
    mixing: Mixing | None = None

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Its corners (D,)."""
        if self.mixing is None:
            return np.zeros(self.ground.dim), np.ones(self.ground.dim)
        return self.mixing.box(self.ground.dim)

    @cached_property
    def mixed(self) -> Mask:
        """Which coordinates (D,) are made of several."""
        mixed = np.zeros(self.ground.dim, dtype=np.bool_)
        if self.mixing is not None:
            mixed[self.mixing.columns] = True
        return mixed

    @cached_property
    def free(self) -> Mask:
        """Coordinates (D,) that are worth refining by gradients."""
        return smooth(self.ground) | self.mixed

    @cached_property
    def _discrete(self) -> dict[int, Vertex]:
        return {
            vertex.start: vertex
            for vertex in self.ground.vertices
            if np.isfinite(vertex.parameter.levels) and not self.mixed[vertex.start]
        }

    def on_levels(self, block: Block, rows: Array) -> Array:
        """Integers and labels of a group's rows (r, D) moved to their levels."""
        for column in block.columns.tolist():
            if column in self._discrete:
                scale = self._discrete[column].parameter.scale
                rows[:, column] = scale.to_unit(scale.from_unit(rows[:, column]))
        return rows

    def into(self, points: Array) -> Array:
        """Points (n, D) of the ground in these coordinates."""
        return points if self.mixing is None else self.mixing(np.empty(0), points).value

    def back(self, points: Array) -> Array:
        """Points (n, D) of these coordinates as the nearest ones of the ground."""
        inside = points if self.mixing is None else np.clip(self.mixing.back(points), 0.0, 1.0)
        return self.ground.snap(inside)


def best_settings(
    belief: Belief,
    axes: Axes,
    blocks: Sequence[Block],
    kappas: Array,
    best: Array,
    effort: Effort,
    refine: Refine,
    rng: Rng,
) -> list[list[Setting]]:
    """For every κ, the best setting of every group.

    Args:
        belief: by a model that is a sum over groups, as a function of the coordinates of `axes`.
        kappas: √β of every group, (number of κ, of groups).
        best: (c, D), the best points so far, whose settings are among those scored; NaN where inactive.
    """
    each = int(np.clip(effort.settings // len(blocks), *EACH))
    chosen, lanes = [], []
    wide = max(axes.ground.dim, len(belief.x))
    best = best[: max(COMPARED // (wide * len(blocks)), LEAST)]
    for some in _parts(blocks, MOST_NUMBERS // ((each + 2 * len(best)) * wide)):
        starts = [_starts(axes, block, each, best, rng) for block in some]
        begins = np.cumsum([0, *map(len, starts)])
        rows = np.vstack(starts)
        places = np.repeat([block.place for block in some], [len(own) for own in starts])
        mean, variance, _ = belief.alone(rows, places)
        scores = kappas[:, places] * np.sqrt(variance) - mean
        first = [_largest(scores[:, a:b], effort.lanes) + a for a, b in pairwise(begins)]
        chosen.append(rows[np.concatenate(first, axis=1)])  # (number of κ, of lanes, D)
        lanes += [places.shape[1] for places in first]
    group = np.repeat(np.arange(len(blocks)), lanes)
    found = []
    for kappa, settings in zip(kappas, np.concatenate(chosen, axis=1), strict=True):
        refined, values = _refined(axes, blocks, group, kappa, settings, refine)
        order = np.lexsort((-values, group))  # of each group the best first
        first_lane = order[np.searchsorted(group[order], np.arange(len(blocks)))]
        of_groups = zip(refined[first_lane], values[first_lane].tolist(), strict=True)
        found.append([Setting(*setting) for setting in of_groups])
    return found


def _largest(scores: Array, count: int) -> Indices:
    """Places (number of κ, at most `count`) of the largest of (number of κ, r) scores, largest first."""
    if count == 1:
        return np.asarray(np.argmax(scores, axis=1)[:, None])
    return np.argsort(-scores, axis=1, kind="stable")[:, :count]


def _refined(
    axes: Axes, blocks: Sequence[Block], group: Indices, kappa: Array, chosen: Array, refine: Refine
) -> tuple[Array, Array]:
    """The settings (l, D) of all lanes after an ascent, and their bounds (l,); `group` (l,) says of which.

    Each ascends in the columns of its group alone, however many there are. A first coordinate that does not
    move says which lane it is, and missing columns are those of a dummy, column D.
    """
    dim, lanes = axes.ground.dim, np.arange(len(group))
    places = np.array([block.place for block in blocks])[group]
    columns = np.full((len(blocks), max(1, *(len(block.columns) for block in blocks))), dim)
    for place, block in enumerate(blocks):
        columns[place, : len(block.columns)] = block.columns
    own = columns[group]
    padded = np.hstack([chosen, np.zeros((len(group), 1))])
    free = np.append(axes.free, False)[own]

    def unpacked(z: Array) -> tuple[Array, Indices]:
        at = z[:, 0].astype(np.intp)
        full = padded[at]
        np.put_along_axis(full, own[at], z[:, 1:], axis=1)
        return full[:, :-1], own[at]

    def packed_bounds(belief: Belief, z: Array) -> Score:
        full, where = unpacked(z)
        score = group_bounds(belief, kappa, full, places[z[:, 0].astype(np.intp)])

        def to_inputs(g: Array) -> Array:
            gradient = np.pad(score.to_inputs(g), ((0, 0), (0, 1)))
            return np.pad(np.take_along_axis(gradient, where, axis=1), ((0, 0), (1, 0)))

        return Score(score.value, to_inputs)

    packed = np.column_stack([lanes, np.take_along_axis(padded, own, axis=1)])
    lower, upper = packed.copy(), packed.copy()
    for corner, edge in zip((lower, upper), axes.box, strict=True):
        corner[:, 1:][free] = np.append(edge, 0.0)[own][free]
    refined, values = refine(lambda belief: partial(packed_bounds, belief), packed, lower, upper)
    return unpacked(refined)[0], values


def group_bounds(belief: Belief, kappa: Array, u: Array, places: Indices) -> Score:
    """κ σ_v − μ_v of rows (r, D) with the columns of one group each, those at `places` (r,) of all groups."""
    mean, variance, to_inputs = belief.alone(u, places)
    sd, own = np.sqrt(variance), kappa[places]
    slope = np.divide(0.5 * own, sd, out=np.zeros_like(sd), where=sd > 0.0)
    return Score(own * sd - mean, lambda g: to_inputs(-g, g * slope))


def _parts(blocks: Sequence[Block], most: int) -> Iterator[Sequence[Block]]:
    """The groups, in order, `most` at a time."""
    step = max(1, most)
    return (blocks[begin : begin + step] for begin in range(0, len(blocks), step))


def _starts(axes: Axes, block: Block, count: int, best: Array, rng: Rng) -> Array:
    """Settings (s, D) of one group: random ones, and those of the best points; NaN in all other columns."""
    dim, columns = axes.ground.dim, block.columns
    if len(columns) == 0:
        row = np.full((1, dim), np.nan)
        if block.gate is not None:
            row[0, block.gate[0]] = block.gate[1]
        return row
    lower, upper = (edge[columns] for edge in axes.box)
    rows = np.full((count, dim), np.nan)
    rows[:, columns] = lower + (upper - lower) * rng.random((count, len(columns)))
    kept = best[~np.isnan(best[:, columns[0]])][:, columns]
    near = np.full((2 * len(kept), dim), np.nan)
    moved = np.clip(kept + NEAR * (upper - lower) * rng.standard_normal(kept.shape), lower, upper)
    near[:, columns] = np.vstack([kept, moved])
    return np.vstack([axes.on_levels(block, rows), axes.on_levels(block, near)])
