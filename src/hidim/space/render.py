"""Spaces and ranges as text for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar, assert_never

import numpy as np

from hidim.space.parameters import Choice, Float, Int, Parameter, Vector, only_value

# More siblings or labels than this are cut in the middle: nobody reads a thousand lines.
MOST_LINES = 40
MOST_LABELS = 12

T = TypeVar("T")


def allowed(parameter: Parameter) -> str:
    """What a value may be, as the end of a sentence.

    Example:
        >>> allowed(Int(1, 30))
        'an integer in [1, 30]'
    """
    match parameter:
        case Float(width=0) | Int(width=0) | Choice(width=0):
            return f"{only_value(parameter)!r}, or leave it out"
        case Float():
            return f"a number in {_interval(parameter)}"
        case Int():
            return f"an integer in {_interval(parameter)}"
        case Vector(dim=dim):
            each = "" if parameter.has_common_range else ", each within bounds of its own"
            return f"{dim} numbers in {_interval(parameter)}{each}"
        case Choice():
            return f"one of {', '.join(_labels(parameter))}"
        case _:
            assert_never(parameter)


def printable(text: str) -> str:
    r"""Text in which control characters are written as Python writes them.

    Example:
        >>> printable("a\nb")
        'a\\nb'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def dumped(value: Any) -> str:
    """JSON in which signs that cannot be seen are written as escapes."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def number(value: float) -> str:
    """The shortest text that reads back as the same number.

    Example:
        >>> number(1000.0), number(0.1), number(123456789.5)
        ('1000', '0.1', '123456789.5')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def meant(given: Any) -> str:
    """How to write what two numbers may stand for, as the end of a sentence; "" for anything else."""
    pair = given if isinstance(given, list | tuple) and len(given) == 2 else ()
    numbers = [v for v in pair if isinstance(v, Real) and not isinstance(v, bool)]
    if len(numbers) != 2:
        return ""
    low, high = sorted(map(float, numbers))
    kind = "Int" if all(isinstance(value, Integral) for value in numbers) else "Float"
    log = ", log=True" if kind == "Float" and 0.0 < low <= high / 100.0 else ""
    ends = f"{number(low)}, {number(high)}"
    return f": write {kind}({ends}{log}) for a range, or Choice({ends}) for one of two values"


def tree(space: Mapping[str, Parameter], headline: str) -> str:
    """A headline, and under it the space as a tree."""
    return "\n".join([headline, *_branches(space)])


def _branches(space: Mapping[str, Parameter]) -> list[str]:
    names = [printable(name) for name in space]
    width = max(map(len, names), default=0)
    named = zip(names, space.values(), strict=True)
    blocks = [[f"{name:<{width}}  {_summary(p)}", *_options(p)] for name, p in named]
    return _draw(blocks)


def _options(parameter: Parameter) -> list[str]:
    if not isinstance(parameter, Choice) or not any(option.space for option in parameter.options):
        return []
    return _draw([[repr(option.label), *_branches(option.space)] for option in parameter.options])


def _draw(blocks: list[list[str]]) -> list[str]:
    """Hang blocks of lines on a common stem."""
    blocks = _cut(blocks, MOST_LINES, [f"… {len(blocks) - MOST_LINES + 1} more"])
    lines = []
    for i, (first, *rest) in enumerate(blocks):
        last = i == len(blocks) - 1
        lines.append(("└── " if last else "├── ") + first)
        lines.extend(("    " if last else "│   ") + line for line in rest)
    return lines


def _summary(parameter: Parameter) -> str:
    match parameter:
        case Float(width=0) | Int(width=0) | Choice(width=0):
            text = f"fixed   {only_value(parameter)!r}"
        case Float():
            text = f"float   {_interval(parameter)}"
        case Int():
            text = f"int     {_interval(parameter)}"
        case Vector(dim=dim):
            each = "" if parameter.has_common_range else ", each its own"
            text = f"vector  {_interval(parameter)} × {dim}{each}"
        case Choice(options=options):
            # Options with parameters get lines of their own.
            listed = not any(option.space for option in options)
            sign = " < " if parameter.ordered else " | "
            text = f"choice  {sign.join(_labels(parameter))}" if listed else "choice"
            text += "  ordered" if parameter.ordered else ""
        case _:
            assert_never(parameter)
    return text + ("  shared" if parameter.shared else "")


def _interval(parameter: Float | Int | Vector) -> str:
    """Bounds and scale; of a vector the bounds between which all coordinates lie."""
    log, step = "", ""
    low, high = np.min(parameter.low).item(), np.max(parameter.high).item()
    if np.any(parameter.log):
        log = " log" if np.all(parameter.log) else " partly log"
    if isinstance(parameter, Float | Int) and parameter.steps and parameter.step:
        step = f" in steps of {number(parameter.step)}"
    return f"[{number(low)}, {number(high)}]{log}{step}"


def _labels(choice: Choice) -> Sequence[str]:
    labels = [repr(label) for label in choice.labels]
    return _cut(labels, MOST_LABELS, f"… {len(labels) - MOST_LABELS + 1} more …")


def _cut(items: list[T], most: int, gap: T) -> list[T]:
    """At most `most` items, with a gap before the last one where some were left out."""
    return items if len(items) <= most else [*items[: most - 2], gap, items[-1]]
