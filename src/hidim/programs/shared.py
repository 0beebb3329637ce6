"""The run of a program, kept in a storage of Optuna's: the same line, typed on another machine, joins it.

Nobody leads. Each driver looks how many trials there are, and starts another one as long as some are missing.
A trial whose driver is gone stops beating, is given up after a while and evaluated again; one that was broken
off by a signal is put back into the queue.
"""

from __future__ import annotations

import inspect
import logging
import math
import random
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import optuna
from optuna.study import Study
from optuna.trial import Trial, TrialState

from hidim._limits import COORDINATES_TABULATED
from hidim._types import Params
from hidim.errors import HidimError, HistoryError, MethodError, RunError, SpaceError
from hidim.integrations.optuna import OptunaSampler, from_study
from hidim.integrations.optuna.moving import flat_params
from hidim.programs.program import Program
from hidim.programs.spacefile import read_space
from hidim.programs.tuning import Plan
from hidim.result import Kept, Result
from hidim.run.driver import all_done
from hidim.run.evaluate import NoValue
from hidim.run.interrupts import interruptible
from hidim.run.mistakes import Mistake, failed_alike
from hidim.run.progress import Progress, Standing
from hidim.space import Choice, Space, Vector
from hidim.space.parameters import Parameter
from hidim.studies.coders import Coder, distribution_of
from hidim.studies.notes import FAILED, INTERRUPTED
from hidim.trial import alike

logger = logging.getLogger("hidim")

#: Of the study: its space, and what else is to be remembered.
SPACE, ABOUT = "hidim:space", "hidim:about"

#: Seconds between two signs of life of a trial, and after which one without is given up.
BEAT, PATIENCE = 5, 20

#: What is called with a trial that was given up, in newer versions of Optuna and in older ones.
STALE = ("heartbeat_stale_trial_callback", "failed_trial_callback")

#: Seconds between two looks at trials of others.
GLANCE = 0.5

#: How often tables are made anew that another driver is making, and how databases say that.
ATTEMPTS = 20
COLLISIONS = ("UNIQUE constraint", "already exists", "duplicate key", "database is locked")

Made = TypeVar("Made")


class Shared:
    """One driver of a run that others may drive, too.

    Args:
        url: of the storage.
        name: of the study.
        program: the objective.
        space: of its configurations.
        plan: what is to be done.
        progress: who is shown how far the run is.
    """

    def __init__(
        self, url: str, name: str, program: Program, space: Space, plan: Plan, progress: Progress
    ) -> None:
        if plan.retry_failed or plan.start_from is not None:
            raise MethodError("--retry-failed and --start-from belong to runs in a journal: leave them out")
        self._program, self._plan, self._progress = program, plan, progress
        self._space = flat(space)
        self._whole = space
        sampler = OptunaSampler(
            plan.method, self._space, plan.seed or 0, budget=plan.trials, noisy=plan.noisy
        )
        self._study = _study(url, name, sampler, maximize=plan.maximize)
        _agree(self._study, space, plan)
        for params in plan.start_with:
            self._study.enqueue_trial(dict(flat_params(dict(params))), skip_if_exists=True)
        self._lock = threading.Lock()
        self._stopping: str | None = None
        self._error: BaseException | None = None
        self._began = time.monotonic()
        self._objective = 0.0
        self._mistakes: list[Mistake] = []
        self._failures = 0
        self._values = 0

    def run(self) -> str:
        """Evaluate until there are as many trials as were wanted; why it was the end."""
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._plan.workers)]
        done = threading.Event()
        # This thread does not look into the storage: a signal would leave its transaction open, and the lock
        # of a file of SQLite's, for which others then wait in vain.
        shown = threading.Thread(target=self._show_until, args=(done,), daemon=True)
        try:
            for thread in (*threads, shown):
                thread.start()
            with interruptible():
                for thread in threads:
                    while thread.is_alive():
                        thread.join(GLANCE)
        except KeyboardInterrupt:
            self._stopping = "interrupted"
            self._program.close()
            for thread in threads:
                thread.join(10.0)  # what it was about to say must reach the storage
        finally:
            done.set()
            shown.join(10.0)
            self._progress.close()
        if self._error is not None:
            raise self._error
        return self._stopping or all_done(self._plan.trials, self._values + self._failures)

    def _work(self) -> None:
        try:
            while self._is_needed():
                self._study.optimize(self._objective_of, n_trials=1, catch=(Exception,))
        except BaseException as error:
            self._error = error
            self._stopping = "an error"

    def _is_needed(self) -> bool:
        """Whether another trial is missing; as long as those of others may come to nothing, it is waited."""
        while self._stopping is None:
            seconds = self._plan.seconds
            if seconds is not None and time.monotonic() > self._began + seconds:
                self._stopping = f"the time budget of {seconds:g} s is spent"
                break
            with self._lock, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                optuna.storages.fail_stale_trials(self._study)
                finished, running = counted(self._study)
            wanted = math.inf if self._plan.trials is None else self._plan.trials
            if finished + running < wanted:
                return True
            if finished >= wanted:
                return False
            time.sleep(GLANCE)
        return False

    def _objective_of(self, trial: Trial) -> float:
        put = self._study._storage.set_trial_system_attr
        if self._is_surplus(trial.number) or self._stopping is not None:
            put(trial._trial_id, INTERRUPTED, True)
            raise NoValue("another driver was faster")
        params = suggested(trial, self._space)
        start = time.perf_counter()
        try:
            value = float(self._program(trial.number, grouped(params, self._whole)))
            if not math.isfinite(value):
                raise NoValue(f"the value is {value}")
        except NoValue as failure:
            if self._stopping is not None:  # it was broken off, and is to be evaluated again
                put(trial._trial_id, INTERRUPTED, True)
                self._study.enqueue_trial(dict(trial.params))
            else:
                put(trial._trial_id, "fail_reason", str(failure)[:2000])
                self._heed(failure)
            raise
        finally:
            with self._lock:
                self._objective += time.perf_counter() - start
        self._values += 1
        return value

    def _is_surplus(self, number: int) -> bool:
        """Whether enough trials were started before this one: drivers do not ask each other for leave."""
        before, running = counted(self._study, below=number)
        return self._plan.trials is not None and before + running >= self._plan.trials

    def _heed(self, failure: NoValue) -> None:
        """End a run whose trials all fail alike."""
        self._failures += 1
        if failure.mistake is not None:
            self._mistakes.append(Mistake(alike(str(failure)), failure.mistake))
        why = None if self._values else failed_alike(self._mistakes, self._failures, self._plan.fail_fast)
        if why is not None:
            self._stopping = f"{why}: {failure}"

    def _show_until(self, done: threading.Event) -> None:
        try:
            while not done.wait(GLANCE):
                self._show()
            self._show()
        except BaseException as error:
            self._error = self._error or error
            self._stopping = "an error"

    def _show(self) -> None:
        trials = self._study.get_trials(deepcopy=False)
        done, _ = counted(self._study)
        failed = sum(FAILED in trial.system_attrs for trial in trials)
        better = max if self._plan.maximize else min
        values = [trial.value for trial in trials if trial.state is TrialState.COMPLETE]
        best = better((value for value in values if value is not None), default=None)
        elapsed = (time.monotonic() - self._began) * self._plan.workers
        own = max(elapsed - self._objective - sum(time.monotonic() - r.since for r in self._running()), 0.0)
        total = self._plan.trials or math.inf
        self._progress.show(Standing(done, total, failed, best, own, self._objective))

    def _running(self) -> list[Any]:
        return list(self._program.running.values())


