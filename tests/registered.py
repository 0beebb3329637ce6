"""The methods of the registry, each once: "auto" only chooses among the others."""

from __future__ import annotations

from hidim.methods import METHODS, Method, configured

#: Shorter chains and fewer scattered points, for time; everything else as registered.
QUICK: dict[str, Method] = {
    "bock": configured("bock", burn_in=5, draws=2, raw=256, max_calls=10),
    "bock-map": configured("bock-map", raw=256, max_calls=10),
    "matern-slice": configured("matern-slice", burn_in=5, draws=2, raw=256, max_calls=10),
}

ONES: dict[str, Method] = {**METHODS, **QUICK}

#: What others are compared with, of the same parts as they are: tried in fewer spaces.
BASELINES: dict[str, Method] = {
    name: ONES[name] for name in ("addtree-paper", "flat", "leaves", "matern-slice")
}

DISTINCT: dict[str, Method] = {
    name: method for name, method in ONES.items() if name != "auto" and name not in BASELINES
}
