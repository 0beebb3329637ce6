"""The best paths through the tree of a conditional space, made of the best settings of its groups.

A node of the tree is a group of an additive model, or several; each is maximised on its own (see
`hidim.search.settings`), and the sums of their bounds are maximised over paths by recursion:

    U(node) = u_v + Σ over forks of max over options U(option)          Algorithm 2, with sibling forks

A space without conditions has one path: the best settings of all groups together (RPP-GP-UCB, eq. 5).

Since Σ σ_v ≥ σ, the sums explore more than the bound of the sum would.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hidim._settings import at_least, of_type
from hidim._types import Array, Indices, Rng
from hidim.acquisition.base import Belief
from hidim.frame.novelty import Seen
from hidim.frame.options import root_of
from hidim.optim.base import Score
from hidim.optim.elastic import Walk
from hidim.optim.lbfgs import ascend
from hidim.optim.starts import perturbed
from hidim.search.base import Found, Search, Situation, Target
from hidim.search.discrete import jumped, neighbours
from hidim.search.elastic import told, walking
from hidim.search.settings import (
    Axes,
    Block,
    Effort,
    Refine,
    Setting,
    best_settings,
    climbing,
    group_bounds,
)
from hidim.space import Space
from hidim.space.nodes import Node, everywhere

#: Steps along labels and integers where groups overlap, and points that are looked at if what was found has
#: been tried.
STEPS, OTHERS = 10, 128

#: The way of suggestions that are made of the groups' best settings.
GROUPS = "groups"

#: Groups are maximised for each of these κ, one nearly greedy and one with β = 4; the paths with the
#: largest sums are candidates, among which the utility decides.
KAPPAS = (0.5, 2.0)

#: The best points around which untried ones lie, those whose settings are looked at for the paths of other
#: utilities, and the gain below which the bounds of a group stop climbing.
BEST, KNOWN, TOLERANCE = 3, 100, 1e-3


class Route(NamedTuple):
    """A path: the sum of the bounds of its groups, larger is better, and the nodes."""

    bound: float
    nodes: tuple[Node, ...]


class Compositions(NamedTuple):
    """Points (k, D) made of the groups' best settings, best path first, and their paths."""

    points: Array
    routes: list[Route]


