"""A Gaussian process that does not have to be told what the function looks like.

    frame       all of the space; the centre first, then a Latin hypercube
    prior       Matérn-5/2 with hierarchical heavy-tailed length-scales
    inference   maximum a posteriori and its isotropic twin, losses transformed as the evidence says
    utility     log expected improvement, now and then of a margin or elsewhere; bounds if values are noisy
    search      three ways of proposing, mixed by their success

For 1 to about a thousand dimensions.
"""

from __future__ import annotations

from hidim.acquisition.utility import Bold
from hidim.belief.inference import Peak
from hidim.belief.priors import Flat
from hidim.frame import Cube
from hidim.methods.recipe import Recipe
from hidim.search import Ways

GP = Recipe(
    name="gp",
    frame=Cube(),
    prior=Flat(lengthscales="hierarchical"),
    inference=Peak(outcome="auto", twins=True),
    utility=Bold(),
    search=Ways(),
    initial=10,
)

#: A plain Gaussian process that knows nothing of trees, margins and transforms, to be compared with.
FLAT = Recipe(
    name="flat",
    frame=Cube(),
    prior=Flat(lengthscales="ard"),
    inference=Peak(outcome="identity", twins=False),
    utility=Bold(bold=0.0, restless=0.0, fair=0.0),
    search=Ways(),
    initial=10,
)
