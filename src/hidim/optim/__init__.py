"""Maximisers of a function over a box. They know nothing of Gaussian processes."""

from hidim.optim.base import Maximiser, Objective, Optimum, Score
from hidim.optim.cmaes import CMAES
from hidim.optim.direct import Direct
from hidim.optim.elastic import Elastic, Family
from hidim.optim.lbfgs import ascend
from hidim.optim.multistart import Multistart

#: One example of every maximiser, for the contract suite.
MAXIMISERS: dict[str, Maximiser] = {
    "multistart": Multistart(raw=64, restarts=4),
    "direct": Direct(max_evaluations=1000),
    "cmaes": CMAES(max_evaluations=1000),
    "elastic": Elastic(evaluations=1000),
    "adam": Multistart(raw=64, restarts=4, max_calls=500, climber="adam"),
}

__all__ = [
    "CMAES",
    "MAXIMISERS",
    "Direct",
    "Elastic",
    "Family",
    "Maximiser",
    "Multistart",
    "Objective",
    "Optimum",
    "Score",
    "ascend",
]
