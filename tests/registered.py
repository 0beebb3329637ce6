"""The methods of the registry, each once: "auto" is left out while it is another name of a method listed."""

from __future__ import annotations

from hidim.methods import METHODS, Method

DISTINCT: dict[str, Method] = {}
for _name in sorted(METHODS, key=lambda name: name == "auto"):
    if METHODS[_name]() not in DISTINCT.values():
        DISTINCT[_name] = METHODS[_name]()
