"""Add-GP-UCB (Kandasamy et al. 2015), PP-GP-UCB and RPP-GP-UCB (Li et al. 2016).

    1   every N_cyc trials, learn groups, W, α, θ                   inference: belief/inference/relearning.py
    2   z_t^(v) = argmax μ_v + √β_t σ_v for every v, x_t = Ŵ⁻ᵀ z_t  search: search/settings.py
    3   query f at x_t, clipped to the cube, the projection of which the model sees

The three are one method: f is a sum over groups of z = Ŵᵀ x, where Ŵ = (1 − α) W + α I (eq. 7).

    add-gp      δ = 0, so α = 1: groups of parameters
    rpp-gp      δ = .1: as far from the axes as keeps the searched box close to the cube (eq. 8)
    pp-gp       δ = ∞, so α = 0: the learnt directions themselves

Departures: losses are transformed as the evidence says, groups are improved by exchanges, hyperparameters are
fitted more often at the beginning, and bounds are maximised by gradients instead of DIRECT.
"""

from __future__ import annotations

from dataclasses import replace

from hidim.acquisition.beta import Logarithmic
from hidim.acquisition.utility import GroupBounds
from hidim.belief.inference import Relearning
from hidim.belief.priors import Additive
from hidim.frame import Cube
from hidim.methods.recipe import Recipe
from hidim.search import Paths

ADD_GP = Recipe(
    name="add-gp",
    frame=Cube(),
    prior=Additive(delta=0.0),
    inference=Relearning(),
    utility=GroupBounds(Logarithmic(factor=0.2)),
    search=Paths(lanes=3),
    initial=10,
)

RPP_GP = replace(ADD_GP, name="rpp-gp", prior=Additive(delta=0.1))

PP_GP = replace(ADD_GP, name="pp-gp", prior=Additive(delta=None))
