"""Covariances by composition: input map → function of distance → sums, products, amplitudes, groups."""

import numpy as np

from hidim.gp.kernels.algebra import Constant, Scaled, Through
from hidim.gp.kernels.base import Kernel, Product, Sum
from hidim.gp.kernels.blocks import blocks
from hidim.gp.kernels.cylinder import Cylinder, Polynomial
from hidim.gp.kernels.effects import Effects
from hidim.gp.kernels.groups import Groups, Term
from hidim.gp.kernels.hamming import Hamming, Overlap
from hidim.gp.kernels.stationary import FORMS, Form, FormName, Matern, SquaredExponential, Stationary
from hidim.gp.kernels.values import values
from hidim.gp.maps import Chain, Clip, Direction, Fill, HierarchicalScale, Linear, Mixing, Scale, Select, Warp
from hidim.gp.psi import Warped

_MATRIX = np.array([[1.2, -0.5, 0.3, 0.9, -1.1], [0.3, 0.8, -1.4, 0.2, 0.7], [0.6, 2.0, 0.1, -0.8, 0.4]])

#: One small example of every kernel over three columns, for the contract suite.
KERNELS: dict[str, Kernel] = {
    "se-isotropic": Stationary(SquaredExponential(), Scale(3, ard=False)),
    "se-ard": Stationary(SquaredExponential(), Scale(3)),
    "matern12-ard": Stationary(Matern(0.5), Scale(3)),
    "matern32-ard": Stationary(Matern(1.5), Scale(3)),
    "matern52-isotropic": Stationary(Matern(2.5), Scale(3, ard=False)),
    "matern52-hierarchical": Stationary(Matern(2.5), HierarchicalScale(3)),
    "matern52-projected": Stationary(Matern(2.5), Linear(3, 2)),
    "matern52-warped": Stationary(Matern(2.5), Chain(Warp(3), Scale(3))),
    "se-clipped": Stationary(SquaredExponential(), Chain(Clip(0.2, 0.8), Scale(3))),
    "hamming": Hamming([0, 2], [3, 2]),
    "overlap": Overlap([0, 2], [3, 2]),
    "embedded": Through(
        Chain(Linear(3, 5, fixed=_MATRIX), Clip(-1.0, 1.0)),
        Stationary(SquaredExponential(), Chain(Select([0, 1, 2]), Scale(3, ard=False)))
        * Overlap([3, 4], [2, 3]),
    ),
    "embedded-warped": Through(Warped(_MATRIX.T), Stationary(SquaredExponential(), Scale(3, ard=False))),
    "mixed": Stationary(Matern(2.5), Chain(Select([0, 1]), HierarchicalScale(2))) * Hamming([2], [4]),
    "scaled": Scaled(Stationary(Matern(2.5), Scale(3))),
    "groups": Groups([Term([0]), Term([1], [2], [3]), Term((), gates=[(0, 1, 2)])], warped=True, spread=0.3),
    "groups-paper": Groups([Term([0, 2]), Term([1])], form=SquaredExponential(), lengthscales="ard"),
    "groups-overlapping": Groups([Term([0, 1]), Term([0, 2])], lengthscales="isotropic"),
    "groups-common": Groups([Term([0, 1]), Term([1], [2], [3])], lengthscales="hierarchical", common=True),
    "groups-grouped": Groups([Term([0, 2]), Term([1])], lengthscales="grouped", spread=0.3),
    "groups-mixed": Through(
        Mixing([0, 2], np.array([[1.0, 0.2], [-0.3, 0.9]]), sd=0.3),
        Groups([Term([0]), Term([1, 2])], form=SquaredExponential(), lengthscales="isotropic"),
    ),
    "constant": Constant(),
    "polynomial": Polynomial(Direction(np.array([0.5, 0.4, 0.6])), 4, 3),
    "cylinder": Scaled(Cylinder(np.arange(3), np.full(3, 0.5), 1.8, degree=3, form=Matern(2.5))),
    "cylinder-mixed": Cylinder(
        np.array([0, 1]),
        np.array([0.5, 0.5]),
        1.5,
        degree=5,
        form=SquaredExponential(),
        warped=False,
        others=Hamming([2], [4]),
    ),
    "effects": Effects([0, 2], [1], [3]),
    "optional": Scaled(Groups([Term([0]), Term([1], [2], [3])]), optional=True, name="log_node_amplitude")
    + Scaled(Stationary(Matern(2.5), Chain(Fill(), HierarchicalScale(3)))),
    "sum": Scaled(Stationary(Matern(1.5), Scale(3))) + Scaled(Constant()),
}

__all__ = [
    "FORMS",
    "KERNELS",
    "Constant",
    "Cylinder",
    "Effects",
    "Form",
    "FormName",
    "Groups",
    "Hamming",
    "Kernel",
    "Matern",
    "Overlap",
    "Polynomial",
    "Product",
    "Scaled",
    "SquaredExponential",
    "Stationary",
    "Sum",
    "Term",
    "Through",
    "blocks",
    "values",
]
