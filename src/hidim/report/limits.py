"""How much of a run a page holds: what is beyond is left out, and the page says so."""

from __future__ import annotations

from dataclasses import dataclass, fields

#: Bytes that a page may have.
LARGEST = 4_800_000


@dataclass(frozen=True)
class Limits:
    """The most of each thing.

    Args:
        trials: rows of the table.
        cells: values of parameters, rows times columns.
        parameters: that are listed, coordinates of vectors singly.
        labels: of one choice.
        slices: of the model.
        name, reason, words: characters of each.
        groups: reasons of failures, nodes of a tree, groups of a sum.
        coordinates: of all vectors of the configuration to copy.
    """

    trials: int = 10_000
    cells: int = 250_000
    parameters: int = 5_000
    labels: int = 200
    slices: int = 24
    name: int = 160
    reason: int = 2_000
    words: int = 30_000
    groups: int = 200
    coordinates: int = 20_000

    def smaller(self) -> Limits:
        """A third of everything."""
        return Limits(**{each.name: max(getattr(self, each.name) // 3, 6) for each in fields(self)})
