"""Elastic GP (Rana, Li, Gupta, Nguyen and Venkatesh 2017).

    Algorithm 1   d + 1 points at random                                        frame, initial
                  for t = 1, 2, …
                      x_t = argmax EI(x | D, l_τ)                               prior, inference, utility
    Algorithm 2       raise l from l_τ until a local optimiser moves, then      search: optim/elastic.py
                      lower it to l_τ, from optimum to optimum

The squared exponential kernel has one length-scale, l_τ = 0.1 of the range of every parameter;
inference="map" fits it. In many dimensions two points are then strangers, and the acquisition function is
flat but for narrow peaks about the data, which no local optimiser finds from where it starts.

For functions with structure on a tenth of every range. If that is not known, `gp` is the better choice.
"""

from __future__ import annotations

from hidim.acquisition.utility import Improvement
from hidim.belief.inference import Given
from hidim.belief.priors import Flat
from hidim.frame import Cube
from hidim.methods.recipe import Recipe
from hidim.search import Walks

ELASTIC = Recipe(
    name="elastic",
    frame=Cube(scattered=True),
    prior=Flat(lengthscales="isotropic", form="se"),
    inference=Given(lengthscale=0.1),
    utility=Improvement(logarithm=False, plateau=0.1),
    search=Walks(near=0),
    initial=None,
)
