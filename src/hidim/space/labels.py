"""What the options of a choice may be called.

A label is a string, a number, a boolean, None, or a tuple of labels. JSON has no tuples: they are written as
lists, and read back as what they were.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from hidim.errors import SpaceError

#: Bits of an integer; Python refuses to write much longer ones down.
LONGEST = 1000

Label: TypeAlias = str | int | float | bool | tuple["Label", ...] | None


def checked(label: Any) -> Label:
    """The label in plain Python, or a `SpaceError`.

    Example:
        >>> checked((np.int64(64), "relu"))
        (64, 'relu')
    """
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, tuple):
        return tuple(map(checked, label))
    if isinstance(label, list | np.ndarray):
        raise SpaceError(f"Choice: {label!r} is no label; write it as a tuple: {from_plain(label)!r}")
    if not isinstance(label, str | int | float | None):
        raise SpaceError(
            f"Choice: the label {label!r} must be a string, a number, a boolean or None, or a tuple of these"
        )
    if isinstance(label, int) and label.bit_length() > LONGEST:
        raise SpaceError("Choice: an integer of hundreds of digits is no label; write it as a string")
    if isinstance(label, float) and not math.isfinite(label):
        raise SpaceError(f"Choice: the label {label!r} must be finite; write it as a string")
    return label


def check_alone(labels: tuple[Any, ...]) -> None:
    """Refuse labels that were meant to be several, and came as one."""
    if len(labels) == 1 and isinstance(labels[0], list | tuple | set | frozenset | range | np.ndarray):
        raise SpaceError(f"Choice: {labels[0]!r} is no label on its own; unpack it: Choice(*labels)")


def to_plain(label: Label) -> Any:
    """The label as JSON has it, with lists for tuples."""
    return [to_plain(part) for part in label] if isinstance(label, tuple) else label


def from_plain(value: Any) -> Any:
    """A value with tuples for lists, in the hope that it is a label; lists hold no labels.

    Example:
        >>> from_plain([64, ["relu", None]])
        (64, ('relu', None))
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(map(from_plain, value)) if isinstance(value, list | tuple) else value


def types(label: Any) -> Any:
    """What tells labels apart that Python takes for equal: 1 == 1.0 == True."""
    return tuple(map(types, label)) if isinstance(label, tuple) else type(label)


def are_same(label: Label, value: Any) -> bool:
    """Whether two equal labels are the same to the one who wrote them: 1 and 1.0 are, 1 and True are not."""
    if isinstance(label, tuple):
        return all(map(are_same, label, value))
    return isinstance(label, bool) == isinstance(value, bool | np.bool_)
