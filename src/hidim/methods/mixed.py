"""One model of functions that add up in part and interact in part.

frame       all of the space and, once a run has settled, a window around its best point
prior       functions of single parameters and of a tree's nodes, added up, and a product kernel over all
inference   maximum a posteriori; beside the sum its parts alone, drawn by what each has gained
utility     as in `gp`, but a run has to be settled for six times as long before suggestions look elsewhere
            for that, so never before trial 180: models and windows leave basins, too. Without any, one of
            five runs of Hartmann's function, on which this was chosen, stood in one for 860 trials
search      the ways of `gp`, drawn by what each has gained, and thorough until there are main effects; the
            best paths of a tree are among their starts, of which a sixth climbs a little to find the best
"""

from __future__ import annotations

from hidim.acquisition.utility import Bold
from hidim.belief.inference import Peak
from hidim.belief.priors import Mixed
from hidim.frame import Zooming
from hidim.methods.recipe import Recipe
from hidim.search import Paths, Ways

MIXED = Recipe(
    name="mixed",
    frame=Zooming(),
    prior=Mixed(),
    inference=Peak(outcome="auto", twins=True, toss="success"),
    utility=Bold(calm=6),
    search=Paths(ways=Ways(credit="late-gain", thorough="early", scouts=1 / 6)),
    initial=10,
)
