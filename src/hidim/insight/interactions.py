"""How much of the objective adds up over single parameters, and which of them interact.

With f the value that a model expects over the space, as in `hidim.insight.importance`, and V its variance:

    additive    the largest share of V that a sum of functions of single columns explains: the adjusted R² of
                a regression on polynomials of every column, of high degree where few columns matter
    pairs       ¼ E (f(a) − f(a with i drawn anew) − f(a with j) + f(a with both))² / V, what is due to i and
                j together, alone or with others (Liu and Owen 2006); 0 if no term of a sum has both

The values are not transformed: the logarithm of a sum is none. A parameter of an option counts as single:
that it has no effect under other options is no interaction with the choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander

from hidim._types import Array, Indices, Rng
from hidim.belief.priors import MainEffects
from hidim.insight.fitting import View, plain
from hidim.insight.importance import percent, total_effects
from hidim.insight.learned import Learned, check_width, learn
from hidim.space import Space
from hidim.space.columns import Kind
from hidim.space.tree import Vertex
from hidim.trial import History

#: Columns that are looked at in pairs: the strongest.
PAIRED = 10
#: Points for the sum, and for every pair.
POINTS, PAIR_POINTS = 4096, 512
#: So many columns have a linear feature, and columns that matter have as many more together: of degrees up
#: to these, at least and at most.
FEATURES, DEGREES = 400, (3, 24)
#: Columns with a smaller share than this, and than a tenth of an even one, are said not to matter; pairs with
#: a smaller one than the last are not listed.
IDLE, EVEN, NOTABLE = 0.005, 0.1, 0.02


class Pair(NamedTuple):
    """Two parameters, and what is due to both together, as a share of the variation."""

    first: str
    second: str
    share: float


@dataclass(frozen=True, eq=False)
class Interactions:
    """What adds up and what does not, in the eyes of a model.

    Args:
        additive: share of the variation over the space that is a sum over single parameters.
        pairs: that interact, of the ten strongest parameters or coordinates, the strongest pair first.
        idle: names of parameters and coordinates that do not matter; not of those that no trial had.
        quality: R² of the model on left-out trials.
    """

    additive: float
    pairs: tuple[Pair, ...]
    idle: tuple[str, ...]
    quality: float

    def __str__(self) -> str:
        lines = [f"{percent(self.additive):>5}  adds up over single parameters"]
        lines += [f"{percent(pair.share):>5}  {pair.first} × {pair.second}" for pair in self.pairs]
        return "\n".join([*lines, f"R² {self.quality:.2f} on left-out trials"])


def interactions(space: Space, history: History, *, maximize: bool) -> Interactions:
    """What the complete trials tell, or a `HidimError` that says why they do not."""
    check_width(space)
    learned = learn(_view(space), history, maximize=maximize)
    rng = np.random.default_rng(0)
    effects = total_effects(learned, rng)
    order = np.argsort(-effects, kind="stable")
    least = min(IDLE, EVEN / space.dim) * float(effects.sum())
    points = space.snap(rng.random((POINTS, space.dim)))
    values = learned.mean(points)
    strongest, names = order[effects[order] > least], space.columns.names
    return Interactions(
        _additive(space, order, len(strongest), points, values),
        _pairs(learned, strongest[:PAIRED], float(np.var(values)), rng),
        tuple(names[column] for column in order[::-1] if effects[column] <= least and learned.had[column]),
        learned.quality,
    )


def _view(space: Space) -> View:
    """Main effects and a product kernel; in conditional spaces the product kernel alone."""
    view = plain(space)._replace(transforms=("identity",))
    return view if space.is_conditional else view._replace(prior=MainEffects())


def _additive(space: Space, order: Indices, count: int, points: Array, values: Array) -> float:
    """The share of the variance of values (r,) at points (r, D) that functions of single columns explain.

    Args:
        order: columns (D,), the strongest first.
        count: how many of them matter.
    """
    more = int(np.clip(FEATURES // max(count, 1), *DEGREES))
    features = [np.ones((len(points), 1))]
    features += [_features(space, points[:, column], column, 1) for column in order[:FEATURES]]
    for column in order[:count][: FEATURES // more]:
        features.append(_features(space, points[:, column], column, more)[:, 1:])
    every = np.hstack(features)
    weights, _, rank, _ = np.linalg.lstsq(every, values, rcond=None)
    left = float(np.sum((values - every @ weights) ** 2)) / (len(points) - int(rank))
    return float(np.clip(1.0 - left / np.var(values, ddof=1), 0.0, 1.0))


def _features(space: Space, u: Array, column: int, degree: int) -> Array:
    """Functions (r, k) of the places (r,) in one column, the linear one first; 0 where it is inactive.

    Of labels, one for each of them, whatever the degree.
    """
    if space.columns.kind[column] == Kind.LABEL:
        return np.asarray(u[:, None] == np.unique(u[~np.isnan(u)]), dtype=np.float64)
    highest = int(min(space.columns.levels[column] - 1, degree))
    polynomials = legvander(np.nan_to_num(2.0 * u - 1.0), highest)[:, 1:]
    return np.where(np.isnan(u)[:, None], 0.0, polynomials)


def _pairs(learned: Learned, columns: Indices, variance: float, rng: Rng) -> tuple[Pair, ...]:
    space, names = learned.space, learned.space.columns.names
    points, anew = rng.random((PAIR_POINTS, space.dim)), rng.random((PAIR_POINTS, space.dim))

    def with_new(*which: int) -> Array:
        moved = points.copy()
        moved[:, which] = anew[:, which]
        return learned.mean(space.snap(moved))

    known, single = with_new(), {column: with_new(column) for column in columns.tolist()}
    gated, found = _gated(space), []
    for i, j in combinations(sorted(single), 2):
        if (i, j) not in gated:
            together = known - single[i] - single[j] + with_new(i, j)
            found.append(Pair(names[i], names[j], 0.25 * float(np.mean(together**2)) / variance))
    return tuple(sorted((pair for pair in found if pair.share >= NOTABLE), key=lambda pair: -pair.share))


def _gated(space: Space) -> set[tuple[int, int]]:
    """Pairs of columns, the smaller first, of which one is a choice that decides whether the other exists."""
    found: set[tuple[int, int]] = set()

    def below(vertex: Vertex) -> Iterator[int]:
        for child in chain.from_iterable(vertex.branches):
            yield from range(child.columns.start, child.columns.stop)
            yield from below(child)

    for vertex in space.vertices:
        found |= {(min(vertex.start, column), max(vertex.start, column)) for column in below(vertex)}
    return found
