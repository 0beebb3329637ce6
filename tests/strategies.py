"""One hypothesis strategy per concept: parameters, spaces, configurations, points of the unit cube."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp

from hidim.space import Choice, Float, Int, Space, Vector
from hidim.space.parameters import Parameter

# Deadlines fail on busy machines and say nothing about the code.
quick = settings(deadline=None, max_examples=50)

Draw = Callable[[st.SearchStrategy[Any]], Any]


def lists_as_tuples(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(parts, max_size=3).map(tuple)


labels = st.one_of(
    st.text(max_size=6),
    st.integers(-99, 99),
    st.booleans(),
    st.none(),
    st.floats(-9, 9, allow_subnormal=False),
    st.recursive(
        st.one_of(st.text(max_size=2), st.integers(-9, 9), st.none()), lists_as_tuples, max_leaves=4
    ),
)


@st.composite
def floats(draw: Draw, shared: bool = False) -> Float:
    """Ranges that are wide relative to their bounds, so that rounding stays far below 1e-12."""
    log = draw(st.booleans())
    low = draw(st.floats(1e-12, 1e6) if log else st.floats(-1e6, 1e6))
    ratio = draw(st.floats(1e-2, 1e6))
    return Float(low, low + max(abs(low), 1e-6) * ratio, log=log, shared=shared)


@st.composite
def stepped(draw: Draw, shared: bool = False, most: int = 10**6) -> Float:
    """Numbers in decimal steps, and in steps that have no end as decimals."""
    step = draw(st.one_of(st.sampled_from([0.1, 0.05, 2.5, 1e-3, 1 / 3, 7e-9]), st.floats(1e-3, 10)))
    first, count = draw(st.integers(-20, 20)), draw(st.integers(0, most - 1))  # none: one value
    return Float(first * step, (first + count) * step, step=step, shared=shared)


@st.composite
def ints(draw: Draw, shared: bool = False) -> Int:
    log = draw(st.booleans())
    low, step = draw(st.integers(1 if log else -1000, 1000)), 1 if log else draw(st.sampled_from([1, 7]))
    count = draw(st.one_of(st.integers(0, 9), st.integers(0, 2**42 // step)))
    return Int(low, low + count * step, log=log, shared=shared, step=step)


@st.composite
def small_ints(draw: Draw, shared: bool = False) -> Int:
    low = draw(st.integers(1, 9))
    return Int(low, low + draw(st.integers(0, 3)), log=draw(st.booleans()), shared=shared)


@st.composite
def vectors(draw: Draw, shared: bool = False) -> Vector:
    """One range for all coordinates, or one for each, some of them logarithmic."""
    dim, width = draw(st.integers(1, 5)), draw(st.floats(0.1, 10))
    if draw(st.booleans()):
        low = draw(st.floats(-10, 10))
        return Vector(dim, low, low + width, shared=shared, log=low > 0.1 and draw(st.booleans()))
    lows = draw(st.lists(st.floats(-10, 10), min_size=dim, max_size=dim))
    logs = [low > 0.1 and draw(st.booleans()) for low in lows]
    highs = draw(st.sampled_from([10.0 + width, [low + width for low in lows]]))
    return Vector(dim, lows, highs, shared=shared, log=draw(st.sampled_from([False, logs])))


def label_lists(max_size: int = 4) -> st.SearchStrategy[list[Any]]:
    return st.lists(labels, min_size=1, max_size=max_size, unique=True)


@st.composite
def spaces(draw: Draw, depth: int = 2, finite: bool = False) -> Space:
    """Trees with sibling choices, names that recur in exclusive options, and shared parameters."""
    names = (f"p{i}" for i in itertools.count())
    return _space(draw, depth, names, finite, min_size=1)


def leaves(finite: bool = False, shared: bool = False) -> st.SearchStrategy[Parameter]:
    plain = st.builds(
        lambda found, ordered: Choice(dict.fromkeys(found), shared=shared, ordered=ordered),
        label_lists(),
        st.booleans(),
    )
    if finite:
        return st.one_of(small_ints(shared), stepped(shared, most=4), plain)
    return st.one_of(floats(shared), stepped(shared), ints(shared), vectors(shared), plain)


def _space(draw: Draw, depth: int, names: Iterator[str], finite: bool, min_size: int = 0) -> Space:
    size = draw(st.integers(min_size, 3))
    return Space({next(names): _parameter(draw, depth, names, finite) for _ in range(size)})


def _parameter(draw: Draw, depth: int, names: Iterator[str], finite: bool) -> Parameter:
    if depth == 0 or draw(st.booleans()):
        return draw(leaves(finite))
    found = draw(label_lists(3))
    options = {label: dict(_space(draw, depth - 1, names, finite)) for label in found}
    _add_recurring(draw, options, next(names), lambda: draw(leaves(finite)))
    joint = _shared(draw, names, finite)
    _add_recurring(draw, options, next(names), lambda: joint)
    return Choice({label: Space(inner) for label, inner in options.items()}, ordered=draw(st.booleans()))


def _add_recurring(
    draw: Draw, options: dict[Any, dict[str, Parameter]], name: str, make: Callable[[], Parameter]
) -> None:
    """Put the same name into some of the options."""
    for label in draw(st.lists(st.sampled_from(list(options)), unique=True)):
        options[label][name] = make()


def _shared(draw: Draw, names: Iterator[str], finite: bool) -> Parameter:
    if draw(st.booleans()):
        return draw(leaves(finite, shared=True))
    return Choice("off", on=Space({next(names): draw(leaves(finite))}), shared=True)


@st.composite
def configurations(draw: Draw, space: Mapping[str, Parameter]) -> dict[str, Any]:
    """A configuration of a given space, drawn without the help of the code under test."""
    params: dict[str, Any] = {}
    for name, parameter in space.items():
        match parameter:
            case Float(low=low, high=high, step=float(step)):
                count = round((high - low) / step)
                place = draw(st.integers(0, count))
                params[name] = high if place == count else low + place * step  # up to rounding
            case Float(low=low, high=high):
                params[name] = draw(st.floats(low, high))
            case Int(low=low, high=high, step=step):
                params[name] = low + step * draw(st.integers(0, (high - low) // step))
            case Vector(dim=dim):
                numbers = [parameter.coordinate(place) for place in range(dim)]
                params[name] = np.array([draw(st.floats(number.low, number.high)) for number in numbers])
            case Choice(options=options):
                option = draw(st.sampled_from(options))
                params[name] = option.label
                params |= draw(configurations(option.space))
    return params


def points(dim: int, rows: int = 4) -> st.SearchStrategy[np.ndarray]:
    """Rows of the unit cube, with NaN here and there and both ends often; shape (rows, dim)."""
    elements = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, float("nan")]))
    return stnp.arrays(np.float64, (rows, dim), elements=elements)
