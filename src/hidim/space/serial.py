"""Spaces as plain data: what a JSON or TOML file holds.

    {"lr": {"type": "float", "low": 1e-05, "high": 0.1, "log": true},
     "model": {"type": "choice", "options": [{"label": "svm", "space": {…}}, {"label": "none"}]}}

Fields at their defaults are left out on writing. Tuples (labels, bounds of the coordinates of a vector) are
written as lists. On reading, an option may also be a bare label, and a parameter its only value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from hidim.errors import SpaceError
from hidim.space.labels import Label, from_plain, to_plain
from hidim.space.parameters import Choice, Float, Int, Option, Parameter, ParameterMap, Vector
from hidim.space.tree import Trail, check_depth, title

S = TypeVar("S", bound=ParameterMap)

_TYPES: dict[str, type[Float | Int | Vector]] = {"float": Float, "int": Int, "vector": Vector}

#: What stands in a table of a parameter, and is hardly the name of one.
FIELDS = {"type", "options", "ordered", *(each.name for kind in _TYPES.values() for each in fields(kind))}


def write(space: Mapping[str, Parameter]) -> dict[str, Any]:
    """The space as nested dicts and lists of JSON scalars."""
    return {name: _write_parameter(parameter) for name, parameter in space.items()}


def _write_parameter(parameter: Parameter) -> dict[str, Any]:
    kind = {"type": type(parameter).__name__.lower()}
    if isinstance(parameter, Choice):
        options = [_write_option(option) for option in parameter.options]
        flags = {name: True for name in ("shared", "ordered") if getattr(parameter, name)}
        return kind | {"options": options} | flags
    values = {f.name: (getattr(parameter, f.name), f.default) for f in fields(parameter)}
    given = {name: value for name, (value, default) in values.items() if value != default}
    return kind | {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _write_option(option: Option) -> dict[str, Any]:
    return {"label": to_plain(option.label)} | ({"space": write(option.space)} if option.space else {})


def read(data: Any, make_space: Callable[[dict[str, Parameter]], S], path: Trail = ()) -> S:
    """The inverse of `write`; `make_space` is the class Space, handed in because it calls this function."""
    check_depth(path)
    if not isinstance(data, Mapping):
        place = title(path[:-1], "=".join(map(str, path[-1]))) if path else "the top"
        raise SpaceError(f"at {place}: a space is a table from name to parameter, not {data!r}")
    return make_space({name: _read_parameter(entry, make_space, path, name) for name, entry in data.items()})


def _read_parameter(
    entry: Any, make_space: Callable[[dict[str, Parameter]], S], path: Trail, name: str
) -> Parameter:
    place = title(path, name)
    if is_value(name, entry):
        return at(place, Choice, entry)
    if not isinstance(entry, Mapping) or "type" not in entry:
        raise SpaceError(
            f"at {place}: a parameter is a table with a type, as {{'type': 'float', …}}, not {entry!r}"
        )
    settings = {key: value for key, value in entry.items() if key != "type"}
    match entry["type"]:
        case "choice":
            _check_keys(place, settings, required={"options"}, optional={"shared", "ordered"})
            options = _read_options(settings["options"], make_space, path, name)
            flags = {key: settings[key] for key in ("shared", "ordered") if key in settings}
            return at(place, Choice, *options, **flags)
        case str(kind) if kind in _TYPES:
            definition = _TYPES[kind]
            required = {f.name for f in fields(definition) if f.default is MISSING}
            _check_keys(place, settings, required, {f.name for f in fields(definition)} - required)
            return at(place, definition, **settings)
        case other:
            raise SpaceError(f"at {place}: the type {other!r} is unknown; use float, int, vector or choice")


def is_value(name: str, entry: Any) -> bool:
    """Whether an entry is the value of a parameter, and no field that has lost its parameter."""
    return isinstance(entry, str | int | float | None) and name not in FIELDS


def _read_options(
    entries: Any, make_space: Callable[[dict[str, Parameter]], S], path: Trail, name: str
) -> list[Label | dict[Label, S | None]]:
    place = title(path, name)
    if not isinstance(entries, list | tuple):
        raise SpaceError(
            f"at {place}: options is a list of labels or of tables with a label, not {entries!r}"
        )
    options: list[Label | dict[Label, S | None]] = []
    for entry in entries:
        if isinstance(entry, Mapping):
            _check_keys(f"an option of {place}", entry, required={"label"}, optional={"space"})
            label = from_plain(entry["label"])
            if isinstance(label, Mapping):
                raise SpaceError(f"at {place}: the label {label!r} must be a string, a number or a boolean")
            options.append({label: read(entry.get("space", {}), make_space, (*path, (name, label)))})
        else:
            options.append({from_plain(entry): None} if isinstance(entry, list | tuple) else entry)
    return options


def _check_keys(place: str, entry: Mapping[str, Any], required: set[str], optional: set[str]) -> None:
    missing, unknown = required - entry.keys(), entry.keys() - required - optional
    if missing or unknown:
        faults = [f"{key!r} is missing" for key in sorted(missing)]
        faults += [f"{key!r} is unknown" for key in sorted(unknown, key=str)]
        known = ", ".join(sorted(required | optional))
        raise SpaceError(f"at {place}: {' and '.join(faults)}; the fields are {known}")


def at(place: str, build: Callable[..., Parameter], *given: Any, **settings: Any) -> Parameter:
    try:
        return build(*given, **settings)
    except SpaceError as error:
        raise SpaceError(f"at {place}: {error}") from error
