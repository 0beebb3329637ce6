"""What each column of the unit cube is, as arrays that numerical code can index."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from hidim._limits import COLUMNS_WRITTEN_DOWN
from hidim._types import Array, Mask
from hidim.errors import SpaceError
from hidim.space.encoding import Layout
from hidim.space.parameters import Choice, Float, Int, Parameter, Vector
from hidim.space.tree import Vertex


class Kind(IntEnum):
    """How the values of a column compare.

    `INTEGER` columns have levels in an order: integers, real numbers in steps, and ordered choices.
    """

    CONTINUOUS = 0
    INTEGER = 1
    LABEL = 2


@dataclass(frozen=True, eq=False)
class Columns:
    """One entry per column; the arrays are read-only.

    Args:
        kind: codes of `Kind`, (D,).
        levels: number of distinct values, inf where continuous, (D,).
        conditional: whether the column is inactive in some configurations, (D,).
    """

    kind: NDArray[np.int8]
    levels: Array
    conditional: Mask
    _vertices: tuple[Vertex, ...] = field(repr=False)

    @classmethod
    def of(cls, layout: Layout) -> Columns:
        if layout.dim > COLUMNS_WRITTEN_DOWN:
            raise SpaceError(
                f"the space has {layout.dim} columns, and a table of them is made for at most "
                f"{COLUMNS_WRITTEN_DOWN}; use a method that works through an embedding, as method='baxus'"
            )
        vertices = layout.vertices
        certain = set(vertices) - set(layout.conditional)
        widths = [vertex.parameter.width for vertex in vertices]
        kind = np.repeat(np.array([kind_of(v.parameter) for v in vertices], dtype=np.int8), widths)
        levels = np.repeat(np.array([v.parameter.levels for v in vertices], dtype=np.float64), widths)
        conditional = np.repeat(np.array([v not in certain for v in vertices], dtype=np.bool_), widths)
        for array in (kind, levels, conditional):
            array.flags.writeable = False
        return cls(kind, levels, conditional, vertices)

    def place(self, column: int, position: int) -> float:
        """Where an option stands in the column of its choice.

        Example:
            >>> from hidim.space import Choice, Space
            >>> Space(c=Choice("a", "b", "c", "d")).columns.place(0, 2)
            0.625
        """
        return float((position + 0.5) / self.levels[column])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A readable name per column, as "lr", "w[3]", "model=svm/C"; made on first use."""
        return tuple(name for vertex in self._vertices for name in _column_names(vertex))


def kind_of(parameter: Parameter) -> Kind:
    """What the columns of a parameter are."""
    match parameter:
        case Float(step=None) | Vector():
            return Kind.CONTINUOUS
        case Float() | Int() | Choice(ordered=True):
            return Kind.INTEGER
        case Choice():
            return Kind.LABEL
        case _:
            assert_never(parameter)


def _column_names(vertex: Vertex) -> list[str]:
    if isinstance(vertex.parameter, Vector):
        return [f"{vertex.title}[{i}]" for i in range(vertex.parameter.dim)]
    return [vertex.title] * vertex.parameter.width
