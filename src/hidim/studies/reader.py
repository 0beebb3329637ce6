"""A study, read from trial to trial: the space that its trials show, and they themselves as a history.

    complete    a trial with its value; one that is infinite makes it a failed one
    pruned      a trial with its last intermediate value, or the median of the complete ones if that is worse:
                what was given up is not to be taken for good because it was measured early. Without any
                intermediate value, as where an objective prunes what makes no sense, a failed one.
    failed      a failed trial, unless the machine under it failed, or it was tried again
    running     a running trial, at the point that was suggested as far as nothing else was evaluated
    waiting     the same, if it was enqueued with all its parameters

Trials that do not fit the space, as after a change of ranges, those that never asked for a parameter, and
those whose value or end was lost are left out. An attribute that makes no sense is none.
"""

from __future__ import annotations

import hashlib
import logging
import math
import reprlib
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from hidim._types import Params
from hidim.errors import MethodError, ParameterError, SpaceError
from hidim.events import NUMBERS, TABLE, Kind
from hidim.space import Choice, Float, Int, Space, Vector
from hidim.space.parameters import Parameter
from hidim.studies.coders import Coder, kind, value_at
from hidim.studies.notes import FAILED, FORMAT, INTERRUPTED, Note, Once
from hidim.studies.shape import Shape
from hidim.trial import History, Trial

logger = logging.getLogger("hidim")

#: Points of notes are kept to single precision.
ROUNDED = 1e-5


@dataclass(frozen=True, eq=False)
class Reading:
    """What a study is at one moment.

    Args:
        space: that its trials show, or that was given; empty before the first trial is finished.
        history: its trials in that space, by Optuna's numbers.
        coders: of those parameters that were seen.
        fingerprint: of the space.
        pruned: how many of the complete trials of the history were pruned.
    """

    space: Space
    history: History
    coders: Mapping[str, Coder]
    fingerprint: str
    pruned: int = 0


