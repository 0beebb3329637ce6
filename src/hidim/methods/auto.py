"""The method for those who do not want to choose one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hidim._types import Array
from hidim.methods.addtree import AddTree
from hidim.methods.base import Method, Suggestion, Task
from hidim.methods.baxus import Baxus
from hidim.methods.gp import GaussianProcess
from hidim.trial import History

#: Spaces with more columns than this are searched through an embedding.
LARGE = 5_000


@dataclass(frozen=True)
class Auto(Method):
    """The default: `gp`; `addtree` for conditional spaces; beyond 5000 columns `baxus`."""

    name: ClassVar[str] = "auto"

    def chosen(self, task: Task) -> Method:
        """The method that is used for a task."""
        if task.space.dim > LARGE:
            return Baxus()
        return AddTree() if task.space.is_conditional else GaussianProcess()

    def suggest(self, task: Task, history: History, rng: np.random.Generator) -> Suggestion:
        return self.chosen(task).suggest(task, history, rng)

    def means(self, task: Task, history: History) -> Array | None:
        return self.chosen(task).means(task, history)
