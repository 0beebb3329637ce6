"""From a belief and a utility to points worth evaluating."""

from hidim.search.ascent import Ascent
from hidim.search.base import Found, Search, Situation, Target
from hidim.search.box import Box
from hidim.search.elastic import Walks
from hidim.search.paths import Paths
from hidim.search.sprays import Sprays

#: Every search by its name.
SEARCHES: dict[str, Search] = {
    "ascent": Ascent(),
    "box": Box(),
    "direct": Box("direct"),
    "direct+cma-es": Box("direct+cma-es"),
    "elastic": Walks(),
    "multistart": Box("multistart"),
    "paths": Paths(),
    "sprays": Sprays(),
}

__all__ = ["SEARCHES", "Ascent", "Box", "Found", "Paths", "Search", "Situation", "Sprays", "Target", "Walks"]
