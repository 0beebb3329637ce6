"""Where the nodes of a conditional space stand in a picture of its tree.

The options of a fork stand to the right of the node that has the fork, parameters that several options share
to the right of everything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hidim._types import Array
from hidim.insight import Branch, Branches
from hidim.space.nodes import Node

#: Nodes in a picture, and in one whose boxes are large.
MOST, ROOMY = 60, 16
#: Additional distance, in rows, between the options of two forks of one node.
APART = 0.35


class Size(NamedTuple):
    """Width and height of a box, and the distances from column to column and from row to row, in inches."""

    width: float
    height: float
    across: float
    down: float


LARGE, LITTLE = Size(2.05, 0.70, 2.55, 0.98), Size(1.62, 0.40, 1.98, 0.56)


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Places of boxes.

    Args:
        shown: nodes that are drawn, parents first.
        at: column from the left and row from the top of each, by its id; neither need be whole.
        size: of the boxes.
        left_out: how many nodes there are besides.
    """

    shown: tuple[Branch, ...]
    at: dict[int, tuple[float, float]]
    size: Size
    left_out: int

    @property
    def rows(self) -> tuple[float, float]:
        """The first and the last."""
        rows = [row for _, row in self.at.values()]
        return min(rows), max(rows)

    @property
    def width(self) -> float:
        return self.size.across * max(column for column, _ in self.at.values()) + self.size.width + 0.1

    @property
    def height(self) -> float:
        first, last = self.rows
        return self.size.down * (last - first + 1.2)


def lay_out(known: Branches, *, maximize: bool, most: int = MOST, roomy: int = ROOMY) -> Arrangement:
    """Places for the best `most` nodes, in large boxes if there are at most `roomy`."""
    shown = _best(known, most, maximize=maximize)
    at = _tree_places(known.root, {id(branch.node) for branch in shown})
    _place_shared(shown, at)
    return Arrangement(shown, at, LARGE if len(shown) <= roomy else LITTLE, len(known.all) - len(shown))


def below(node: Node) -> Iterator[Node]:
    """What a node leads to."""
    for fork in node.forks:
        yield from fork.options
    yield from node.beside


def _best(known: Branches, most: int, *, maximize: bool) -> tuple[Branch, ...]:
    """The best nodes by their best values, and all that lead to them; those of the best trial come first."""

    def badness(branch: Branch) -> tuple[bool, float, float]:
        expected = branch.expected.value if branch.expected else 0.0
        value = np.inf if branch.best is None else branch.best.loss(maximize=maximize)
        return not branch.leads, value, -expected if maximize else expected

    above: dict[int, set[int]] = defaultdict(set)
    for branch in known.all:
        for node in below(branch.node):
            above[id(node)].add(id(branch.node))
    kept: set[int] = set()
    for branch in sorted(known.all, key=badness):
        wanted, stack = set(), [id(branch.node)]
        while stack:
            node_id = stack.pop()
            wanted.add(node_id)
            stack += above[node_id] - wanted - kept
        if len(kept | wanted) <= most:
            kept |= wanted
    return tuple(branch for branch in known.all if id(branch.node) in kept)


def _tree_places(root: Node, kept: set[int]) -> dict[int, tuple[float, float]]:
    """Column and row of every node but shared ones and what follows from these."""
    at: dict[int, tuple[float, float]] = {}
    next_row = 0.0

    def place(node: Node, column: float) -> float:
        nonlocal next_row
        rows: list[float] = []
        for fork in node.forks:
            next_row += APART if rows else 0.0
            rows += [place(option, column + 1.0) for option in fork.options if id(option) in kept]
        if not rows:
            rows.append(next_row)
            next_row += 1.0
        at[id(node)] = column, (rows[0] + rows[-1]) / 2.0
        return at[id(node)][1]

    place(root, 0.0)
    return at


def _place_shared(shown: Sequence[Branch], at: dict[int, tuple[float, float]]) -> None:
    """Adds those, column by column, at the height of the nodes that lead to them."""
    while missing := [branch.node for branch in shown if id(branch.node) not in at]:
        column = 1.0 + max(column for column, _ in at.values())
        wishes = []
        for node in missing:
            parents = [id(branch.node) for branch in shown if node in below(branch.node)]
            if all(parent in at for parent in parents):
                wishes.append((float(np.mean([at[parent][1] for parent in parents])), node))
        wishes.sort(key=lambda wish: wish[0])
        rows = apart(np.array([row for row, _ in wishes]))
        at.update((id(node), (column, row)) for (_, node), row in zip(wishes, rows.tolist(), strict=True))


def apart(rows: Array) -> Array:
    """Increasing rows (n,), moved no more than needed to be at least 1 from each other.

    Example:
        >>> apart(np.array([0.0, 3.0, 3.0, 3.5])).round(2).tolist()
        [0.0, 2.17, 3.17, 4.17]
    """
    moved = rows.astype(np.float64)
    for end in range(1, len(rows) + 1):
        for begin in range(end - 1, -1, -1):  # rows in each other's way are centred on their wishes
            steps = np.arange(end - begin)
            moved[begin:end] = np.mean(rows[begin:end] - steps) + steps
            if begin == 0 or moved[begin] - moved[begin - 1] >= 1.0:
                break
    return moved
