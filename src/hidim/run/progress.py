"""Progress: a bar where a person looks, a line now and then elsewhere.

The bar is rich's (`pip install 'hidim[cli]'`); without it there are lines on a terminal, too. Lines go to the
log `hidim` where somebody listens to it, and else to standard error.
"""

from __future__ import annotations

import importlib.util
import logging
import math
import sys
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

logger = logging.getLogger("hidim")

#: Seconds between two lines on a terminal, and elsewhere.
LOOKED_AT, PIPED = 2.0, 10.0


@dataclass(frozen=True)
class Standing:
    """Where a run stands.

    Args:
        done: finished trials; failed ones are counted in.
        best: the best value, None as long as there is none.
        own: seconds that hidim took for itself.
        objective: seconds that the objective took, over all workers.
    """

    done: int
    total: float
    failed: int = 0
    best: float | None = None
    own: float = 0.0
    objective: float = 0.0

    def __str__(self) -> str:
        parts = ["no value yet" if self.best is None else f"best {self.best:.6g}"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        parts.append(f"own {duration(self.own)}, objective {duration(self.objective)}")
        return " · ".join(parts)


def duration(seconds: float) -> str:
    """Seconds for a person.

    Example:
        >>> duration(0.0312), duration(75), duration(7300)
        ('31 ms', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, hours = divmod(round(seconds), 60), divmod(round(seconds / 60), 60)
    return f"{minutes[0]} min {minutes[1]} s" if minutes[0] < 60 else f"{hours[0]} h {hours[1]} min"


class Progress(ABC):
    """Shows a `Standing` to whoever looks."""

    @abstractmethod
    def show(self, standing: Standing) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class Silent(Progress):
    def show(self, standing: Standing) -> None: ...

    def close(self) -> None: ...


class Lines(Progress):
    """A line after so many seconds, and in the end one more, if there was any or if `always`."""

    def __init__(self, seconds: float, *, always: bool) -> None:
        self._seconds, self._always = seconds, always
        self._next = time.monotonic() + seconds
        self._told, self._standing = 0, Standing(0, 0)

    def show(self, standing: Standing) -> None:
        self._standing = standing
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._seconds
            self._tell()

    def _tell(self) -> None:
        self._told = self._standing.done
        of = "" if math.isinf(self._standing.total) else f"/{self._standing.total:.0f}"
        line = f"{self._standing.done}{of} trials · {self._standing}"
        if logger.isEnabledFor(logging.INFO) and logger.hasHandlers():
            logger.info(line)
        elif sys.stderr is not None:
            print(f"hidim: {line}", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._standing.done > self._told and (self._told or self._always):
            self._tell()


class RichBar(Progress):
    def __init__(self, total: float) -> None:
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.MofNCompleteColumn(),
            progress.BarColumn(bar_width=24),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.fields[standing]}"),
            console=Console(stderr=True),
        )
        known = None if math.isinf(total) else total
        self._task = self._bar.add_task("trials", total=known, standing="")
        self._bar.start()

    def show(self, standing: Standing) -> None:
        self._bar.update(self._task, completed=standing.done, standing=str(standing))

    def close(self) -> None:
        self._bar.stop()


def make_progress(wanted: bool | Progress | None, total: float) -> Progress:
    """A bar if `wanted`, or if None and a person sits at the terminal; else lines; False is silence."""
    if isinstance(wanted, Progress):
        return wanted
    if wanted is False:
        return Silent()
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if terminal and importlib.util.find_spec("rich"):
        return RichBar(total)
    return Lines(LOOKED_AT if terminal else PIPED, always=wanted is True)
