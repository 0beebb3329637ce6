"""The methods of the registry, each once: "auto" only chooses among the others."""

from __future__ import annotations

from hidim.methods import METHODS, Method

#: What others are compared with, of the same parts as they are: tried in fewer spaces.
BASELINES: dict[str, Method] = {name: METHODS[name] for name in ("addtree-paper", "flat", "leaves")}

DISTINCT: dict[str, Method] = {
    name: method for name, method in METHODS.items() if name != "auto" and name not in BASELINES
}