def fingerprint(space: Space) -> str:
    """By which notes know for which space they were written."""
    text = f"{FORMAT} {space.to_json(indent=None)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class StudyReader:
    """Reads a study again and again; what is finished is read once.

    Args:
        space: if it is known; else it is what the trials show.
    """

    def __init__(self, space: Space | None = None) -> None:
        self._tell = Once()
        self._shape = Shape(space, self._tell)
        self._done: dict[int, Any] = {}
        self._retried: set[int] = set()
        self._space, self._fingerprint = space or Space(), ""
        self._coders: Mapping[str, Coder] = {}
        self._kept: dict[int, Trial | None] = {}  # as last read; None: left out
        self._told, self._is_given = 0, space is not None
        self._given = {} if space is None else {each.name: each.parameter for each in space.vertices}
        self._unasked: set[str] = set()
        self._narrower: set[str] = set()
        self.is_constrained = False

    @property
    def has_finished(self) -> bool:
        """Whether any trial has."""
        return bool(self._done)

    @property
    def names(self) -> Collection[str]:
        """Of all parameters that finished trials had."""
        return self._shape.names

    def is_of(self, trials: Sequence[Any]) -> bool:
        """Whether these can be the trials that were read, some time later; else it is another study."""
        first = next(iter(self._done.values()), None)
        if first is None:
            return True
        same = (trial for trial in trials if trial.number == first.number)
        return any(trial.datetime_complete == first.datetime_complete for trial in same)

    def read(self, trials: Sequence[Any], *, maximize: bool, but: int | None = None) -> Reading:
        """The study with these trials of Optuna's, without the one whose number is `but`."""
        fresh = [t for t in trials if t.number not in self._done and t.state.is_finished()]
        if fresh or not self._fingerprint or len(self._kept) < len(self._done):
            self._enter(fresh)
        pending = [self._pending(t) for t in trials if not t.state.is_finished() and t.number != but]
        done = self._finished(maximize)
        pruned = sum(t.value is not None and self._is_pruned(t) for t in done)
        history = History(sorted([*done, *filter(None, pending)], key=lambda t: t.number), maximize=maximize)
        return Reading(self._space, history, self._coders, self._fingerprint, pruned)

    def _enter(self, trials: Sequence[Any]) -> None:
        """Trials that have finished since."""
        for trial in trials:
            self._done[trial.number] = trial
            self._retried.update(self._attribute(trial, "retry_history", NUMBERS, []))
            self.is_constrained |= any(key.startswith("constraints") for key in trial.system_attrs)
            complete = trial.state.name == "COMPLETE"
            self._shape.add(trial.number, trial.params, trial.distributions, complete=complete)
        space, coders = self._shape.describe()
        mark = fingerprint(space)
        if mark != self._fingerprint:
            self._space, self._fingerprint = space, mark
            self._kept.clear()
        self._coders = coders
        for number in self._done.keys() - self._kept.keys():
            self._kept[number] = self._as_trial(self._done[number])
        self._tell_left_out()

    def _tell_left_out(self) -> None:
        """How many trials count for nothing, and why."""
        gone = [self._done[number] for number, trial in self._kept.items() if trial is None]
        gone = [trial for trial in gone if INTERRUPTED not in trial.system_attrs]
        if len(gone) <= self._told:
            return
        self._told = 2 * len(gone)
        whys = Counter(self._why_left_out(trial) for trial in gone)
        logger.warning(
            "%d of %d finished trials of the study are left out: %s",
            len(gone),
            len(self._done),
            ", ".join(f"{count} {why}" for why, count in whys.most_common()),
        )

    def _why_left_out(self, trial: Any) -> str:
        if not _is_whole(trial):
            return "without a value or the time of their end"
        if _is_lost(trial, self._note(trial)):
            return "given up by a worker that died"
        return "that do not fit what its parameters are now" if trial.params else "without parameters"

    def _finished(self, maximize: bool) -> list[Trial]:
        """By the order of finishing, which is their rank."""
        there = [t for t in self._done.values() if self._kept[t.number] and t.number not in self._retried]
        order = sorted(there, key=lambda t: (t.datetime_complete.timestamp(), t.number))
        found = [kept for t in order if (kept := self._kept[t.number])]
        values = [t.value for t in found if t.value is not None and not self._is_pruned(t)]
        least = (min if maximize else max, statistics.median(values)) if values else None
        for rank, trial in enumerate(found):
            if least is not None and trial.value is not None and self._is_pruned(trial):
                trial = replace(trial, value=least[0](trial.value, least[1]), rank=rank)
            elif trial.rank != rank:
                trial = replace(trial, rank=rank)
            self._kept_rank(trial)
            found[rank] = trial
        return found

    def _kept_rank(self, trial: Trial) -> None:
        if not self._is_pruned(trial):
            self._kept[trial.number] = trial

    def _is_pruned(self, trial: Trial) -> bool:
        return bool(self._done[trial.number].state.name == "PRUNED")

    # -- single trials -------------------------------------------------------------------------------------

    def _note(self, trial: Any) -> Note | None:
        return Note.read(trial.system_attrs, trial.number, self._tell)

    def _attribute(self, trial: Any, name: str, kind: Kind, missing: Any) -> Any:
        """What Optuna itself noted with a trial; `missing` where it has not, or it is something else."""
        found = trial.system_attrs.get(name, missing)
        if kind.holds(found):
            return found
        about = f"{name} of trial %d is passed over: it must be {kind.words}, not %s"
        self._tell(about, trial.number, reprlib.repr(found))
        return missing

    def _as_trial(self, trial: Any) -> Trial | None:
        note, complete = self._note(trial), trial.state.name == "COMPLETE"
        if not _is_whole(trial) or _is_lost(trial, note) or (complete and self._space and not trial.params):
            return None
        value, reason = _outcome(trial)
        params = self._params(trial.params, None if complete else note, fill=complete)
        if params is None:
            return None
        if self._is_given and complete:
            self._tell_unasked(trial, params)
        known = Trial(params, trial.number, meta=self._meta(note, params))
        done = known.completed(value, 0) if value is not None else known.failed(reason, 0)
        return done.frozen()

    def _tell_unasked(self, trial: Any, params: Params) -> None:
        """Where the given space is not what the objective asks for."""
        for name, asked in trial.distributions.items():
            here = self._given.get(name)
            if name in self._narrower or not isinstance(here, Float | Int) or kind(asked) == "categorical":
                continue
            if asked.low < here.low or asked.high > here.high:
                self._narrower.add(name)
                logger.warning(
                    "trial %d asks for %s in [%g, %g], the given space has [%g, %g]: nothing beyond is tried",
                    trial.number,
                    name,
                    asked.low,
                    asked.high,
                    here.low,
                    here.high,
                )
        varied = {name for name, parameter in self._given.items() if parameter.width}
        names = (params.keys() & varied) - trial.params.keys() - self._unasked
        if names:
            self._unasked |= names
            logger.warning(
                "trial %d did not ask for %s of the given space: taken to be in the middle of the range",
                trial.number,
                ", ".join(sorted(names)),
            )

    def _pending(self, trial: Any) -> Trial | None:
        note = self._note(trial)
        given = {**self._attribute(trial, "fixed_params", TABLE, {}), **trial.params}
        params = self._params(given, note, fill=False) if self._space else None
        return None if params is None else Trial(params, trial.number, meta=self._meta(note, params)).frozen()

    def _params(self, values: Mapping[str, Any], note: Note | None, *, fill: bool) -> Params | None:
        """A configuration of the space; None if the trial has none.

        Args:
            values: as Optuna has them.
            note: of what was suggested, for the rest.
            fill: whether parameters that nobody asked for are put into the middle of their ranges.
        """
        try:
            suggested = self._space.decode(note.point) if note and self._is_current(note) else {}
            known = {n: coder for n in values if (coder := self._coders.get(n)) is not None}
            if any(self._is_past(coder, values[n]) for n, coder in known.items()):
                return None
            given = {n: coder.read(values[n]) for n, coder in known.items()}
            return self._space.validate(_chosen(self._space, {**suggested, **given}, fill=fill))
        except (ParameterError, ValueError, TypeError, OverflowError):  # somebody may have enqueued anything
            return None

    def _is_past(self, coder: Coder, value: Any) -> bool:
        """Whether a parameter has a single value now, and had another: no space would show the difference."""
        held = not self._is_given and coder.distribution.single()
        return held and not coder.distribution._contains(coder.distribution.to_internal_repr(value))

    def _meta(self, note: Note | None, params: Params) -> dict[str, Any]:
        """What the method noted, if this is the point that it suggested, and of this space."""
        if note is None or not self._is_current(note):
            return {"way": "added"}
        gap = np.abs(self._space.encode(params) - note.point)
        same = np.isnan(note.point) | (gap < ROUNDED)
        return note.meta if bool(np.all(same)) else {"way": "given"}

    def _is_current(self, note: Note) -> bool:
        return note.space == self._fingerprint and len(note.point) == self._space.dim


