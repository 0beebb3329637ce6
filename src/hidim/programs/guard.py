"""Who ends the programs if hidim itself is killed, and cannot.

A process of its own, started with the run: it is told on standard input which process groups there are, as
`+123` and `-123`, and if that ends without `done`, it ends them. It needs nothing but Python's own library,
and imports nothing of hidim, so that it starts at once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

#: Environment variable by which the processes of a run are known, wherever they hide.
MARK = "HIDIM_RUN"

#: Seconds between asking processes to end and ending them.
GRACE = 3.0


class Guard:
    """Holds the guarding process; a run whose guard cannot be started goes on without."""

    def __init__(self, token: str) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, token],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return 0 if self._process is None else self._process.pid

    def watch(self, group: int) -> None:
        self._say(f"+{group}")

    def forget(self, group: int) -> None:
        self._say(f"-{group}")

    def _say(self, word: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with self._lock, suppress(OSError, ValueError):
                self._process.stdin.write(f"{word}\n".encode())
                self._process.stdin.flush()

    def close(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._say("done")
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)


def marked(token: str, mine: int = 0) -> list[int]:
    """Processes that have the mark of a run in their environment, where the system shows that.

    Args:
        token: which run, or one trial of it: marks begin with it.
        mine: whose process is not counted.
    """
    found = []
    wanted = f"{MARK}={token}".encode()
    with suppress(OSError):
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) not in (mine, os.getpid()):
                with suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
                    if any(variable.startswith(wanted) for variable in file.read().split(b"\0")):
                        found.append(int(entry))
    return found


def end_groups(groups: set[int], token: str) -> None:
    """Ask the groups, and whoever else has the mark, to end; then end them."""
    for last in (False, True):
        number = signal.SIGKILL if last else signal.SIGTERM
        for group in groups:
            with suppress(OSError):
                os.killpg(group, number)
        for process in marked(token):
            with suppress(OSError):
                os.kill(process, number)
        until = time.monotonic() + GRACE
        while not last and time.monotonic() < until and (marked(token) or any(map(_lives, groups))):
            time.sleep(0.05)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _guard(token: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        word = line.strip()
        if word == "done":
            return
        (groups.add if word.startswith("+") else groups.discard)(int(word[1:]))
    end_groups(groups, token)


if __name__ == "__main__":
    _guard(sys.argv[1])
