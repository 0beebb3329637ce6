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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import CategoricalDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.trial import FrozenTrial, TrialState

PATIENCE = 300.0  # seconds after which a crew is stuck


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


def work(work: Work, worker: int, notes: Path) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    function, lengths = work.function(), random.Random(os.urandom(8))
    paper = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(event: str, number: int, value: float | None) -> None:
        os.write(paper, (json.dumps([event, number, value, time.time()]) + "\n").encode())
        os.fsync(paper)

    def objective(trial: optuna.Trial) -> float:
        value = function(trial)
        note("started", trial.number, None)
        time.sleep(lengths.uniform(*work.seconds))
        note("valued", trial.number, value)
        return value

    def finished(study: optuna.Study, trial: FrozenTrial) -> None:
        note("finished", trial.number, trial.value)

    enough = optuna.study.MaxTrialsCallback(work.trials, states=(TrialState.COMPLETE,))
    study = optuna.load_study(study_name=work.study, storage=work.open(), sampler=work.sample(worker))
    if len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))) < work.trials:
        study.optimize(objective, callbacks=[finished, enough])


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
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)  # numbers of trials whose worker was killed in their midst

    def hire(self, place: int | None = None) -> None:
        """One more worker; in the place of a dead one, with its notes."""
        number = len(self.workers) if place is None else place
        told = json.dumps(asdict(self.work))
        command = [sys.executable, __file__, told, str(number), str(self._paper(number))]
        with (self.folder / f"errors-{number}").open("ab") as errors:
            process = subprocess.Popen(command, stdout=errors, stderr=errors)
        self.workers[number : number + 1] = [process]

    def _paper(self, place: int) -> Path:
        return self.folder / f"notes-{place}.jsonl"

    def notes(self, place: int) -> list[Note]:
        paper = self._paper(place)
        lines = paper.read_text().splitlines(keepends=True) if paper.exists() else []
        return [Note(*json.loads(line)) for line in lines if line.endswith("\n")]

    def all_notes(self) -> list[Note]:
        return [note for place in range(len(self.workers)) for note in self.notes(place)]

    def finished(self) -> int:
        return sum(note.event == "finished" for note in self.all_notes())

    def kill(self, place: int) -> int:
        """SIGKILL in the midst of a trial, whose number is given; the worker is halted first to make sure."""
        process = self.workers[place]
        for _ in self._waiting():
            process.send_signal(signal.SIGSTOP)
            last = (self.notes(place) or [None])[-1]
            if last is not None and last.event == "started":
                process.kill()
                process.wait()
                self.lost.append(last.number)
                return last.number
            process.send_signal(signal.SIGCONT)
            time.sleep(0.01)
        raise AssertionError  # `_waiting` has said why

    def kill_asking(self, place: int) -> None:
        """SIGKILL between two trials: while the sampler thinks, or the storage writes."""
        process = self.workers[place]
        for _ in self._waiting():
            process.send_signal(signal.SIGSTOP)
            last = (self.notes(place) or [None])[-1]
            if last is not None and last.event == "finished" and time.time() - last.moment > 0.03:
                process.kill()
                process.wait()
                return
            process.send_signal(signal.SIGCONT)
            time.sleep(0.001)

    def wait_for(self, finished: int) -> None:
        for _ in self._waiting():
            if self.finished() >= finished:
                return
            time.sleep(0.02)

    def wait(self) -> None:
        for _ in self._waiting():
            if all(process.poll() is not None for process in self.workers):
                return
            time.sleep(0.02)

    def _waiting(self) -> Iterator[None]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            failed = [place for place, process in enumerate(self.workers) if process.poll()]
            assert not failed, f"worker {failed[0]} ended:\n" + self.errors(failed[0])
            yield
        raise AssertionError(f"{self.finished()} trials after {PATIENCE} s")

    def errors(self, place: int) -> str:
        return (self.folder / f"errors-{place}").read_text()

    def dismiss(self) -> None:
        for process in self.workers:
            if process.poll() is None:
                process.kill()
                process.wait()


@contextmanager
def crew(work: Work, workers: int, folder: Path) -> Iterator[Crew]:
    """So many workers on a new study; none outlives the block."""
    storage = work.open()
    hired = Crew(work, folder, optuna.create_study(study_name=work.study, storage=storage))
    try:
        for _ in range(workers):
            hired.hire()
        yield hired
    finally:
        hired.dismiss()
        if isinstance(storage, optuna.storages.RDBStorage):
            storage.remove_session()
            storage.engine.dispose()


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

    `duplicates` have the same parameters. *Blind* pairs were asked for at the same moment: when the later one
    was begun, the parameters of the earlier one were not yet known. Distances are root mean squares over the
    unit cube, of pairs that have the same parameters' names.
    """

    count: int
    duplicates: int
    closest: float
    blind: int
    closest_blind: float


def pairs(crew: Crew) -> Pairs:
    """All pairs of trials whose workers came to start them."""
    trials = crew.study.get_trials()
    known = {note.number: note.moment for note in crew.all_notes() if note.event == "started"}
    spans = {}
    for trial in trials:
        if trial.number in known and trial.datetime_start is not None:
            end = trial.datetime_complete.timestamp() if trial.datetime_complete else math.inf
            spans[trial.number] = (trial.datetime_start.timestamp(), end)
    count = duplicates = blind = 0
    closest = closest_blind = math.inf
    for a, b in combinations(sorted(spans, key=lambda number: spans[number][0]), 2):
        if spans[b][0] >= spans[a][1]:
            continue
        count += 1
        duplicates += trials[a].params == trials[b].params
        closest = min(closest, apart := distance(trials[a], trials[b]))
        if spans[b][0] < known[a]:
            blind += 1
            closest_blind = min(closest_blind, apart)
    return Pairs(count, duplicates, closest, blind, closest_blind)


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
