"""Which parameters matter: shares of the variation of the model's prediction.

With f the expected transformed loss over the space (every option of a choice equally likely, then its
parameters uniform on their scales), the total effect of a column i is the part of the variance of f that
would vanish if everything but i were known,

    T_i = ½ E (f(a) − f(a with column i drawn anew))²                     (Jansen 1999)

and the share of i is T_i / Σ T. Interactions count for each of their parties, hence the division by the sum.
A column that is inactive in a configuration has no effect there, and one that no trial of the model had has
none at all, as far as one knows.

For all columns at once, T_i is first estimated by E (∂_i f)² / 12, which is exact where f is straight along
i, as it is where i hardly matters (Sobol' and Kucherenko 2009); then by Jansen's formula for the strongest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hidim._types import Array, Indices, Rng
from hidim.errors import HidimError
from hidim.insight.learned import Learned
from hidim.insight.text import missing
from hidim.space import Space, Vector
from hidim.space.columns import Kind

#: Columns that get Jansen's formula: at most so many, each with more than this share at the first look.
STRONGEST, NEGLIGIBLE = 64, 1e-4
#: Points of the cube for it, and for the first look at labels.
POINTS, GLANCE = 1024, 64
#: From so many columns on, half of those points: time grows with their product.
WIDE = 256
#: Coordinates of longer vectors than this are named singly only if they have at least this share.
SHORT, DOMINANT = 12, 0.03


@dataclass(frozen=True, eq=False)
class Entry:
    """A line of a list of parameters: a single column, or what is left of a vector."""

    name: str
    share: float
    columns: Indices


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Mapping[str, float]):
    """Shares that sum to 1, by the parameter's name, the most important first.

    They are of the model, not of the truth: with few trials the model knows little, and shares of a few
    per cent are noise. A `Vector` is one name, with the sum of its coordinates; single ones, as "w[3]",
    are in `coordinates`. A parameter of an option has the option in its name, as "model=svm/C".

    Args:
        space: whose parameters.
        shares: per column of the unit cube (D,).

    Example:
        >>> from hidim import Float, Space, Vector
        >>> shares = Importance(Space(lr=Float(0, 1), w=Vector(2)), np.array([0.3, 0.6, 0.1]))
        >>> print(shares)
        w    70 %
        lr   30 %
        >>> shares.coordinates["w[0]"]
        0.6
    """

    space: Space
    shares: Array

    @cached_property
    def _by_name(self) -> dict[str, float]:
        vertices = [vertex for vertex in self.space.vertices if vertex.parameter.width]
        sums = np.add.reduceat(self.shares, [vertex.start for vertex in vertices])
        order = np.argsort(-sums, kind="stable")
        return {vertices[i].title: float(sums[i]) for i in order}

    @cached_property
    def coordinates(self) -> dict[str, float]:
        """Shares of single columns: scalar parameters, choices, and every coordinate of a vector."""
        names = self.space.columns.names
        return {names[i]: float(self.shares[i]) for i in self.order}

    @cached_property
    def order(self) -> Indices:
        """Columns (D,) from the most important to the least."""
        return np.argsort(-self.shares, kind="stable")

    def entries(self, most: int, *, singly: bool = False) -> list[Entry]:
        """At most so many lines, the most important first, that a person can read.

        Scalar parameters and choices stand singly, and so do coordinates of a vector that dominate; the
        others of the vector stand together, unless all are to stand singly.
        """
        alone = np.ones(len(self.shares), dtype=np.bool_)
        entries: list[Entry] = []
        for vertex in self.space.vertices:
            if isinstance(vertex.parameter, Vector) and vertex.parameter.dim > SHORT and not singly:
                alone[vertex.columns] = self.shares[vertex.columns] >= DOMINANT
                rest = vertex.start + np.flatnonzero(~alone[vertex.columns])
                which = "all" if len(rest) == vertex.parameter.dim else "other"
                entries.append(self._entry(f"{vertex.title} ({which} {len(rest)})", rest))
        for column in self.order[alone[self.order]][:most]:
            entries.append(self._entry(self.space.columns.names[column], np.array([column])))
        return sorted((e for e in entries if len(e.columns)), key=lambda entry: -entry.share)[:most]

    def _entry(self, name: str, columns: Indices) -> Entry:
        return Entry(name, float(self.shares[columns].sum()), columns)

    def __getitem__(self, name: str) -> float:
        if name not in self._by_name:
            raise missing("parameter", name, self._by_name)
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"Importance({self._by_name})"

    def __str__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{name:<{width}}  {percent(share):>5}" for name, share in self.items())


def percent(share: float) -> str:
    """A share as text.

    Example:
        >>> percent(0.304), percent(0.004), percent(0.0)
        ('30 %', '<1 %', '0 %')
    """
    return "<1 %" if 0.0 < share < 0.005 else f"{100.0 * share:.0f} %"


def importance(learned: Learned) -> Importance:
    """The shares of all parameters in what the model has learned."""
    effects = total_effects(learned, np.random.default_rng(0))
    return Importance(learned.space, effects / effects.sum())


def total_effects(learned: Learned, rng: Rng) -> Array:
    """T (D,), or a `HidimError` if there is no effect of any column."""
    dim = learned.space.dim
    count = POINTS if dim < WIDE else POINTS // 2
    points, anew = rng.random((count, dim)), rng.random((count, dim))
    effects = np.where(learned.had, _first_look(learned, points, anew), 0.0)
    strongest = np.argsort(-effects, kind="stable")[:STRONGEST]
    strongest = strongest[effects[strongest] > NEGLIGIBLE * effects.sum()]
    effects[strongest] = _jansen(learned, strongest, points, anew)
    if not effects.sum() > 1e-9:  # of a variance near 1
        raise HidimError("the model sees no effect of any parameter: the values look like noise alone")
    return effects


def _first_look(learned: Learned, points: Array, anew: Array) -> Array:
    """Rough total effects (D,): squared slopes for numbers, Jansen's formula on few points for labels."""
    kind, levels = learned.space.columns.kind, learned.space.columns.levels
    spread = (1.0 - levels**-2.0) / 12.0  # the variance of a uniform number of so many levels
    slopes = learned.slopes(learned.space.snap(points))
    effects: Array = np.mean(slopes**2, axis=0) * spread
    labels = np.flatnonzero((kind == Kind.LABEL) & (levels > 1))
    effects[labels] = _jansen(learned, labels, points[:GLANCE], anew[:GLANCE])
    return effects


def _jansen(learned: Learned, columns: Indices, points: Array, anew: Array) -> Array:
    """Total effects (k,) of k columns, by points of the cube (r, D) and others to draw columns from."""
    space = learned.space
    known = learned.mean(space.snap(points))
    effects = np.empty(len(columns))
    for place, column in enumerate(columns):
        moved = points.copy()
        moved[:, column] = anew[:, column]
        effects[place] = 0.5 * np.mean((learned.mean(space.snap(moved)) - known) ** 2)
    return effects
