"""Trials of an earlier run, perhaps of another space, from which a new one starts."""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from hidim import _files, lines, serial
from hidim._types import Params
from hidim.errors import MethodError, ParameterError
from hidim.optimizer import Optimizer
from hidim.result import Result
from hidim.space import Space
from hidim.space.values import active_places
from hidim.trial import History, Trial

logger = logging.getLogger("hidim")

#: A journal or a saved optimizer by its path, what a run found, or trials.
Source: TypeAlias = "str | os.PathLike[str] | Result | Optimizer | History"

#: That trials are of an earlier run, in their meta: they do not count as trials of this one.
EARLIER = {"way": "added", "earlier": True}


def adapted(source: Source, space: Space, assumed: Mapping[str, Any], *, maximize: bool) -> list[Trial]:
    """The finished trials of an earlier run that fit `space`; it is said how many do not, and why.

    Args:
        source: the earlier run.
        space: that of the new one.
        assumed: values of parameters that the earlier trials did not have.
        maximize: as the earlier run must have done.
    """
    if unknown := assumed.keys() - {vertex.name for vertex in space.vertices}:
        raise MethodError(f"assume: the space has no parameter {', '.join(sorted(map(repr, unknown)))}")
    found = _history(source, maximize=maximize)
    if found.maximize != maximize:
        said = "maximised" if found.maximize else "minimised"
        raise MethodError(f"the earlier run {said}, and this one does the opposite: start from another one")
    taken: list[Trial] = []
    unfit: Counter[str] = Counter()
    for trial in found.finished:
        try:
            taken.append(replace(trial, params=fitting(space, {**assumed, **trial.params})))
        except ParameterError as error:
            unfit[str(error).split(";")[0]] += 1
    left = "".join(f"; {count} left out: {reason}" for reason, count in _grouped(unfit).most_common(5))
    said = f"{len(taken)} of {len(found.finished)} trials of the earlier run are taken over{left}"
    (logger.warning if unfit else logger.info)(said)
    return taken


def missing(taken: Sequence[Trial], history: History) -> list[Trial]:
    """Those that a history, as that of a resumed run, does not have yet."""
    known = {_key(trial) for trial in history if is_earlier(trial)}
    return [trial for trial in taken if _key(trial) not in known]


def unfinished(taken: Sequence[Trial], history: History) -> list[tuple[int, Trial]]:
    """Numbers of trials whose end was not written before a crash, and what they are."""
    by_key = {_key(trial): trial for trial in taken}
    found = [(trial.number, by_key.get(_key(trial))) for trial in history.running if is_earlier(trial)]
    return [(number, trial) for number, trial in found if trial is not None]


def _key(trial: Trial) -> str:
    return json.dumps(serial.write_params(trial.params))


def fitting(space: Space, params: Mapping[str, Any]) -> Params:
    """Those of `params` that are active in the space, checked: what it does not know any more is dropped.

    Example:
        >>> from hidim import Float, Space
        >>> fitting(Space(x=Float(0, 1)), {"x": 0.5, "gone": 3})
        {'x': 0.5}
    """
    active = {place.name for place in active_places(space, params)}
    return space.validate({name: value for name, value in params.items() if name in active})


def is_earlier(trial: Trial) -> bool:
    """Whether a trial is of the run from which this one started."""
    return bool(trial.meta.get("earlier"))


def _history(source: Any, *, maximize: bool) -> History:
    match source:
        case History():
            return source
        case Result() | Optimizer():
            return source.history
        case str() | os.PathLike():
            return _read(source)
        case Iterable():
            trials = list(source)
            if all(isinstance(trial, Trial) for trial in trials):
                return History(trials, maximize=maximize)  # which a list cannot say
    raise MethodError(
        f"start_from must be the path of a journal, a Result, an Optimizer or a History, not {source!r}"
    )


def _read(path: str | os.PathLike[str]) -> History:
    name = os.fspath(path)
    try:
        data = _files.read_bytes(_files.path_of(path))
    except OSError as error:
        raise MethodError(f"the earlier run in {name} cannot be read: {error.strerror}") from error
    _, space, settings = lines.described(name, data)
    trials = lines.renumbered(lines.read(name, data, space).trials)[0]
    return History(trials, maximize=settings["maximize"])


def _grouped(reasons: Counter[str]) -> Counter[str]:
    """Counts by the parameter that does not fit, with the first reason of each as an example."""
    first: dict[str, str] = {}
    grouped: Counter[str] = Counter()
    for reason, count in reasons.items():
        parameter = reason.split("'")[1] if "'" in reason else reason
        grouped[first.setdefault(parameter, reason)] += count
    return grouped
