"""REMBO: Bayesian optimisation through random embeddings (Wang et al. 2013, 2016).

    1  A ∈ R^{D×d} with entries N(0, 1)                            frame: embed/gaussian.py
    2  y in [−√d, √d]^d                                            frame: theorem 3 and the text after it
    3  for t = 1, 2, …
    4      y_{t+1} = argmax EI(y), by the better of DIRECT and CMA-ES      utility and search
    5      observe f(clip(A y_{t+1}))                              the paper's line 5 forgets the clip
    6      length-scale by Algorithm 3                             inference: belief/inference/schedule.py

Trial t belongs to run t mod k (§3.1). `rembo` departs from the paper in three ways, which `rembo-paper`
leaves out: losses are transformed as the evidence says, it is the logarithm of expected improvement that is
maximised, and beyond three dimensions it is so by gradients. Both polish what was found by a few steps along
the gradient, and look at the centre first.
"""

from __future__ import annotations

from dataclasses import replace

from hidim.acquisition.utility import Improvement
from hidim.belief.inference import Schedule
from hidim.belief.priors import Embedded
from hidim.frame import Subspaces
from hidim.methods.recipe import Recipe
from hidim.search import Box

REMBO = Recipe(
    name="rembo",
    frame=Subspaces(low=None, runs=4, map="clip", box="sqrt"),
    prior=Embedded(kernel="auto"),
    inference=Schedule(outcome="auto"),
    utility=Improvement(logarithm=True),
    search=Box(maximiser="auto"),
    initial=3,  # few, since every one of k runs pays for its own design
)

REMBO_PAPER = replace(
    REMBO,
    name="rembo-paper",
    inference=Schedule(outcome="identity"),
    utility=Improvement(logarithm=False, plateau=0.0),
    search=Box(maximiser="direct+cma-es"),
)
