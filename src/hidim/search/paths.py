"""The best paths through the tree of a conditional space, made of the best settings of its nodes.

Under an additive model every node has a posterior of its own (Add-Tree §4.2): μ_v = k_v α and
σ_v² = k_v(x, x) − k_v K⁻¹ k_vᵀ. So nodes are maximised on their own, in one batch, in as few dimensions as
each has, and the sums of their bounds are maximised over paths by recursion:

    U(node) = u_v + Σ over forks of max over options U(option)          Algorithm 2, with sibling forks

Since Σ σ_v ≥ σ, the sums explore more than the bound of the sum would. They also bound what a path can bring
at all. With the mean m, the best value y, G = y − m + Σ max (κ σ_v − μ_v) and S = Σ max σ_v, the expected
improvement on a path is at most S h(G/S − κ) if G ≤ 0, and at most S h(G/S) otherwise, where
h(z) = z Φ(z) + φ(z). Of the paths that the recursion keeps, those that cannot reach what another one has are
dropped. Maxima are those of what was tried.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from hidim._settings import at_least, of_type
from hidim._types import Array, Indices, Rng
from hidim.acquisition.base import Belief
from hidim.acquisition.improvement import log_h
from hidim.frame import Ground, Scene
from hidim.optim.base import Score
from hidim.optim.lbfgs import ascend
from hidim.search.base import Found, Search, Situation, Target
from hidim.search.discrete import smooth
from hidim.search.ways import Ways
from hidim.space import Space
from hidim.space.nodes import Node, everywhere, tree

#: Settings are scored in parts of about this many numbers, 160 MB: there may be thousands of nodes.
MOST_NUMBERS = 20_000_000

#: Nodes are maximised for each of these κ, one nearly greedy and one as bold as β = 4; the paths with the
#: largest sums are candidates, among which the utility decides.
KAPPAS = (0.5, 2.0)

#: Settings that are scored for a node: the least keeps big trees searched, the most small ones quick.
EACH = (8, 256)

#: Standard deviation of the copies of a node's best settings, as a share of the range; not varied.
NEAR = 0.05


class Setting(NamedTuple):
    """A node's best setting as a row (D,) that is NaN in all other columns, its bound, and max σ_v."""

    row: Array
    bound: float
    widest: float


class Route(NamedTuple):
    """A path: the sum of the bounds of its nodes (larger is better), that of their largest σ_v, the nodes."""

    bound: float
    widest: float
    nodes: tuple[Node, ...]


class Compositions(NamedTuple):
    """Points (k, D) made of the nodes' best settings, best path first, and their paths."""

    points: Array
    routes: list[Route]


