"""A space in a file: TOML, the JSON that `Space.to_json` writes, or ConfigSpace's JSON and YAML.

In TOML a parameter is a table, or, as tol = 1e-3, its only value; an option with parameters is a table below:

    [lr]
    type = "float"
    low = 1e-5
    high = 1e-1
    log = true

    [model]
    type = "choice"
    options = ["ridge", "forest"]

or, with parameters of their own,

    [model]
    type = "choice"
    [model.options.ridge.penalty]
    type = "float"
    low = 1e-4
    high = 100.0
    log = true
    [model.options.none]

What is wrong is said with its line and its mend.
"""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from hidim import _files
from hidim._optional import require
from hidim.errors import HistoryError, SpaceError
from hidim.programs.command import GIVEN
from hidim.programs.toml import Key, lines_of
from hidim.space import Space
from hidim.space.parameters import Choice, Float, Int, Vector
from hidim.space.serial import is_value
from hidim.space.tree import walk

#: Files of more bytes hold no space.
LARGEST = 50_000_000

TYPES = ("float", "int", "vector", "choice")


def read_space(path: str | os.PathLike[str]) -> Space:
    """The space that a file describes; `SpaceError` with file, line and mend if it describes none."""
    place = _files.path_of(path)
    try:
        data = _files.read_bytes(place)
    except FileNotFoundError:
        example = place if place.suffix.lower() == ".toml" else "space.toml"
        raise SpaceError(
            f"there is no file {place}: `hidim init {example}` writes one to begin with"
        ) from None
    except HistoryError as error:
        raise SpaceError(str(error)) from error
    if len(data) > LARGEST:
        raise SpaceError(f"{place}: {len(data)} bytes are too many for a space; is it another file?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpaceError(f"{place}: it is no text in UTF-8 ({error.reason} at byte {error.start})") from error
    space: Space = _reader(place)(place, text)
    if not len(space):
        raise SpaceError(f"{place}: there is no parameter in it: give it one, as `hidim init` shows")
    return space


def _reader(place: Path) -> Any:
    suffix = place.suffix.lower()
    if suffix == ".json":
        return _read_json
    return _read_yaml if suffix in (".yaml", ".yml") else _read_toml


# -- TOML --------------------------------------------------------------------------------------------------


def _read_toml(place: Path, text: str) -> Space:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = "; options stand in one list or in tables of their own" if "'options'" in str(error) else ""
        raise SpaceError(f"{place}: this is not TOML: {error}{hint}") from error
    except RecursionError:
        raise SpaceError(f"{place}: it is nested too deeply to be a space") from None
    try:
        return Space.from_dict(_as_options(tables))
    except SpaceError as error:
        raise SpaceError(_located(error, tables, place, text)) from error


def _as_options(tables: Any) -> Any:
    """Tables with options by label as `Space.from_dict` wants them, which is a list."""
    if not isinstance(tables, Mapping):
        return tables
    return {name: _parameter(table) for name, table in tables.items()}


def _parameter(table: Any) -> Any:
    if not isinstance(table, Mapping) or not isinstance(options := table.get("options"), Mapping):
        return table
    listed = [{"label": label, "space": _as_options(space)} for label, space in options.items()]
    return {**table, "options": listed}


def _located(error: SpaceError, tables: Any, place: Path, text: str) -> str:
    """What is wrong, with the line and, where it can be guessed, the mend."""
    lines = lines_of(text)
    for key, table in _parameters(tables):
        fault = _fault(key, table)
        if fault is not None:
            field, words = fault
            line = lines.get((*key, field) if field else key, lines.get(key))
            return f"{place}, line {line}: {words}" if line else f"{place}: {words}"
    named = [key for key in lines if f"{key[-1]!r}" in str(error)]
    where = f", line {lines[named[-1]]}" if named else ""
    return f"{place}{where}: {error}"


def _parameters(tables: Any, above: Key = ()) -> Iterator[tuple[Key, Any]]:
    """All parameters with their paths in the file, those below an option before their choice."""
    if not isinstance(tables, Mapping):
        return
    for name, table in tables.items():
        options = table.get("options") if isinstance(table, Mapping) else None
        if isinstance(options, Mapping):
            for label, space in options.items():
                below = (*above, name, "options", label)
                if isinstance(space, Mapping):
                    yield from _parameters(space, below)
                else:
                    yield below, space
        yield (*above, name), table


def _fault(key: Key, table: Any) -> tuple[str, str] | None:
    """What is wrong with one parameter alone: the field, or "", and words; None if it is sound."""
    name = key[-1]
    if not isinstance(table, Mapping):
        if key[-2:-1] != ("options",) and is_value(name, table):
            return None
        if len(key) > 1 and key[-2] == "options":
            return "", f"the option {name!r} is a table of its parameters, as in [{'.'.join(key)}.depth]"
        if len(key) > 2 and key[-3] == "options" and name in _fields("float"):
            own = ".".join(key[:-1])
            return "", f"[{own}] is an option, not a parameter: one that hangs on it stands in [{own}.NAME]"
        return "", f"{name} = {table!r} is no parameter; write a table [{name}] with type, low and high"
    kind = table.get("type")
    if kind not in TYPES:
        return _kind_fault(name, kind, table)
    known = _fields(kind)
    if unknown := [field for field in table if field not in known]:
        close = difflib.get_close_matches(unknown[0], known, n=1)
        if kind == "choice" and isinstance(table[unknown[0]], Mapping) and not close:
            place = ".".join([*key, "options", unknown[0]])
            return unknown[0], f"{unknown[0]!r} of {name!r} looks like an option: write [{place}]"
        hint = f"did you mean {close[0]!r}?" if close else f"a {kind} has {', '.join(known)}"
        return unknown[0], f"{unknown[0]!r} of {name!r} is unknown: {hint}"
    try:
        Space.from_dict({name: _parameter(table)})
    except SpaceError as error:
        words = str(error).removeprefix(f"at {name}: ").replace("True or False", "true or false")
        return next((field for field in table if field != "type" and field in words), ""), f"{name}: {words}"
    return None


def _kind_fault(name: str, kind: Any, table: Mapping[str, Any]) -> tuple[str, str]:
    if kind is None:
        below = [label for label, value in table.items() if isinstance(value, Mapping)]
        if below and "options" not in table:
            return "", f"{name!r} has no type; parameters of an option stand in [{name}.options.{below[0]}]"
        return "", f"{name!r} has no type: add type = {_quoted(TYPES)}"
    close = difflib.get_close_matches(str(kind).lower(), TYPES, n=1, cutoff=0.4)
    hint = f"did you mean {close[0]!r}?" if close else f"use {_quoted(TYPES)}"
    return "type", f"the type {kind!r} of {name!r} is unknown: {hint}"


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f'"{word}"' for word in words[:-1]) + f' or "{words[-1]}"'


