"""Add-Tree for conditional spaces (Ma and Blaschko, "Additive Tree-Structured Conditional Parameter Spaces in
Bayesian Optimization", 2023).

    prior       a sum of kernels, one for each node of the space's tree (eq. 5; gp/kernels/groups.py)
    utility     log expected improvement of whole configurations, or the paper's bounds node by node
    search      the nodes' best settings make candidates for the best paths (Algorithm 2; search/paths.py)

Everything else, from failures to noise, is as in `gp`.
"""

from __future__ import annotations

from hidim.acquisition.beta import Adaptation
from hidim.acquisition.utility import Bold, GroupBounds
from hidim.belief.inference import Adaptive, Peak
from hidim.belief.priors import Tree
from hidim.frame import Cube
from hidim.methods.recipe import Recipe
from hidim.search import Paths, Ways

ADDTREE = Recipe(
    name="addtree",
    frame=Cube(),
    prior=Tree(form="se", lengthscales="hierarchical", warped=True),
    inference=Peak(outcome="auto", twins=True),
    utility=Bold(),
    search=Paths(),
    initial=10,
)

#: As in the paper: squared exponential, Algorithm 2, length-scales and β by A-GP-UCB (§4.3 and §5).
#: Length-scales and the amplitude have priors here, where the released code has bounds and unit variance.
ADDTREE_PAPER = Recipe(
    name="addtree-paper",
    frame=Cube(),
    prior=Tree(form="se", lengthscales="ard", warped=False),
    inference=Adaptive(Peak(outcome="identity", twins=False), Adaptation()),
    utility=Bold(
        exact=GroupBounds(Adaptation()), noisy=GroupBounds(Adaptation()), restless=0.0, last=0.0, fair=0.0
    ),
    search=Paths(),
    initial=5,
)

#: An independent Gaussian process for every path, under common length-scales, to be compared with.
LEAVES = Recipe(
    name="leaves",
    frame=Cube(),
    prior=Tree(by="paths", form="se", lengthscales="hierarchical", warped=True),
    inference=Peak(outcome="auto", twins=True),
    utility=Bold(restless=0.0, fair=0.0),
    search=Ways(),
    initial=10,
)
