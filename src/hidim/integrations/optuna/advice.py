"""What a sampler knows of one study, and what it would try there next."""

from __future__ import annotations

import logging
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.storages import InMemoryStorage
from optuna.study import Study
from optuna.trial import FrozenTrial

from hidim._threads import single_threaded
from hidim._types import Params
from hidim.errors import MethodError
from hidim.integrations.optuna.turns import Turns
from hidim.methods import Method, Suggestion, Task
from hidim.optimizer import drawn_seed, is_whole
from hidim.space import Choice, Space
from hidim.space.labels import Label
from hidim.studies import Reading, StudyReader
from hidim.studies.coders import Coder, is_changed_by_storages, value_at
from hidim.studies.notes import Note

logger = logging.getLogger("hidim")

#: Of the study, for samplers without a seed of their own.
SEED = "hidim:seed"

#: Trials whose suggestions are kept in mind.
TRIALS = 1000


@dataclass(frozen=True, eq=False)
class Suggested:
    """For one trial: a configuration of the space, and those of its values that Optuna knows already."""

    params: Params
    values: dict[str, Any]


class Advice:
    """On one study.

    Args:
        study: whichever of its processes asks.
        method: that suggests.
        space, seed, budget, noisy: as for `OptunaSampler`.
    """

    def __init__(
        self,
        study: Study,
        method: Method,
        space: Space | None,
        seed: int | None,
        budget: int | None,
        noisy: bool | None,
    ) -> None:
        self._storage, self._study = study._storage, study._study_id
        self._method, self._given, self._own_seed = method, space, seed
        self._budget, self._noisy = budget, noisy
        # In memory there is one process, whose threads wait for each other.
        in_memory = isinstance(self._storage, InMemoryStorage)
        self._turns = None if in_memory else Turns(self._storage, self._study)
        self._begin()

    def _begin(self) -> None:
        """Forget everything: some databases give the number of a study that was deleted to the next one."""
        self._reader = StudyReader(self._given)
        self._maximize = self._storage.get_study_directions(self._study)[0].name == "MAXIMIZE"
        self._seed = self._kept_seed() if self._own_seed is None else int(self._own_seed)
        self._task: tuple[str, Task] | None = None
        self._read: tuple[int, Reading] | None = None
        self._suggested: dict[int, Suggested] = {}
        self._told: set[str] = set()
        self._drawn: dict[int, list[str]] = {}

    def known(self, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that can be suggested together: those that finished trials had."""
        reading = self._reading(trial)
        self._read = (trial._trial_id, reading)
        there = {vertex.name for vertex in reading.space.vertices}
        known = {name: coder.distribution for name, coder in reading.coders.items() if name in there}
        return {n: each for n, each in known.items() if not (each.single() or is_changed_by_storages(each))}

    def suggested(self, trial: FrozenTrial) -> dict[str, Any]:
        """Values for a trial, by name; of parameters that are active as far as is known."""
        return self._whole(trial).values

    def alone(self, trial: FrozenTrial, name: str, distribution: BaseDistribution) -> Any:
        """The value of a parameter that was not suggested with the others, or not within its range."""
        params = self._whole(trial).params
        if distribution.single():
            return Coder(distribution).single
        if name in params:
            labels = self._labels(name)
            return self._written(name, Coder(distribution, labels is not None, labels or ()), params[name])
        if self._given is not None and all(name != vertex.name for vertex in self._given.vertices):
            self._tell_once(name, "parameter %r is not in the given space: it is drawn at random", name)
        elif name in self._reader.names:
            about = "parameter %r was not expected in trial %d, by its choices: it is drawn at random"
            self._tell_once(name, about, name, trial.number)
        elif self._reader.has_finished and name not in self._told:
            self._told.add(name)
            self._drawn.setdefault(trial._trial_id, []).append(name)
        rng = np.random.default_rng([self._seed, trial.number, zlib.crc32(name.encode())])
        coder = Coder(distribution)
        return coder.write(value_at(coder.parameter, float(rng.random())))

    def finish(self, trial: FrozenTrial) -> None:
        """Say what was drawn at random in a trial, as far as it has not been said."""
        if names := self._drawn.pop(trial._trial_id, []):
            logger.warning(
                "trial %d is the first with %s, drawn at random: no finished trial had such a parameter",
                trial.number,
                ", ".join(names),
            )

    def _labels(self, name: str) -> tuple[Label, ...] | None:
        """Those of the given space, if it has options for what may be an integer."""
        for vertex in () if self._given is None else self._given.vertices:
            if vertex.name == name and isinstance(vertex.parameter, Choice):
                return vertex.parameter.labels
        return None

    def _written(self, name: str, coder: Coder, value: Any) -> Any:
        """As Optuna has it; where the objective has another range than the space, that is said."""
        found = coder.write(value)
        if coder.read(found) != value:
            self._tell_once(name, "parameter %r has another range now: the nearest value is taken", name)
        return found

    def _tell_once(self, name: str, text: str, *about: Any) -> None:
        if name not in self._told:
            self._told.add(name)
            logger.warning(text, *about)

    # -- suggestions ---------------------------------------------------------------------------------------

    def _whole(self, trial: FrozenTrial) -> Suggested:
        found = self._suggested.get(trial._trial_id)
        if found is None:
            found = self._suggested[trial._trial_id] = self._made(trial)
            for old in list(self._suggested)[:-TRIALS]:
                del self._suggested[old]
        return found

    def _made(self, trial: FrozenTrial) -> Suggested:
        known, self._read = self._read, None
        reading = known[1] if known is not None and known[0] == trial._trial_id else self._reading(trial)
        if not len(reading.space):
            self._note(trial, Note(reading.fingerprint, {}, np.empty(0)))  # by which it is one of hidim's
            return Suggested({}, {})
        if self._turns is None:
            params = self._noted(reading, trial)
        else:
            with self._turns.turn(trial):
                reading = self._reading(trial)
                params = self._noted(reading, trial)
        coders = {name: coder for name in params if (coder := reading.coders.get(name)) is not None}
        return Suggested(params, {n: self._written(n, coder, params[n]) for n, coder in coders.items()})

    def _noted(self, reading: Reading, trial: FrozenTrial) -> Params:
        """A suggestion that the storage has a note of: others see it before the trial has its parameters."""
        suggestion = self._suggestion(reading, trial.number)
        note = Note(reading.fingerprint, suggestion.meta, reading.space.encode(suggestion.params))
        self._note(trial, note)
        return suggestion.params

    def _note(self, trial: FrozenTrial, note: Note) -> None:
        note.write(lambda key, value: self._storage.set_trial_system_attr(trial._trial_id, key, value))

    @single_threaded
    def _suggestion(self, reading: Reading, number: int) -> Suggestion:
        if self._task is None or self._task[0] != reading.fingerprint:
            task = Task(reading.space, self._maximize, self._seed, self._budget, self._noisy)
            self._method.check(task)
            self._task = (reading.fingerprint, task)
        found = self._method.suggest(self._task[1], reading.history, number)
        if found.meta.get("instead") == "repetition":
            self._tell_once("", "trial %d repeats another one: there is nothing new left to try", number)
        return found

    # -- the storage ---------------------------------------------------------------------------------------

    def _reading(self, trial: FrozenTrial) -> Reading:
        trials = self._storage.get_all_trials(self._study, deepcopy=False)
        if not self._reader.is_of(trials):
            self._begin()
        if self._own_seed is None and not self._reader.has_finished:
            self._seed = self._kept_seed()  # another process may have drawn one at the same moment
        reading = self._reader.read(trials, maximize=self._maximize, but=trial.number)
        if self._reader.is_constrained:
            raise MethodError(
                "the study has constraints, which hidim does not know: raise optuna.TrialPruned where one is "
                "broken, or use TPESampler"
            )
        return reading

    def _kept_seed(self) -> int:
        """The seed that the study keeps; the first process draws it."""
        kept: Any = self._storage.get_study_system_attrs(self._study).get(SEED)
        if not is_whole(kept) or kept < 0:
            self._storage.set_study_system_attr(self._study, SEED, drawn_seed())
            kept = self._storage.get_study_system_attrs(self._study)[SEED]
        return int(kept)
