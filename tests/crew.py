"""Plain worker processes on one Optuna study, some of which are killed, and what must hold in the end.

Every worker is a process of its own: `optuna.load_study(…).optimize(…)`, until the study has so many complete
trials. It notes down, in a file of its own, when a trial starts, has a value, and is finished; what the
storage holds in the end is compared with these notes.
"""

from __future__ import annotations

import json
import math
import os
import random
import runpy
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import combinations
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeAlias

import optuna
from optuna.distributions import CategoricalDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.trial import FrozenTrial, TrialState

PATIENCE = 600.0  # seconds after which a crew is stuck


@dataclass(frozen=True)
class Work:
    """What a worker is told.

    Args:
        storage: a database's URL, or the path of a journal.
        objective: `path/of/file.py:function`.
        sampler: one of `SAMPLERS`.
        trials: complete ones, at which the study ends.
        seconds: between which the length of a trial is drawn.
        heartbeat: seconds between signs of life, for databases.
    """

    storage: str
    objective: str
    sampler: str
    seed: int
    trials: int
    seconds: tuple[float, float]
    heartbeat: int | None = None
    study: str = "study"

    def open(self) -> optuna.storages.BaseStorage:
        if "://" in self.storage:
            with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):  # of heartbeats
                return optuna.storages.RDBStorage(self.storage, heartbeat_interval=self.heartbeat)
        backend = optuna.storages.journal.JournalFileBackend(self.storage)
        return optuna.storages.JournalStorage(backend)

    @contextmanager
    def opened(self) -> Iterator[optuna.storages.BaseStorage]:
        """The storage for a while: no connections are left open."""
        storage = self.open()
        try:
            yield storage
        finally:
            if isinstance(storage, optuna.storages.RDBStorage):
                storage.remove_session()
                storage.engine.dispose()

    def sample(self, worker: int) -> optuna.samplers.BaseSampler:
        """hidim's sampler has the same seed in every worker; others would then suggest the same."""
        if self.sampler == "hidim":
            import hidim

            return hidim.OptunaSampler(seed=self.seed)
        return getattr(optuna.samplers, self.sampler)(seed=1000 * self.seed + worker)

    def function(self) -> Any:
        path, _, name = self.objective.rpartition(":")
        return globals()[name] if Path(path) == Path(__file__) else runpy.run_path(path)[name]


def valley(trial: optuna.Trial) -> float:
    """A short test's objective, with a float, an integer and a label that decides about the float."""
    n = trial.suggest_int("n", 1, 9)
    kind = trial.suggest_categorical("kind", ["flat", "curved"])
    return 0.1 * (n - 4) ** 2 + (0.2 if kind == "flat" else (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2)


# -- the worker --------------------------------------------------------------------------------------------


def work(told: Work, place: int, folder: Path) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    function, lengths = told.function(), random.Random(os.urandom(8))
    paper = os.open(_paper(folder, place), os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(event: str, number: int, value: float | None) -> None:
        os.write(paper, (json.dumps([event, number, value, time.time()]) + "\n").encode())
        os.fsync(paper)

    def objective(trial: optuna.Trial) -> float:
        value = function(trial)
        note("started", trial.number, None)
        time.sleep(lengths.uniform(*told.seconds))
        note("valued", trial.number, value)
        return value

    def finished(study: optuna.Study, trial: FrozenTrial) -> None:
        note("finished", trial.number, trial.value)

    enough = optuna.study.MaxTrialsCallback(told.trials, states=(TrialState.COMPLETE,))
    study = optuna.load_study(study_name=told.study, storage=told.open(), sampler=told.sample(place))
    if len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))) < told.trials:
        study.optimize(objective, callbacks=[finished, enough])


# -- processes ---------------------------------------------------------------------------------------------

Worker: TypeAlias = subprocess.Popen[bytes] | BaseProcess


