"""The methods, and the one list of them."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from hidim.errors import MethodError
from hidim.methods.addtree import AddTree
from hidim.methods.auto import Auto
from hidim.methods.base import Method, Observations, Suggestion, Task, observe
from hidim.methods.baxus import Baxus
from hidim.methods.gp import GaussianProcess
from hidim.methods.recipes import RECIPES
from hidim.methods.rembo import Rembo
from hidim.methods.scatter import Random, Sobol

#: Every method by its stable name. Command line, benchmark and contract tests iterate over this.
METHODS: dict[str, Callable[[], Method]] = {
    "addtree": AddTree,
    "auto": Auto,
    "baxus": Baxus,
    "gp": GaussianProcess,
    "random": Random,
    "rembo": Rembo,
    "sobol": Sobol,
}


def make_method(method: str | Method) -> Method:
    """The method or recipe of that name; a configured method is returned as it is."""
    if isinstance(method, Method):
        return method
    if isinstance(method, str) and (make := METHODS.get(method) or RECIPES.get(method)):
        return make()
    if isinstance(method, type) and issubclass(method, Method):
        raise MethodError(f"give an instance, not the class: method={method.__name__}()")
    known = [*METHODS, *RECIPES]
    close = get_close_matches(str(method), known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(known)}"
    raise MethodError(f"unknown method {method!r}: {hint}")


__all__ = [
    "METHODS",
    "RECIPES",
    "AddTree",
    "Auto",
    "Baxus",
    "GaussianProcess",
    "Method",
    "Observations",
    "Random",
    "Rembo",
    "Sobol",
    "Suggestion",
    "Task",
    "make_method",
    "observe",
]
