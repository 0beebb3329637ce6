"""Problems some of whose parameters exist only when others take certain values."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hidim._types import Array, Params
from hidim.bench.base import TreeProblem

if TYPE_CHECKING:
    from hidim.space import Space

# x1 decides which r in [0, 1] and which second choice exist; that choice decides which number in [-1, 1] is
# squared, and its offset.
_BRANCHES = {
    "0": ("r8", "x2", {"0": ("x4", 0.1), "1": ("x5", 0.2)}),
    "1": ("r9", "x3", {"0": ("x6", 0.3), "1": ("x7", 0.4)}),
}


@dataclass(frozen=True)
class Jenatton(TreeProblem):
    """The synthetic tree function of Jenatton et al. and Add-Tree: square + offset + r, minimum 0.1.

    Args:
        shifts: added to the squared number of every leaf, by its name; otherwise its minimiser is the centre.
    """

    name: str = "jenatton"
    optimum: float = 0.1
    noise: float = 0.0
    shifts: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    def space(self) -> Space:
        from hidim.space import Choice, Float, Space

        def branch(linear: str, choice: str, leaves: dict[str, tuple[str, float]]) -> Space:
            options = {label: Space({square: Float(-1.0, 1.0)}) for label, (square, _) in leaves.items()}
            return Space({linear: Float(0.0, 1.0), choice: Choice(options)})

        return Space({"x1": Choice({label: branch(*parts) for label, parts in _BRANCHES.items()})})

    def value(self, params: Params) -> float:
        linear, choice, leaves = _BRANCHES[params["x1"]]
        square, offset = leaves[params[choice]]
        shift = self.shifts[int(square[1]) - 4]
        return float((params[square] + shift) ** 2 + offset + params[linear])

    def is_best_branch(self, params: Params) -> bool:
        return (params["x1"], params.get("x2")) == ("0", "0")


def shifted_jenatton() -> Jenatton:
    """The same with minimisers that no method finds because it begins with the centre."""
    return Jenatton("jenatton-shifted", shifts=(0.37, -0.52, 0.18, -0.71))


@dataclass(frozen=True)
class DeepTree(TreeProblem):
    """A binary tree of choices whose nodes hold `width` numbers each; the root has none.

    The value is the offset of the leaf plus the sum over the nodes of the path of quadratics with a ripple,
    turned and stretched up to ten times, so that the numbers of a node interact. With `depth` 3 and `width` 4
    it has the shape of Add-Tree's networks (§5.3): 7 choices and 56 numbers, of which 12 exist at a time.
    """

    name: str
    depth: int
    width: int
    optimum: float = 0.0
    noise: float = 0.0
    nodes: dict[str, tuple[Array, Array, float]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        paths = [format(i, f"0{d}b") for d in range(1, self.depth + 1) for i in range(2**d)]
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        leaves = rng.permutation(2**self.depth) / 2**self.depth
        for path in paths:
            turn = np.linalg.qr(rng.standard_normal((self.width, self.width)))[0]
            offset = leaves[int(path, 2)] if len(path) == self.depth else 0.0
            self.nodes[path] = rng.uniform(0.2, 0.8, self.width), turn, float(offset)

    def space(self) -> Space:
        from hidim.space import Choice, Float, Space

        def below(path: str) -> Space:
            numbers = {f"x{path}_{i}": Float(0.0, 1.0) for i in range(self.width if path else 0)}
            if len(path) == self.depth:
                return Space(numbers)
            return Space(numbers | {f"c{path}": Choice({label: below(path + label) for label in "01"})})

        return below("")

    def value(self, params: Params) -> float:
        total = 0.0
        for path in self._paths(params):
            centre, turn, offset = self.nodes[path]
            away = turn @ (np.array([params[f"x{path}_{i}"] for i in range(self.width)]) - centre)
            stretched = away * np.logspace(0.0, 1.0, self.width)
            total += offset + float(stretched @ stretched) / self.width / 4.0
            total += 0.05 * float(np.mean(1.0 - np.cos(6.0 * np.pi * away)))
        return total

    def is_best_branch(self, params: Params) -> bool:
        return self.nodes[self._paths(params)[-1]][2] == 0.0

    def _paths(self, params: Params) -> list[str]:
        """The nodes on the way to the leaf, each by the labels that lead there."""
        paths = [""]
        while len(paths[-1]) < self.depth:
            paths.append(paths[-1] + params[f"c{paths[-1]}"])
        return paths[1:]
