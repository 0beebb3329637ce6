"""All of the space and, when nothing is gained there any more, a window that follows the best point.

A model of all of the space takes for noise what is finer than the distances between trials, and then sees
nothing more to gain where it has found a basin. In the window, as wide as to hold the nearest trials, the
same method looks at the trials that lie there as if there were no others: with length-scales and a transform
of the losses of its own. What was noise from afar are slopes there. TuRBO (Eriksson et al. 2019) looks
through such windows alone.

    meta["window"] = half of the width, as a share of the range of every parameter
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hidim._types import Array, Rng
from hidim.frame.base import Frame, Ground, Scene
from hidim.frame.cube import Cube
from hidim.frame.noise import is_noisy
from hidim.frame.observe import Observations, given_variances, observe
from hidim.task import Task
from hidim.trial import History

#: Trials that a window holds, and without gain that end it: as many as there are columns, within limits.
#: Twice as many in all of the space that gained less than a share of what was gained before open one.
TRIALS, WORTH = (15, 50), 1e-4

#: The largest and the smallest half of a width.
WIDEST, NARROWEST = 0.25, 2.0**-17

#: Points on its edge are in it, though they went through the user's units and back.
SLACK = 1e-9


@dataclass(frozen=True)
class Window(Frame):
    """The cube and, while that gains nothing, every other time a window in it.

    Spaces of real numbers without conditions have windows, as long as their values are not noisy.
    """

    embeds: ClassVar[bool] = False
    several: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset()

    def scene(self, task: Task, history: History, number: int, rng: Rng) -> Scene:
        half = self.half(task, history) if number % 2 else None
        if half is None:
            return Cube().scene(task, history, number, rng)
        return _through(task, history, number, half)

    def scenes(self, task: Task, history: History) -> list[Scene]:
        return Cube().scenes(task, history)

    def half(self, task: Task, history: History) -> float | None:
        """Half the width of the window for the next suggestion; None without one."""
        ground, count = Ground(task.space), int(np.clip(task.space.dim, *TRIALS))
        trials = history.finished
        if len(trials) <= 3 * count or task.space.is_conditional or not ground.varies_continuously:
            return None
        losses = 0.25 * np.array([t.loss(maximize=task.maximize) for t in trials])  # differences stay finite
        losses = np.minimum(losses, np.max(losses, where=losses < np.inf, initial=-np.inf))
        inside = np.array(["window" in trial.meta for trial in trials])
        before = np.minimum.accumulate(losses)
        best, gains = int(np.argmin(losses)), np.append(0.0, before[:-1] - before[1:])
        lately, ever = gains[~inside][-2 * count :].sum(), np.median(losses[:count]) - losses[best]
        if lately > WORTH * ever or not history.complete or is_noisy(task, history):
            return None
        away = np.abs(observe(task, history).x - task.space.encode(trials[best].params)).max(axis=1)
        near = min(float(np.sort(away)[min(count, len(away) - 1)]), WIDEST)
        tried = int(inside[best + 1 :].sum()) // count  # without gain
        half = 2.0 ** math.floor(math.log2(max(near, 1e-300))) * 0.5**tried
        return half if half >= NARROWEST and tried <= 2 else None


def _through(task: Task, history: History, number: int, half: float) -> Scene:
    """The window of that width around the best point."""
    seen = observe(task, history)
    middle = seen.x[int(np.argmin(seen.y))]
    lower, upper = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)

    def shown(points: Array) -> Array:
        return np.asarray(np.clip((points - lower) / (upper - lower), 0.0, 1.0))

    every = np.vstack([seen.x, seen.failed, seen.running])
    held = np.all((every >= lower - SLACK) & (every <= upper + SLACK), axis=1)
    listed = [*history.complete, *history.failed, *history.running]
    numbers = {trial.number for trial, within in zip(listed, held, strict=True) if within}
    trials = History([trial for trial in history if trial.number in numbers], maximize=history.maximize)
    own = observe(task, trials)
    return Scene(
        task,
        history,
        Ground(task.space),
        trials,
        number,
        Observations(shown(own.x), own.y, shown(own.failed), shown(own.running), given_variances(trials)),
        f"window {half:g}",
        spare=np.empty((0, task.space.dim)),
        meta={"window": half},
        to_cube=lambda points: np.clip(lower + (upper - lower) * points, 0.0, 1.0),
    )
