"""Trials and methods as plain JSON data, and back without a bit of difference."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from hidim._types import Params
from hidim.errors import HistoryError
from hidim.methods import METHODS, Method, make_method
from hidim.space import Space
from hidim.trial import Trial, TrialState

FORMAT = 1


def check_format(data: Any) -> None:
    found = data.get("format") if isinstance(data, Mapping) else None
    if found is None:
        raise HistoryError("this is not a saved history: it has no 'format'")
    if not isinstance(found, int) or found > FORMAT:
        raise HistoryError(f"the history has format {found}, this hidim reads up to {FORMAT}: upgrade hidim")


def write_trial(trial: Trial) -> dict[str, Any]:
    params = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in trial.params.items()}
    return {
        "params": params,
        "number": trial.number,
        "value": trial.value,
        "state": str(trial.state),
        "meta": trial.meta,
        "reason": trial.reason,
        "rank": trial.rank,
    }


def read_trial(data: Mapping[str, Any], space: Space) -> Trial:
    try:
        state = TrialState(data["state"])
    except ValueError as error:
        raise HistoryError(f"trial {data.get('number')} has an unknown state {data['state']!r}") from error
    return Trial(
        params=space.validate(data["params"]),
        number=data["number"],
        value=data["value"],
        state=state,
        meta=data["meta"],
        reason=data["reason"],
        rank=data["rank"],
    )


def write_method(method: Method) -> dict[str, Any]:
    """The method's name and its settings; settings that are dataclasses become dicts."""
    return {"name": method.name, "settings": dataclasses.asdict(method)}  # type: ignore[call-overload]


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
        values[name] = _configured(inner, value) if nested else value
    return dataclasses.replace(default, **values)


def same_params(left: Params, right: Params) -> bool:
    """Equality that also works for arrays."""
    return left.keys() == right.keys() and all(np.array_equal(left[k], right[k]) for k in left)
