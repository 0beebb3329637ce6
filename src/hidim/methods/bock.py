"""BOCK: Bayesian optimisation with cylindrical kernels (Oh, Gavves and Welling 2018).

    1  the centre, and one point at random                             frame, initial
    2  for t = 3, 4, …
    3      ten sweeps of slice sampling over the hyperparameters, from where the last ended    inference
    4      k = k_r(r, r') k_a(a, a') about the centre, eq. 6 to 8      prior: gp/kernels/cylinder.py
           and the centre turned towards the query, §3.3               gp/turned.py
    5      log EI, averaged over the ten                               utility
    6      20,000 Sobol points and a spray about the best, the best 20 refined       search

Beyond a hundred trials, line 3 waits until there are 2 % more of them; the paper goes on for every suggestion
(growth=0). Losses are transformed if the evidence insists, which the paper does not do.

For functions whose optimum is expected near the centre of the space, or near a known configuration.
"""

from __future__ import annotations

from dataclasses import replace

from hidim.acquisition.utility import Improvement
from hidim.belief.inference import Peak, Slices
from hidim.belief.priors import Cylindrical, Flat
from hidim.frame import Cube
from hidim.methods.recipe import Recipe
from hidim.search import Sprays

BOCK = Recipe(
    name="bock",
    frame=Cube(center=None, region="box"),
    prior=Cylindrical(degree=3, warped=True),
    inference=Slices(outcome="reluctant", growth=0.02, draws=10, thinning=1, warm=True, burn_in=100),
    utility=Improvement(logarithm=True, plateau=0.1),
    search=Sprays(),
    initial=2,
)

#: The same at the peak of the posterior of the hyperparameters, with fewer points to look at.
BOCK_MAP = replace(
    BOCK,
    name="bock-map",
    inference=Peak(outcome="reluctant"),
    search=Sprays(raw=1_000, sifted=50, refined=8),
)

#: What the paper compares with, "Matern": one length-scale for all of the cube, and everything else alike.
MATERN_SLICE = replace(BOCK, name="matern-slice", prior=Flat(lengthscales="isotropic"))
