"""Processes that share a study suggest one after the other, so that each knows what the others will evaluate.

Two that ask at the same moment would see the same history, and might come to the same point. A storage has no
locks, but what one has written all others read: enough for Lamport's bakery (1974). Whoever comes takes a
number that is higher than those that are out, and waits until all lower ones are served. A suggestion takes
a fraction of a second and an evaluation mostly much longer, so the queue is short.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState

from hidim.studies.notes import FIRST

logger = logging.getLogger("hidim")

#: The attribute of a trial that holds its number in the queue; 0 while it is chosen, −1 of one who left.
TURN, NONE = "hidim:turn", -1

#: Seconds in which nobody is served, after which the one in front is taken for dead.
PATIENCE = 60.0

#: Seconds between two looks: the first pause, and the longest.
PAUSES = 0.005, 0.05


class Turns:
    """The queue of one study.

    Args:
        storage: that the processes share.
        study: its number there.
    """

    def __init__(self, storage: BaseStorage, study: int) -> None:
        self._storage, self._study = storage, study
        self._dead: set[int] = set()

    @contextmanager
    def turn(self, trial: FrozenTrial) -> Iterator[None]:
        """Wait for this trial's turn, which ends with its note, or when something goes wrong."""
        try:
            self._wait(trial)
            yield
        except BaseException:
            self._take(trial, NONE)
            raise

    def _wait(self, trial: FrozenTrial) -> None:
        self._take(trial, 0)
        if not (others := self._others(trial)):
            return  # whoever comes later sees that this one was here
        mine = 1 + max(others.values())
        self._take(trial, mine)
        pause, since, ahead = PAUSES[0], time.monotonic(), set(others)
        while ahead:
            before, others = ahead, self._others(trial)
            ahead = {n for n, turn in others.items() if not turn or (turn, n) < (mine, trial.number)}
            if before - ahead:
                since = time.monotonic()
            if ahead and time.monotonic() - since > PATIENCE:
                first = min(ahead, key=lambda n: (others[n], n))  # those behind it wait for it, too
                logger.warning(
                    "trial %d no longer waits for the suggestion of trial %d, whose worker seems to be gone",
                    trial.number,
                    first,
                )
                self._dead.add(first)
                ahead.remove(first)
                since = time.monotonic()
            time.sleep(pause if ahead else 0.0)
            pause = min(2.0 * pause, PAUSES[1])

    def _take(self, trial: FrozenTrial, turn: int) -> None:
        self._storage.set_trial_system_attr(trial._trial_id, TURN, turn)

    def _others(self, trial: FrozenTrial) -> dict[int, int]:
        """The turns of those who wait or are being served, by the numbers of their trials."""
        running = self._storage.get_all_trials(self._study, deepcopy=False, states=(TrialState.RUNNING,))
        return {
            other.number: turn
            for other in running
            if other.number not in self._dead | {trial.number}
            and isinstance(turn := other.system_attrs.get(TURN), int)
            and turn >= 0
            and FIRST not in other.system_attrs
        }
