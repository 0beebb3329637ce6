"""The default: a model of functions that add up in part and interact in part, and ascents on it.

    frame       all of the space and, now and then, a look aside: at options, through a window, or afresh
    prior       main effects, the nodes of a conditional space, and a product kernel over all parameters
    inference   maximum a posteriori, beside a simpler model; losses transformed as the evidence says
    utility     log expected improvement; bounds if values are noisy
    search      ascents from everywhere, from copies of the best points, and from the best main effects

For 1 to about a thousand dimensions.
"""

from __future__ import annotations

from dataclasses import replace

from hidim.acquisition.utility import Usual
from hidim.belief.inference import Peak
from hidim.belief.priors import Flat, MainEffects
from hidim.frame import Aside
from hidim.methods.recipe import Recipe
from hidim.search import Ascent

DEFAULT = Recipe(
    name="default",
    frame=Aside(),
    prior=MainEffects(),
    inference=Peak(outcome="auto"),
    utility=Usual(),
    search=Ascent(),
    initial=10,
)

#: The same without main effects and nodes.
GP = replace(DEFAULT, name="gp", prior=Flat(lengthscales="hierarchical"))

#: A plain Gaussian process that knows nothing of transforms either, to be compared with.
FLAT = replace(GP, name="flat", prior=Flat(lengthscales="ard"), inference=Peak(outcome="identity"))
