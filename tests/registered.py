"""The methods of the registry, each once: "auto" only chooses among the others."""

from __future__ import annotations

from typing import Any

from hidim.methods import METHODS, Method, configured

#: Shorter and fewer chains, fewer scattered points, for time; everything else as registered.
FEW_POINTS: dict[str, Any] = {"raw": 128, "max_calls": 8}
FEW_SWEEPS: dict[str, Any] = {"burn_in": 2, "draws": 2, "thinning": 1, "growth": 0.3}
QUICK: dict[str, Method] = {
    "bock": configured("bock", **FEW_SWEEPS, **FEW_POINTS),
    "elastic": configured("elastic", initial=4, lanes=6, evaluations=150),
    "bock-map": configured("bock-map", **FEW_POINTS),
    "matern-slice": configured("matern-slice", **FEW_SWEEPS, **FEW_POINTS),
    "rembo-paper": configured("rembo-paper", runs=1, initial=2, evaluations=30),
}

ONES: dict[str, Method] = {**METHODS, **QUICK}

#: What others are compared with, of the same parts as they are: tried in fewer spaces.
BASELINES: dict[str, Method] = {
    name: ONES[name]
    for name in (
        "add-gp",
        "addtree-paper",
        "bock-map",
        "flat",
        "leaves",
        "matern-slice",
        "pp-gp",
        "rembo-paper",
    )
}

DISTINCT: dict[str, Method] = {
    name: method for name, method in ONES.items() if name != "auto" and name not in BASELINES
}
