"""The methods of the registry, each once: "auto" only chooses among the others."""

from __future__ import annotations

from hidim.methods import METHODS, Method

DISTINCT: dict[str, Method] = {name: make() for name, make in METHODS.items() if name != "auto"}
