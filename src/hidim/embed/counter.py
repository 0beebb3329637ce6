"""Random numbers by their place: number i of a stream is computed without those before it.

SplitMix64 (Steele, Lea and Flood 2014) is a counter that is scrambled: output i is mix(key + (i + 1) γ). So
any entry of a random matrix with a billion rows can be had alone, and all of them for a block of rows in one
vectorised expression. numpy's own counter-based generators give streams, not places.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hidim._types import Array, Indices

Words = NDArray[np.uint64]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def words(seed: int, places: Indices) -> Words:
    """64 random bits for every place; streams of different seeds have nothing to do with each other."""
    with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴ is what is meant
        key = _mixed(np.full(1, seed, dtype=np.uint64) * _GAMMA + _GAMMA)
        return _mixed(key + (places.astype(np.uint64) + np.uint64(1)) * _GAMMA)


def _mixed(z: Words) -> Words:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


def normals(seed: int, places: Indices) -> Array:
    """Standard normal numbers for every place.

    Example:
        >>> bool(normals(7, np.array([10**12]))[0] == normals(7, np.arange(10**12 - 3, 10**12 + 1))[-1])
        True
    """
    from scipy.special import ndtri  # late: describing a space should not load scipy

    uniform = ((words(seed, places) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53  # never 0 or 1
    return np.asarray(ndtri(uniform), dtype=np.float64)
