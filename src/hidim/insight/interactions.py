"""How much of the objective adds up over single parameters, and which of them interact.

With f the value that a model expects over the space, as in `hidim.insight.importance`, and V its variance:

    additive    the largest share of V that a sum of functions of single columns explains: a regression on
                polynomials of every column, judged by points that it has not seen
    pairs       ¼ E (f(a) − f(a with i drawn anew) − f(a with j) + f(a with both))² / V, what is due to i and
                j together, alone or with others (Liu and Owen 2006); 0 if no term of a sum has both

The values are not transformed: the logarithm of a sum is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander

from hidim._types import Array, Indices, Rng
from hidim.belief.priors import Mixed
from hidim.insight.fitting import View, plain
from hidim.insight.importance import percent, total_effects
from hidim.insight.learned import Learned, check_width, learn
from hidim.space import Space
from hidim.space.columns import Kind
from hidim.trial import History

#: Columns that are looked at: for the sum, and in pairs.
COLUMNS, PAIRED = 48, 10
#: Points for the sum, half of them to judge it, and for every pair; degree of the polynomials.
POINTS, PAIR_POINTS, DEGREE = 4096, 512, 6
#: Columns with a smaller share than this are said not to matter; pairs with a smaller one are not listed.
IDLE, NOTABLE = 0.005, 0.02


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
        pairs: of parameters that interact, the strongest first.
        idle: names of parameters that do not matter.
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
    order, least = np.argsort(-effects, kind="stable"), IDLE * float(effects.sum())
    strongest = order[effects[order] > least]
    points = rng.random((POINTS, space.dim))
    points[:, order[COLUMNS:]] = 0.5
    values = learned.mean(space.snap(points))
    names = space.columns.names
    return Interactions(
        _additive(space, strongest[:COLUMNS], points, values),
        _pairs(learned, strongest[:PAIRED], float(np.var(values)), names, rng),
        tuple(names[column] for column in order[::-1] if effects[column] <= least),
        learned.quality,
    )


def _view(space: Space) -> View:
    """Main effects and a product kernel; in conditional spaces the product kernel alone."""
    view = plain(space)._replace(transforms=("identity",))
    return view if space.is_conditional else view._replace(prior=Mixed())


def _additive(space: Space, columns: Indices, points: Array, values: Array) -> float:
    """The share of the variance of values (r,) at points (r, D) that functions of single columns explain."""
    seen = space.snap(points)
    features = np.hstack([np.ones((len(seen), 1)), *map(partial(_features, space, seen), columns.tolist())])
    half = len(seen) // 2
    weights = np.linalg.lstsq(features[:half], values[:half], rcond=None)[0]
    left = values[half:] - features[half:] @ weights
    return float(np.clip(1.0 - np.mean(left**2) / np.var(values[half:]), 0.0, 1.0))


def _features(space: Space, points: Array, column: int) -> Array:
    """Functions (r, k) of one column of points (r, D); 0 where it is inactive."""
    u = points[:, column]
    levels = int(min(space.columns.levels[column], DEGREE + 1))
    if space.columns.kind[column] == Kind.LABEL:
        places = np.unique(u[~np.isnan(u)])
        return np.asarray(u[:, None] == places, dtype=np.float64)
    polynomials = legvander(np.nan_to_num(2.0 * u - 1.0), levels - 1)[:, 1:]
    return np.where(np.isnan(u)[:, None], 0.0, polynomials)


def _pairs(
    learned: Learned, columns: Indices, variance: float, names: Sequence[str], rng: Rng
) -> tuple[Pair, ...]:
    space = learned.space
    points, anew = rng.random((PAIR_POINTS, space.dim)), rng.random((PAIR_POINTS, space.dim))

    def with_new(*which: int) -> Array:
        moved = points.copy()
        moved[:, which] = anew[:, which]
        return learned.mean(space.snap(moved))

    known, single = with_new(), {column: with_new(column) for column in columns.tolist()}
    found = []
    for i, j in combinations(sorted(single), 2):
        together = known - single[i] - single[j] + with_new(i, j)
        found.append(Pair(names[i], names[j], 0.25 * float(np.mean(together**2)) / variance))
    return tuple(sorted((pair for pair in found if pair.share >= NOTABLE), key=lambda pair: -pair.share))