def _is_lost(trial: Any, note: Note | None) -> bool:
    """Whether it is one of hidim's, and nobody saw it fail: its worker is gone."""
    return trial.state.name == "FAIL" and note is not None and FAILED not in trial.system_attrs


def _is_whole(trial: Any) -> bool:
    """Whether it has ended at a time, and with one value if it is complete: storages may lose both."""
    has_value = trial.state.name != "COMPLETE" or [isinstance(v, Real) for v in trial.values or ()] == [True]
    return has_value and trial.datetime_complete is not None


def _outcome(trial: Any) -> tuple[float | None, str]:
    """The value of a trial, or why there is none."""
    if trial.state.name == "FAIL":
        return None, str(trial.system_attrs.get("fail_reason", "failed"))
    if trial.state.name == "PRUNED":
        steps = trial.intermediate_values
        value = steps[max(steps)] if steps else math.nan
    else:
        value = trial.value
    if isinstance(value, Real) and math.isfinite(value):
        return float(value), ""
    return None, f"the value is {value}" if trial.state.name == "COMPLETE" else "pruned before any value"


def _chosen(parameters: Mapping[str, Parameter], given: Params, *, fill: bool) -> Params:
    """Those of the given values that are active, with middles for missing ones, or without them."""
    chosen: Params = {}
    for name, parameter in parameters.items():
        if name not in given and not fill:
            continue
        chosen[name] = value = given[name] if name in given else value_at(parameter, 0.5)
        if isinstance(parameter, Choice):
            option = parameter.options[parameter.positions[value]] if value in parameter.positions else None
            chosen |= {} if option is None else _chosen(option.space, given, fill=fill)
    return chosen


def check_space(space: Space) -> None:
    """Refuse one that no study can have."""
    for vertex in space.vertices:
        if isinstance(vertex.parameter, Vector):
            raise SpaceError(
                f"Optuna has no vectors: replace {vertex.name!r} by one Float for every coordinate"
            )


def read_study(study: Any, space: Space | None = None) -> Reading:
    """A study of Optuna's as a space and a history.

    Args:
        study: with one objective.
        space: if it is known; else it is what the trials show.
    """
    if not hasattr(study, "directions"):
        raise MethodError(f"a study is wanted, as optuna.load_study gives it, and not {study!r}")
    if space is not None:
        check_space(space)
    if len(study.directions) > 1:
        raise MethodError(
            f"the study has {len(study.directions)} objectives, and hidim has methods for one: make it one "
            "number, or use optuna.samplers.NSGAIISampler or TPESampler"
        )
    maximize = study.direction.name == "MAXIMIZE"
    return StudyReader(space).read(study.get_trials(deepcopy=False), maximize=maximize)
