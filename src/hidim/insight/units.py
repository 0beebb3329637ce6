"""From transformed losses back to the values that people know."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator

from hidim._types import Array, Mask

#: Transformed losses closer than this, relative to their range, are one point of the curve.
NEAR = 1e-9


class Units:
    """The increasing curve through pairs of transformed losses and losses.

    Between the pairs it is a monotone cubic, beyond them a straight line that ends one range of losses
    further out: what the model expects outside of everything seen should not look exact. Penalties have a
    curve of their own, which begins with the smallest of them: nothing lies between them and the others, so
    there is a step half-way.

    Args:
        transformed: t (n,), not all equal.
        losses: y (n,), increasing in t.
        penalties: which of them (n,) are penalties; none by default.
        exponent: e, if y are losses divided by 2^e, because arithmetic with those would overflow.

    Example:
        >>> t, y = np.array([-1.0, 0.0, 1.0, 3.0]), np.array([10.0, 20.0, 30.0, 1e6])
        >>> units = Units(t[:3], y[:3])
        >>> units(np.array([-9.0, -1.5, 0.5])).round(6).tolist()
        [-10.0, 5.0, 25.0]
        >>> Units(t, y, y > 1e3)(np.array([0.5, 1.5, 2.5])).tolist()
        [25.0, 35.0, 1000000.0]
    """

    def __init__(
        self, transformed: Array, losses: Array, penalties: Mask | None = None, exponent: int = 0
    ) -> None:
        high = np.zeros(len(losses), dtype=np.bool_) if penalties is None else penalties
        self._ordinary = _Curve(transformed[~high], losses[~high])
        self._penalty = _Curve(transformed[high], losses[high]) if high.any() else None
        self._border = 0.5 * (transformed[~high].max() + transformed[high].min()) if high.any() else np.inf
        self._exponent = exponent

    def __call__(self, transformed: Array) -> Array:
        """Losses, of the shape of `transformed`."""
        found = self._ordinary(transformed)
        if self._penalty is not None:
            penalty = np.maximum(self._penalty(transformed), self._penalty.first)
            found = np.where(transformed > self._border, penalty, found)
        if self._exponent == 0:
            return found
        with np.errstate(over="ignore"):
            return np.asarray(np.nan_to_num(np.ldexp(found, self._exponent)))


class _Curve:
    """One piece of the curve; constant if all its t are equal."""

    def __init__(self, transformed: Array, losses: Array) -> None:
        order = np.argsort(losses, kind="stable")
        t, y = transformed[order], losses[order]
        if not t[-1] > t[0]:
            t, y = t[0] + np.array([0.0, 1.0]), np.repeat(y[:1], 2)
        steps = np.floor((t - t[0]) / (NEAR * (t[-1] - t[0])))
        kept = np.unique(steps, return_index=True)[1]
        kept[-1] = len(t) - 1
        self._t, self._y = t[kept], y[kept]
        self._curve = PchipInterpolator(self._t, self._y)
        self._slopes = self._curve.derivative()(self._t[[0, -1]])

    @property
    def first(self) -> float:
        return float(self._y[0])

    def __call__(self, transformed: Array) -> Array:
        (first, last), (low, high) = self._t[[0, -1]], self._y[[0, -1]]
        inside = self._curve(np.clip(transformed, first, last))
        below = self._slopes[0] * np.minimum(transformed - first, 0.0)
        above = self._slopes[1] * np.maximum(transformed - last, 0.0)
        return np.asarray(np.clip(inside + below + above, 2.0 * low - high, 2.0 * high - low))
