"""Points worth starting from: space-filling ones, and perturbations of good ones."""

from __future__ import annotations

import math

import numpy as np

from hidim._types import Array, Indices, Mask

#: scipy has Sobol direction numbers for this many dimensions.
SOBOL_LIMIT = 21_201


def sobol(dim: int, count: int, seed: int | np.random.Generator, *, skip: int = 0) -> Array:
    """`count` points (count, dim) of a scrambled Sobol sequence in the unit cube, after the first `skip`.

    Above `SOBOL_LIMIT` dimensions the points are uniform.
    """
    if dim > SOBOL_LIMIT:
        rng = np.random.default_rng(seed)
        return rng.random((skip + count, dim))[skip:]
    from scipy.stats import qmc

    engine = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(seed))
    # A power of two, as the sequence wants it; what is not needed is cut off.
    drawn = engine.random_base2(max(0, math.ceil(math.log2(skip + count))))
    return np.asarray(drawn[skip : skip + count])


def latin_hypercube(dim: int, count: int, rng: np.random.Generator) -> Array:
    """`count` points (count, dim) of the unit cube; every column visits each of `count` strata once."""
    strata = rng.permuted(np.tile(np.arange(count), (dim, 1)), axis=1).T
    return (strata + rng.random((count, dim))) / count


def perturbed(
    rng: np.random.Generator,
    centres: Array,
    count: int,
    *,
    most: int = 20,
    scales: tuple[float, float] = (1e-3, 0.5),
) -> tuple[Array, Mask]:
    """Copies of good points with a few coordinates moved, in the unit cube.

    In many dimensions a point that differs everywhere from the best one is a stranger to the model; one
    that differs in few coordinates, by little or by much, is where improvements are found.

    Args:
        centres: (c, p), chosen from at random.
        count: number of copies.
        most: coordinates moved at the most; how many is drawn uniformly for each copy.
        scales: standard deviations are drawn log-uniformly between these, one for each copy.

    Returns:
        points (count, p), and which coordinates were moved (count, p).
    """
    dim = centres.shape[1]
    origin = centres[rng.integers(len(centres), size=count)]
    moved = coordinate_masks(rng, count, dim, rng.integers(1, min(most, dim) + 1, size=count))
    scale = np.exp(rng.uniform(math.log(scales[0]), math.log(scales[1]), size=(count, 1)))
    points = origin + moved * scale * rng.standard_normal((count, dim))
    return np.clip(points, 0.0, 1.0), moved


def coordinate_masks(rng: np.random.Generator, count: int, dim: int, sizes: Indices) -> Mask:
    """(count, dim) masks; row i has about `sizes[i]` random coordinates set, and at least one."""
    masks = rng.random((count, dim)) < (sizes / dim)[:, None]
    masks[np.arange(count), rng.integers(dim, size=count)] = True
    return masks
