"""Columns of a space that may be grouped or mixed, and groups by the names of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from hidim._types import Indices
from hidim.errors import MethodError
from hidim.space import Space
from hidim.space.columns import Kind, kind_of
from hidim.space.nodes import everywhere, is_fork, tree


def together(space: Space) -> list[Indices]:
    """Columns that exist together, cell by cell: those of the nodes of the space's tree."""
    return [np.sort(node.columns) for node in everywhere(tree(space)) if len(node.columns)]


def mixable(space: Space) -> Indices:
    """Columns of numbers that always exist, and on which no others depend."""
    columns = [
        np.arange(vertex.start, vertex.start + vertex.parameter.width)
        for vertex in space.roots
        if kind_of(vertex.parameter) != Kind.LABEL and vertex.parameter.levels > 1 and not is_fork(vertex)
    ]
    return np.concatenate(columns, dtype=np.intp) if columns else np.empty(0, dtype=np.intp)


def named_groups(space: Space, groups: Sequence[Sequence[str]], cells: Iterable[Indices]) -> list[Indices]:
    """The columns of groups of parameters, each inside a cell; parameters in no group are their own.

    Raises `MethodError` for names that the space does not have, and for groups that are not inside one.
    """
    columns = [np.concatenate([_columns(space, name) for name in group]) for group in groups]
    cells, found = list(cells), []
    for group in groups:
        _check_inside(space, group, cells)
    for cell in cells:
        inside = [np.intersect1d(group, cell) for group in columns]
        found += [group for group in inside if len(group)]
        alone = np.setdiff1d(cell, np.concatenate([np.empty(0, dtype=np.intp), *inside]))
        found += list(alone[:, None])
    return found


def _check_inside(space: Space, group: Sequence[str], cells: Sequence[Indices]) -> None:
    """That all parameters of a group exist wherever one of them does."""
    for cell in cells:
        inside = {name: bool(np.isin(_columns(space, name), cell).any()) for name in group}
        if any(inside.values()) and not all(inside.values()):
            here, missing = (next(n for n in group if inside[n] is wanted) for wanted in (True, False))
            places = [v.title for v in space.vertices if here in (v.name, v.title)]
            several = f"; {here!r} stands for {', '.join(map(repr, places))}: name one" * (len(places) > 1)
            raise MethodError(
                f"groups: {here!r} and {missing!r} do not always exist together: give groups of parameters "
                f"under the same option, or of those under none{several}"
            )


def _columns(space: Space, name: str) -> Indices:
    """The columns of a parameter, of all parameters of that name, or of one coordinate of a vector."""
    names = space.columns.names
    vertices = [v for v in space.vertices if name in (v.name, v.title)]
    if not vertices and name in names:
        return np.array([names.index(name)])
    if not vertices:
        known = [*names, *(v.title for v in space.vertices)]
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(dict.fromkeys(known[:10]))}"
        raise MethodError(f"groups: the space has no parameter {name!r}: {hint}")
    if not any(vertex.parameter.width for vertex in vertices):
        raise MethodError(f"groups: {name!r} has one value, and varies with no other: leave it out")
    if any(is_fork(vertex) for vertex in vertices):
        raise MethodError(
            f"groups: parameters depend on {name!r}, so it is a branch of its own: leave it out"
        )
    return np.concatenate([np.arange(v.start, v.start + v.parameter.width) for v in vertices])


def as_groups(groups: Any) -> tuple[tuple[str, ...], ...]:
    """Groups of names that can be hashed and saved; anything else is refused."""
    plain = groups if isinstance(groups, list | tuple) else ()
    if not plain or not all(isinstance(group, list | tuple) and group for group in plain):
        raise MethodError(f"groups={groups!r}: lists of names of parameters, as [['a', 'b'], ['c']]")
    return tuple(tuple(map(str, group)) for group in plain)