@dataclass(frozen=True)
class Paths(Search):
    """Maximises confidence bounds group by group, and finds the paths with the largest sums.

    It is for utilities that are such sums: Add-Tree, Algorithm 2; Add-GP-UCB. Numbers are choices that were
    not varied.

    Args:
        settings: that are scored, over all groups; each group gets its share, within limits.
        lanes: settings of each group that are refined.
        climbs: batched calls of the bounds for the refinement.
        keep: paths that are kept; joining sibling forks costs the square of it.
        elastic: whether the settings of groups walk down from longer length-scales (`hidim.optim.elastic`)
            instead of climbing from where they are.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"groups"})

    settings: int = 2048
    lanes: int = 1
    climbs: int = 20
    keep: int = 32
    elastic: bool = False

    def __post_init__(self) -> None:
        at_least(self, settings=1, lanes=1, climbs=1, keep=1)
        of_type(self, elastic=bool)

    @property
    def stretches(self) -> bool:
        return self.elastic

    def __call__(self, target: Target, situation: Situation, rng: Rng) -> Found:
        part = target.belief.additive()
        assert part is not None  # what it needs
        assert target.roots is not None
        best, root = situation.ranked[:BEST], root_of(situation.scene)
        belief, mixing = part.unmixed()
        axes = Axes(situation.scene.ground, mixing)
        walks: list[Walk] = []
        climb = climbing(belief, self.climbs, TOLERANCE)
        refine = walking(target, walks.append, climb) if self.elastic else climb
        found = self.composed(belief, axes, root, [target.roots], best, rng, refine)[0]
        points = axes.back(found.points)
        if Seen.of(situation.scene.seen).first_new(points) is None:
            points = self._others(belief, axes, root, target.roots, np.vstack([points[:1], best]), rng)
        return Found(points, GROUPS, _walked(walks))

    def composed(
        self,
        belief: Belief,
        axes: Axes,
        root: Node,
        kappas: Sequence[float | Array],
        best: Array,
        rng: Rng,
        refine: Refine | None = None,
    ) -> list[Compositions]:
        """The best paths by Σ (κ σ_v − μ_v), for every κ, in the coordinates of `axes`.

        Args:
            belief: by a model that is a sum over groups, as a function of these coordinates.
            kappas: √β, of all groups or of each (groups,).
            best: (c, D), the best points of the ground so far, whose settings are among those scored; NaN
                where inactive.
            refine: the settings of groups; along the gradient by default.
        """
        nodes, space, known = everywhere(root), axes.ground.space, axes.into(best)
        blocks = blocks_of(space, nodes, belief.groups)
        flat = list(chain.from_iterable(blocks))
        effort = Effort(self.settings, self.lanes)
        refine = refine or climbing(belief, self.climbs, TOLERANCE)
        by_group = np.array([np.broadcast_to(kappa, len(belief.groups)) for kappa in kappas])
        found = []
        every = best_settings(belief, axes, flat, by_group, known, effort, refine, rng)
        for kappa, settings in zip(by_group, every, strict=True):
            each = iter(settings)
            of_nodes = {
                id(node): _together([next(each) for _ in own])
                for node, own in zip(nodes, blocks, strict=True)
            }
            routes = best_routes(root, of_nodes, self.keep)
            points = np.array([composition(space, route, of_nodes) for route in routes])
            if _overlap(flat):
                points = self._agreed(belief, axes, flat, kappa, points, known, rng)
            found.append(Compositions(points, routes))
        return found

    def _agreed(
        self,
        belief: Belief,
        axes: Axes,
        blocks: Sequence[Block],
        kappa: Array,
        points: Array,
        known: Array,
        rng: Rng,
    ) -> Array:
        """Points (k, D) with larger sums of bounds, of groups that have columns in common.

        What is best for one of them is not for another: so all columns ascend together, from known points,
        too, and labels and coarse integers change one at a time. The first is the best; the others keep their
        paths.
        """

        def objective(u: Array) -> Score:
            return summed_bounds(belief, kappa, blocks, u)

        starts = np.vstack([points, known])
        lower, upper = (np.where(axes.free, edge, starts) for edge in axes.box)
        found, values, _ = ascend(objective, starts, lower, upper, max_calls=self.climbs)
        best = found[int(np.argmax(values))]
        for _ in range(STEPS):
            near = np.vstack([best, axes.into(neighbours(axes.ground, axes.back(best[None])[0], rng))])
            first = int(np.argmax(np.nan_to_num(objective(near).value, nan=-np.inf)))
            best = near[first]
            if first == 0:
                break
        return np.vstack([best, found[1 : len(points)]])

    def _others(self, belief: Belief, axes: Axes, root: Node, kappa: Array, around: Array, rng: Rng) -> Array:
        """Points (k, D) of the ground around the best ones, by the sum of bounds: all of these were tried."""
        ground = axes.ground
        near, moved = perturbed(rng, around, OTHERS, movable=ground.levels > 1)
        points = ground.snap(jumped(ground, near, moved, rng))
        blocks = blocks_of(ground.space, everywhere(root), belief.groups)
        score = summed_bounds(belief, kappa, list(chain.from_iterable(blocks)), axes.into(points))
        return points[np.argsort(-np.nan_to_num(score.value, nan=-np.inf), kind="stable")]


def best_points(belief: Belief, situation: Situation, rng: Rng) -> Array | None:
    """Points (k, D) on the best paths of a model a part of which is a sum over groups; None of others.

    Of the ground: where an option is looked at, of paths through it.
    """
    part, scene = belief.additive(), situation.scene
    if part is None:
        return None
    known = situation.ranked[:KNOWN]
    found = Paths().composed(part, Axes(scene.ground), root_of(scene), KAPPAS, known, rng)
    points, branch = np.vstack([each.points for each in found]), scene.ground.branch
    return points if branch is None else points[branch.holds(points)]


def _walked(walks: Sequence[Walk]) -> dict[str, Any]:
    """What the record says of walks down the length-scales, if there were any."""
    if not walks:
        return {}
    every = reduce(Walk.joined, walks)
    return {"elastic": told(every, int(np.argmax([max(path) for path in every.paths])))}


def blocks_of(space: Space, nodes: Sequence[Node], groups: Sequence[Indices]) -> list[list[Block]]:
    """The groups of every node; one without columns is its own."""
    owner = {column: place for place, node in enumerate(nodes) for column in node.columns.tolist()}
    blocks: list[list[Block]] = [[] for _ in nodes]
    for place, columns in enumerate(groups):
        if len(columns):
            blocks[owner[int(columns[0])]].append(Block(columns, place=place))
    for node, own in zip(nodes, blocks, strict=True):
        if not own:
            gate = None if node.gate is None else (node.gate[0], space.columns.place(*node.gate))
            own.append(Block(node.columns, gate))
    return blocks


def summed_bounds(belief: Belief, kappa: Array, blocks: Sequence[Block], u: Array) -> Score:
    """Σ (κ_v σ_v − μ_v) of points (r, D), over groups that may have columns in common."""
    rows = np.full((len(blocks), *u.shape), np.nan)
    for row, block in zip(rows, blocks, strict=True):
        own = block.columns if block.gate is None else np.array([block.gate[0]])
        row[:, own] = u[:, own]
    places = np.repeat([block.place for block in blocks], len(u))
    score = group_bounds(belief, kappa, rows.reshape(-1, u.shape[1]), places)

    def to_inputs(g: Array) -> Array:
        pulled: Array = score.to_inputs(np.tile(g, len(blocks))).reshape(rows.shape)
        return np.asarray(pulled.sum(axis=0))

    return Score(score.value.reshape(len(blocks), -1).sum(axis=0), to_inputs)


def _together(settings: Sequence[Setting]) -> Setting:
    """The settings of a node's groups as one."""
    if len(settings) == 1:
        return settings[0]
    row = settings[0].row.copy()
    for setting in settings[1:]:
        row = np.where(np.isnan(setting.row), row, setting.row)
    return Setting(row, sum(one.bound for one in settings))


