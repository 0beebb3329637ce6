"""A program under control: how long it may take, how much it may print, and nothing of it stays behind.

Each has a session of its own, so that Ctrl-C at the terminal reaches hidim alone, and its children can be
ended with it. Children that leave the session are found by a mark in their environment (on Linux).
"""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from hidim.programs.guard import MARK, Guard, marked

#: Bytes of standard output and of standard error that are kept, the last ones.
OUTPUT, ERRORS = 1_000_000, 20_000

#: Bytes of each in a file of `--logs`.
LOGGED = 20_000_000

#: Seconds between asking a program to end and ending it.
GRACE = 3.0

#: Seconds for which the output of a program that has ended is still read, if somebody keeps it open.
DRAIN = 0.5

#: How far apart looks at a program are that tells of its end by nothing else.
GLANCE = 0.02


@dataclass
class Tail:
    """The last bytes of a stream, and how many there were."""

    most: int
    log: IO[bytes] | None = None
    data: bytearray = field(default_factory=bytearray)
    seen: int = 0

    def add(self, chunk: bytes) -> None:
        if self.log is not None and self.seen < LOGGED:
            with suppress(OSError):  # a full disk does not end a trial
                self.log.write(chunk[: LOGGED - self.seen])
        self.seen += len(chunk)
        self.data += chunk
        if len(self.data) > 2 * self.most:
            del self.data[: -self.most]

    @property
    def text(self) -> str:
        return bytes(self.data[-self.most :]).decode("utf-8", errors="replace")

    @property
    def is_cut(self) -> bool:
        return self.seen > self.most


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Args:
        code: its exit code, or minus the number of the signal that ended it.
        output, errors: the last of what it printed.
        cut: whether it printed more than that on standard output.
        late: whether it was ended because its time was over.
        left: how many of its children were still there, and were ended.
    """

    code: int
    output: str
    errors: str
    cut: bool = False
    late: bool = False
    left: int = 0


class Processes:
    """The programs that are running, for the one who may have to end all of them."""

    def __init__(self, token: str) -> None:
        self.token = token
        self._guard = Guard(token)
        self._lock = threading.Lock()
        self._running: dict[int, str] = {}
        self._ended = False
        _adopt_orphans()

    def run(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        name: str,
        timeout: float | None = None,
        logs: Path | None = None,
    ) -> Ended:
        """Start a program and wait for its end. What the system refuses is an OSError.

        Args:
            argv: the program and its arguments.
            environment: variables in addition to those of this process.
            name: of the trial, unique within the run.
            timeout: seconds after which it is ended.
            logs: a folder into which its output is written.
        """
        mark = f"{self.token}.{name}."
        with ExitStack() as stack:
            output, errors = (
                Tail(most, None if logs is None else stack.enter_context((logs / f"{name}.{end}").open("wb")))
                for most, end in ((OUTPUT, "out"), (ERRORS, "err"))
            )
            with self._lock:
                if self._ended:
                    raise InterruptedError("the run has ended")
                process = _started(argv, {**os.environ, **environment, MARK: mark})
                self._running[process.pid] = mark
            self._guard.watch(process.pid)
            try:
                late = _followed(process, (output, errors), timeout)
                left = self._clear(process, mark, late=late)
                _drain(process, (output, errors))
            finally:
                self._clean(process)
        return Ended(process.returncode, output.text, errors.text, output.is_cut, late, left)

    def _clear(self, process: subprocess.Popen[bytes], mark: str, *, late: bool) -> int:
        """End what is left of a program, its children above all; how many of them there were."""
        group = process.pid
        if late:
            _signal(group, signal.SIGTERM)
            _wait_for(lambda: _has_ended(group), GRACE)
            if not _has_ended(group):
                _signal(group, signal.SIGKILL)
        process.wait()
        if late or _lives(group):
            _signal(group, signal.SIGTERM)
            _wait_for(lambda: not _lives(group), GRACE if late else DRAIN)
            _signal(group, signal.SIGKILL)
            return 1 + _end_strays(mark)
        return _end_strays(mark) if self._has_orphans() else 0

    def _has_orphans(self) -> bool:
        """Whether this process has children that it did not start: then it has adopted some."""
        with self._lock:
            children = _children()
            known = {*self._running, self._guard.pid}
        return children is None or bool(children - known)

    def _clean(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode is None:
            _signal(process.pid, signal.SIGKILL)
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        with self._lock:
            self._running.pop(process.pid, None)
        self._guard.forget(process.pid)

    def close(self) -> None:
        """End whatever is running, and start nothing more."""
        with self._lock:
            self._ended = True
            running = dict(self._running)
        for group in running:
            _signal(group, signal.SIGTERM)
        until = time.monotonic() + GRACE
        while running and time.monotonic() < until:
            time.sleep(GLANCE)
            with self._lock:
                running = dict(self._running)
        for group, mark in running.items():
            _signal(group, signal.SIGKILL)
            _end_strays(mark)
        self._guard.close()


def _started(argv: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )


def _followed(process: subprocess.Popen[bytes], tails: Sequence[Tail], timeout: float | None) -> bool:
    """Read what the program prints until it has ended or its time is over; whether that was so."""
    until = None if timeout is None else time.monotonic() + timeout
    ending = _ending(process.pid)
    try:
        with _selector(process, tails) as selector:
            if ending is not None:
                selector.register(ending, selectors.EVENT_READ)
            while not _has_ended(process.pid):
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return True
                if ending is None:
                    left = GLANCE if left is None else min(left, GLANCE)
                    time.sleep(0.0 if selector.get_map() else left)
                _read(selector, left)
    finally:
        if ending is not None:
            os.close(ending)
    return False


def _selector(process: subprocess.Popen[bytes], tails: Sequence[Tail]) -> selectors.BaseSelector:
    selector = selectors.DefaultSelector()
    for stream, tail in zip((process.stdout, process.stderr), tails, strict=True):
        if stream is not None:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, tail)
    return selector


def _read(selector: selectors.BaseSelector, patience: float | None) -> bool:
    """Read once what can be read; whether there was anything."""
    some = False
    for key, _ in selector.select(patience):
        if key.data is None:
            continue
        try:
            chunk = os.read(key.fd, 1 << 16)
        except BlockingIOError:
            continue
        some = True
        if chunk:
            key.data.add(chunk)
        else:
            selector.unregister(key.fileobj)
    return some


def _drain(process: subprocess.Popen[bytes], tails: Sequence[Tail]) -> None:
    """What was printed before the end and has not been read yet."""
    until = time.monotonic() + DRAIN
    with _selector(process, tails) as selector:
        while selector.get_map() and time.monotonic() < until:
            _read(selector, max(until - time.monotonic(), 0.0))


def _wait_for(condition: Any, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)


def _end_strays(mark: str) -> int:
    """End processes that left the session of their trial; how many there were."""
    strays = marked(mark)
    for process in strays:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
        with suppress(OSError):
            os.waitpid(process, 0)  # an orphan that this process has adopted
    return len(strays)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(OSError):
        os.killpg(group, number)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _has_ended(process: int) -> bool:
    """Whether a child has ended; it stays in the table of processes, and its number is not given again."""
    try:
        return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _ending(process: int) -> int | None:
    """A descriptor that can be read from when the process has ended, where the system has such."""
    opened = getattr(os, "pidfd_open", None)
    if opened is None:
        return None
    try:
        descriptor: int = opened(process)
    except OSError:
        return None
    return descriptor


# -- orphans -----------------------------------------------------------------------------------------------


def _adopt_orphans() -> None:
    """Become the parent of grandchildren whose parents end, so that they are noticed (on Linux)."""
    with suppress(Exception):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def _children() -> set[int] | None:
    """The children of this process; None where nobody can say."""
    try:
        return {
            int(child)
            for task in os.listdir("/proc/self/task")
            for child in Path(f"/proc/self/task/{task}/children").read_text().split()
        }
    except OSError:
        return None
