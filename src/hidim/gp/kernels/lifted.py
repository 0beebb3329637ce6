"""Kernels of low-dimensional points that look at what the points stand for (REMBO, definitions 4 and 5)."""

from __future__ import annotations

import numpy as np

from hidim._limits import VALUES_AS_LABELS
from hidim._types import Array, Mask
from hidim.embed import Zonotope
from hidim.gp.densities import Improper
from hidim.gp.kernels.algebra import Through
from hidim.gp.kernels.base import Kernel
from hidim.gp.kernels.hamming import Overlap
from hidim.gp.kernels.stationary import SquaredExponential, Stationary
from hidim.gp.maps import Chain, Clip, Linear, Map, Mapped, Scale, Select
from hidim.space import Int, Space
from hidim.space.columns import Kind
from hidim.space.scales import LinearSteps, LogSteps


class Discretised(Map):
    """Points of [−1, 1]^D moved to the nearest configuration: numbers in [−1, 1], labels as `Overlap` wants.

    The gradient is passed on where moving a coordinate moves the configuration.

    Args:
        space: of the configurations.
        labels: which columns (D,) count as labels.
    """

    def __init__(self, space: Space, labels: Mask) -> None:
        self.space = space
        self.labels = labels
        found = [
            (vertex.start, vertex.parameter.low, vertex.parameter.high)
            for vertex in space.vertices
            if isinstance(vertex.parameter, Int) and vertex.parameter.log and labels[vertex.columns].any()
        ]
        # Integers on a logarithmic scale have cells of different widths, labels have not.
        columns, low, high = np.array(found, dtype=np.float64).reshape(-1, 3).T
        self.logs = columns.astype(np.intp)
        self.uneven, self.even = LogSteps(low, high), LinearSteps(low, high)
        self.continuous: Mask = np.asarray(space.columns.kind == Kind.CONTINUOUS)

    def __call__(self, theta: Array, x: Array) -> Mapped:
        snapped = self.space.snap(0.5 * (1.0 + x))
        inactive = np.isnan(snapped)
        moving = self.continuous & ~inactive
        if len(self.logs):
            snapped[:, self.logs] = self.even.to_unit(self.uneven.from_unit(snapped[:, self.logs]))
        numbers = np.where(inactive, 0.0, 2.0 * snapped - 1.0)
        value = np.where(self.labels, snapped, numbers)
        return Mapped(value, lambda _: np.empty(0), lambda g: g * moving)


def clipped(matrix: Array) -> Map:
    """y (n, d) to clip(A y), for A (D, d)."""
    return Chain(Linear(*matrix.T.shape, fixed=matrix.T), Clip(-1.0, 1.0))


class Unprojected(Map):
    """y (n, d) to the points of the cube whose projection on the subspace is y."""

    def __init__(self, embedding: Zonotope) -> None:
        self.embedding = embedding

    def __call__(self, theta: Array, x: Array) -> Mapped:
        image = self.embedding.image(x)
        return Mapped(image.value, lambda _: np.empty(0), image.to_inputs)


def isotropic(dim: int) -> Stationary:
    """exp(−‖y − y'‖² / 2ℓ²)."""
    return Stationary(SquaredExponential(), Scale(dim, ard=False, prior=Improper()))


def high_dimensional(space: Space, lift: Map, *, as_labels: bool, squared: bool) -> Kernel:
    """A kernel on the configurations for which low-dimensional points stand.

    Squared exponential in numbers, exponential in the number of labels that differ, and the product of both
    in mixed spaces (REMBO, definitions 5 and eq. 5).

    Args:
        lift: y (n, d) to what it stands for in [−1, 1]^D.
        as_labels: integers are compared like labels, if they have at most a thousand values.
        squared: the printed form for labels, which is not positive semi-definite.
    """
    kind, levels = space.columns.kind, space.columns.levels
    label: Mask = np.asarray(
        (kind == Kind.LABEL) | ((kind == Kind.INTEGER) & (levels <= VALUES_AS_LABELS) & as_labels)
    )
    numbers, labels = np.flatnonzero(~label), np.flatnonzero(label & (levels > 1))
    if np.any(kind != Kind.CONTINUOUS):
        lift = Chain(lift, Discretised(space, label))
    factors: list[Kernel] = []
    if len(numbers) or not len(labels):
        scale = Scale(max(len(numbers), 1), ard=False, prior=Improper())
        factors.append(Stationary(SquaredExponential(), Chain(Select(numbers), scale)))
    if len(labels):
        factors.append(Overlap(labels, levels[labels].astype(np.intp), squared=squared))
    return Through(lift, factors[0] if len(factors) == 1 else factors[0] * factors[1])
