"""Settings of the methods that others are compared with, by name."""

from __future__ import annotations

from collections.abc import Callable

from hidim.methods.addtree import AddTree, TreeSurrogate
from hidim.methods.base import Method
from hidim.methods.gp import GaussianProcess
from hidim.methods.surrogate import Surrogate


def addtree_paper() -> Method:
    """Add-Tree as in the paper: squared exponential, Algorithm 2, length-scales and β by A-GP-UCB.

    Length-scales and the amplitude have priors here, where the released code has bounds and unit variance.
    """
    surrogate = TreeSurrogate(lengthscales="ard", outcome="identity", warped=False, adaptive=True)
    return AddTree(initial=5, surrogate=surrogate, acquisition="nodes")


def leaves() -> Method:
    """An independent Gaussian process for every path of a conditional space, under common length-scales."""
    return AddTree(surrogate=TreeSurrogate(structure="leaves"))


def flat() -> Method:
    """A plain Gaussian process that knows nothing of the tree: inactive numbers count as mid-range."""
    return GaussianProcess(surrogate=Surrogate(lengthscales="ard", outcome="identity"), bold=0.0)


#: Every recipe by its name; `make_method` knows them, too.
RECIPES: dict[str, Callable[[], Method]] = {"addtree-paper": addtree_paper, "leaves": leaves, "flat": flat}
