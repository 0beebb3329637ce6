"""Random and Sobol search, and the design with which model-based methods begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hidim._types import Array
from hidim.methods.base import Method, Suggestion, Task, observe
from hidim.methods.novelty import Seen
from hidim.optim.starts import sobol
from hidim.trial import History


@dataclass(frozen=True)
class Random(Method):
    """Independent uniform configurations: at each choice an option, then its parameters."""

    name: ClassVar[str] = "random"

    def suggest(self, task: Task, history: History, rng: np.random.Generator) -> Suggestion:
        return unseen(task, history, rng.random((1, task.space.dim)), rng, {})


@dataclass(frozen=True)
class Sobol(Method):
    """A scrambled Sobol sequence: fills the space more evenly than random points."""

    name: ClassVar[str] = "sobol"

    def suggest(self, task: Task, history: History, rng: np.random.Generator) -> Suggestion:
        return unseen(task, history, sobol_point(task, len(history)), rng, {})


def design(task: Task, history: History, rng: np.random.Generator) -> Suggestion:
    """The next point of an initial design: the centre of the space first, then Sobol points."""
    number = len(history)
    point = np.full((1, task.space.dim), 0.5) if number == 0 else sobol_point(task, number - 1)
    return unseen(task, history, point, rng, {"way": "design"})


def sobol_point(task: Task, index: int) -> Array:
    """Point `index` of the task's Sobol sequence, as (1, D)."""
    block: Array | None = task.memo.get("sobol")
    if block is None or len(block) <= index:
        block = sobol(task.space.dim, max(16, 2 ** int(index).bit_length()), task.seed)
        task.memo["sobol"] = block
    return block[index : index + 1]


def unseen(
    task: Task, history: History, points: Array, rng: np.random.Generator, meta: dict[str, Any]
) -> Suggestion:
    """The first of `points` (k, D) that is no repetition; if all are, another one, and `meta` says so."""
    space = task.space
    seen = observe(task, history)
    seen_points = Seen(np.vstack([seen.x, seen.avoid]))
    snapped = space.snap(points)
    point = seen_points.first_new(snapped)
    if point is None:
        point = seen_points.any_new(space, rng)
        meta = {**meta, "instead": "random" if point is not None else "repetition"}
    return Suggestion(space.decode(snapped[0] if point is None else point), meta)
