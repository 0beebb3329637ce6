"""The trials as columns of plain data, and what they failed of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hidim._types import Indices
from hidim.report.limits import Limits
from hidim.report.parameters import Line, values
from hidim.report.texts import clipped, number, numbers, paragraph
from hidim.space import Space
from hidim.trial import History, Trial, TrialState, alike

#: Columns of parameters that are kept however many trials there are.
FEWEST = 6
#: Trial numbers that are named with a reason.
NAMED = 40
#: Reasons that are told of single trials.
DIFFERENT = 1000

_CODES = {TrialState.COMPLETE: 0, TrialState.FAILED: 1, TrialState.RUNNING: 2}


def chosen_rows(history: History, best: Trial, most: int, *, maximize: bool) -> Indices:
    """Positions of the trials that are kept, in the order of asking.

    All if they are not too many; else the best one, those that were the best of their time, a quarter of the
    best, and an even selection of the others.
    """
    if len(history) <= most:
        return np.arange(len(history))
    losses = np.array([trial.loss(maximize=maximize) for trial in history])
    ranks = np.array([len(history) if t.rank is None else t.rank for t in history])
    finishing = np.argsort(ranks, kind="stable")
    so_far = np.minimum.accumulate(losses[finishing])
    records = finishing[np.flatnonzero(so_far < np.append(np.inf, so_far[:-1]))]
    top = np.argsort(losses, kind="stable")[: most // 4]
    number_of_best = next(place for place, t in enumerate(history) if t.number == best.number)
    kept = np.unique(np.concatenate([[number_of_best], records[-most // 4 :], top]))
    others = np.setdiff1d(np.arange(len(history)), kept)
    even = others[np.linspace(0, len(others) - 1, most - len(kept)).astype(np.intp)]
    return np.unique(np.concatenate([kept, even]))


def table(
    space: Space, history: History, rows: Indices, listed: Sequence[Line], limits: Limits
) -> dict[str, Any]:
    """Numbers, states and values of the kept trials, and the values of as many parameters as there is room.

    `columns` has the values of the first parameters of the list, one list for each.
    """
    trials = [history[int(row)] for row in rows]
    single = [line for line in listed if line.column is not None]
    room = max(limits.cells // max(len(trials), 1), FEWEST)
    told: dict[str, Any] = {
        "number": [trial.number for trial in trials],
        "state": [_CODES[trial.state] for trial in trials],
        "value": [None if trial.value is None else float(trial.value) for trial in trials],
        "rank": [trial.rank for trial in trials],
        "columns": values(space, trials, single[:room], limits),
    }
    if any(trial.seconds is not None for trial in trials):
        seconds = [np.nan if trial.seconds is None else trial.seconds for trial in trials]
        told["seconds"] = numbers(np.array(seconds), 4)
    if any(trial.variance is not None for trial in trials):
        told["variance"] = [number(trial.variance, 4) for trial in trials]
    if any(trial.state is TrialState.FAILED for trial in trials):
        told |= _reasons(trials, limits)
    if any(trial.meta.get("earlier") for trial in trials):
        told["earlier"] = [int(bool(trial.meta.get("earlier"))) for trial in trials]
    return told


def _reasons(trials: Sequence[Trial], limits: Limits) -> dict[str, Any]:
    """The different reasons, and for every trial the place of its own; too many are told as one."""
    places: dict[str, int] = {}
    found: list[int | None] = []
    for trial in trials:
        if trial.state is not TrialState.FAILED:
            found.append(None)
            continue
        reason = clipped(trial.reason or "no reason given", limits.name)
        if len(places) >= DIFFERENT and reason not in places:
            reason = "another reason: see the failed trials"
        found.append(places.setdefault(reason, len(places)))
    return {"reasons": list(places), "reason": found}


def failures(history: History, limits: Limits) -> list[dict[str, Any]]:
    """Failed trials by their reasons, the most frequent first; reasons that differ in numbers are one."""
    groups: dict[str, list[Trial]] = {}
    for trial in history.failed:
        groups.setdefault(alike(trial.reason or ""), []).append(trial)
    ordered = sorted(groups.values(), key=lambda group: -len(group))
    told = [_reason(group, limits) for group in ordered[: limits.groups // 4]]
    rest = [trial for group in ordered[limits.groups // 4 :] for trial in group]
    if rest:
        told.append({**_reason(rest, limits), "reason": "other reasons, each of few trials", "differ": True})
    return told


def _reason(group: Sequence[Trial], limits: Limits) -> dict[str, Any]:
    last = max(group, key=lambda trial: trial.rank or 0)
    return {
        "reason": paragraph(last.reason or "no reason given", limits.reason),
        "count": len(group),
        "differ": len({trial.reason for trial in group}) > 1,
        "numbers": [trial.number for trial in group[:NAMED]],
    }
