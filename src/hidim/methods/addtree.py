"""Add-Tree for conditional spaces (Ma and Blaschko, "Additive Tree-Structured Conditional Parameter Spaces in
Bayesian Optimization", 2023).

    prior       a sum of kernels, one for each node of the space's tree (eq. 5; gp/kernels/groups.py)
    utility     log expected improvement of whole configurations, or the paper's bounds node by node
    search      the nodes' best settings make candidates for the best paths (Algorithm 2; search/paths.py)

Everything else, from failures to noise, is as in `default`.
"""

from __future__ import annotations

from dataclasses import replace

from hidim.acquisition.beta import Adaptation
from hidim.acquisition.utility import GroupBounds
from hidim.belief.inference import Adaptive, Peak
from hidim.belief.priors import Tree
from hidim.frame import Cube
from hidim.methods.default import DEFAULT
from hidim.methods.recipe import Recipe
from hidim.search import Paths

TREE = Tree(form="se", lengthscales="hierarchical", warped=True)

ADDTREE = replace(DEFAULT, name="addtree", prior=TREE)

#: As in the paper: squared exponential, Algorithm 2, length-scales and β by A-GP-UCB (§4.3 and §5).
#: Length-scales and the amplitude have priors here, where the released code has bounds and unit variance.
ADDTREE_PAPER = Recipe(
    name="addtree-paper",
    frame=Cube(),
    prior=Tree(form="se", lengthscales="ard", warped=False),
    inference=Adaptive(Peak(outcome="identity"), Adaptation()),
    utility=GroupBounds(Adaptation()),
    search=Paths(),
    initial=5,
)

#: An independent Gaussian process for every path, under common length-scales, to be compared with.
LEAVES = replace(ADDTREE, name="leaves", prior=replace(TREE, by="paths"))
