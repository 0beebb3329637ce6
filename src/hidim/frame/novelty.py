"""Never evaluate the same configuration twice, unless nothing else is left."""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress, count, islice
from operator import is_not
from typing import Any

import numpy as np

from hidim._limits import COLUMNS_COMPARED
from hidim._types import Array, Indices, Params, Rng
from hidim.embed import Embedding
from hidim.frame.base import Ground, Scene
from hidim.frame.embedded import SPARE, configuration, embedding_name
from hidim.frame.observe import Observations, observe
from hidim.space import Space
from hidim.task import Suggestion, Task
from hidim.trial import History, Trial, TrialState

#: Finite spaces up to this size are searched to the last configuration: a second's work.
ENUMERABLE = 100_000

#: Configurations that are encoded at once; for time alone.
BLOCK = 256

#: Points closer than this in every coordinate are one point and its re-encoded copy.
TOLERANCE = 1e-10

#: Points closer than this to a running one, in every coordinate, would mostly tell the same once more.
NEARLY = 1e-3


class Seen:
    """The points that were evaluated, and those that are being.

    Args:
        points: (n, d), with −1 in inactive columns.
        tolerance: how close to each is too close, in every coordinate (n, 1).
    """

    def __init__(self, points: Array, tolerance: Array) -> None:
        self._points, self._tolerance = points, tolerance

    @classmethod
    def of(cls, seen: Observations, *, repeat: bool = False) -> Seen:
        """All that was observed; with `repeat`, complete trials may be repeated, as noisy ones should be."""
        done = seen.failed if repeat else np.vstack([seen.x, seen.failed])
        tolerance = np.repeat([TOLERANCE, NEARLY], [len(done), len(seen.running)])[:, None]
        return cls(_filled(np.vstack([done, seen.running])), tolerance)

    @classmethod
    def in_all(cls, task: Task, history: History) -> Seen:
        """All trials, for methods that ask for nothing else: whatever is new since the last call is added."""
        kept: _Kept | None = task.memo.get(Seen, "all")
        if kept is None:
            kept = task.memo.keep(Seen, "all", _Kept(task.space))
        return kept.seen(history)

    def first_new(self, points: Array) -> int | None:
        """The place of the first row of `points` (k, d) that has not been seen."""
        for place, point in enumerate(_filled(points)):
            if not len(self._close(point, self._close(point[:1]))):  # a first column rules most of them out
                return place
        return None

    def _close(self, point: Array, rows: Indices | slice = slice(None)) -> Indices:
        """Which of those rows, of all by default, are too close to `point` (c,) in the first c columns."""
        known = self._points[:, : len(point)][rows]
        close = np.all(np.abs(known - point) < self._tolerance[rows], axis=1)
        return np.arange(len(self._points))[rows][close]

    def any_new(self, ground: Ground, rng: Rng) -> Array | None:
        """An unseen point of `ground`: random ones first, then, in a small finite space, all of them."""
        space, points = ground.space, ground.snap(ground.sample(rng, SPARE))
        place = self.first_new(points)
        rest = iter(space.enumerate() if place is None and space.size <= ENUMERABLE else ())
        while place is None and (block := list(islice(rest, BLOCK))):
            points = space.encode_all(block)
            place = self.first_new(points)
        return None if place is None else np.asarray(points[place])


class _Kept:
    """The trials of a history as `Seen` wants them, kept from suggestion to suggestion.

    Trials are never changed, only replaced: what is the same object is the same trial.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._trials: list[Trial] = []
        self._points, self._tolerance = np.empty((0, space.dim)), np.empty((0, 1))

    def seen(self, history: History) -> Seen:
        n, known = len(history), len(self._trials)
        changed = [*compress(count(), map(is_not, self._trials, history)), *range(known, n)]
        if changed:
            self._enter(changed, [history[place] for place in changed])
        return Seen(self._points[:n], self._tolerance[:n])

    def _enter(self, places: list[int], trials: list[Trial]) -> None:
        if places[-1] >= len(self._points):
            rows = max(places[-1] + 1, 3 * len(self._points) // 2)
            self._points, self._tolerance = (_longer(a, rows) for a in (self._points, self._tolerance))
        self._points[places] = _filled(self._space.encode_all([trial.params for trial in trials]))
        running = [trial.state is TrialState.RUNNING for trial in trials]
        self._tolerance[places, 0] = np.where(running, NEARLY, TOLERANCE)
        for place, trial in zip(places, trials, strict=True):
            self._trials[place : place + 1] = [trial]


def _filled(points: Array) -> Array:
    """Points with −1 in inactive columns."""
    return np.where(np.isnan(points), -1.0, points)


def _longer(array: Array, rows: int) -> Array:
    """With room for so many rows."""
    grown = np.empty((rows, array.shape[1]))
    grown[: len(array)] = array
    return grown


def unseen(
    ground: Ground,
    seen: Seen,
    points: Array,
    rng: Rng,
    meta: dict[str, Any],
    to_cube: Callable[[Array], Array] | None = None,
) -> Suggestion:
    """The first of `points` (k, D), on their levels, that is new; else some other one, and `meta` says so."""

    def decoded(point: Array) -> Params:
        return ground.space.decode(point if to_cube is None else to_cube(point[None])[0])

    place = seen.first_new(points)
    if place is not None:
        return Suggestion(decoded(points[place]), meta)
    point = seen.any_new(ground, rng)
    instead = {"instead": "repetition" if point is None else "random"}
    return Suggestion(decoded(points[0] if point is None else point), meta | instead)


def suggestion(
    scene: Scene, points: Array, rng: Rng, meta: dict[str, Any], *, repeat: bool = False
) -> Suggestion:
    """The first of `points` (k, d), as `Ground.snap` leaves them, whose configuration is new.

    If none is, another one, and the meta says so. With `repeat`, complete trials may be repeated, as makes
    sense if their values are noisy.
    """
    if scene.embedding is None:
        compared = observe(scene.task, scene.history) if scene.to_cube is None else scene.seen
        known = Seen.of(compared, repeat=repeat)
        return unseen(scene.ground, known, points, rng, meta | scene.meta, scene.to_cube)
    return _lifted(scene, scene.embedding, points, rng, meta, repeat)


def _lifted(
    scene: Scene, embedding: Embedding, points: Array, rng: Rng, meta: dict[str, Any], repeat: bool
) -> Suggestion:
    space = scene.task.space
    compared = space.dim <= COLUMNS_COMPARED
    known = Seen.of(observe(scene.task, scene.history) if compared else scene.seen, repeat=repeat)

    def first_new(block: Array) -> Array | None:
        low = scene.to_low(block)
        place = known.first_new(space.snap(embedding.unit(low, np.arange(space.dim))) if compared else block)
        return None if place is None else np.asarray(block[place])

    def standing_for(point: Array, **more: str) -> Suggestion:
        y = scene.to_low(point[None])[0]
        return Suggestion(configuration(space, embedding, y), meta | more | {"y": y.tolist()})

    meta = meta | scene.meta | {"embedding": embedding_name(embedding)}
    for block in (points[:1], points[1:]):  # mostly the first one will do, and images may be long
        if (point := first_new(block)) is not None:
            return standing_for(point)
    spare = scene.spare if len(scene.spare) else scene.ground.sample(rng, SPARE)
    if (point := first_new(spare)) is not None:
        return standing_for(point, instead="scattered")
    anything = known.any_new(Ground(space), rng) if compared else None
    if anything is not None:
        return Suggestion(space.decode(anything), meta | {"instead": "random"})
    return standing_for(points[0], instead="repetition")
