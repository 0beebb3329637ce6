"""All of the space and, once a run has settled, a window around its best point.

A model of all of the space takes for noise what is finer than the distances between trials, and then sees
nothing more to gain where it has found a basin. In the window, as wide as to hold the nearest trials, the
same method looks at the trials that lie there as if there were no others: with length-scales, a transform of
the losses and ways of its own. What was noise from afar are slopes there. TuRBO (Eriksson et al. 2019) looks
through such windows alone.

    meta["around"] = the number of the trial in the middle
    meta["within"] = half of the width, as a share of the range of every parameter

What was learnt in windows of other widths, and in the cube, is not looked at in a window, nor the other way
round: trials from there are points and values, as if they had been added.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import ClassVar, NamedTuple

import numpy as np

from hidim._settings import of_type
from hidim._types import Array, Mask, Rng
from hidim.frame.base import Frame, Ground, Scene
from hidim.frame.cube import Cube
from hidim.frame.noise import is_noisy
from hidim.frame.observe import Observations, given_variances, observe
from hidim.frame.settled import WORTH, gained, is_settled
from hidim.frame.success import shares, steps
from hidim.task import Task
from hidim.trial import History, Trial

#: A window holds so many trials for every column at first, within limits; and its width is limited.
EACH, LEAST, MOST = 1.0, 10, 50
WIDEST, NARROWEST = 0.25, 1e-5

#: Points on its edge are in it, though they went through the user's units and back.
SLACK = 1e-9

#: A run has to be settled for so many times as long, before a window is opened around another best point. In
#: nine functions of 6 to 15 parameters, 200 trials, three runs each, on which this was chosen, windows were
#: better than none in 14 runs and worse in 8; opened at once, in 18 and 9, but Levy's function was then left
#: at .5 instead of .02: far basins were found too late. With a share of a half or a third at the most less
#: was gained.
CALM = 2

#: After so many suggestions for every column, within limits, none of which was the best so far, a window is
#: half as wide; after twice as many there is none until something better is found.
WAIT, SHORT, LONG = 1.0, 15, 30

#: The best point is at most so far from the middle, as a share of half the width; else the window moves.
OFF = 0.5

#: The share of suggestions in a window as long as nothing is gained, by the measure of settled runs, there or
#: elsewhere; otherwise it goes by success. But for `CALM` none of these numbers was varied.
IDLE = 1 / 3


class Mark(NamedTuple):
    """What a suggestion remembers of its window: the number of the trial in the middle, half the width."""

    around: int
    within: float


class Window(NamedTuple):
    """A part of the unit cube, of which it is a cube of its own.

    Args:
        mark: of suggestions in it.
        middle: its middle (d,), if it is not cut by the edges of the cube.
        lower: its lower corner (d,).
        width: its edges (d,), shorter where it is cut.
    """

    mark: Mark
    middle: Array
    lower: Array
    width: Array

    @classmethod
    def around(cls, middle: Array, mark: Mark) -> Window:
        lower, upper = np.maximum(middle - mark.within, 0.0), np.minimum(middle + mark.within, 1.0)
        return cls(mark, middle, lower, upper - lower)

    def holds(self, points: Array) -> Mask:
        """Which of `points` (n, d) lie in it, as (n,)."""
        lower, upper = self.lower - SLACK, self.lower + self.width + SLACK
        return np.asarray(np.all((points >= lower) & (points <= upper), axis=1))

    def shown(self, points: Array) -> Array:
        """Points (n, d) that lie in it, in its own coordinates."""
        return np.clip((points[self.holds(points)] - self.lower) / self.width, 0.0, 1.0)

    def to_cube(self, points: Array) -> Array:
        """Points (n, d) in its own coordinates, in those of the cube."""
        return np.clip(self.lower + self.width * points, 0.0, 1.0)


@dataclass(frozen=True)
class Zooming(Frame):
    """The cube and, when a run has settled there, a window in it: each by what it has gained.

    Spaces of real numbers without conditions have windows, as long as their values are not noisy.

    Args:
        cube: what is seen without a window; there is none if it has a centre of its own, or is a ball.
    """

    embeds: ClassVar[bool] = False
    several: ClassVar[bool] = False

    cube: Cube = field(default_factory=Cube)

    def __post_init__(self) -> None:
        of_type(self, cube=Cube)

    @property
    def needs(self) -> frozenset[str]:
        return self.cube.needs

    def scene(self, task: Task, history: History, number: int, rng: Rng) -> Scene:
        window = self.window(task, history)
        if window is None or rng.random() >= _share(task, history):
            own = _as_seen_by(history, None)
            return replace(self.cube.scene(task, own, number, rng), history=history)
        trials = _as_seen_by(history, window.mark)
        seen = observe(task, trials)
        held = np.concatenate([window.holds(points) for points in (seen.x, seen.failed, seen.running)])
        listed = [*trials.complete, *trials.failed, *trials.running]
        inside = {trial.number for trial, within in zip(listed, held, strict=True) if within}
        trials = History([trial for trial in trials if trial.number in inside], maximize=history.maximize)
        x, failed, running = map(window.shown, (seen.x, seen.failed, seen.running))
        losses = trials.losses(maximize=task.maximize)
        return Scene(
            task,
            history,
            Ground(task.space),
            trials,
            number,
            Observations(x, losses, failed, running, given_variances(trials)),
            "window",
            spare=np.empty((0, task.space.dim)),
            meta=window.mark._asdict(),
            to_cube=window.to_cube,
        )

    def scenes(self, task: Task, history: History) -> list[Scene]:
        scenes = self.cube.scenes(task, _as_seen_by(history, None))
        return [replace(scene, history=history) for scene in scenes]

    def window(self, task: Task, history: History) -> Window | None:
        """The window for the next suggestions, if there is one: the last, or a new one."""
        plain = self.cube.region == "box" and self.cube.center is None and _has_windows(task)
        if not plain or not history.complete or not any("fit" in trial.meta for trial in history):
            return None
        window = self._next(task, history)
        return None if window is None or is_noisy(task, history) else window

    def _next(self, task: Task, history: History) -> Window | None:
        best = history.complete[int(np.argmin(history.losses(maximize=task.maximize)))]
        point, widest, times = task.space.encode(best.params), WIDEST, CALM
        last = _last(task, history)
        near = _nearest(task, history, point)
        if not near.promise > WORTH * gained(history, task.space.dim, maximize=task.maximize):
            return None  # only digits are left
        if last is not None and last.holds(point[None])[0]:
            since = takewhile(lambda trial: trial is not best, reversed(history.finished))
            idle = [mark for trial in since if (mark := _mark(trial)) is not None]
            wait = int(np.clip(WAIT * task.space.dim, SHORT, LONG))
            if len(idle) >= 2 * wait:
                return None
            if sum(mark.within == last.mark.within for mark in idle) < wait:
                within = last.mark.within
                moves = np.abs(point - last.middle).max() > OFF * within
                return Window.around(point, Mark(best.number, within)) if moves else last
            widest, times = 0.5 * last.mark.within, 1
        if not is_settled(history, task.space.dim, maximize=task.maximize, times=times):
            return None
        half = min(near.away, widest)
        return Window.around(point, Mark(best.number, half)) if half >= NARROWEST else None


def _has_windows(task: Task) -> bool:
    space = task.space
    return space.dim > 0 and not space.is_conditional and Ground(space).varies_continuously


def _mark(trial: Trial) -> Mark | None:
    """That of the trial's window, if it was suggested in one."""
    around, within = trial.meta.get("around"), trial.meta.get("within")
    if not isinstance(around, int) or not isinstance(within, float):
        return None
    return Mark(around, within) if NARROWEST <= within <= WIDEST else None


