"""Never evaluate the same configuration twice, unless nothing else is left."""

from __future__ import annotations

from itertools import islice

import numpy as np

from hidim._types import Array
from hidim.space import Space

#: Finite spaces up to this size are searched to the last configuration.
ENUMERABLE = 100_000


#: Points closer than this in every coordinate are one point and its re-encoded copy.
TOLERANCE = 1e-10

#: Points closer than this to a running one, in every coordinate, would mostly tell the same once more.
NEARLY = 1e-3


class Seen:
    """The points (n, D) that were evaluated, and those (r, D) that are being; inactive columns are NaN."""

    def __init__(self, points: Array, running: Array) -> None:
        self._points = np.nan_to_num(np.vstack([points, running]), nan=-1.0)
        self._tolerance = np.repeat([TOLERANCE, NEARLY], [len(points), len(running)])[:, None]

    def first_new(self, points: Array) -> Array | None:
        """The first row of `points` (k, D) that has not been seen."""
        place = self.first_new_place(points)
        return None if place is None else np.asarray(points[place])

    def first_new_place(self, points: Array) -> int | None:
        """Its place among the rows."""
        for place, point in enumerate(points):
            distance = np.abs(self._points - np.nan_to_num(point, nan=-1.0))
            if not np.any(np.all(distance < self._tolerance, axis=1)):
                return place
        return None

    def any_new(self, space: Space, rng: np.random.Generator) -> Array | None:
        """An unseen point of `space`: random ones first, then, in a small finite space, all of them."""
        found = self.first_new(space.snap(rng.random((64, space.dim))))
        if found is not None or space.size > ENUMERABLE:
            return found
        rest = iter(space.enumerate())
        while block := list(islice(rest, 256)):
            found = self.first_new(space.encode_all(block))
            if found is not None:
                return found
        return None
