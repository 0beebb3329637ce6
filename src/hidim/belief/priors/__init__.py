"""Models of functions before any data."""

from hidim.belief.priors.base import Prior, Structure, tag
from hidim.belief.priors.cylinder import Cylindrical
from hidim.belief.priors.embedded import Embedded
from hidim.belief.priors.flat import Flat
from hidim.belief.priors.tree import Tree

#: Every prior by its name.
PRIORS: dict[str, Prior] = {
    "cylinder": Cylindrical(),
    "embedded": Embedded(),
    "flat": Flat(),
    "leaves": Tree(by="paths"),
    "tree": Tree(),
}

__all__ = ["PRIORS", "Cylindrical", "Embedded", "Flat", "Prior", "Structure", "Tree", "tag"]
