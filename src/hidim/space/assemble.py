"""A space from a list: parameters by name, and the options under which each of them is active."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from hidim.space.labels import Label
from hidim.space.parameters import Choice, Parameter
from hidim.space.space import Space

#: A choice by its name, and one of its labels.
Edge: TypeAlias = tuple[str, Label]


def assembled(parameters: Mapping[str, Parameter], edges: Mapping[str, Sequence[Edge]]) -> Space:
    """The space in which every parameter is active under each of its edges, and always without any.

    Args:
        parameters: by name; choices without parameters under their options.
        edges: for names of parameters the options that make them active; the choices among them must not
            depend on each other in a circle. A parameter with several becomes a shared one.

    Example:
        >>> from hidim.space import Float
        >>> plain = {"x": Float(0, 1), "kind": Choice("a", "b", "c")}
        >>> assembled(plain, {"x": [("kind", "a"), ("kind", "c")]})
        Space: 2 columns, conditional
        └── kind  choice
            ├── 'a'
            │   └── x  float   [0, 1]  shared
            ├── 'b'
            └── 'c'
                └── x  float   [0, 1]  shared
    """
    children: dict[Edge, list[str]] = defaultdict(list)
    for name in parameters:
        for edge in edges.get(name, ()):
            children[edge].append(name)

    def build(names: Sequence[str]) -> Space:
        return Space({name: whole(name, parameters[name]) for name in names})

    def whole(name: str, parameter: Parameter) -> Parameter:
        shared = len(edges.get(name, ())) > 1
        if not isinstance(parameter, Choice):
            return replace(parameter, shared=shared)
        options = {label: build(children[name, label]) for label in parameter.labels}
        return Choice(options, shared=shared, ordered=parameter.ordered)

    return build([name for name in parameters if not edges.get(name)])
