"""Configurations and methods as plain JSON data, and back without a bit of difference."""

from __future__ import annotations

import dataclasses
import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hidim._types import Params
from hidim.embed import EMBEDDINGS, LazyVector
from hidim.errors import HistoryError, MethodError, TrialError
from hidim.events import COUNT, LENGTH, NUMBER, NUMBERS, TABLE, TRUTH, check_fields, check_known
from hidim.methods import METHODS, Method, registered_classes
from hidim.space import Space, Vector
from hidim.space.labels import to_plain
from hidim.space.values import active_places
from hidim.trial import Trial, TrialState

#: Of saved histories and of journals.
FORMAT = 2

#: Of what users want to remember: lists and tables within each other, and bits of an integer.
DEEPEST, LONGEST = 50, 1000


def write_params(params: Params) -> dict[str, Any]:
    """Arrays become lists, and vectors from an embedding the low-dimensional points that they stand for."""
    return {name: _written(value) for name, value in params.items()}


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, LazyVector):
        kind = next(k for k, example in EMBEDDINGS.items() if type(example) is type(value.embedding))
        place: dict[str, Any] = {"start": value.start, "size": value.size}
        if value.has_common_range:  # else it is that of the parameter, which the space knows
            log = {"log": True} if value.log else {}
            place = {"low": value.low, "high": value.high, **place, **log}
        return {
            "embedding": kind,
            **dataclasses.asdict(value.embedding),
            "y": value.y.tolist(),
            "part": place,
        }
    return to_plain(value)


def read_params(data: Mapping[str, Any], space: Space) -> Params:
    """What `write_params` wrote, checked against the space."""
    lazy = any(_is_lazy(value) for value in data.values())
    vectors = _active_vectors(data, space) if lazy else {}
    return space.validate({name: _read(value, vectors.get(name)) for name, value in data.items()})


def _active_vectors(data: Mapping[str, Any], space: Space) -> dict[str, Vector]:
    active = {place.name: place.parameter for place in active_places(space, data)}
    return {name: parameter for name, parameter in active.items() if isinstance(parameter, Vector)}


def _is_lazy(value: Any) -> bool:
    return isinstance(value, Mapping) and "embedding" in value


def _read(value: Any, vector: Vector | None) -> Any:
    """A value; one that is lazy is that of `vector`, which knows its range if it does not say it itself."""
    if not _is_lazy(value):
        return value
    settings = dict(value)
    kind = settings.pop("embedding")
    if not isinstance(kind, str) or kind not in EMBEDDINGS:
        raise HistoryError(f"a vector comes from the embedding {kind!r}, which this hidim does not know")
    place = f"a vector of the embedding {kind!r}"
    check_fields(settings, {"y": NUMBERS, "part": TABLE, "high": COUNT, "low": COUNT}, place)
    check_known(settings, {"seed": COUNT, "doublings": COUNT, "first": COUNT.or_null}, place)
    y, part = settings.pop("y"), settings.pop("part")
    check_fields(part, {"start": COUNT, "size": LENGTH}, place)
    if vector is not None and "low" not in part:
        part = {**part, **dict(zip(("low", "high", "log"), vector.range, strict=True))}
    else:
        check_fields(part, {"low": NUMBER, "high": NUMBER}, place)
        check_known(part, {"log": TRUTH}, place)
    try:
        return LazyVector(type(EMBEDDINGS[kind])(**settings), np.array(y), **part)
    except (TypeError, ValueError) as error:
        raise HistoryError(f"{place} is damaged: {error}") from error


def check_trials(trials: list[Trial]) -> None:
    """Refuse trials that no optimizer can have written."""
    for position, trial in enumerate(trials):
        if trial.number != position:
            raise HistoryError(
                f"the saved history is damaged: trial {position} has the number {trial.number!r}"
            )
        complete, running = trial.state is TrialState.COMPLETE, trial.state is TrialState.RUNNING
        value = trial.value
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        sound = number if complete else value is None
        ranked = trial.rank is None if running else isinstance(trial.rank, int)
        if not (sound and ranked and isinstance(trial.meta, dict)):
            raise HistoryError(
                f"the saved history is damaged: trial {position} ({trial.state}) has the value {value!r}, "
                f"the rank {trial.rank!r} and the meta {trial.meta!r}"
            )
    ranks = [trial.rank for trial in trials if trial.rank is not None]
    if not all(isinstance(rank, int) for rank in ranks) or sorted(ranks) != list(range(len(ranks))):
        raise HistoryError(
            "the saved history is damaged: the ranks of its finished trials are not 0, 1, 2, …"
        )