def counted(study: Study, below: int | None = None) -> tuple[int, int]:
    """How many trials are finished, and running; those that were broken off do not count."""
    finished = running = 0
    for trial in study.get_trials(deepcopy=False):
        if below is not None and trial.number >= below:
            continue
        running += trial.state is TrialState.RUNNING
        finished += trial.state in (TrialState.COMPLETE, TrialState.PRUNED)
        finished += trial.state is TrialState.FAIL and FAILED in trial.system_attrs
    return finished, running


# -- the study ---------------------------------------------------------------------------------------------


def _storage(url: str) -> Any:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if url.rstrip("/") == "sqlite:" or ":memory:" in url:
        raise HidimError(f"the storage {masked(url)} keeps nothing: name a file, as sqlite:///study.db")
    with _saying(url), warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        known = inspect.signature(optuna.storages.RDBStorage).parameters
        stale = next(name for name in STALE if name in known)
        again: dict[str, Any] = {stale: lambda study, trial: study.enqueue_trial(trial.params)}
        made = partial(
            optuna.storages.RDBStorage, url, heartbeat_interval=BEAT, grace_period=PATIENCE, **again
        )
        return _insisting(made)


def masked(url: str) -> str:
    """A URL as it may be shown, without its password.

    Example:
        >>> masked("postgresql://me:secret@db/studies")
        'postgresql://me:…@db/studies'
    """
    return re.sub(r"(://[^:/@]*:)[^@]*@", r"\1…@", url)


@contextmanager
def _saying(url: str) -> Iterator[None]:
    try:
        yield
    except HidimError:
        raise
    except ImportError as error:
        raise HidimError(f"the storage {masked(url)} needs a driver: {error}") from error
    except Exception as error:  # as many kinds as there are databases
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise HidimError(f"the storage {masked(url)} cannot be opened: {said}") from error


def _take_turns(engine: Any) -> None:
    """Let SQLite look and write in one step, as other databases do: else two drivers take the same trial."""
    if engine.dialect.name != "sqlite":
        return
    from sqlalchemy import event

    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # who begins is said below, and not by Python's module
        connection.execute(f"PRAGMA busy_timeout = {1000 * PATIENCE}")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    engine.dispose()  # connections that were there before


def _insisting(made: Callable[[], Made]) -> Made:
    """Two drivers that begin at once both make the tables, and the slower one finds them there."""
    for _ in range(ATTEMPTS):
        try:
            return made()
        except Exception as error:
            if not any(word in str(error) for word in COLLISIONS):
                raise
            time.sleep(random.uniform(0.1, 0.5))
    return made()


