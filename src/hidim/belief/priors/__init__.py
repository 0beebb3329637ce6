"""Models of functions before any data."""

from hidim.belief.priors.additive import Additive
from hidim.belief.priors.base import Learnable, Lesson, Prior, Structure, evenly, tag
from hidim.belief.priors.cylinder import Cylindrical
from hidim.belief.priors.effects import MainEffects
from hidim.belief.priors.embedded import Embedded
from hidim.belief.priors.flat import Flat
from hidim.belief.priors.tree import Tree

#: Every prior by its name.
PRIORS: dict[str, Prior] = {
    "additive": Additive(),
    "cylinder": Cylindrical(),
    "embedded": Embedded(),
    "flat": Flat(),
    "leaves": Tree(by="paths"),
    "main-effects": MainEffects(),
    "pursuit": Additive(delta=None),
    "restricted": Additive(delta=0.1),
    "tree": Tree(),
}

__all__ = [
    "PRIORS",
    "Additive",
    "Cylindrical",
    "Embedded",
    "Flat",
    "Learnable",
    "Lesson",
    "MainEffects",
    "Prior",
    "Structure",
    "Tree",
    "evenly",
    "tag",
]
