"""How many configurations a space has, and all of them one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import assert_never

import numpy as np

from hidim._types import Params
from hidim.errors import SpaceError
from hidim.space.parameters import Choice, Float, Int, Parameter, Vector
from hidim.space.scales import Spaced
from hidim.space.tree import walk


def count(space: Mapping[str, Parameter]) -> float:
    """Siblings multiply, options add; inf as soon as anything is continuous."""
    return math.prod(_count_one(parameter) for parameter in space.values())


def _count_one(parameter: Parameter) -> float:
    if isinstance(parameter, Choice):
        return math.fsum(count(option.space) for option in parameter.options)
    return parameter.levels


def configurations(space: Mapping[str, Parameter]) -> Iterator[Params]:
    """Every configuration of a finite space, the last parameter varying fastest."""
    for place in walk(space):
        if not math.isfinite(place.parameter.levels):
            raise SpaceError(
                f"the space is infinite, for '{place}' is continuous; enumerate() needs Int, Choice "
                "and Float with a step only"
            )
    return _combine(list(space.items()))


def _combine(parameters: list[tuple[str, Parameter]]) -> Iterator[Params]:
    # Not itertools.product, which would first write out every range in full.
    if not parameters:
        yield {}
        return
    (name, parameter), *others = parameters
    for head in _alternatives(name, parameter):
        for tail in _combine(others):
            yield head | tail


def _alternatives(name: str, parameter: Parameter) -> Iterator[Params]:
    match parameter:
        case Int(low=low, high=high, step=step):
            yield from ({name: value} for value in range(low, high + 1, step))
        case Float(steps=Spaced() as steps):
            for position in range(steps.levels):
                yield {name: float(steps.at(np.array(position)))}
        case Choice(options=options):
            for option in options:
                yield from ({name: option.label} | inner for inner in _combine(list(option.space.items())))
        case Float() | Vector():
            raise SpaceError(f"the parameter {name!r} is continuous and cannot be enumerated")
        case _:
            assert_never(parameter)