def plain(told: Work, place: int, folder: Path) -> Worker:
    """A process as a user would start it."""
    command = [sys.executable, __file__, json.dumps(asdict(told)), str(place), str(folder)]
    with _errors(folder, place).open("ab") as errors:
        return subprocess.Popen(command, stdout=errors, stderr=errors)


def forked(told: Work, place: int, folder: Path) -> Worker:
    """A process of its own, too, of a server that has imported everything already: it is there at once."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["crew", "hidim.integrations.optuna", "hidim.methods.auto"])
    process = context.Process(target=_forked, args=(told, place, folder))
    process.start()
    return process


def _forked(told: Work, place: int, folder: Path) -> None:
    errors = os.open(_errors(folder, place), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    work(told, place, folder)


def _errors(folder: Path, place: int) -> Path:
    return folder / f"errors-{place}"


def _paper(folder: Path, place: int) -> Path:
    return folder / f"notes-{place}.jsonl"


def _code(worker: Worker) -> int | None:
    return worker.poll() if isinstance(worker, subprocess.Popen) else worker.exitcode


def _end(worker: Worker) -> None:
    worker.kill()
    worker.wait() if isinstance(worker, subprocess.Popen) else worker.join()


# -- the crew ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Note:
    event: str
    number: int
    value: float | None
    moment: float


@dataclass
class Crew:
    """Workers, as many as are asked for; `kill` strikes one of them, and another takes its place."""

    work: Work
    folder: Path
    study: optuna.Study
    start: Callable[[Work, int, Path], Worker]
    workers: list[Worker] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)  # numbers of trials whose worker was killed in their midst

    def hire(self, place: int | None = None) -> None:
        """One more worker; in the place of a dead one, with its notes."""
        number = len(self.workers) if place is None else place
        self.workers[number : number + 1] = [self.start(self.work, number, self.folder)]

    def notes(self, place: int) -> list[Note]:
        paper = _paper(self.folder, place)
        lines = paper.read_text().splitlines(keepends=True) if paper.exists() else []
        return [Note(*json.loads(line)) for line in lines if line.endswith("\n")]

    def all_notes(self) -> list[Note]:
        return [note for place in range(len(self.workers)) for note in self.notes(place)]

    def finished(self) -> int:
        return sum(note.event == "finished" for note in self.all_notes())

    def kill(self, place: int) -> int:
        """SIGKILL in the midst of a trial, whose number is given; the worker is halted first to make sure."""
        last = self._kill(place, lambda last: last.event == "started")
        self.lost.append(last.number)
        return last.number

    def kill_asking(self, place: int) -> None:
        """SIGKILL between two trials: while the sampler thinks, or the storage writes."""
        self._kill(place, lambda last: last.event == "finished" and time.time() - last.moment > 0.03)

    def _kill(self, place: int, wanted: Callable[[Note], bool]) -> Note:
        worker = self.workers[place]
        for _ in self._waiting():
            os.kill(worker.pid, signal.SIGSTOP)
            notes = self.notes(place)
            if notes and wanted(notes[-1]):
                _end(worker)
                return notes[-1]
            os.kill(worker.pid, signal.SIGCONT)
            time.sleep(0.003)
        raise AssertionError  # `_waiting` has said why

    def wait_for(self, finished: int) -> None:
        for _ in self._waiting():
            if self.finished() >= finished:
                return
            time.sleep(0.02)

    def wait(self) -> None:
        for _ in self._waiting():
            if all(_code(worker) is not None for worker in self.workers):
                return
            time.sleep(0.02)

    def _waiting(self) -> Iterator[None]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            failed = [place for place, worker in enumerate(self.workers) if _code(worker)]
            assert not failed, f"worker {failed[0]} ended:\n" + _errors(self.folder, failed[0]).read_text()
            yield
        raise AssertionError(f"{self.finished()} trials after {PATIENCE} s")

    def dismiss(self) -> None:
        for worker in self.workers:
            if _code(worker) is None:
                _end(worker)


@contextmanager
def crew(
    work: Work, workers: int, folder: Path, start: Callable[[Work, int, Path], Worker] = plain
) -> Iterator[Crew]:
    """So many workers on a new study; none outlives the block."""
    with work.opened() as storage:
        hired = Crew(work, folder, optuna.create_study(study_name=work.study, storage=storage), start)
        try:
            for _ in range(workers):
                hired.hire()
            yield hired
        finally:
            hired.dismiss()


# -- what must hold ----------------------------------------------------------------------------------------


def check(crew: Crew) -> None:
    """Every trial that a worker finished is there, once, with its value, and no others are complete."""
    trials, notes = crew.study.get_trials(), crew.all_notes()
    kept = {trial.number: trial.value for trial in trials if trial.state == TrialState.COMPLETE}
    finished = [(note.number, note.value) for note in notes if note.event == "finished"]
    assert [trial.number for trial in trials] == list(range(len(trials))), "a number is missing or doubled"
    assert len(finished) == len(dict(finished)), "a trial was finished twice"
    assert dict(finished) == kept, "the storage and the workers disagree"
    started = [note.number for note in notes if note.event == "started"]
    assert len(started) == len(set(started)), "two workers had the same trial"
    assert not set(crew.lost) & set(kept), "a trial that was lost has a value"


@dataclass(frozen=True)
class Pairs:
    """Trials that were running at the same time, two by two.

    `duplicates` have the same parameters; `doubled` says of each the two numbers and states, and, in seconds
    since the first one began, when its parameters were known, when it ended, when the second one began, and
    when the parameters of that were known. *Blind* pairs were asked for at the same moment: when the later
    one was begun, the parameters of the earlier one were not yet known. Distances are root mean squares over
    the unit cube, of pairs that have the same names of parameters.
    """

    count: int
    duplicates: int
    closest: float
    blind: int
    closest_blind: float
    doubled: tuple[tuple[object, ...], ...]


def pairs(crew: Crew) -> Pairs:
    """All pairs of trials whose workers came to start them."""
    trials = crew.study.get_trials()
    known = {note.number: note.moment for note in crew.all_notes() if note.event == "started"}
    spans = {}
    for trial in trials:
        if trial.number in known and trial.datetime_start is not None:
            end = trial.datetime_complete.timestamp() if trial.datetime_complete else math.inf
            spans[trial.number] = (trial.datetime_start.timestamp(), end)
    count = blind = 0
    doubled: list[tuple[object, ...]] = []
    closest = closest_blind = math.inf
    for a, b in combinations(sorted(spans, key=lambda number: spans[number][0]), 2):
        if spans[b][0] >= spans[a][1]:
            continue
        count += 1
        if trials[a].params == trials[b].params:
            moments = (known[a], spans[a][1], spans[b][0], known[b])
            states = (trials[a].state.name, trials[b].state.name)
            doubled.append((a, b, *states, *(round(moment - spans[a][0], 3) for moment in moments)))
        closest = min(closest, apart := distance(trials[a], trials[b]))
        if spans[b][0] < known[a]:
            blind += 1
            closest_blind = min(closest_blind, apart)
    return Pairs(count, len(doubled), closest, blind, closest_blind, tuple(doubled))


def distance(one: FrozenTrial, other: FrozenTrial) -> float:
    """Root mean square over the unit cube; infinite if they have other parameters."""
    if one.params.keys() != other.params.keys():
        return math.inf
    squares = []
    for name, kind in one.distributions.items():
        a, b = one.params[name], other.params[name]
        if isinstance(kind, CategoricalDistribution):
            squares.append(float(a != b))
        else:
            low, high, a, b = (math.log(v) if kind.log else v for v in (kind.low, kind.high, a, b))
            squares.append(((a - b) / (high - low)) ** 2)
    return math.sqrt(sum(squares) / len(squares))


if __name__ == "__main__":
    work(Work(**json.loads(sys.argv[1])), int(sys.argv[2]), Path(sys.argv[3]))