def _last(task: Task, history: History) -> Window | None:
    """The last window, if it is still known where: trials may have been renumbered."""
    marks = ((trial, mark) for trial in reversed(history) if (mark := _mark(trial)) is not None)
    if (found := next(marks, None)) is None:
        return None
    last, mark = found
    middle = next((trial for trial in history.complete if trial.number == mark.around), None)
    if middle is None:
        return None
    window = Window.around(task.space.encode(middle.params), mark)
    return window if window.holds(task.space.encode(last.params)[None])[0] else None


class Near(NamedTuple):
    """The trials next to the best.

    Args:
        away: how far the last of them is.
        promise: a quarter of what their median is above the best.
    """

    away: float
    promise: float


def _nearest(task: Task, history: History, point: Array) -> Near:
    away = np.abs(observe(task, history).x - point).max(axis=1)
    losses = 0.25 * history.losses(maximize=task.maximize)  # differences of the largest numbers stay finite
    near = np.argsort(away, kind="stable")[: 1 + int(np.clip(EACH * task.space.dim, LEAST, MOST))]
    return Near(float(away[near[-1]]), float(np.median(losses[near])) - float(losses.min()))


def _as_seen_by(history: History, mark: Mark | None) -> History:
    """The same trials; those of others than the cube, or windows of this width, remember nothing."""
    width = None if mark is None else mark.within
    marks = [None if (own := _mark(trial)) is None else own.within for trial in history]
    if all(own == width for own in marks):
        return history
    trials = [t if own == width else replace(t, meta={}) for t, own in zip(history, marks, strict=True)]
    return History(trials, maximize=history.maximize)


def _share(task: Task, history: History) -> float:
    """Of suggestions in the window, by what they have gained since the first of them."""
    if is_settled(history, task.space.dim, maximize=task.maximize):
        return IDLE
    places = [_mark(trial) is not None for trial in history.finished if "way" in trial.meta]
    past = steps(history, "way", maximize=task.maximize)
    first = places.index(True) if True in places else len(places)
    tries = [step._replace(which=int(place)) for step, place in zip(past, places, strict=True)]
    return float(shares(tries[first:], 2)[1])
