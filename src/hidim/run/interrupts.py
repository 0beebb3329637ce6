"""Ctrl-C and its like, taken at one place: between two events of a run.

A signal that comes while hidim is at work is noted and no more, so that nothing is left half-way: an event is
in the history and in the journal, or in neither. The run asks for it between two events; it is taken at once
where somebody else's code runs in this thread, or where there is nothing to do but wait.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

#: Seconds after which a signal that was noted is not waited for any longer, if another one comes.
PATIENCE = 2.0

_active: Interrupts | None = None


class Interrupts:
    """The signals that came, until they are taken. Taking one is what it would have done by itself, which is
    to raise `KeyboardInterrupt` unless somebody has said otherwise.

    Args:
        came: the last one.
        insisted: whether one came again and again, and was taken wherever that was.
        runs: how many runs are going on, each within the objective of the one before.
    """

    def __init__(self) -> None:
        self.came: signal.Signals | None = None
        self.insisted = False
        self.runs = 0
        self._before: dict[int, Any] = {}
        self._noted: list[tuple[int, Any, float]] = []
        self._wake: Callable[[], object] | None = bool

    def __call__(self, number: int, frame: Any) -> None:
        self.came = signal.Signals(number)
        self._noted.append((number, frame, time.monotonic()))
        self.insisted = self._noted[-1][2] - self._noted[0][2] > PATIENCE
        if self._wake is None or self.insisted:
            self.take()
        else:
            self._wake()

    @property
    def exit_code(self) -> int:
        """What a program says that was ended by a signal."""
        return 128 + int(self.came or signal.SIGINT)

    def take(self) -> None:
        """Let what came have its way now."""
        while self._noted:
            number, frame, _ = self._noted.pop(0)
            before = self._before[number]
            if not callable(before):
                raise KeyboardInterrupt
            before(number, frame)

    @contextmanager
    def noted(self, wake: Callable[[], object] | None) -> Iterator[Interrupts]:
        """Note what comes, and wake whoever waits; without `wake`, take it at once, with what has come."""
        outside, self._wake = self._wake, wake
        try:
            if wake is None:
                self.take()
            yield self
        finally:
            self._wake = outside

    def install(self, numbers: set[int]) -> None:
        found = {number: signal.getsignal(number) for number in numbers}
        # What is ignored, as by nohup, or taken by no code of Python's, stays as it is.
        self._before = {n: h for n, h in found.items() if h is not None and h is not signal.SIG_IGN}
        for number in self._before:
            signal.signal(number, self)

    def restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def remove(self) -> None:
        self.restore()
        for number, frame, _ in self._noted:  # what would end a run comes too late, others want to know
            if callable(self._before[number]) and self._before[number] is not signal.default_int_handler:
                self._before[number](number, frame)


def _current() -> Interrupts | None:
    """Those of this thread, if there are any."""
    return _active if threading.current_thread() is threading.main_thread() else None


def _forked() -> None:
    """A child has the handlers of before: those of Python's would wait until compiled code comes back."""
    global _active
    if _active is not None:
        _active.restore()
        _active = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@contextmanager
def heeded(*further: int) -> Iterator[Interrupts]:
    """SIGINT, SIGTERM and `further` signals are noted from here on; a run within a run has those of that.

    Elsewhere than in the main thread nothing is ever interrupted.
    """
    global _active
    outer, found = _current(), Interrupts()
    if outer is not None or threading.current_thread() is not threading.main_thread():
        with (outer or found).noted(bool):
            yield outer or found
        return
    _active = found
    found.install({signal.SIGINT, signal.SIGTERM, *further})
    try:
        yield found
    finally:
        _active = None
        found.remove()


def interruptible() -> AbstractContextManager[object]:
    """Code of somebody else's, in which signals are taken at once."""
    current = _current()
    return nullcontext() if current is None else current.noted(None)
