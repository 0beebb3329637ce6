"""Never evaluate the same configuration twice, unless nothing else is left."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np

from hidim._types import Array
from hidim.space import Space

#: Finite spaces up to this size are searched to the last configuration.
ENUMERABLE = 100_000


class Seen:
    """The points that were evaluated or are being evaluated."""

    def __init__(self, points: Array) -> None:
        self._keys = set(_keys(points))

    def first_new(self, points: Array) -> Array | None:
        """The first row of `points` (k, D) that has not been seen."""
        point: Array
        for point, key in zip(points, _keys(points), strict=True):
            if key not in self._keys:
                return point
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


def _keys(points: Array) -> Iterable[bytes]:
    # Rounding makes a point and its re-encoded copy one; adding zero turns −0.0 into 0.0.
    return [row.tobytes() for row in np.round(np.nan_to_num(points, nan=-1.0), 10) + 0.0]
