"""The candidates of a search whose loop is somebody else's: which come next, and what is kept of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from hidim._types import Params
from hidim.optimizer import Optimizer
from hidim.run.journal import Journal
from hidim.trial import History, Trial, same_params

Callback = Callable[[Trial, History], object]


class Candidates:
    """Batches of trials: those that a journal left unfinished first, then given ones, then new ones."""

    def __init__(
        self,
        optimizer: Optimizer,
        most: int,
        first: Iterable[Mapping[str, Any]],
        journal: Journal | None,
        callbacks: Sequence[Callback],
    ) -> None:
        self._optimizer, self.most, self._journal, self._callbacks = optimizer, most, journal, callbacks
        if journal is not None:
            optimizer._restore(journal.trials)
        self.known = list(optimizer.history.finished)
        self._again = [trial.copied() for trial in optimizer.history.running]
        seen = [trial.params for trial in optimizer.history]
        valid = optimizer.space.completed(first, optimizer.seed)
        self._given: list[Params] = [p for p in valid if not any(same_params(p, other) for other in seen)]

    @classmethod
    @contextmanager
    def kept(
        cls,
        optimizer: Optimizer,
        most: int,
        first: Iterable[Mapping[str, Any]],
        path: str | os.PathLike[str] | None,
        callbacks: Sequence[Callback],
    ) -> Iterator[Candidates]:
        """The same, with a journal that is open as long as it is used."""
        if path is None:
            yield cls(optimizer, most, first, None, callbacks)
            return
        with Journal(path, optimizer.space, optimizer.settings()) as journal:
            yield cls(optimizer, most, first, journal, callbacks)

    def batches(self, size: int) -> Iterator[list[Trial]]:
        """Up to `size` trials at a time, until there are as many as there may be."""
        while self._again or len(self._optimizer.history) < self.most:
            trials, self._again = self._again[:size], self._again[size:]
            room = min(size - len(trials), self.most - len(self._optimizer.history))
            yield trials + [self._new() for _ in range(room)]

    def _new(self) -> Trial:
        trial = self._optimizer.add(self._given.pop(0)) if self._given else self._optimizer.ask()
        if self._journal is not None:
            self._journal.ask(self._optimizer.history[trial.number])
        return trial

    def tell(self, trial: Trial, score: float, reason: str, attributes: Mapping[str, Any]) -> None:
        """What became of a trial; without a finite score it has failed for that reason."""
        kept = attributes if self._journal is not None else None
        if math.isfinite(score):
            self._optimizer.tell(trial, float(score), attributes=kept)
        else:
            self._optimizer.fail(trial, reason, attributes=kept)
        history = self._optimizer.history
        if self._journal is not None:
            self._journal.finish(history[trial.number])
        for callback in self._callbacks:
            callback(history[trial.number].copied(), history)