def write_method(method: Method) -> dict[str, Any]:
    """The method with all its parts and settings; one that is not registered is only named."""
    try:
        return _written_part(method)
    except MethodError:
        return {"name": type(method).__name__ if method.name in METHODS else method.name}


def check_method(method: Method) -> None:
    """Refuse a method that could not be made again from what is written."""
    _written_part(method)


def read_method(data: Mapping[str, Any]) -> Method:
    if "part" not in data:
        raise HistoryError(
            f"the history was made with a method {data.get('name')!r} that was not registered, and does not "
            "say how to make it again: minimize(…, method=…, journal=…) goes on from it"
        )
    method = _read_part(data)
    if not isinstance(method, Method):
        raise HistoryError(f"the saved history is damaged: {data['part']!r} is no method")
    return method


def _written_part(part: Any) -> dict[str, Any]:
    """A method or part: the name of its class and its settings, parts among them likewise."""
    name = type(part).__name__
    if registered_classes().get(name) is not type(part):
        raise MethodError(
            f"{name} is not registered, so a saved history could not be loaded again: enter it by "
            f"hidim.methods.register('a-name', {name}(…)), or keep the trials yourself and add(params, value)"
        )
    written: dict[str, Any] = {"part": name}
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        written[field.name] = _written_part(value) if dataclasses.is_dataclass(value) else value
    return written


def _read_part(data: Any) -> Any:
    if not isinstance(data, Mapping) or "part" not in data:
        raise HistoryError(f"the saved history is damaged: {data!r} is no part of a method")
    name = data["part"]
    kind = registered_classes().get(name) if isinstance(name, str) else None
    if kind is None:
        raise HistoryError(
            f"the history was made with {name!r}, which is not registered here: import the module that "
            "enters it by hidim.methods.register, or upgrade hidim"
        )
    fields = {field.name for field in dataclasses.fields(kind)}
    if unknown := data.keys() - fields - {"part"}:
        raise HistoryError(
            f"the history was made with settings {sorted(unknown)} of {name} that this hidim does not know; "
            f"it knows {', '.join(sorted(fields))}"
        )
    return kind(**{key: _read_setting(value) for key, value in data.items() if key != "part"})


def _read_setting(value: Any) -> Any:
    """A part, or a plain value, in which lists were tuples: settings are hashable."""
    if isinstance(value, list):
        return tuple(map(_read_setting, value))
    return _read_part(value) if isinstance(value, Mapping) else value


def retried(trials: Sequence[Trial], number: int) -> list[Trial]:
    """The trials of a history without the end of trial `number`, which is running again."""
    gone = trials[number].rank
    assert gone is not None
    later = [t if t.rank is None or t.rank < gone else replace(t, rank=t.rank - 1) for t in trials]
    later[number] = trials[number].again()
    return later


def plain(attributes: Mapping[str, Any], within: tuple[int, ...] = ()) -> dict[str, Any]:
    """What a user wants to remember as JSON data: arrays as lists, anything unknown as its text.

    Example:
        >>> plain({"accuracy": np.float64(0.9), "folds": np.array([1, 2]), "loss": math.nan, "at": {1j}})
        {'accuracy': 0.9, 'folds': [1, 2], 'loss': 'nan', 'at': '{1j}'}
    """
    if not isinstance(attributes, Mapping):
        raise TrialError(f"attributes must be a dict from name to plain data, not {reprlib.repr(attributes)}")
    return {text(name): _plain(value, (*within, id(attributes))) for name, value in attributes.items()}


def _plain(value: Any, within: tuple[int, ...]) -> Any:
    match value:
        case np.ndarray() | np.generic():
            return _plain(value.tolist(), within)
        case Mapping() | list() | tuple() if len(within) > DEEPEST or id(value) in within:
            return "…"
        case Mapping():
            return plain(value, within)
        case list() | tuple():
            return [_plain(entry, (*within, id(value))) for entry in value]
        case float() if not math.isfinite(value):
            return str(value)
        case int() if value.bit_length() > LONGEST:
            return hex(value)
        case str() | int() | float() | None:
            return value
        case _:
            return text(value)


def text(value: Any) -> str:
    """What somebody's object says of itself; if it fails at that, its kind."""
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"
