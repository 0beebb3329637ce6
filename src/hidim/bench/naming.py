"""Methods of hidim with settings in their names, as `hidim:rembo(low=3,runs=4,kernel=categorical)`."""

from __future__ import annotations

import ast
import dataclasses
import re
from typing import TYPE_CHECKING, Any

from hidim.errors import MethodError

if TYPE_CHECKING:
    from hidim.methods import Method

PREFIX = "hidim:"


def split_names(text: str) -> list[str]:
    """The parts of `text` between those commas that stand in no brackets.

    Example:
        >>> split_names("random, hidim:rembo(low=3,runs=4),")
        ['random', 'hidim:rembo(low=3,runs=4)']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def named_method(name: str) -> Method:
    """The method that `hidim:…` names; values are Python literals, and anything else is a string.

    Example:
        >>> named_method("hidim:rembo(low=3,kernel=categorical)").kernel
        'categorical'
    """
    from hidim.methods import METHODS, RECIPES

    match = re.fullmatch(r"([^()]*?)(?:\((.*)\))?", name.removeprefix(PREFIX))
    if match is None:
        raise MethodError(f"cannot read {name!r}: write it as {PREFIX}rembo(low=3,runs=4)")
    known, text = match.groups()
    makers = METHODS | RECIPES
    if known not in makers:
        raise MethodError(f"no method {name!r}: hidim has {', '.join(PREFIX + known for known in makers)}")
    method = makers[known]()
    settings = dict(_setting(name, part) for part in split_names(text or ""))
    _check_settings(name, method, settings)
    return dataclasses.replace(method, **settings)  # type: ignore[type-var]  # every method is a dataclass


def _setting(name: str, part: str) -> tuple[str, Any]:
    key, equals, text = map(str.strip, part.partition("="))
    if not equals or not text:
        raise MethodError(f"{name!r}: {part!r} is no setting; write name=value")
    try:
        return key, ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return key, text


def _check_settings(name: str, method: Method, settings: dict[str, Any]) -> None:
    """Refuse settings that the method does not have, and those that are objects and cannot be written."""
    simple = int | float | str | None
    having = [
        field.name
        for field in dataclasses.fields(method)  # type: ignore[arg-type]  # every method is a dataclass
        if field.init and isinstance(getattr(method, field.name), simple)
    ]
    for key in settings:
        if key not in having:
            known = f"it can be given {', '.join(having)}" if having else "it can be given none"
            raise MethodError(f"{name!r}: {method.name} has no setting {key!r} that a name can give; {known}")
