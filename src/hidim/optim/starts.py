"""Points worth starting from: space-filling ones, and perturbations of good ones."""

from __future__ import annotations

import math

import numpy as np

from hidim._types import Array, Indices, Mask, Rng

#: Standard deviations of perturbations are drawn log-uniformly between these: the prototype's, from refining
#: to half the range.
FINE, COARSE = 1e-3, 0.5

#: scipy has Sobol direction numbers for this many dimensions.
SOBOL_LIMIT = 21_201


def sobol(dim: int, count: int, seed: int | Rng) -> Array:
    """The first `count` points (count, dim) of a scrambled Sobol sequence in the unit cube.

    Above `SOBOL_LIMIT` dimensions the points are uniform.
    """
    if dim > SOBOL_LIMIT:
        rng = np.random.default_rng(seed)
        return rng.random((count, dim))
    from scipy.stats import qmc

    engine = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(seed))
    # A power of two first, as the sequence wants it, then the rest: half of the next power may be cut off.
    first = engine.random_base2(count.bit_length() - 1)
    return np.vstack([first, engine.random(count - len(first))]) if len(first) < count else np.asarray(first)


def latin_hypercube(dim: int, count: int, rng: Rng) -> Array:
    """`count` points (count, dim) of the unit cube; every column visits each of `count` strata once."""
    strata = rng.permuted(np.tile(np.arange(count), (dim, 1)), axis=1).T
    return (strata + rng.random((count, dim))) / count


def perturbed(
    rng: Rng, centres: Array, count: int, *, most: int = 20, movable: Mask | None = None
) -> tuple[Array, Mask]:
    """Copies of good points with a few coordinates moved, in the unit cube.

    In many dimensions a point that differs everywhere from the best one is a stranger to the model; one
    that differs in few coordinates, by little or by much, is where improvements are found.

    Args:
        centres: (c, p), chosen from at random; NaN where a coordinate does not exist. A copy gets a random
            value there, which counts as moved.
        count: number of copies.
        most: coordinates moved at the most; how many is drawn uniformly for each copy.
        movable: (p,), the coordinates that may be moved; by default all.

    Returns:
        points (count, p), and which coordinates were moved (count, p).
    """
    dim = centres.shape[1]
    origin = centres[rng.integers(len(centres), size=count)]
    missing = np.isnan(origin)
    allowed = ~missing if movable is None else ~missing & movable
    sizes = 1 + np.floor(rng.random(count) * np.minimum(most, allowed.sum(axis=1))).astype(np.intp)
    moved = coordinate_masks(rng, allowed, sizes)
    scale = np.exp(rng.uniform(math.log(FINE), math.log(COARSE), size=(count, 1)))
    points = np.clip(origin + moved * scale * rng.standard_normal((count, dim)), 0.0, 1.0)
    points[missing] = rng.random(int(missing.sum()))
    return points, moved | missing


def coordinate_masks(rng: Rng, allowed: Mask, sizes: Indices) -> Mask:
    """(r, p) masks; row i has about `sizes[i]` of its `allowed` coordinates set, and one if it can."""
    share = sizes / np.maximum(allowed.sum(axis=1), 1)
    masks: Mask = allowed & (rng.random(allowed.shape) < share[:, None])
    empty = np.flatnonzero(~masks.any(axis=1))
    drawn = np.argmax(allowed[empty] * rng.random((len(empty), allowed.shape[1])), axis=1)
    masks[empty, drawn] = allowed[empty, drawn]
    return masks
