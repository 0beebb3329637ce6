"""Several processes, one study: on PostgreSQL and on a journal, with a worker killed in mid-trial."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import optuna
import pytest
from optuna.exceptions import ExperimentalWarning
from optuna.trial import TrialState

import crew as crews
from crew import Crew, Work, check, crew, forked, pairs
from postgres import Unavailable, postgres

TRIALS = 14


@pytest.fixture
def database() -> Iterator[str]:
    with ExitStack() as stack:
        try:
            url = stack.enter_context(postgres(fsync="off"))
        except Unavailable as reason:
            pytest.skip(str(reason))
        yield url


@contextmanager
def three_workers(storage: str, folder: Path, heartbeat: int | None = None) -> Iterator[Crew]:
    """Of which one is killed, and another takes its place."""
    told = Work(storage, f"{crews.__file__}:valley", "hidim", 0, TRIALS, (0.05, 0.15), heartbeat)
    with crew(told, 3, folder, forked) as workers:
        workers.wait_for(3)
        workers.kill(0)
        workers.hire(0)
        workers.wait()
        yield workers


def assert_nothing_is_lost_or_doubled(workers: Crew) -> None:
    check(workers)
    assert TRIALS <= workers.finished() < TRIALS + 3
    found = pairs(workers)
    assert found.count > TRIALS / 2
    assert found.duplicates == 0


def fail_the_stale(study: optuna.Study) -> None:
    """As workers do before every trial; two seconds after the last sign of life a trial is stale."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and study.get_trials(states=(TrialState.RUNNING,)):
        with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
            optuna.storages.fail_stale_trials(study)
        time.sleep(0.1)


def test_a_worker_killed_on_postgresql_costs_its_trial_and_nothing_else(database: str, tmp_path: Path):
    with three_workers(database, tmp_path, heartbeat=60) as workers:  # nobody is given up on a busy machine
        assert_nothing_is_lost_or_doubled(workers)
        (lost,) = workers.lost
        assert workers.study.trials[lost].state == TrialState.RUNNING
        impatient = replace(workers.work, heartbeat=1)
        with impatient.opened() as storage:
            study = optuna.load_study(study_name=impatient.study, storage=storage)
            fail_the_stale(study)
            assert study.trials[lost].state == TrialState.FAIL


def test_a_worker_killed_on_a_journal_costs_its_trial_and_nothing_else(tmp_path: Path):
    with three_workers(str(tmp_path / "journal.log"), tmp_path) as workers:
        assert_nothing_is_lost_or_doubled(workers)
        (lost,) = workers.lost
        assert workers.study.trials[lost].state == TrialState.RUNNING  # a journal knows no signs of life
