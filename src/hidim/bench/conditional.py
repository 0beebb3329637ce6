"""Problems some of whose parameters exist only when others take certain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hidim._types import Params
from hidim.bench.base import Problem, Suggest

if TYPE_CHECKING:
    from hidim.space import Space

# x1 decides which r in [0, 1] and which second choice exist; that choice decides which number in [-1, 1] is
# squared, and its offset.
_BRANCHES = {
    "0": ("r8", "x2", {"0": ("x4", 0.1), "1": ("x5", 0.2)}),
    "1": ("r9", "x3", {"0": ("x6", 0.3), "1": ("x7", 0.4)}),
}


@dataclass(frozen=True)
class Jenatton(Problem):
    """The synthetic tree function of Jenatton et al. and Add-Tree: square + offset + r, minimum 0.1."""

    name: str = "jenatton"
    optimum: float = 0.1
    noise: float = 0.0

    def space(self) -> Space:
        from hidim.space import Choice, Float, Space

        def branch(linear: str, choice: str, leaves: dict[str, tuple[str, float]]) -> Space:
            options = {label: Space({square: Float(-1.0, 1.0)}) for label, (square, _) in leaves.items()}
            return Space({linear: Float(0.0, 1.0), choice: Choice(options)})

        return Space({"x1": Choice({label: branch(*parts) for label, parts in _BRANCHES.items()})})

    def draw(self, suggest: Suggest) -> Params:
        first = suggest.label("x1", tuple(_BRANCHES))
        linear, choice, leaves = _BRANCHES[first]
        second = suggest.label(choice, tuple(leaves))
        square, _ = leaves[second]
        return {
            "x1": first,
            linear: suggest.real(linear, 0.0, 1.0),
            choice: second,
            square: suggest.real(square, -1.0, 1.0),
        }

    def value(self, params: Params) -> float:
        linear, choice, leaves = _BRANCHES[params["x1"]]
        square, offset = leaves[params[choice]]
        return float(params[square] ** 2 + offset + params[linear])
