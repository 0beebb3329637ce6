"""What a sampler knows of one study, and what it would try there next."""

from __future__ import annotations

import logging
import zlib
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.storages import InMemoryStorage
from optuna.study import Study
from optuna.trial import FrozenTrial

from hidim._threads import single_threaded
from hidim._types import Params
from hidim.errors import MethodError, SpaceError
from hidim.integrations.optuna.turns import Turns
from hidim.methods import Method, Suggestion, Task
from hidim.optimizer import drawn_seed, is_whole
from hidim.space import Choice, Space
from hidim.studies import Reading, StudyReader
from hidim.studies.coders import Coder, value_at
from hidim.studies.notes import Note

logger = logging.getLogger("hidim")

#: Of the study, for samplers without a seed of their own.
SEED = "hidim:seed"

#: Trials whose suggestions are kept in mind.
TRIALS = 1000


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
        self._parameters = {} if space is None else {each.name: each.parameter for each in space.vertices}
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
        self._suggested: dict[int, Params] = {}
        self._told: set[str] = set()
        self._drawn: dict[int, list[str]] = {}

    def value(self, trial: FrozenTrial, name: str, distribution: BaseDistribution) -> Any:
        """That of one parameter in what is suggested for the trial."""
        params = self._whole(trial)
        if distribution.single():
            return Coder(distribution).single
        if name in params:
            known = self._parameters.get(name)
            labels = known.labels if isinstance(known, Choice) else ()
            coder = Coder(distribution, bool(labels), labels)
            try:
                return self._written(name, coder, params[name])
            except SpaceError:
                if self._given is not None:
                    raise
            self._tell_once(name, "parameter %r was of another kind so far: it is drawn at random", name)
        elif self._given is not None and name not in self._parameters:
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

    def _whole(self, trial: FrozenTrial) -> Params:
        found = self._suggested.get(trial._trial_id)
        if found is None:
            found = self._suggested[trial._trial_id] = self._made(trial)
            for old in list(self._suggested)[:-TRIALS]:
                del self._suggested[old]
        return found

    def _made(self, trial: FrozenTrial) -> Params:
        reading = self._reading(trial)
        if not len(reading.space):
            self._note(trial, Note(reading.fingerprint, {}, np.empty(0)))  # by which it is one of hidim's
            return {}
        if self._turns is None:
            return self._noted(reading, trial)
        with self._turns.turn(trial):
            return self._noted(self._reading(trial), trial)

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
