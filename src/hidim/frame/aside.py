"""All of the space and, now and then, a look aside.

A search looks where its model sees something to gain, and the model sees most where the search has looked.
Suggestions of three kinds make up for it; what they find stays, since the model of all of the space knows
all trials.

    an option   of a conditional space that the best trial does not take, as if there were no other: what
                hangs on it was never tuned, and looks bad beside what was. The first look is at the middle
                of it: a model that knows nothing of it sees most to be learnt in corners
    a window    around the best trial, once all of the space gains nothing: the same method looks at the
                trials inside as if there were no others. A model of all of the space takes for noise what is
                finer than the distances between trials; in the window these are slopes. TuRBO (Eriksson et
                al. 2019) looks through such windows alone
    afresh      all of the space by the trials of a new start alone, once windows gain nothing either, or in
                spaces that have none

    meta["option"] = which, as "model=svm"
    meta["window"] = half of the width, as a share of the range of every parameter
    meta["afresh"] = which of the new starts, from 1
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hidim._types import Array, Rng
from hidim.frame.base import Frame, Ground, Scene
from hidim.frame.cube import Cube
from hidim.frame.noise import is_noisy
from hidim.frame.novelty import TOLERANCE, Seen
from hidim.frame.observe import Observations, given_variances, observe
from hidim.frame.options import open_option
from hidim.space.nodes import Branch
from hidim.task import Task
from hidim.trial import History, Trial

#: One suggestion of so many looks at an option, and one of so many aside where nothing is gained.
OPTIONS, ASIDE = 4, 2

#: Trials by which the width of a window is set, and without gain that halve it: as many as there are columns,
#: within limits.
#: A search that gained less than a share of all that it did in twice as many stands still.
TRIALS, WORTH = (15, 50), 1e-4

#: The largest half of a width, and how often it is halved.
WIDEST, HALVINGS = 0.25, 2


@dataclass(frozen=True)
class Aside(Frame):
    """The cube and, now and then, an option, a window, or a new start."""

    embeds: ClassVar[bool] = False
    several: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset()

    def scene(self, task: Task, history: History, number: int, rng: Rng) -> Scene:
        everywhere = Cube().scene(task, history, number, rng)
        if not history.complete:
            return everywhere
        if task.space.is_conditional and number % OPTIONS == 1:
            option = open_option(everywhere, rng)
            if option is not None:
                return _into(everywhere, option)
        if number % ASIDE == 0 or not _stands_still(task, _untagged(history)) or is_noisy(task, history):
            return everywhere
        half = self._half(task, history)
        return _afresh(task, history, rng) if half is None else _through(task, history, number, half)

    def scenes(self, task: Task, history: History) -> list[Scene]:
        return Cube().scenes(task, history)

    def _half(self, task: Task, history: History) -> float | None:
        """Half the width of the window for the next suggestion; None where there is none left.

        Spaces of real numbers without conditions have windows.
        """
        if task.space.is_conditional or not Ground(task.space).varies_continuously:
            return None
        trials, count = history.finished, _count(task)
        best = int(np.argmin(_losses(task, trials)))
        away = np.abs(observe(task, history).x - task.space.encode(trials[best].params)).max(axis=1)
        near = min(float(np.sort(away)[min(count, len(away) - 1)]), WIDEST)
        halved = sum("window" in trial.meta for trial in trials[best + 1 :]) // count
        half = 2.0 ** math.floor(math.log2(max(near, 1e-300))) * 0.5**halved
        return half if half > TOLERANCE and halved <= HALVINGS else None


def _into(everywhere: Scene, option: Branch) -> Scene:
    """All of the space with that option alone; the first look is at the middle of what hangs on it."""
    ground, seen = everywhere.ground.within(option), everywhere.seen
    scene = replace(everywhere, ground=ground, meta={"option": option.title})
    middle = ground.snap(seen.x[[int(np.argmin(seen.y))]])
    been = any(trial.meta.get("option") == option.title for trial in everywhere.history)
    known = been or Seen.of(seen).first_new(middle) is None
    return scene if known else replace(scene, asked=0, spare=middle)


def _count(task: Task) -> int:
    return int(np.clip(task.space.dim, *TRIALS))


def _losses(task: Task, trials: Sequence[Trial]) -> Array:
    """A quarter of the losses, so that differences are finite; of failed trials the largest."""
    losses = 0.25 * np.array([trial.loss(maximize=task.maximize) for trial in trials])
    return np.minimum(losses, np.max(losses, where=losses < np.inf, initial=-np.inf))


def _untagged(history: History) -> list[Trial]:
    """Finished trials of all of the space."""
    return [trial for trial in history.finished if not {"window", "afresh"} & trial.meta.keys()]


def _stands_still(task: Task, trials: Sequence[Trial]) -> bool:
    """Whether a search has gained next to nothing lately, by its own finished trials."""
    lately = 2 * _count(task)
    if len(trials) <= 1.5 * lately:
        return False
    losses = _losses(task, trials)
    gained = np.median(losses[: lately // 2]) - losses.min()
    return bool(losses[:-lately].min() - losses.min() <= WORTH * gained)


def _afresh(task: Task, history: History, rng: Rng) -> Scene:
    """All of the space by the trials of the last new start, or of none where that stands still."""

    def of(start: int, trials: Sequence[Trial]) -> list[Trial]:
        return [trial for trial in trials if trial.meta.get("afresh") == start]

    start = max((trial.meta.get("afresh", 1) for trial in history), default=1)
    start += _stands_still(task, of(start, history.finished))
    trials = History(of(start, history), maximize=history.maximize)
    ground = Ground(task.space)
    scattered = ground.snap(ground.sample(rng, 1))
    return _alone(task, history, trials, observe(task, trials), scattered, meta={"afresh": start})


def _through(task: Task, history: History, number: int, half: float) -> Scene:
    """The window of that width around the best trial."""
    seen = observe(task, history)
    middle = seen.x[int(np.argmin(seen.y))]
    lower, upper = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)

    def shown(points: Array) -> Array:
        return np.asarray(np.clip((points - lower) / (upper - lower), 0.0, 1.0))

    every = np.vstack([seen.x, seen.failed, seen.running])
    # Points on its edge are in it, though they went through the user's units and back.
    held = np.all((every >= lower - TOLERANCE) & (every <= upper + TOLERANCE), axis=1)
    listed = [*history.complete, *history.failed, *history.running]
    numbers = {trial.number for trial, within in zip(listed, held, strict=True) if within}
    trials = History([trial for trial in history if trial.number in numbers], maximize=history.maximize)
    own = observe(task, trials)
    inside = Observations(shown(own.x), own.y, shown(own.failed), shown(own.running), given_variances(trials))
    none = np.empty((0, task.space.dim))
    scene = _alone(task, history, trials, inside, none, meta={"window": half})
    return replace(
        scene, asked=number, to_cube=lambda points: np.clip(lower + (upper - lower) * points, 0.0, 1.0)
    )


def _alone(
    task: Task,
    history: History,
    trials: History,
    seen: Observations,
    spare: Array,
    meta: dict[str, Any],
) -> Scene:
    """A scene that knows of some trials only."""
    key = " ".join(f"{name} {value:g}" for name, value in meta.items())
    return Scene(
        task, history, Ground(task.space), trials, len(trials), seen, key, spare, meta=meta, is_apart=True
    )
