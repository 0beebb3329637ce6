"""Trials and methods as plain JSON data, and back without a bit of difference."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hidim._types import Params
from hidim.embed import EMBEDDINGS, LazyVector
from hidim.errors import HistoryError, MethodError, ParameterError
from hidim.methods import METHODS, Method, make_method
from hidim.space import Space
from hidim.trial import Trial, TrialState

FORMAT = 1


def check_format(data: Any) -> None:
    found = data.get("format") if isinstance(data, Mapping) else None
    if found is None:
        raise HistoryError("this is not a saved history: it has no 'format'")
    if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= FORMAT:
        raise HistoryError(f"the history has format {found}, this hidim reads up to {FORMAT}: upgrade hidim")


def write_params(params: Params) -> dict[str, Any]:
    """Arrays become lists, and vectors from an embedding the low-dimensional points that they stand for."""
    return {name: _written(value) for name, value in params.items()}


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, LazyVector):
        kind = next(k for k, example in EMBEDDINGS.items() if type(example) is type(value.embedding))
        place = {"low": value.low, "high": value.high, "start": value.start, "size": value.size}
        return {
            "embedding": kind,
            **dataclasses.asdict(value.embedding),
            "y": value.y.tolist(),
            "part": place,
        }
    return value


def read_params(data: Mapping[str, Any], space: Space) -> Params:
    """What `write_params` wrote, checked against the space."""
    return space.validate({name: _read(value) for name, value in data.items()})


def _read(value: Any) -> Any:
    if not isinstance(value, Mapping) or "embedding" not in value:
        return value
    settings = dict(value)
    kind = settings.pop("embedding")
    if kind not in EMBEDDINGS:
        raise HistoryError(f"a vector comes from the embedding {kind!r}, which this hidim does not know")
    try:
        y, part = settings.pop("y"), settings.pop("part")
        return LazyVector(type(EMBEDDINGS[kind])(**settings), np.array(y), **part)
    except (KeyError, TypeError, ValueError) as error:
        raise HistoryError(f"a vector of the embedding {kind!r} is damaged: {error}") from error


def write_trial(trial: Trial) -> dict[str, Any]:
    return {
        "params": write_params(trial.params),
        "number": trial.number,
        "value": trial.value,
        "state": str(trial.state),
        "meta": trial.meta,
        "reason": trial.reason,
        "rank": trial.rank,
        "variance": trial.variance,
        "seconds": trial.seconds,
    }


def read_trial(data: Mapping[str, Any], space: Space) -> Trial:
    try:
        state = TrialState(data["state"])
    except ValueError as error:
        raise HistoryError(f"trial {data.get('number')} has an unknown state {data['state']!r}") from error
    try:
        params = read_params(data["params"], space)
    except ParameterError as error:
        raise HistoryError(f"the saved history is damaged: trial {data.get('number')}: {error}") from error
    return Trial(
        params=params,
        number=data["number"],
        value=data["value"],
        state=state,
        meta=data["meta"],
        reason=data["reason"],
        rank=data["rank"],
        variance=data.get("variance"),
        seconds=data.get("seconds"),
    )


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
    """The method's name and its settings, of which those that are dataclasses become dicts.

    A method that is not in `METHODS` is only named.
    """
    if not _is_known(method):
        return {"name": type(method).__name__, "settings": {}}
    settings = dataclasses.asdict(method)  # type: ignore[call-overload]  # a dataclass, or not known
    return {"name": method.name, "settings": settings}


def _is_known(method: Method) -> bool:
    return method.name in METHODS and _is_like(method, METHODS[method.name]())


def _is_like(given: Any, default: Any) -> bool:
    """Whether one dataclass is of the other's type, and so are all settings that are dataclasses."""
    if type(given) is not type(default) or not dataclasses.is_dataclass(given):
        return False
    pairs = [(getattr(given, f.name), getattr(default, f.name)) for f in dataclasses.fields(default)]
    return all(_is_like(one, other) for one, other in pairs if dataclasses.is_dataclass(other))


def check_method(method: Method) -> None:
    """Refuse a method that could not be made again from what is written."""
    if not _is_known(method):
        raise MethodError(
            f"{type(method).__name__} is not in hidim.METHODS, or a setting is of a type unknown there, "
            "so a saved history could not be loaded again; keep its trials yourself, and enter them by "
            "add(params, value)"
        )


def read_method(data: Mapping[str, Any]) -> Method:
    default = make_method(data["name"])
    method: Method = _configured(default, data["settings"])
    return method


def _configured(default: Any, settings: Mapping[str, Any]) -> Any:
    unknown = set(settings) - {f.name for f in dataclasses.fields(default)}
    if unknown:
        raise HistoryError(
            f"the history was made with settings {sorted(unknown)} that this hidim does not know; "
            f"it knows the methods {', '.join(METHODS)}"
        )
    values = {}
    for name, value in settings.items():
        inner = getattr(default, name)
        nested = dataclasses.is_dataclass(inner) and isinstance(value, Mapping)
        if dataclasses.is_dataclass(inner) and not nested:
            raise HistoryError(
                f"the saved history is damaged: the setting {name!r} is {value!r}, not a table of settings"
            )
        values[name] = _configured(inner, value) if nested else value
    return dataclasses.replace(default, **values)
