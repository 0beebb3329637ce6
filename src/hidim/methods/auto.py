"""The method for those who do not want to choose one."""

from __future__ import annotations

from dataclasses import dataclass

from hidim._limits import COLUMNS_WITHOUT_EMBEDDING
from hidim._types import Array
from hidim.methods.base import Method
from hidim.methods.baxus import BAXUS
from hidim.methods.default import DEFAULT
from hidim.task import Suggestion, Task
from hidim.trial import History


@dataclass(frozen=True)
class Auto(Method):
    """`default`; beyond 5000 columns `baxus`."""

    name: str = "auto"

    def chosen(self, task: Task) -> Method:
        return BAXUS if task.space.dim > COLUMNS_WITHOUT_EMBEDDING else DEFAULT

    def check(self, task: Task) -> None:
        self.chosen(task).check(task)

    def suggest(self, task: Task, history: History, number: int) -> Suggestion:
        return self.chosen(task).suggest(task, history, number)

    def means(self, task: Task, history: History) -> Array | None:
        return self.chosen(task).means(task, history)
