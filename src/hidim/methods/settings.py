"""Parts and methods by name, and their settings.

A setting is one of the recipe, or of one of its parts, or of a part of these: names say which, since the
parts of a recipe hardly share any; one that several have is set in all of them. Parts are given by their
registered names, or as objects.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from hidim.acquisition.beta import BETAS, Beta, Fixed
from hidim.acquisition.utility import UTILITIES, Utility
from hidim.belief.inference import INFERENCES, Inference
from hidim.belief.priors import PRIORS, Prior
from hidim.errors import MethodError
from hidim.frame import FRAMES, Frame
from hidim.search import SEARCHES, Search

T = TypeVar("T")

#: Every part by its kind and its registered name. What is entered here can be named, saved and loaded.
PARTS: dict[type, dict[str, Any]] = {
    Frame: FRAMES,
    Prior: PRIORS,
    Inference: INFERENCES,
    Utility: UTILITIES,
    Search: SEARCHES,
    Beta: BETAS,
}


def registered_name(part: Any) -> str:
    """The name under which a part of that class is registered, else that of its class."""
    kind = kind_of(part)
    names = [] if kind is None else [name for name, known in PARTS[kind].items() if known == part]
    classes = [] if kind is None else [n for n, known in PARTS[kind].items() if type(known) is type(part)]
    return next(iter([*names, *classes]), type(part).__name__)


#: A name so much like one of the owner's settings is a slip, even if a part elsewhere has a setting of it.
MISSPELT = 0.9


def kind_of(part: Any) -> type | None:
    """Of which kind of part it is, if it is one."""
    return next((kind for kind in PARTS if isinstance(part, kind)), None)


def with_settings(owner: T, settings: Mapping[str, Any]) -> T:
    """A copy of a method or part with other settings.

    Example:
        >>> from hidim.methods.rembo import REMBO
        >>> with_settings(REMBO, {"low": 3, "search": "multistart"}).search
        Box(maximiser='multistart', evaluations=200)
    """
    changed, used = _replaced(owner, settings)
    for name in settings:
        if name not in used:
            title = getattr(owner, "name", repr(owner))
            raise MethodError(f"{title} has no setting {name!r}: {_hint(changed, name)}")
    return changed


def _hint(owner: Any, name: str) -> str:
    """Where a setting belongs that `owner` does not have."""
    known = sorted(set(_names(owner)))
    if not known and getattr(owner, "name", None) == "auto":
        return "it has none; those of the method that it chooses can be set, as in default(initial=20)"
    if not known:
        return "it has none"
    if misspelt := get_close_matches(name, known, n=1, cutoff=MISSPELT):
        return f"did you mean {misspelt[0]!r}?"
    parts = [
        f"{kind.__name__.lower()}={registered!r}"
        for kind, registry in PARTS.items()
        for registered, part in registry.items()
        if name in _names(part)
    ]
    if parts:
        return f"it is one of {' or '.join(parts)}"
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"


def _replaced(owner: T, settings: Mapping[str, Any]) -> tuple[T, set[str]]:
    """`owner` with those settings, wherever it has them, and which it has."""
    changes: dict[str, Any] = {}
    used: set[str] = set()
    for name in _own_names(owner):
        current, inner = getattr(owner, name), settings
        new = current
        if name in settings and (_is_whole(current, settings[name]) or name not in _names(current)):
            new = _part(current, settings[name])
            used.add(name)
            inner = {key: value for key, value in settings.items() if key != name}
        new, more = _replaced(new, inner)
        used |= more
        if new is not current:
            changes[name] = new
    if changes:
        owner = dataclasses.replace(owner, **changes)  # type: ignore[type-var]  # it has fields: a dataclass
    return owner, used


def _is_whole(current: Any, value: Any) -> bool:
    """Whether a value is for a setting itself, and not for one of the same name in the part that it is."""
    return kind_of(current) is None or isinstance(value, str) or kind_of(value) is not None


def _part(current: Any, value: Any) -> Any:
    """The new value of a setting: if it is a part, the registered one of that name."""
    kind = kind_of(current)
    if kind is Beta and isinstance(value, int | float) and not isinstance(value, bool):
        return Fixed(value)
    if kind is None or not isinstance(value, str):
        return value
    if value not in PARTS[kind]:
        known = ", ".join(PARTS[kind])
        raise MethodError(f"unknown {kind.__name__.lower()} {value!r}: choose one of {known}")
    return PARTS[kind][value]


def _own_names(owner: Any) -> list[str]:
    """But for that of a method, which is no setting."""
    if not dataclasses.is_dataclass(owner) or isinstance(owner, type):
        return []
    return [field.name for field in dataclasses.fields(owner) if field.name != "name"]


def _names(owner: Any) -> list[str]:
    """Of all settings of a part and of its parts."""
    own = _own_names(owner)
    return own + [name for field in own for name in _names(getattr(owner, field))]


def listed(owner: Any, depth: int = 0) -> Iterator[tuple[int, str, Any]]:
    """All settings with their values, those of a part below it, one deeper; a part is told by its name."""
    for name in _own_names(owner):
        value = getattr(owner, name)
        yield depth, name, value if kind_of(value) is None else registered_name(value)
        yield from listed(value, depth + 1)
