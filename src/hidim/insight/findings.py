"""What there is to tell of a history and its model, and how far the model is to be trusted."""

from __future__ import annotations

from typing import Protocol

from hidim._types import Array
from hidim.insight.branches import Branches
from hidim.insight.components import Components
from hidim.insight.importance import Importance
from hidim.insight.interactions import Interactions
from hidim.insight.learned import Learned
from hidim.space import Space
from hidim.space.tree import Vertex
from hidim.trial import History, Trial

#: Below the first R² on left-out trials the model is a guess, from the second on it is good.
POOR, GOOD = 0.2, 0.6


class Findings(Protocol):
    """What there is to tell of; `Insight` finds it out."""

    space: Space
    history: History
    maximize: bool
    pruned: int

    @property
    def best(self) -> Trial: ...

    @property
    def ranked(self) -> list[Trial]: ...

    @property
    def points(self) -> Array: ...

    @property
    def learned(self) -> Learned: ...

    def importance(self) -> Importance: ...

    def branches(self) -> Branches: ...

    def components(self) -> Components: ...

    def interactions(self) -> Interactions: ...

    def vertex(self, column: int) -> Vertex: ...


def trust(quality: float) -> str:
    if quality < POOR:
        return "a guess, for it hardly predicts left-out trials"
    return f"{'it' if quality >= GOOD else 'roughly: it'} predicts left-out trials with R² = {quality:.2f}"