def _study(url: str, name: str, sampler: OptunaSampler | None, *, maximize: bool) -> Study:
    storage = _storage(url)
    _take_turns(storage.engine)
    with _saying(url):
        study = _insisting(
            lambda: optuna.create_study(
                storage=storage,
                study_name=name,
                sampler=sampler,
                direction="maximize" if maximize else "minimize",
                load_if_exists=True,
            )
        )
    if len(study.directions) > 1:
        raise MethodError(f"the study {name!r} has {len(study.directions)} objectives: give another --study")
    if (study.direction.name == "MAXIMIZE") != maximize:
        raise MethodError(f"the study {name!r} goes in the other direction: mend --maximize, or give --study")
    return study


def _agree(study: Study, space: Space, plan: Plan) -> None:
    """Note the space of a new study; one of another space is refused."""
    known, mine = study.user_attrs.get(SPACE), space.to_json(indent=None)
    if known is None:
        if study.get_trials(deepcopy=False):
            logger.warning("the study %s has trials that were not made by hidim tune", study.study_name)
        study.set_user_attr(SPACE, mine)
        study.set_user_attr(ABOUT, dict(plan.about))
    elif known != mine:
        raise HistoryError(f"the study {study.study_name!r} is of another space: give another --study")


def kept_in_study(url: str, name: str | None, space_file: Path | None) -> Kept:
    """A run as its study has it.

    Args:
        url: of the storage.
        name: of the study; the only one, or the one that is called like the space file, if None.
        space_file: of the run.
    """
    file = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///") and "?" not in url and not file.exists():  # it would be made
        raise HistoryError(f"there is no file {file}")
    storage = _storage(url)
    names = [summary.study_name for summary in optuna.get_all_study_summaries(storage)]
    wanted = name or (space_file.stem if space_file is not None else names[0] if len(names) == 1 else None)
    if wanted is None or wanted not in names:
        there = f"it has {', '.join(names[:10])}" if names else "it has none"
        raise HistoryError(f"say which study of the storage by --study: {there}")
    study = optuna.load_study(study_name=wanted, storage=storage)
    text = study.user_attrs.get(SPACE)
    space = read_space(space_file) if text is None and space_file else None
    space = Space.from_json(text) if text is not None else space
    optimizer = from_study(study, None if space is None else flat(space))
    about: Any = study.user_attrs.get(ABOUT, {})
    return Kept(
        optimizer._task, optimizer.method, optimizer.history, about if isinstance(about, dict) else {}
    )


def found(url: str, name: str, stopped: str) -> Result:
    """The end of a run: what its study has."""
    kept = kept_in_study(url, name, None)
    if not kept.history.complete:
        raise RunError(f"no trial came to a value: {stopped}", "mend the program, and give another --study")
    return kept.result(stopped)


# -- parameters --------------------------------------------------------------------------------------------


def flat(space: Space) -> Space:
    """The space with a number for every coordinate of a vector, which Optuna does not have.

    Example:
        >>> flat(Space(w=Vector(2, low=0, high=1)))
        Space: 2 columns
        ├── w[0]  float   [0, 1]
        └── w[1]  float   [0, 1]
    """
    return Space(dict(_flat(space)))


def _flat(space: Any) -> Iterator[tuple[str, Parameter]]:
    for name, parameter in space.items():
        match parameter:
            case Vector(dim=dim):
                if dim > COORDINATES_TABULATED:
                    raise SpaceError(
                        f"{name!r} has {dim} coordinates, each of which would be a parameter of the study; "
                        f"at most {COORDINATES_TABULATED} are: keep the run in a journal"
                    )
                yield from ((f"{name}[{place}]", parameter.coordinate(place)) for place in range(dim))
            case Choice(options=options, shared=shared, ordered=ordered):
                spaces = {o.label: Space(dict(_flat(o.space))) if o.space else None for o in options}
                yield name, Choice(spaces, shared=shared, ordered=ordered)
            case _:
                yield name, parameter


def suggested(trial: Trial, space: Any) -> Params:
    """A configuration of a trial, asked for parameter by parameter, as an objective would."""
    params: Params = {}
    for name, parameter in space.items():
        labels = parameter.labels if isinstance(parameter, Choice) else ()
        coder = Coder(distribution_of(parameter), known=labels)
        params[name] = value = coder.read(trial._suggest(name, coder.distribution))
        if isinstance(parameter, Choice):
            params |= suggested(trial, parameter.options[parameter.positions[value]].space or {})
    return params


def grouped(params: Params, space: Space) -> Params:
    """Coordinates as the vectors of the space again."""
    found = dict(params)
    for vertex in space.vertices:
        if isinstance(vertex.parameter, Vector) and f"{vertex.name}[0]" in found:
            places = range(vertex.parameter.dim)
            found[vertex.name] = np.array([found.pop(f"{vertex.name}[{place}]") for place in places])
    return found
