"""Never evaluate the same configuration twice, unless nothing else is left."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from hidim._limits import COLUMNS_COMPARED
from hidim._types import Array, Rng
from hidim.embed import Embedding
from hidim.frame.base import Ground, Scene
from hidim.frame.embedded import SPARE, configuration, embedding_name
from hidim.frame.observe import Observations, observe
from hidim.task import Suggestion

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
        seen: as points (·, d); inactive columns are NaN.
        repeat: complete trials may be repeated, as makes sense if their values are noisy.
    """

    def __init__(self, seen: Observations, *, repeat: bool = False) -> None:
        done = seen.failed if repeat else np.vstack([seen.x, seen.failed])
        self._points = np.nan_to_num(np.vstack([done, seen.running]), nan=-1.0)
        self._tolerance = np.repeat([TOLERANCE, NEARLY], [len(done), len(seen.running)])[:, None]

    def first_new(self, points: Array) -> int | None:
        """The place of the first row of `points` (k, d) that has not been seen."""
        for place, point in enumerate(points):
            distance = np.abs(self._points - np.nan_to_num(point, nan=-1.0))
            if not np.any(np.all(distance < self._tolerance, axis=1)):
                return place
        return None

    def any_new(self, ground: Ground, rng: Rng) -> Array | None:
        """An unseen point of `ground`: random ones first, then, in a small finite space, all of them."""
        space, points = ground.space, ground.snap(ground.sample(rng, SPARE))
        place = self.first_new(points)
        rest = iter(space.enumerate() if place is None and space.size <= ENUMERABLE else ())
        while place is None and (block := list(islice(rest, BLOCK))):
            points = space.encode_all(block)
            place = self.first_new(points)
        return None if place is None else np.asarray(points[place])


def unseen(ground: Ground, seen: Seen, points: Array, rng: Rng, meta: dict[str, Any]) -> Suggestion:
    """The first of `points` (k, D), on their levels, that is new; else some other one, and `meta` says so."""
    space, place = ground.space, seen.first_new(points)
    if place is not None:
        return Suggestion(space.decode(points[place]), meta)
    point = seen.any_new(ground, rng)
    instead = {"instead": "repetition" if point is None else "random"}
    return Suggestion(space.decode(points[0] if point is None else point), meta | instead)


def suggestion(
    scene: Scene, points: Array, rng: Rng, meta: dict[str, Any], *, repeat: bool = False
) -> Suggestion:
    """The first of `points` (k, d), as `Ground.snap` leaves them, whose configuration is new.

    If none is, another one, and the meta says so. With `repeat`, complete trials may be repeated, as makes
    sense if their values are noisy.
    """
    if scene.embedding is None:
        return unseen(scene.ground, Seen(scene.seen, repeat=repeat), points, rng, meta)
    return _lifted(scene, scene.embedding, points, rng, meta, repeat)


def _lifted(
    scene: Scene, embedding: Embedding, points: Array, rng: Rng, meta: dict[str, Any], repeat: bool
) -> Suggestion:
    space = scene.task.space
    compared = space.dim <= COLUMNS_COMPARED
    known = Seen(observe(scene.task, scene.history) if compared else scene.seen, repeat=repeat)

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
