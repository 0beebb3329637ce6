"""Search without a model: random and Sobol points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidim._limits import COLUMNS_WRITTEN_DOWN
from hidim._types import Array, Rng
from hidim.embed import LazyVector, Uniform
from hidim.frame import Ground
from hidim.frame.novelty import Seen, unseen
from hidim.methods.base import Method
from hidim.optim.starts import sobol
from hidim.task import Suggestion, Task
from hidim.trial import History


@dataclass(frozen=True)
class RandomSearch(Method):
    """Independent uniform configurations: at each choice an option, then its parameters.

    Spaces of any size: vectors that are too long to be written down are lazy.
    """

    name: str = "random"

    def suggest(self, task: Task, history: History, number: int) -> Suggestion:
        rng, dim = task.rng(number), task.space.dim
        if dim > COLUMNS_WRITTEN_DOWN:
            cube = Uniform(dim, 1, int(rng.integers(2**32)))
            return Suggestion(task.space.decode(LazyVector(cube, np.ones(1), 0.0, 1.0)), {"way": "random"})
        return _new(task, history, rng.random((1, dim)), rng, "random")

    def means(self, task: Task, history: History) -> Array | None:
        return None


@dataclass(frozen=True)
class SobolSearch(Method):
    """A scrambled Sobol sequence: fills the space more evenly than random points."""

    name: str = "sobol"

    def check(self, task: Task) -> None:
        task.space.check_dense()

    def suggest(self, task: Task, history: History, number: int) -> Suggestion:
        self.check(task)
        return _new(task, history, self._point(task, number), task.rng(number), "sobol")

    def _point(self, task: Task, index: int) -> Array:
        """Point `index` of the task's sequence, as (1, D)."""
        block: Array | None = task.memo.get(self, "points")
        if block is None or len(block) <= index:
            block = sobol(task.space.dim, max(16, 2 ** int(index).bit_length()), task.seed)
            task.memo.keep(self, "points", block)
        return block[index : index + 1]

    def means(self, task: Task, history: History) -> Array | None:
        return None


def _new(task: Task, history: History, point: Array, rng: Rng, way: str) -> Suggestion:
    seen = Seen.in_all(task, history)
    return unseen(Ground(task.space), seen, task.space.snap(point), rng, {"way": way})