@dataclass(frozen=True)
class Paths(Search):
    """Maximises confidence bounds node by node, and finds the paths with the largest sums.

    If the utility is such a sum, these are the suggestions (Add-Tree, Algorithm 2); for any other one they
    are starts of the `ways`. Numbers are choices that were not varied.

    Args:
        settings: that are scored, over all nodes; each node gets its share, within limits.
        climbs: batched calls of the bounds for the refinement.
        keep: paths that are kept; joining sibling forks costs the square of it.
        ways: what refines them.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"additive"})

    settings: int = 2048
    climbs: int = 20
    keep: int = 32
    ways: Ways = field(default_factory=Ways)

    def __post_init__(self) -> None:
        at_least(self, settings=1, climbs=1, keep=1)
        of_type(self, ways=Ways)

    def __call__(self, target: Target, situation: Situation, rng: Rng) -> Found:
        ground = situation.scene.ground
        way, length = self.ways.chosen(situation, rng)
        best, root = situation.ranked[: self.ways.incumbents], _root(situation.scene)
        if target.root is not None:
            found = self.composed(target.belief, ground, root, [target.root], best, rng)[0]
            return Found(ground.snap(found.points), way)
        candidates = []
        compositions = self.composed(target.belief, ground, root, KAPPAS, best, rng)
        for kappa, (points, routes) in zip(KAPPAS, compositions, strict=True):
            if target.best is not None:
                bounds = log_improvement_bound(routes, kappa, target.belief.mean, target.best)
                points = points[bounds >= target.scores(ground.snap(points)).max()]
            candidates.append(points)
        promising = np.vstack(candidates)
        return Found(self.ways.points(way, length, target, ground, best, rng, promising), way)

    def composed(
        self, belief: Belief, ground: Ground, root: Node, kappas: Sequence[float], best: Array, rng: Rng
    ) -> list[Compositions]:
        """The best paths by Σ (κ σ_v − μ_v), for every κ.

        Args:
            belief: by a model that is a sum over nodes.
            kappas: √β.
            best: (c, D), the best points so far, whose settings are among those scored; NaN where inactive.
        """
        nodes = everywhere(root)
        found = []
        for settings in self._settings(belief, ground, nodes, np.array(kappas), best, rng):
            routes = best_routes(root, settings, self.keep)
            points = np.array([composition(ground.space, route, settings) for route in routes])
            found.append(Compositions(points, routes))
        return found

    def _settings(
        self,
        belief: Belief,
        ground: Ground,
        nodes: tuple[Node, ...],
        kappas: Array,
        best: Array,
        rng: Rng,
    ) -> list[dict[int, Setting]]:
        """For every κ, the best setting of every node, by the node's id."""
        each = int(np.clip(self.settings // len(nodes), *EACH))
        chosen, widest = [], []
        for some in _parts(nodes, MOST_NUMBERS // ((each + 2 * len(best)) * ground.dim)):
            blocks = [_starts(ground.space, node, each, best, rng) for node in some]
            begins = np.cumsum([0, *map(len, blocks)])
            rows = np.vstack(blocks)
            mean, variance, _ = belief.predict(rows)
            widest.append(np.sqrt(np.maximum.reduceat(variance, begins[:-1])))
            scores = kappas[:, None] * np.sqrt(variance) - mean
            first = np.array([np.argmax(scores[:, a:b], axis=1) + a for a, b in pairwise(begins)])
            chosen.append(rows[first.T])  # (number of κ, of these nodes, D)
        found = []
        for kappa, settings in zip(kappas.tolist(), np.concatenate(chosen, axis=1), strict=True):
            refined, values = self._refined(belief, ground, nodes, kappa, settings)
            each_node = zip(nodes, refined, values.tolist(), np.concatenate(widest).tolist(), strict=True)
            found.append({id(node): Setting(*setting) for node, *setting in each_node})
        return found

    def _refined(
        self, belief: Belief, ground: Ground, nodes: tuple[Node, ...], kappa: float, chosen: Array
    ) -> tuple[Array, Array]:
        """The settings (v, D) of all nodes after an ascent, and their bounds (v,).

        Each ascends in the columns of its node alone, however many the space has. A first coordinate that
        does not move says which node a lane is of, and missing columns are those of a dummy, column D.
        """
        lanes = np.arange(len(nodes))
        own = np.full((len(nodes), max(1, *(len(node.columns) for node in nodes))), ground.dim)
        for place, node in enumerate(nodes):
            own[place, : len(node.columns)] = node.columns
        padded = np.hstack([chosen, np.zeros((len(nodes), 1))])
        free = np.append(smooth(ground), False)[own]

        def unpacked(z: Array) -> tuple[Array, Indices]:
            columns = own[z[:, 0].astype(np.intp)]
            full = padded[z[:, 0].astype(np.intp)]
            np.put_along_axis(full, columns, z[:, 1:], axis=1)
            return full[:, :-1], columns

        def packed_bounds(z: Array) -> Score:
            full, columns = unpacked(z)
            score = _bounds(belief, kappa, full)

            def to_inputs(g: Array) -> Array:
                gradient = np.pad(score.to_inputs(g), ((0, 0), (0, 1)))
                return np.pad(np.take_along_axis(gradient, columns, axis=1), ((0, 0), (1, 0)))

            return Score(score.value, to_inputs)

        packed = np.column_stack([lanes, np.take_along_axis(padded, own, axis=1)])
        lower, upper = packed.copy(), packed.copy()
        lower[:, 1:][free], upper[:, 1:][free] = 0.0, 1.0
        refined, values, _ = ascend(
            packed_bounds, packed, lower, upper, max_calls=self.climbs, tolerance=self.ways.tolerance
        )
        return unpacked(refined)[0], values


def _bounds(belief: Belief, kappa: float, u: Array) -> Score:
    """κ σ_v − μ_v of rows (r, D) with the columns of one node each."""
    mean, variance, to_inputs = belief.predict(u)
    sd = np.sqrt(variance)
    slope = np.divide(0.5 * kappa, sd, out=np.zeros_like(sd), where=sd > 0.0)
    # What all paths have in common, the constant mean, belongs to no node.
    return Score(kappa * sd - (mean - belief.mean), lambda g: to_inputs(-g, g * slope))


def _parts(nodes: tuple[Node, ...], most: int) -> Iterator[tuple[Node, ...]]:
    """The nodes, in order, `most` at a time."""
    step = max(1, most)
    return (nodes[begin : begin + step] for begin in range(0, len(nodes), step))


def best_routes(root: Node, settings: Mapping[int, Setting], keep: int) -> list[Route]:
    """The `keep` paths with the largest sums of bounds, best first."""
    known: dict[int, list[Route]] = {}

    def below(node: Node) -> list[Route]:
        if id(node) not in known:
            own = settings[id(node)]
            paths = [Route(own.bound, own.widest, (node,))]
            for other in node.beside:
                paths = _joined(paths, below(other), keep)
            for fork in node.forks:
                paths = _joined(paths, _best(chain.from_iterable(map(below, fork.options)), keep), keep)
            known[id(node)] = paths
        return known[id(node)]

    return below(root)


def _joined(left: list[Route], right: list[Route], keep: int) -> list[Route]:
    """The best paths that go one of the `left` and one of the `right` ways."""
    both = (Route(a.bound + b.bound, a.widest + b.widest, a.nodes + b.nodes) for a in left for b in right)
    return _best(both, keep)


def _best(paths: Iterable[Route], keep: int) -> list[Route]:
    return heapq.nlargest(keep, paths, key=lambda path: path.bound)


def log_improvement_bound(routes: list[Route], kappa: float, mean: float, best: float) -> Array:
    """An upper bound (k,) on the log expected improvement over `best` that each path can bring.

    Args:
        mean: the constant mean, which bounds of nodes leave out.
    """
    gain = best - mean + np.array([route.bound for route in routes])
    width = np.maximum([route.widest for route in routes], 1e-300)
    # σ h((y − μ)/σ) grows with σ ≤ S, and y − μ ≤ gain − κ σ; for a gain above 0 without κ.
    z = gain / width - np.where(gain < 0.0, kappa, 0.0)
    return np.asarray(np.log(width) + log_h(z)[0])


def _starts(space: Space, node: Node, count: int, best: Array, rng: Rng) -> Array:
    """Settings (s, D) of one node: random ones, and those of the best points; NaN in all other columns."""
    if len(node.columns) == 0:
        row = np.full((1, space.dim), np.nan)
        if node.gate is not None:
            row[0, node.gate[0]] = space.columns.place(*node.gate)
        return row
    rows = np.full((count, space.dim), np.nan)
    rows[:, node.columns] = rng.random((count, len(node.columns)))
    kept = best[~np.isnan(best[:, node.columns[0]])][:, node.columns]
    near = np.full((2 * len(kept), space.dim), np.nan)
    moved = np.clip(kept + NEAR * rng.standard_normal(kept.shape), 0.0, 1.0)
    near[:, node.columns] = np.vstack([kept, moved])
    return np.vstack([_on_levels(node, rows), _on_levels(node, near)])


def _on_levels(node: Node, rows: Array) -> Array:
    """Integers and labels of a node's rows moved to their levels."""
    for vertex in node.vertices:
        if np.isfinite(vertex.parameter.levels):
            scale = vertex.parameter.scale
            rows[:, vertex.start] = scale.to_unit(scale.from_unit(rows[:, vertex.start]))
    return rows


def composition(space: Space, route: Route, settings: Mapping[int, Setting]) -> Array:
    """The point (D,) with the best setting of every node on a path; inactive columns are NaN."""
    row = np.full(space.dim, np.nan)
    for node in route.nodes:
        row[node.columns] = settings[id(node)].row[node.columns]
        if node.gate is not None:
            row[node.gate[0]] = space.columns.place(*node.gate)
    return row


def _root(scene: Scene) -> Node:
    """The tree of the scene's space."""
    memo, key = scene.task.memo, (scene.key, scene.ground.dim)
    known: Node | None = memo.get(tree, key)
    return memo.keep(tree, key, tree(scene.ground.space)) if known is None else known
