"""Central differences, to check closed-form gradients against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: With a step of about ε^(1/3), rounding and truncation of a central difference are both near 1e-10 relative.
STEP = 6e-6


def gradient(function: Callable[[np.ndarray], float], at: np.ndarray) -> np.ndarray:
    """∂f/∂x of a scalar function of an array of any shape, by central differences; exact for quadratics."""
    result = np.empty(at.shape)
    for index in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[index] += STEP
        down[index] -= STEP
        result[index] = (function(up) - function(down)) / (up[index] - down[index])
    return result


def assert_gradient(closed: np.ndarray, function: Callable[[np.ndarray], float], at: np.ndarray) -> None:
    """Agreement to 1e-6, relative to the largest entry of the gradient (and to 1 for tiny gradients)."""
    numeric = gradient(function, at)
    assert closed.shape == at.shape
    scale = max(1.0, float(np.abs(numeric).max(initial=0.0)))
    np.testing.assert_allclose(closed, numeric, rtol=1e-6, atol=1e-6 * scale)
