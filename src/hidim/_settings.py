"""What people set: read from text, and checked. Each refusal names the setting, its value and the mend."""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Sequence
from typing import Any

from hidim.errors import MethodError

#: Integers of settings; beyond, no count or size can be meant.
LARGEST = 2**53


def at_least(settings: object, /, **least: float) -> None:
    """Raise `MethodError` unless every named setting is a number of at least so much."""
    for name, bound in least.items():
        value = getattr(settings, name)
        whole = isinstance(bound, int)
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not number or not bound <= value <= (math.inf if whole else sys.float_info.max):
            kind = "an integer" if whole else "a finite number"
            raise _refusal(settings, name, f"must be {kind} of at least {bound}")
        if whole and value > LARGEST:
            raise MethodError(f"{type(settings).__name__}: {name} must be at most 2**53")


def one_of(settings: object, /, **allowed: Sequence[str]) -> None:
    """Raise `MethodError` unless every named setting is one of its allowed words."""
    for name, values in allowed.items():
        if getattr(settings, name) not in values:
            raise MethodError(
                f"{name}={getattr(settings, name)!r} is unknown: choose one of {', '.join(values)}"
            )


def of_type(settings: object, /, **types: type) -> None:
    """Raise `MethodError` unless every named setting is of its type."""
    for name, kind in types.items():
        if not isinstance(getattr(settings, name), kind):
            wanted = "is True or False" if kind is bool else f"must be of type {kind.__name__}"
            raise _refusal(settings, name, wanted)


def _refusal(settings: object, name: str, wanted: str) -> MethodError:
    owner = type(settings).__name__
    return MethodError(f"{owner}({name}={getattr(settings, name)!r}): {name} {wanted}")


def split_names(text: str) -> list[str]:
    """The parts of `text` between those commas that stand in no brackets.

    Example:
        >>> split_names("random, rembo(low=3,runs=4),")
        ['random', 'rembo(low=3,runs=4)']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def read_name(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the settings of `name(setting=value, …)`; what is no Python literal is a string.

    Example:
        >>> read_name("rembo(low=3, kernel=categorical)")
        ('rembo', {'low': 3, 'kernel': 'categorical'})
    """
    match = re.fullmatch(r"\s*([^()]*?)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise MethodError(f"cannot read the method {text!r}: write it as rembo(low=3, runs=4)")
    name, settings = match.groups()
    read = [_setting(text, part) for part in split_names(settings or "")]
    if twice := [key for key, _ in read if [k for k, _ in read].count(key) > 1]:
        raise MethodError(f"{text!r} says {twice[0]!r} twice: drop one")
    return name, dict(read)


def _setting(text: str, part: str) -> tuple[str, Any]:
    key, equals, value = map(str.strip, part.partition("="))
    if not equals or not value:
        raise MethodError(f"{text!r}: {part!r} is no setting; write name=value")
    try:
        return key, ast.literal_eval({"true": "True", "false": "False", "none": "None"}.get(value, value))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return key, value
