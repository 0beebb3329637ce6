"""The nodes of a conditional space: parameters that exist together, and the forks that lead from them.

What Add-Tree calls a vertex is a *node* here: the numbers and the plain labels that the root or one option
declares. A choice with parameters under some of its options is a *fork*; its options are nodes again. A
configuration follows one option at every fork that it meets, so that the nodes on its way form an AND/OR
tree: all forks of a node, one option of each. Parameters that several options share are a node of their own,
reached from each of these options.

    Space(lr, model=Choice(svm=Space(C, gamma), tree=Space(depth)))

        root {lr} ── model ┬── model=svm {C, gamma}
                           └── model=tree {depth}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Indices, Mask
from hidim.space.columns import Columns, Kind, kind_of
from hidim.space.parameters import Choice
from hidim.space.space import Space
from hidim.space.tree import Vertex


@dataclass(frozen=True, eq=False)
class Node:
    """Parameters that exist together.

    Args:
        title: readable, as "model=svm"; "" for the root.
        vertices: the node's own parameters, forks left out.
        forks: one option of each is followed.
        beside: nodes that exist wherever this one does, because they are shared with others.
        gate: the column and the position of the label that leads here; None for the root and shared nodes.
    """

    title: str
    vertices: tuple[Vertex, ...]
    forks: tuple[Fork, ...] = field(repr=False)
    beside: tuple[Node, ...] = field(repr=False)
    gate: tuple[int, int] | None = None

    @cached_property
    def numbers(self) -> Indices:
        """The columns of its numbers, ordered choices among them."""
        return _columns(v for v in self.vertices if kind_of(v.parameter) != Kind.LABEL)

    @cached_property
    def labels(self) -> Indices:
        """The columns of its plain labels that have no order."""
        return _columns(v for v in self.vertices if kind_of(v.parameter) == Kind.LABEL)

    @cached_property
    def columns(self) -> Indices:
        return np.concatenate([self.numbers, self.labels])


@dataclass(frozen=True, eq=False)
class Fork:
    """A choice, and the node of each of its options."""

    vertex: Vertex
    options: tuple[Node, ...]


def tree(space: Space) -> Node:
    """The root of the tree of nodes of a space."""
    return _Growth(space.roots).node("", space.roots, None)


def everywhere(root: Node) -> tuple[Node, ...]:
    """Every node below and including `root` once, parents first."""
    found: dict[int, Node] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) not in found:
            found[id(node)] = node
            below = [option for fork in node.forks for option in fork.options]
            stack.extend(reversed([*node.beside, *below]))
    return tuple(found.values())


def count_paths(root: Node) -> int:
    """The number of ways to decide at all forks."""
    known: dict[int, int] = {}

    def count(node: Node) -> int:
        if id(node) not in known:
            ways = 1
            for other in node.beside:
                ways *= count(other)
            for fork in node.forks:
                ways *= sum(map(count, fork.options))
            known[id(node)] = ways
        return known[id(node)]

    return count(root)


def every_path(root: Node) -> Iterator[tuple[Node, ...]]:
    """The nodes of every path, `root` first."""
    sides = [every_path(other) for other in root.beside]
    ways = [chain.from_iterable(map(every_path, fork.options)) for fork in root.forks]
    for parts in product(*sides, *ways):
        yield (root, *chain.from_iterable(parts))


class Branch(NamedTuple):
    """Configurations that take one option.

    Args:
        title: readable, as "model=svm".
        gates: the columns and the places of the labels that lead there, that of the option last.
        size: how many parameters it brings in.
    """

    title: str
    gates: tuple[tuple[int, float], ...]
    size: int

    def holds(self, points: Array) -> Mask:
        """Which of `points` (n, D) it has, as (n,)."""
        columns, places = map(list, zip(*self.gates, strict=True))
        return np.asarray(np.all(points[:, columns] == places, axis=1))

    def entered(self, points: Array) -> Array:
        """Points (n, D) with the labels that lead there."""
        moved = points.copy()
        for column, place in self.gates:
            moved[:, column] = place
        return moved


def beside(
    node: Node, columns: Columns, point: Array, gates: tuple[tuple[int, float], ...] = ()
) -> Iterator[Branch]:
    """The options at the forks on the way of `point` (D,) that it does not take.

    Args:
        gates: that lead to the node.
    """
    for other in node.beside:
        yield from beside(other, columns, point, gates)
    for fork in node.forks:
        for option in fork.options:
            if option.gate is not None:
                way = (*gates, (option.gate[0], columns.place(*option.gate)))
                if way[-1][1] == point[option.gate[0]]:
                    yield from beside(option, columns, point, way)
                else:
                    yield Branch(option.title, way, sum(len(n.columns) for n in everywhere(option)))


def is_fork(vertex: Vertex) -> bool:
    """Whether parameters that vary hang on the options of this one."""
    return any(child.parameter.width for branch in vertex.branches for child in branch)


class _Growth:
    """Makes nodes; a shared one once."""

    def __init__(self, roots: tuple[Vertex, ...]) -> None:
        self._places: dict[Vertex, set[int]] = defaultdict(set)  # of shared vertices
        self._made: dict[frozenset[int], Node] = {}
        self._survey(roots, set())

    def _survey(self, vertices: tuple[Vertex, ...], done: set[Vertex]) -> None:
        for vertex in vertices:
            if vertex.parameter.shared:
                self._places[vertex].add(id(vertices))
            if vertex not in done:
                done.add(vertex)
                for branch in vertex.branches:
                    self._survey(branch, done)

    def node(self, title: str, vertices: tuple[Vertex, ...], gate: tuple[int, int] | None) -> Node:
        own = [v for v in vertices if len(self._places.get(v, ())) < 2]
        together: dict[frozenset[int], list[Vertex]] = defaultdict(list)
        for vertex in vertices:
            if len(self._places.get(vertex, ())) > 1:
                together[frozenset(self._places[vertex])].append(vertex)
        beside = tuple(self._shared(places, shared) for places, shared in together.items())
        return Node(title, _plain(own), self._forks(own), beside, gate)

    def _shared(self, places: frozenset[int], vertices: list[Vertex]) -> Node:
        if places not in self._made:
            title = " & ".join(vertex.name for vertex in vertices)
            self._made[places] = Node(title, _plain(vertices), self._forks(vertices), ())
        return self._made[places]

    def _forks(self, vertices: Iterable[Vertex]) -> tuple[Fork, ...]:
        return tuple(self._fork(vertex) for vertex in vertices if is_fork(vertex))

    def _fork(self, vertex: Vertex) -> Fork:
        labels = vertex.parameter.labels if isinstance(vertex.parameter, Choice) else ()
        branches = zip(labels, vertex.branches, strict=True)
        return Fork(
            vertex,
            tuple(
                self.node(f"{vertex.title}={label}", branch, (vertex.start, position))
                for position, (label, branch) in enumerate(branches)
            ),
        )


def _plain(vertices: Iterable[Vertex]) -> tuple[Vertex, ...]:
    return tuple(vertex for vertex in vertices if not is_fork(vertex))


def _columns(vertices: Iterable[Vertex]) -> Indices:
    columns = [np.arange(v.start, v.start + v.parameter.width) for v in vertices]
    return np.concatenate(columns, dtype=np.intp) if columns else np.empty(0, dtype=np.intp)
