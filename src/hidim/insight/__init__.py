"""What an optimisation has learned about its objective: which parameters matter, how, and in words.

Insight      everything below, from a space and a history
Importance   the share of every parameter, a mapping
Slice        the objective along one parameter
Branches     what is known about every branch of a conditional space, a mapping
Components   the objective as a sum over groups of parameters
Interactions how much of it adds up over single parameters, and which of them interact
explain      the whole as text
"""

from __future__ import annotations

from hidim.insight.branches import Branch, Branches
from hidim.insight.components import Component, Components, Effect
from hidim.insight.importance import Importance
from hidim.insight.insight import Insight
from hidim.insight.interactions import Interactions, Pair
from hidim.insight.slices import Slice

__all__ = [
    "Branch",
    "Branches",
    "Component",
    "Components",
    "Effect",
    "Importance",
    "Insight",
    "Interactions",
    "Pair",
    "Slice",
]
