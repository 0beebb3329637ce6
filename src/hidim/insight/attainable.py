"""The best value that a branch can attain, as far as the model of the tree knows.

What is asked for is the minimum of the objective, without noise, over all configurations that have a node:

    value   the model's mean at the best place that it finds
    high    the minimum is nowhere larger than at that place, nor than any loss that was seen
    low     the 2.5 % quantile of the minima of functions drawn from the posterior, over candidates all over
            the branch

A model that was fitted on few trials is too sure of itself: of its length-scales, and of the branches being a
sum. So its deviations are stretched, by what trials of the branch demand that are left out one at a time, and
by factors that benchmarks/branch_calibration.py gave: with them, 95 % intervals hold that share of them.
Where a branch has fewer than five trials of its own, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Indices, Mask, Params, Rng
from hidim.frame import Ground
from hidim.gp import linalg
from hidim.insight.learned import CENTRAL, ENOUGH, Learned
from hidim.search.paths import Paths, best_routes, composition
from hidim.search.settings import Axes, Setting
from hidim.space import Space
from hidim.space.columns import Kind
from hidim.space.nodes import Node, everywhere, is_fork

#: Settings that are scored for every node, and best trials whose settings are among them.
SETTINGS, BEST = 64, 8
#: More than any sum of means of nodes, which are of standardised losses.
FORCE = 1e9
#: By how much deviations are stretched below and above, and for how many trials the model's own word counts.
BELOW, ABOVE, TRUST = 1.75, 2.0, 5.0
#: Of the minimum: functions that are drawn, and the quantile of their minima.
DRAWS, QUANTILE = 512, 0.025
#: Candidates of a branch, at least and at most; fewer where there are many nodes or columns.
CANDIDATES = (64, 512)
#: Best trials around which candidates lie, random ways through the tree, and distances in shares of a range.
AROUND, WAYS, NEAR = 6, 8, (0.03, 0.1, 0.25)


@dataclass(frozen=True, eq=False)
class Expected:
    """The best value that a branch can attain, by the model: without noise, in the objective's own units.

    Args:
        value: the model's best guess.
        low: lower end of the 95 % interval, which need not have the guess in its middle.
        high: upper end.
        params: where the model expects it.
    """

    value: float
    low: float
    high: float
    params: Params = field(repr=False)

    @property
    def deviation(self) -> float:
        """A standard deviation that fits the width of the interval."""
        return (self.high - self.low) / (2.0 * CENTRAL)


def has(space: Space, node: Node, points: Array) -> Mask:
    """Which of the points (n, D), NaN where inactive, have a node."""
    if len(node.columns):
        return ~np.isnan(points[:, node.columns[0]])
    if node.gate is None:  # the root, or shared: its forks exist where it does
        if not node.forks:
            return np.ones(len(points), dtype=np.bool_)
        return ~np.isnan(points[:, node.forks[0].vertex.start])
    column, position = node.gate
    return np.asarray(np.floor(points[:, column] * space.columns.levels[column]) == position)


def alone(learned: Learned, node: Node, points: Array) -> Array:
    """μ_v (r,) of one node at points (r, D)."""
    own = np.full(points.shape, np.nan)
    own[:, node.columns] = points[:, node.columns]
    if node.gate is not None and not len(node.columns):
        own[:, node.gate[0]] = learned.space.columns.place(*node.gate)
    return learned.mean(own) - learned.posterior.mean


def expectations(learned: Learned, root: Node) -> list[Expected | None]:
    """The best that can be attained on paths through each node; None where it has too few trials."""
    space, nodes, posterior = learned.space, everywhere(root), learned.posterior
    best = posterior.x[np.argsort(posterior.y, kind="stable")[:BEST]]
    row = _best_settings(learned, nodes, best)
    means = [alone(learned, node, row[None])[0] for node in nodes]
    settings = {id(n): Setting(row, -mean) for n, mean in zip(nodes, means, strict=True)}
    cost = max(len(nodes) * 25.0, 1e-3 * space.dim * len(nodes))
    count = int(np.clip((5e9 / cost) ** (1.0 / 3.0), *CANDIDATES))
    rng = np.random.default_rng(0)
    found: dict[int, _Attained] = {}
    for node in nodes:
        rows = np.flatnonzero(has(space, node, posterior.x))
        if len(rows) < ENOUGH:
            continue
        top = _through(space, root, node, settings)
        ways = [_through(space, root, node, _random(nodes, space.dim, rng)) for _ in range(WAYS)]
        seen = posterior.x[rows[np.argsort(posterior.y[rows], kind="stable")]]
        points = _candidates(space, top, np.array(ways), seen, count, rng)
        found[id(node)] = _attained(learned, rows, points, rng)
    told: list[Expected | None] = []
    for node in nodes:
        behind = nodes if node is root else (node, *_behind(node))
        parts = [found[id(other)] for other in behind if id(other) in found]
        told.append(_in_units(learned, parts) if id(node) in found else None)
    return told


class _Attained(NamedTuple):
    """The best transformed loss of a branch, its interval, and the point (D,) where it is expected."""

    value: float
    low: float
    high: float
    point: Array


def _behind(node: Node) -> Iterator[Node]:
    """Nodes that only configurations with this one have."""
    for option in chain.from_iterable(fork.options for fork in node.forks):
        yield option
        yield from _behind(option)


def _in_units(learned: Learned, parts: Sequence[_Attained]) -> Expected:
    """What is attained in a branch: whatever is in one of its parts."""
    best = min(parts, key=lambda part: part.value)
    low, high = min(part.low for part in parts), min(part.high for part in parts)
    found = learned.units(np.array([best.value, low, max(high, best.value)]))
    value, *ends = (learned.sign * found).tolist()
    return Expected(value, min(ends), max(ends), learned.space.decode(best.point))


def _attained(learned: Learned, rows: Indices, points: Array, rng: Rng) -> _Attained:
    """What is attained at candidates (r, D), given the trials `rows` (k,) of the branch."""
    posterior = learned.posterior
    mean, covariance = _joint(learned, points)
    stretch = _stretch(learned, rows)
    at = int(np.argmin(mean))
    doubt = CENTRAL * np.sqrt(posterior.noises[rows]) if learned.is_noisy else 0.0
    seen = float(np.min(posterior.y[rows] + doubt))
    value = min(float(mean[at]), seen)
    deviation = float(np.sqrt(max(covariance[at, at], 0.0)))
    high = max(value, min(float(mean[at]) + ABOVE * stretch * CENTRAL * deviation, seen))
    factor = linalg.cholesky(covariance, 1e-9)[0]
    drawn = mean[:, None] + BELOW * stretch * (np.tril(factor) @ rng.standard_normal((len(points), DRAWS)))
    low = min(value, float(np.quantile(drawn.min(axis=0), QUANTILE)))
    return _Attained(value, low, high, points[at])


def _joint(learned: Learned, points: Array) -> tuple[Array, Array]:
    """Posterior mean (r,) and covariance (r, r) at points (r, D)."""
    posterior, inputs = learned.posterior, learned.view.inputs(points)
    kernel, theta = posterior.model.kernel, posterior.theta[:-1]
    k = kernel.against(theta, posterior.x)(inputs).value
    solved = linalg.solve_lower(posterior.factor, k.T)
    return posterior.mean + k @ posterior.alpha, kernel.gram(theta, inputs).value - solved.T @ solved


def _stretch(learned: Learned, rows: Indices) -> float:
    """By how much left-out trials of a branch lie further off than the model says; at least 1."""
    left_out = learned.posterior.leave_one_out()
    squares = left_out.residual[rows] ** 2 / left_out.variance[rows]
    return max(1.0, float(np.sqrt((squares.sum() + TRUST) / (len(rows) + TRUST))))


# -- candidates --------------------------------------------------------------------------------------------


def _candidates(space: Space, top: Array, ways: Array, seen: Array, count: int, rng: Rng) -> Array:
    """Points (r, D) of a branch, about `count`, the best composition `top` (D,) first.

    Args:
        ways: random points (w, D) of the branch.
        seen: its trials (k, D), the best first.
    """
    numbers = space.columns.kind != Kind.LABEL
    numbers[[vertex.start for vertex in space.vertices if is_fork(vertex)]] = False
    bases = np.vstack([top, seen[:AROUND]])
    each = max(1, count // 2 // (len(bases) * len(NEAR)))
    near = np.repeat(np.tile(bases, (len(NEAR), 1)), each, axis=0)
    reach = np.repeat(NEAR, len(bases) * each)[:, None]
    moved = near[:, numbers] + reach * rng.standard_normal((len(near), int(numbers.sum())))
    near[:, numbers] = np.clip(moved, 0.0, 1.0)
    far = np.repeat(ways, max(1, count // 3 // len(ways)), axis=0)
    far[:, numbers] = np.where(np.isnan(far[:, numbers]), np.nan, rng.random((len(far), int(numbers.sum()))))
    return space.snap(np.vstack([top, seen[: count // 8], near, far]))


def _random(nodes: Sequence[Node], dim: int, rng: Rng) -> dict[int, Setting]:
    """Settings that make every way through the tree as good as any other."""
    row, bounds = rng.random(dim), rng.random(len(nodes))
    return {id(node): Setting(row, float(bound)) for node, bound in zip(nodes, bounds, strict=True)}


def _best_settings(learned: Learned, nodes: tuple[Node, ...], best: Array) -> Array:
    """A row (D,) with the best setting of every node at once: their columns differ."""
    together = Node("", (), (), tuple(replace(node, forks=(), beside=()) for node in nodes))
    search, ground = Paths(settings=SETTINGS * len(nodes), keep=1), Ground(learned.space)
    found = search.composed(learned.posterior, Axes(ground), together, [0.0], best, np.random.default_rng(0))
    return np.asarray(found[0].points[0])


def _through(space: Space, root: Node, node: Node, settings: Mapping[int, Setting]) -> Array:
    """The best point (D,) that has a node."""
    own = settings[id(node)]
    route = best_routes(root, {**settings, id(node): own._replace(bound=own.bound + FORCE)}, 1)[0]
    return composition(space, route, settings)