def _fields(kind: str) -> tuple[str, ...]:
    if kind == "choice":
        return ("type", "options", "ordered", "shared")
    known: dict[str, type[Float | Int | Vector]] = {"float": Float, "int": Int, "vector": Vector}
    return ("type", *(field.name for field in fields(known[kind])))


# -- other formats -----------------------------------------------------------------------------------------


def _read_json(place: Path, text: str) -> Space:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise SpaceError(f"{place}, line {error.lineno}: this is not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise SpaceError(f"{place}: this is not JSON: {error}") from error
    if isinstance(data, Mapping) and isinstance(data.get("hyperparameters"), list):
        return _of_configspace(place, "from_json")
    try:
        return Space.from_dict(_as_options(data))
    except SpaceError as error:
        raise SpaceError(f"{place}: {error}") from error


def _read_yaml(place: Path, _: str) -> Space:
    return _of_configspace(place, "from_yaml")


def _of_configspace(place: Path, reader: str) -> Space:
    from hidim.integrations.configspace import from_configspace

    spaces = require("ConfigSpace", "configspace").ConfigurationSpace
    try:
        known = getattr(spaces, reader)(place)
    except Exception as error:  # its readers raise whatever they stumble upon
        raise SpaceError(f"{place}: ConfigSpace cannot read it: {type(error).__name__}: {error}") from error
    try:
        return from_configspace(known)
    except SpaceError as error:
        raise SpaceError(f"{place}: {error}") from error


def check_values(space: Space) -> None:
    """Refuse labels and names that no program can be handed."""
    for place in walk(space):
        parameter = place.parameter
        if place.name in GIVEN:
            raise SpaceError(f"{place}: {{{place.name}}} stands for something else in commands: rename it")
        texts = [place.name, *(parameter.labels if isinstance(parameter, Choice) else ())]
        if odd := [text for text in texts if isinstance(text, str) and "\0" in text]:
            raise SpaceError(f"{place}: {odd[0]!r} has a null character, which no program can be handed")
