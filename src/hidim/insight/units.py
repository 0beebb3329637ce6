"""From transformed losses back to the values that people know."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator

from hidim._types import Array

#: Transformed losses closer than this, relative to their range, are one point of the curve.
NEAR = 1e-9


class Units:
    """The increasing curve through pairs of transformed losses and losses.

    Between the pairs it is a monotone cubic, beyond them a straight line that ends one range of losses
    further out: what the model expects outside of everything seen should not look exact.

    Args:
        transformed: t (n,), not all equal.
        losses: y (n,), increasing in t.
        exponent: e, if y are losses divided by 2^e, because arithmetic with those would overflow.

    Example:
        >>> units = Units(np.array([-1.0, 0.0, 1.0]), np.array([10.0, 20.0, 30.0]))
        >>> units(np.array([-9.0, -1.5, 0.5])).round(6).tolist()
        [-10.0, 5.0, 25.0]
    """

    def __init__(self, transformed: Array, losses: Array, exponent: int = 0) -> None:
        self._exponent = exponent
        order = np.argsort(losses, kind="stable")
        t, y = transformed[order], losses[order]
        steps = np.floor((t - t[0]) / (NEAR * (t[-1] - t[0])))
        kept = np.unique(steps, return_index=True)[1]
        kept[-1] = len(t) - 1
        self._t, self._y = t[kept], y[kept]
        self._curve = PchipInterpolator(self._t, self._y)
        self._slopes = self._curve.derivative()(self._t[[0, -1]])

    def __call__(self, transformed: Array) -> Array:
        """Losses, of the shape of `transformed`."""
        (first, last), (low, high) = self._t[[0, -1]], self._y[[0, -1]]
        inside = self._curve(np.clip(transformed, first, last))
        below = self._slopes[0] * np.minimum(transformed - first, 0.0)
        above = self._slopes[1] * np.maximum(transformed - last, 0.0)
        found = np.clip(inside + below + above, 2.0 * low - high, 2.0 * high - low)
        if self._exponent == 0:
            return np.asarray(found)
        with np.errstate(over="ignore"):
            return np.asarray(np.nan_to_num(np.ldexp(found, self._exponent)))
