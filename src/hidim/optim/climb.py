"""The ways to climb from many starts as one batch, by name."""

from __future__ import annotations

from typing import Literal, Protocol

from hidim._types import Array
from hidim.optim.adam import adam
from hidim.optim.base import Objective
from hidim.optim.lbfgs import ascend

ClimberName = Literal["l-bfgs", "adam"]


class Climber(Protocol):
    """Climbs from every row of `starts`, each inside its own box: see `ascend`."""

    def __call__(
        self,
        objective: Objective,
        starts: Array,
        lower: Array,
        upper: Array,
        *,
        max_calls: int,
        tolerance: float,
    ) -> tuple[Array, Array, int]:
        """Points (r, p), scores (r,), number of points scored."""


CLIMBERS: dict[str, Climber] = {"l-bfgs": ascend, "adam": adam}
