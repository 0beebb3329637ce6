"""The queue of processes that suggest: a dead one in front does not make the others jump it."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from hidim.integrations.optuna import turns
from hidim.studies.notes import FIRST


def test_who_waits_behind_a_dead_one_is_served_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(turns, "PATIENCE", 1.0)
    path = str(tmp_path / "journal.log")
    storage = JournalStorage(JournalFileBackend(path))
    study = optuna.create_study(storage=storage)
    dead = study.ask()
    storage.set_trial_system_attr(dead._trial_id, turns.TURN, 0)  # killed while it was served
    served: list[tuple[float, float]] = []

    def wait_and_be_served() -> None:
        own = JournalStorage(JournalFileBackend(path))
        identity = own.get_study_id_from_name(study.study_name)
        trial = own.get_trial(own.create_new_trial(identity))
        with turns.Turns(own, identity).turn(trial):
            start = time.monotonic()
            time.sleep(0.05)
            served.append((start, time.monotonic()))
            own.set_trial_system_attr(trial._trial_id, FIRST, {"pieces": 1, "text": "{}"})

    threads = [threading.Thread(target=wait_and_be_served) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(served) == 3
    assert all(end <= start for (_, end), (start, _) in pairwise(sorted(served)))
