"""The map between configurations and points of the unit cube [0, 1]^D.

A row of the cube has one column for every scalar parameter and `dim` columns for a `Vector`, in depth-first
order of declaration; columns of inactive parameters are NaN. Arithmetic loops over vertices of the tree only,
never over rows or over the coordinates of a vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, assert_never

import numpy as np

from hidim._limits import COORDINATES_KEPT
from hidim._types import Array, Indices, Mask, Params
from hidim.embed import LazyVector
from hidim.space.parameters import Choice, Float, Int, Parameter, Vector
from hidim.space.scales import LinearSteps, LogSteps, Spaced, UnitScale
from hidim.space.tree import Vertex, always_active, descendants, grow

# A configuration that went through text may overshoot a bound by rounding; more than this is an error.
SLACK = 1e-9


class UnfitError(Exception):
    """A configuration that cannot be encoded as it stands; `validate` can say why, or mend it."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The vertices of a space and their columns.

    Args:
        roots: the vertices that are not inside any option.
        vertices: all vertices, in the order of their columns.
    """

    roots: tuple[Vertex, ...]
    vertices: tuple[Vertex, ...]

    @classmethod
    def of(cls, space: Mapping[str, Parameter]) -> Layout:
        roots = grow(space)
        return cls(roots, descendants(roots))

    @cached_property
    def dim(self) -> int:
        return sum(vertex.parameter.width for vertex in self.vertices)

    @cached_property
    def conditional(self) -> tuple[Vertex, ...]:
        """The vertices with columns that are inactive in some configurations."""
        certain = always_active(self.roots)
        return tuple(v for v in self.vertices if v.parameter.width and v not in certain)

    @cached_property
    def _grids(self) -> tuple[tuple[Indices, UnitScale], ...]:
        """Columns with finitely many levels, and the scale that serves them all at once; linear, then log."""
        bounds: dict[type, list[tuple[int, int, int]]] = {LinearSteps: [], LogSteps: []}
        for vertex in self.vertices:
            match vertex.parameter:
                case Int(low=low, high=high, log=True, width=1):
                    bounds[LogSteps].append((vertex.start, low, high))
                case Int(width=1) | Choice(width=1) | Float(steps=Spaced(), width=1) as parameter:
                    bounds[LinearSteps].append((vertex.start, 0, int(parameter.levels) - 1))
        grids = []
        for scale, rows in bounds.items():
            if rows:
                columns, low, high = np.array(rows, dtype=np.intp).T
                grids.append((columns, scale(low.astype(np.float64), high.astype(np.float64))))
        return tuple(grids)

    def snap(self, U: Array) -> Array:
        """The nearest representable point of every row; (n, D) to (n, D)."""
        snapped = fill_and_clip(U)
        for columns, scale in self._grids:
            snapped[:, columns] = scale.to_unit(scale.from_unit(snapped[:, columns]))
        if self.conditional:
            active = self._activity(snapped)
            for vertex in self.conditional:
                snapped[~active[vertex], vertex.columns] = np.nan
        return snapped

    def _activity(self, U: Array) -> dict[Vertex, Mask]:
        """For every vertex, the rows (n,) in which it is active; `U` is complete."""
        active = {vertex: np.zeros(len(U), dtype=np.bool_) for vertex in self.vertices}

        def mark(vertices: tuple[Vertex, ...], rows: Mask) -> None:
            for vertex in vertices:
                active[vertex] |= rows
                if any(vertex.branches):
                    option = vertex.parameter.scale.from_unit(U[:, vertex.start])
                    for i, branch in enumerate(vertex.branches):
                        mark(branch, rows & (option == i))

        mark(self.roots, np.ones(len(U), dtype=np.bool_))
        return active

    def decode(self, u: Array | LazyVector) -> Params:
        """The configuration of one row (D,). Long vectors of a lazy row stay lazy."""
        return dict(self._values(self.roots, u))

    def _values(self, vertices: tuple[Vertex, ...], u: Array | LazyVector) -> Iterator[tuple[str, Any]]:
        for vertex in vertices:
            if isinstance(u, LazyVector) and vertex.parameter.width > COORDINATES_KEPT:
                yield vertex.name, _part(u, vertex)
                continue
            part = u[vertex.columns] if vertex.parameter.width else np.zeros(1)  # fixed: all have one value
            values = vertex.parameter.scale.from_unit(fill_and_clip(part))
            match vertex.parameter:
                case Float():
                    yield vertex.name, float(values[0])
                case Int():
                    yield vertex.name, int(values[0])
                case Vector():
                    yield vertex.name, values
                case Choice(options=options):
                    position = int(values[0])
                    yield vertex.name, options[position].label
                    yield from self._values(vertex.branches[position], u)
                case _:
                    assert_never(vertex.parameter)

    def encode(self, configurations: Sequence[Mapping[str, Any]]) -> Array:
        """The rows (n, D) of n configurations; raises `UnfitError` if one does not fit as it stands."""
        encoded = np.full((len(configurations), self.dim), np.nan)

        def fill(vertices: tuple[Vertex, ...], rows: Indices) -> None:
            members = [configurations[row] for row in rows.tolist()]
            for vertex in vertices:
                values = _stack(vertex.parameter, [params[vertex.name] for params in members])
                encoded[_as_slice(rows, len(encoded)), vertex.columns] = _to_unit(vertex.parameter, values)
                for i, branch in enumerate(vertex.branches):
                    if branch:
                        fill(branch, rows[values[:, 0] == i])

        try:
            fill(self.roots, np.arange(len(configurations)))
        except (KeyError, TypeError, ValueError) as error:
            raise UnfitError from error
        return encoded


def _part(u: LazyVector, vertex: Vertex) -> LazyVector:
    """The columns of a vector, in its own range."""
    match vertex.parameter:
        case Vector(dim=dim, range=(low, high, log)):
            return LazyVector(u.embedding, u.y, low, high, vertex.start, dim, log)
        case _:
            raise TypeError(f"{vertex.parameter} is no vector")


def fill_and_clip(U: Array) -> Array:
    """A copy within [0, 1], of the same shape, with NaN replaced by 1/2.

    Example:
        >>> fill_and_clip(np.array([-0.1, np.nan, 0.7])).tolist()
        [0.0, 0.5, 0.7]
    """
    filled: Array = np.clip(U, 0.0, 1.0)
    missing = np.isnan(filled)
    if missing.any():
        filled[missing] = 0.5
    return filled


def _stack(parameter: Parameter, values: list[Any]) -> Array:
    """Values (labels: their positions) as an array (m, width); fixed ones, which are only checked, (m, 1)."""
    if isinstance(parameter, Choice):
        values = [parameter.positions[value] for value in values]
    return np.array(values, dtype=np.float64).reshape(len(values), parameter.width or 1)


def _to_unit(parameter: Parameter, values: Array) -> Array:
    """Values (m, width) as columns, refused if one lies outside its bounds or between two levels."""
    u = parameter.scale.to_unit(values)
    match parameter:
        case Int(steps=None):
            fit = np.array_equal(values, np.rint(values))
        case Int(steps=Spaced() as steps) | Float(steps=Spaced() as steps):
            fit = np.array_equal(values, steps.at(np.rint(steps.positions(values))))
        case _:
            fit = True
    if not fit:
        raise UnfitError
    # Written so that NaN is refused.
    if u.size and not (u.min() >= -SLACK and u.max() <= 1.0 + SLACK):
        raise UnfitError
    return np.clip(u, 0.0, 1.0, out=u)


def _as_slice(rows: Indices, n: int) -> Indices | slice:
    """All rows as a slice, which numpy assigns to several times faster."""
    return slice(None) if len(rows) == n else rows