def _overlap(blocks: Sequence[Block]) -> bool:
    """Whether some column is in several groups."""
    columns = np.concatenate([block.columns for block in blocks])
    return len(np.unique(columns)) < len(columns)


def best_routes(
    root: Node,
    settings: Mapping[int, Setting],
    keep: int,
) -> list[Route]:
    """The `keep` paths with the largest sums of bounds, best first."""
    known: dict[int, list[Route]] = {}

    def below(node: Node) -> list[Route]:
        if id(node) not in known:
            own = settings[id(node)]
            paths = [Route(own.bound, (node,))]
            for other in node.beside:
                paths = _joined(paths, below(other), keep)
            for fork in node.forks:
                paths = _joined(paths, _best(chain.from_iterable(map(below, fork.options)), keep), keep)
            known[id(node)] = paths
        return known[id(node)]

    return below(root)


def _joined(left: list[Route], right: list[Route], keep: int) -> list[Route]:
    """The best paths that go one of the `left` and one of the `right` ways."""
    return _best((Route(a.bound + b.bound, a.nodes + b.nodes) for a in left for b in right), keep)


def _best(paths: Iterable[Route], keep: int) -> list[Route]:
    return heapq.nlargest(keep, paths, key=lambda path: path.bound)


def composition(space: Space, route: Route, settings: Mapping[int, Setting]) -> Array:
    """The point (D,) with the best setting of every node on a path; inactive columns are NaN."""
    row = np.full(space.dim, np.nan)
    for node in route.nodes:
        row[node.columns] = settings[id(node)].row[node.columns]
        if node.gate is not None:
            row[node.gate[0]] = space.columns.place(*node.gate)
    return row
