"""The tree of a conditional space: where parameters stand, which names clash, which are one and the same.

A *place* is a parameter together with the choices that lead to it. A *vertex* is a parameter with columns of
its own. They differ only for shared parameters: several places, one vertex. So the vertices form a directed
acyclic graph in which the places of a shared parameter are the edges that lead to it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from hidim._limits import CHOICES_NESTED
from hidim.errors import SpaceError
from hidim.space.labels import Label
from hidim.space.parameters import Choice, Float, Int, Parameter, Vector

Trail = tuple[tuple[str, Label], ...]

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Place:
    """A parameter and the (choice, label) pairs under which it is active."""

    path: Trail
    name: str
    parameter: Parameter

    def __str__(self) -> str:
        return title(self.path, self.name)


@dataclass(frozen=True, eq=False)
class Vertex:
    """A parameter with columns of its own; one with a single value has none.

    Args:
        name: the key in a configuration.
        parameter: its definition.
        start: its first column, or that of the next one that has any.
        title: a readable name that differs from that of every other vertex, as "model=svm/C".
        branches: for every option of a choice, the vertices that it makes active; empty for other parameters.
    """

    name: str
    parameter: Parameter
    start: int
    title: str
    branches: tuple[tuple[Vertex, ...], ...] = field(default=(), repr=False)

    @property
    def columns(self) -> slice:
        return slice(self.start, self.start + self.parameter.width)

    def along(self, column: int) -> Float | Int | Choice:
        """What varies in one of its columns: a coordinate of a vector, or the parameter itself."""
        parameter = self.parameter
        return parameter.coordinate(column - self.start) if isinstance(parameter, Vector) else parameter


def title(path: Trail, name: str) -> str:
    """A path as text.

    Example:
        >>> title((("model", "svm"),), "C")
        'model=svm/C'
    """
    return "/".join([*(f"{choice}={label}" for choice, label in path), name])


def walk(space: Mapping[str, Parameter], path: Trail = ()) -> Iterator[Place]:
    """All places, depth first in the order of declaration."""
    for name, parameter in space.items():
        yield Place(path, name, parameter)
        if isinstance(parameter, Choice):
            for option in parameter.options:
                yield from walk(option.space, (*path, (name, option.label)))


def check_tree(space: Mapping[str, Parameter]) -> None:
    """Refuse names that clash and shared parameters that differ."""
    _reachable(space, ())
    _check_shared(space)


def _reachable(space: Mapping[str, Parameter], path: Trail) -> dict[str, Place]:
    """A place for every name in the tree below `path`; refuses two that can be active at the same time."""
    check_depth(path)
    found: dict[str, Place] = {}
    for name, parameter in space.items():
        branch: dict[str, Place] = {}
        if isinstance(parameter, Choice):
            for option in parameter.options:
                branch = _reachable(option.space, (*path, (name, option.label))) | branch
        for other in (Place(path, name, parameter), *branch.values()):
            if other.name in found:
                _refuse_clash(found[other.name], other)
            found[other.name] = other
    return found


def check_depth(path: Trail) -> None:
    """Refuse a tree that is too deep to be walked through."""
    if len(path) > CHOICES_NESTED:
        raise SpaceError(
            f"choices are nested more than {CHOICES_NESTED} deep, at {path[-1][0]!r}: put some of them side "
            "by side, or join several into one with more options"
        )


def _refuse_clash(first: Place, second: Place) -> None:
    hint = " (shared=True joins parameters of exclusive options only)" if second.parameter.shared else ""
    raise SpaceError(
        f"the name {first.name!r} stands for two parameters that can be active together: "
        f"'{first}' and '{second}'; rename one of them{hint}"
    )


def _check_shared(space: Mapping[str, Parameter]) -> None:
    first: dict[str, Place] = {}
    places = list(walk(space))
    shared = {place.name: place for place in places if place.parameter.shared}
    for place in places:
        if not place.parameter.shared:
            if place.name in shared:
                raise SpaceError(
                    f"the parameter {place.name!r} is shared at '{shared[place.name]}' and not at '{place}': "
                    "say shared=True at both, or at none"
                )
            continue
        earlier = first.setdefault(place.name, place)
        if earlier.parameter != place.parameter:
            raise SpaceError(
                f"the shared parameter {place.name!r} has two definitions: '{earlier}' is "
                f"{earlier.parameter} and '{place}' is {place.parameter}; make them equal or drop shared=True"
            )


def grow(space: Mapping[str, Parameter]) -> tuple[Vertex, ...]:
    """The vertices at the root of a checked space; the others hang on their branches."""
    return _Growth().grow(space, ())


class _Growth:
    """Hands out columns depth first, and remembers shared vertices by name."""

    def __init__(self) -> None:
        self._next_column = 0
        self._shared: dict[str, Vertex] = {}

    def grow(self, space: Mapping[str, Parameter], path: Trail) -> tuple[Vertex, ...]:
        return tuple(self._vertex(path, name, parameter) for name, parameter in space.items())

    def _vertex(self, path: Trail, name: str, parameter: Parameter) -> Vertex:
        if not parameter.shared:
            return self._new(path, name, parameter)
        if name not in self._shared:
            # No path: a shared parameter belongs to no option in particular.
            self._shared[name] = self._new((), name, parameter)
        return self._shared[name]

    def _new(self, path: Trail, name: str, parameter: Parameter) -> Vertex:
        start = self._next_column
        self._next_column += parameter.width
        branches: tuple[tuple[Vertex, ...], ...] = ()
        if isinstance(parameter, Choice):
            branches = tuple(self.grow(o.space, (*path, (name, o.label))) for o in parameter.options)
        return Vertex(name, parameter, start, title(path, name), branches)


def descendants(roots: tuple[Vertex, ...]) -> tuple[Vertex, ...]:
    """Every vertex once, in the order of its columns."""
    found: dict[Vertex, None] = {}
    stack = [*reversed(roots)]
    while stack:
        vertex = stack.pop()
        if vertex not in found:
            found[vertex] = None
            stack.extend(reversed([child for branch in vertex.branches for child in branch]))
    # Those without a column come before the one that starts where they do: the last of them has the column.
    return tuple(sorted(found, key=lambda vertex: (vertex.start, vertex.parameter.width)))


def always_active(vertices: tuple[Vertex, ...]) -> frozenset[Vertex]:
    """The vertices that are active whenever these are: what every option of a choice has in common, too."""
    return _always(vertices, lambda vertex: vertex)


def always_named(vertices: tuple[Vertex, ...]) -> frozenset[str]:
    """The names that stand for a parameter whenever these are active, if for another in every option."""
    return _always(vertices, lambda vertex: vertex.name)


def _always(vertices: tuple[Vertex, ...], told: Callable[[Vertex], T]) -> frozenset[T]:
    found = {told(vertex) for vertex in vertices}
    for vertex in vertices:
        if vertex.branches:
            found |= frozenset.intersection(*(_always(branch, told) for branch in vertex.branches))
    return frozenset(found)
