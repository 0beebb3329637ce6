"""Problems all of whose parameters are labels, and one of them with few that matter.

`discrete-47` has the shape of REMBO's solver configuration (§4.3): 40 binary and 7 categorical parameters.
Only two binary ones and those of seven, four and eight levels have an effect: there are 896 different values.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hidim._types import Array, Params, Rng
from hidim.bench.base import Problem, Suggest

if TYPE_CHECKING:
    from hidim.space import Space

BINARY = 40
LEVELS = (7, 4, 8, 4, 3, 3, 4)
INTERACTION = 0.5


class Labelled(Problem):
    """A problem whose `options` give the labels of every parameter."""

    options: Mapping[str, tuple[str, ...]]

    def space(self) -> Space:
        from hidim.space import Choice, Space

        return Space({name: Choice(*labels) for name, labels in self.options.items()})

    def draw(self, suggest: Suggest) -> Params:
        return {name: suggest.label(name, labels) for name, labels in self.options.items()}


@dataclass(frozen=True)
class Table(Labelled):
    """A table of values by the labels of a few parameters; the others are idle.

    Args:
        optimum: the smallest value.
        options: the labels of all parameters.
        active: the parameters that matter.
        values: of shape (number of labels of the first active one, of the second, …).
    """

    name: str
    optimum: float
    options: Mapping[str, tuple[str, ...]] = field(repr=False)
    active: tuple[str, ...]
    values: Array = field(repr=False)
    noise: float = 0.0

    def value(self, params: Params) -> float:
        place = tuple(self.options[name].index(params[name]) for name in self.active)
        return float(self.values[place])


def discrete_47() -> Table:
    """40 binary and 7 categorical parameters, five of which matter.

    A value is a sum of normal effects: one for every label of an active parameter, with deviation 1, and one
    for every pair of labels of two of them, with deviation 1/2, a third of the variance altogether.
    """
    name = "discrete-47"
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    binary = {f"b{i}": ("off", "on") for i in range(1, BINARY + 1)}
    several = {f"c{i}": tuple("ABCDEFGH"[:count]) for i, count in enumerate(LEVELS, start=1)}
    options = binary | several
    active = (*rng.choice(list(binary), 2, replace=False).tolist(), "c1", "c2", "c3")
    values = _effects([len(options[parameter]) for parameter in active], rng)
    return Table(name, float(values.min()), options, active, values)


def _effects(counts: list[int], rng: Rng) -> Array:
    """Main effects and those of pairs, added up: an array of shape `counts`."""
    axes = range(len(counts))
    total = np.zeros(counts)
    for axis in axes:
        total += _along(rng.standard_normal(counts[axis]), (axis,), counts)
    for pair in combinations(axes, 2):
        effects = INTERACTION * rng.standard_normal([counts[axis] for axis in pair])
        total += _along(effects, pair, counts)
    return total


def _along(effects: Array, axes: tuple[int, ...], counts: list[int]) -> Array:
    """`effects` as an array that broadcasts to `counts`, lying along `axes`."""
    return effects.reshape([count if axis in axes else 1 for axis, count in enumerate(counts)])


@dataclass(frozen=True)
class Switches(Labelled):
    """Switches with effects of their own, few of them large, and pairs that work only together.

    Args:
        optimum: the smallest value.
        options: the labels of all switches.
        pairs: values of the pairs, which are the first switches, of shape (number of pairs, 2, 2).
        single: effects of the others, (number of others,).
    """

    name: str
    optimum: float
    options: Mapping[str, tuple[str, ...]] = field(repr=False)
    pairs: Array = field(repr=False)
    single: Array = field(repr=False)
    noise: float = 0.0

    def value(self, params: Params) -> float:
        on = np.array([params[name] == "on" for name in self.options], dtype=np.intp)
        paired, others = on[: 2 * len(self.pairs)].reshape(-1, 2), on[2 * len(self.pairs) :]
        chosen = self.pairs[np.arange(len(self.pairs)), paired[:, 0], paired[:, 1]]
        return float(chosen.sum() + self.single @ others)


def switches(name: str, count: int) -> Switches:
    """So many switches, half of them in pairs; the best setting is found pair by pair."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    single = np.clip(rng.standard_cauchy(count), -10.0, 10.0) / count
    together = rng.normal(0.0, 2.0 / count, (count // 4, 2, 2))
    first, second = single[: 2 * len(together)].reshape(-1, 2).T
    on = np.arange(2.0)
    pairs = together + first[:, None, None] * on[:, None] + second[:, None, None] * on
    others = single[2 * len(together) :]
    optimum = float(pairs.min(axis=(1, 2)).sum() + np.minimum(others, 0.0).sum())
    return Switches(name, optimum, {f"s{i}": ("off", "on") for i in range(count)}, pairs, others)
