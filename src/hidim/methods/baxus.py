"""BAxUS: an embedding that grows, for unknown numbers of directions that matter (Papenmeier et al. 2022).

Bins of parameters are searched as `mixed` searches parameters, thoroughly all the time. They double when the
search stalls; until then no suggestion looks elsewhere. Trust regions, which the paper has, are left to the
ways of the search.
"""

from __future__ import annotations

from dataclasses import replace

from hidim.acquisition.utility import Bold
from hidim.frame import Growing
from hidim.methods.mixed import MIXED
from hidim.methods.recipe import Recipe
from hidim.search import Paths, Ways

BAXUS: Recipe = replace(
    MIXED,
    name="baxus",
    frame=Growing(),
    utility=Bold(restless=0.0),
    search=Paths(ways=Ways(credit="late-gain")),
)
