"""The methods, and the one list of them."""

from __future__ import annotations

import dataclasses
from difflib import get_close_matches
from typing import Any

from hidim._settings import read_name
from hidim.errors import MethodError
from hidim.methods.additive import ADD_GP, PP_GP, RPP_GP
from hidim.methods.addtree import ADDTREE, ADDTREE_PAPER, LEAVES
from hidim.methods.auto import Auto
from hidim.methods.base import Method
from hidim.methods.baxus import BAXUS
from hidim.methods.bock import BOCK, BOCK_MAP, MATERN_SLICE
from hidim.methods.default import DEFAULT, FLAT, GP
from hidim.methods.elastic import ELASTIC
from hidim.methods.random import RandomSearch, SobolSearch
from hidim.methods.recipe import Recipe
from hidim.methods.rembo import REMBO, REMBO_PAPER
from hidim.methods.settings import PARTS, kind_of, with_settings
from hidim.task import Suggestion, Task

#: Every method by its stable name. Command line, benchmark and contract tests iterate over this.
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        ADD_GP,
        ADDTREE,
        ADDTREE_PAPER,
        Auto(),
        BAXUS,
        BOCK,
        BOCK_MAP,
        DEFAULT,
        ELASTIC,
        FLAT,
        GP,
        LEAVES,
        MATERN_SLICE,
        PP_GP,
        RandomSearch(),
        REMBO,
        REMBO_PAPER,
        RPP_GP,
        SobolSearch(),
    )
}


def registered_classes() -> dict[str, type[Any]]:
    """Every class of which a method or a part is registered, by its name."""
    found: dict[str, type[Any]] = {}

    def enter(value: Any) -> None:
        if dataclasses.is_dataclass(value):
            found[type(value).__name__] = type(value)
            for field in dataclasses.fields(value):
                enter(getattr(value, field.name))

    for registry in (METHODS, *PARTS.values()):
        for value in registry.values():
            enter(value)
    return found


def register(name: str, entry: Any) -> None:
    """Enter a part or a method of your own, so that it can be named, saved and loaded.

    Whoever loads a history needs it, too: a good place is the module that defines it.

    Args:
        name: under which it is known.
        entry: a frozen dataclass.
    """
    kind = Method if isinstance(entry, Method) else kind_of(entry)
    if kind is None or not dataclasses.is_dataclass(entry):
        raise MethodError(
            f"{entry!r} cannot be registered: give an instance of a frozen dataclass that is a "
            f"hidim.methods.Method or a {', '.join(part.__name__ for part in PARTS)}"
        )
    known = registered_classes().get(type(entry).__name__, type(entry))
    if known is not type(entry):
        raise MethodError(
            f"another class {known.__name__} is registered, from {known.__module__}: rename yours"
        )
    registries: dict[type, dict[str, Any]] = {Method: METHODS, **PARTS}
    registries[kind][name] = entry


def configured(method: str | Method, **settings: Any) -> Method:
    """A method with other settings than its usual ones.

    Args:
        method: a name of `METHODS`, or a method.
        settings: of the method or of any of its parts; parts by their names, or as objects.

    Example:
        >>> configured("rembo-paper", low=2, runs=1).frame
        Subspaces(low=2, runs=1, map='clip', box='sqrt', failure=0.1, inside=False, lows=(4,))
        >>> configured("gp", inference="slice", draws=3).inference.draws
        3
    """
    return with_settings(make_method(method), settings)


def make_method(method: str | Method) -> Method:
    """The method that a name means, as "gp" or "rembo(low=2, runs=1)"; a method is returned as it is."""
    if isinstance(method, Method):
        return method
    if isinstance(method, type) and issubclass(method, Method):
        raise MethodError(f"give an instance, not the class: method={method.__name__}()")
    if not isinstance(method, str):
        raise MethodError(
            f"unknown method {method!r}: choose one of {', '.join(METHODS)}, or derive one from "
            "hidim.methods.Method"
        )
    name, settings = read_name(method)
    if name in METHODS:
        return with_settings(METHODS[name], settings)
    close = get_close_matches(name.lower(), METHODS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(METHODS)}"
    raise MethodError(f"unknown method {name!r}: {hint}")


__all__ = [
    "METHODS",
    "PARTS",
    "Auto",
    "Method",
    "RandomSearch",
    "Recipe",
    "SobolSearch",
    "Suggestion",
    "Task",
    "configured",
    "make_method",
    "register",
    "registered_classes",
]
