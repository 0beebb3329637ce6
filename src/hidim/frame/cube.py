"""The space itself: points are configurations in the unit cube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hidim._types import Rng
from hidim.frame.base import Frame, Ground, Scene
from hidim.frame.observe import observe
from hidim.task import Task
from hidim.trial import History


@dataclass(frozen=True)
class Cube(Frame):
    """All of the space, in its own coordinates."""

    embeds: ClassVar[bool] = False
    several: ClassVar[bool] = False

    def scene(self, task: Task, history: History, number: int, rng: Rng) -> Scene:
        return self._scene(task, history, number)

    def scenes(self, task: Task, history: History) -> list[Scene]:
        return [self._scene(task, history, len(history))]

    def _scene(self, task: Task, history: History, number: int) -> Scene:
        seen = observe(task, history)
        none = np.empty((0, task.space.dim))
        return Scene(task, history, Ground(task.space), history, number, seen, "cube", none)
