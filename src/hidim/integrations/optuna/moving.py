"""From hidim to Optuna and back: a person may change their mind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from hidim._limits import COORDINATES_TABULATED
from hidim._types import Params
from hidim.errors import MethodError, SpaceError
from hidim.methods import Method
from hidim.optimizer import Optimizer
from hidim.result import Result
from hidim.space import Space, Vector
from hidim.studies import fingerprint, read_study
from hidim.studies.coders import distribution_of, labels_written
from hidim.studies.notes import FAILED, Note
from hidim.trial import Trial
from hidim.trial import TrialState as State

#: What becomes of a trial.
STATES = {State.COMPLETE: TrialState.COMPLETE, State.FAILED: TrialState.FAIL}


def to_study(
    source: Optimizer | Result | str | os.PathLike[str], study: Study | None = None, **settings: Any
) -> Study:
    """A study of Optuna's with the trials of a run of hidim.

    Finished trials are entered, with their attributes; trials that still ran are enqueued. A vector becomes
    one float for every coordinate, `w[0]`, `w[1]`, …, and a label that is a tuple its text. A sampler
    `OptunaSampler(method, space=…, seed=…)` with the same space goes on with all that the method remembers.

    Args:
        source: an `Optimizer`, a `Result`, or the path of a journal or of a saved optimizer.
        study: to which the trials are added; by default a new one.
        settings: for `optuna.create_study`, as `storage` and `study_name`.

    Example:
        >>> from hidim import Float
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> optimizer = Optimizer(Space(x=Float(-1, 1)))
        >>> _ = optimizer.add({"x": 0.5}, 0.25)
        >>> to_study(optimizer).best_params
        {'x': 0.5}
    """
    run = source if isinstance(source, Optimizer | Result) else Optimizer.load(source)
    direction: Literal["maximize", "minimize"] = "maximize" if run.maximize else "minimize"
    if direct := {"direction", "directions"} & settings.keys():
        raise MethodError(f"the run has its direction, to {direction}: leave {direct.pop()} out")
    if study is None:
        study = optuna.create_study(direction=direction, **settings)
    elif settings:
        raise MethodError(f"the study is given: {', '.join(settings)} would be for a new one")
    elif len(study.directions) > 1 or study.direction.name.lower() != direction:
        raise MethodError(f"the run wants to {direction}, and the study does not")
    mark, known = fingerprint(run.space), dict(_distributions(run.space))
    study.add_trials([_written(trial, run.space, known, mark) for trial in run.history.finished])
    for trial in run.history.running:
        study.enqueue_trial(dict(flat_params(trial.params)))
    return study


def from_study(
    study: Study,
    space: Space | None = None,
    method: str | Method = "auto",
    seed: int | None = 0,
    **settings: Any,
) -> Optimizer:
    """An optimizer that knows the finished trials of a study.

    What each trial becomes is said in `hidim.studies.reader`.

    Args:
        study: with one objective.
        space: if it is known; else it is what the trials show.
        method: of the `Optimizer`.
        seed: likewise.
        **settings: likewise.
    """
    reading = read_study(study, space)
    if not len(reading.space):
        raise SpaceError("no trial of the study has finished, so its space is not known: give space=…")
    optimizer = Optimizer(reading.space, method, seed, maximize=reading.history.maximize, **settings)
    known = sorted(reading.history.finished, key=lambda trial: trial.number)
    optimizer._restore([replace(trial, number=place) for place, trial in enumerate(known)])
    return optimizer


def _written(trial: Trial, space: Space, known: dict[str, BaseDistribution], mark: str) -> FrozenTrial:
    params = dict(flat_params(trial.params))
    system: dict[str, Any] = {}
    if params.keys() == trial.params.keys():  # a space with vectors is not the one that the sampler will have
        Note(mark, trial.meta, space.encode(trial.params)).write(system.__setitem__)
    if trial.state is State.FAILED:
        system |= {FAILED: True, "fail_reason": trial.reason}
    return optuna.create_trial(
        state=STATES[trial.state],
        value=trial.value,
        params=params,
        distributions={name: known[name] for name in params},
        user_attrs=dict(trial.attributes),
        system_attrs=system,
    )


def flat_params(params: Params) -> Iterator[tuple[str, Any]]:
    """A configuration as Optuna has it: coordinates of vectors one by one, tuples as text."""
    for name, value in params.items():
        if isinstance(value, np.ndarray):
            yield from ((f"{name}[{place}]", entry) for place, entry in enumerate(value.tolist()))
        else:
            yield name, labels_written([value])[0]


def _distributions(space: Space) -> Iterator[tuple[str, BaseDistribution]]:
    """Of all parameters by the names that `flat_params` gives them."""
    seen: dict[str, BaseDistribution] = {}
    for vertex in space.vertices:
        parameter = vertex.parameter
        if isinstance(parameter, Vector):
            if parameter.dim > COORDINATES_TABULATED:
                raise SpaceError(
                    f"{vertex.name!r} has {parameter.dim} coordinates, each of which would be a parameter of "
                    f"the study; at most {COORDINATES_TABULATED} are"
                )
            places = range(parameter.dim)
            found = {f"{vertex.name}[{k}]": distribution_of(parameter.coordinate(k)) for k in places}
        else:
            found = {vertex.name: distribution_of(parameter)}
        for name, distribution in found.items():
            if seen.setdefault(name, distribution) != distribution:
                raise SpaceError(f"a name of Optuna's is one parameter, and {name!r} is two: rename one")
            yield name, distribution
