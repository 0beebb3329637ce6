"""What a person sees of a run: a live picture while it goes on, and a summary in the end."""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hidim._types import Params
from hidim.cli.output import plainly
from hidim.embed import LazyVector
from hidim.programs.command import COORDINATES, as_plain, as_text
from hidim.programs.program import Program
from hidim.programs.shells import quoted
from hidim.programs.tuning import Plan
from hidim.result import Result
from hidim.run.progress import PIPED, Lines, Progress, Silent, Standing, duration
from hidim.space.render import dumped, printable
from hidim.trial import History, alike

#: Columns of a sparkline, and its heights.
WIDTH, HEIGHTS = 40, "▁▂▃▄▅▆▇█"

#: Running trials, and parameters of the best one, that are shown.
SHOWN, PARAMETERS = 8, 40

#: Characters of a value.
LONGEST = 60


def make_display(options: argparse.Namespace, program: Program, plan: Plan) -> Progress:
    """A live display on a terminal, if rich is there; else lines."""
    if options.quiet:
        return Silent()
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if terminal and not options.plain and importlib.util.find_spec("rich"):
        return Live(f"{options.space} → {' '.join(options.command)}", program, plan)
    return Lines(2.0 if terminal else PIPED, always=True)


def sparkline(values: Sequence[float], width: int = WIDTH) -> str:
    """A row of bars, of which the highest stands for the largest value.

    Example:
        >>> sparkline([3.0, 2.0, 1.0])
        '█▅▁'
    """
    shown = np.asarray([value for value in values if math.isfinite(value)], dtype=float)
    if not len(shown):
        return ""
    if len(shown) > width:
        shown = np.array([part[-1] for part in np.array_split(shown, width)])
    low, high = float(shown.min()), float(shown.max())
    spread = high - low
    if not 0 < spread < math.inf:
        return HEIGHTS[0] * len(shown)
    places = np.rint((shown - low) / spread * (len(HEIGHTS) - 1)).astype(int)
    return "".join(HEIGHTS[place] for place in places)


class Live(Progress):
    """A few lines that are drawn again and again, by rich: how far, how good, what is running."""

    def __init__(self, title: str, program: Program, plan: Plan) -> None:
        from rich.console import Console
        from rich.live import Live as Screen

        self._title, self._program, self._plan = title, program, plan
        self._standing = Standing(0, plan.trials or math.inf)
        self._bests: list[float] = []
        self._began = time.monotonic()
        self._first = 0
        self._screen = Screen(get_renderable=self._picture, console=Console(file=sys.stderr), transient=True)
        self._screen.start()
        sys.stdout, sys.stderr = plainly(sys.stdout), plainly(sys.stderr)  # which are rich's now

    def show(self, standing: Standing) -> None:
        if not self._bests and not self._standing.done:
            self._first = standing.done  # of earlier calls
        self._standing = standing
        if standing.best is not None:
            self._bests.append(standing.best)

    def close(self) -> None:
        self._screen.stop()

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        standing, running = self._standing, sorted(self._program.running.items())
        head = Text.assemble(("hidim ", "bold cyan"), (printable(self._title), "bold"))
        head.no_wrap, head.overflow = True, "ellipsis"
        far = Table.grid(padding=(0, 2))
        far.add_row(self._bar(standing), Text(" · ".join(self._counts(standing, len(running)))))
        value = "no value yet" if standing.best is None else f"best {standing.best:.6g}"
        best = Text.assemble((f"{value}  ", "bold green"), (sparkline(self._bests), "green"))
        rows: list[Any] = [head, far, best, Text(self._times(standing), style="dim")]
        now = time.monotonic()
        for number, trial in running[:SHOWN]:
            took = duration(now - trial.since)
            text = Text.assemble((f"  #{number:<5}", "cyan"), (f"{took:>9}  ", "dim"), printable(trial.line))
            text.no_wrap, text.overflow = True, "ellipsis"
            rows.append(text)
        if len(running) > SHOWN:
            rows.append(Text(f"  and {len(running) - SHOWN} more", style="dim"))
        return Group(*rows)

    def _bar(self, standing: Standing) -> Any:
        from rich.progress_bar import ProgressBar

        total = None if math.isinf(standing.total) else standing.total
        done, style = standing.done, "cyan"
        return ProgressBar(total, done, WIDTH // 2, total is None, complete_style=style, finished_style=style)

    def _counts(self, standing: Standing, running: int) -> list[str]:
        of = "" if math.isinf(standing.total) else f"/{standing.total:.0f}"
        failed = [f"{standing.failed} failed"] if standing.failed else []
        return [f"{standing.done}{of} trials", f"{running} running", *failed]

    def _times(self, standing: Standing) -> str:
        share = standing.own / max(standing.own + standing.objective, 1e-9)
        program = duration(standing.objective)
        took = f"program {program}, own time {duration(standing.own)} ({100 * share:.0f} %)"
        return " · ".join([took, *self._left(standing)])

    def _left(self, standing: Standing) -> list[str]:
        """How long it will still take, if that can be said."""
        elapsed, done = time.monotonic() - self._began, standing.done - self._first
        if done < 3:
            return []
        guesses = [] if math.isinf(standing.total) else [elapsed / done * (standing.total - standing.done)]
        if self._plan.seconds is not None:
            guesses.append(max(self._plan.seconds - elapsed, 0.0))
        return [f"about {duration(min(guesses))} left"] if guesses else []


def closing(result: Result, line: str, where: str, which: Sequence[str], *, quiet: bool) -> str:
    """What a run found, for a person who will go on from there.

    Args:
        line: the command of the best trial.
        where: the run is kept.
        which: words that tell other commands so; none if they would find it themselves.
    """
    best = result.best
    said = " by the model's mean, observed" if result.by_model else ""
    rows = [f"best{said} {best.value!r} (trial {best.number})", *_listed(best.params)]
    if quiet:
        return "\n".join(rows)
    rows += ["", " · ".join([counts(result.history), *times(result.history, result.own_seconds)])]
    rows += [f"  {count} × {reason}" for reason, count in failures(result.history)]
    if result.stopped.endswith("already"):
        done = len(result.history.finished)
        rows.append(f"no trial was run: {done} are done already; --trials with more than {done} goes on")
    elif not result.stopped.startswith("all "):
        rows.append(f"ended: {result.stopped}")
    rows += ["", f"  {line}", ""]
    rows.append(f"kept in {where} · next: hidim {quoted('report', *which)}")
    return "\n".join(rows) + ", hidim explain, hidim show" * (not which)


def times(history: History, own: float = 0.0) -> list[str]:
    """How long the program took, and hidim, as far as that was kept."""
    program = sum(trial.seconds or 0.0 for trial in history if not trial.meta.get("earlier"))
    known = {"program": program, "own time": own}
    return [f"{name} {duration(seconds)}" for name, seconds in known.items() if seconds > 0]


def counts(history: History) -> str:
    """How many trials there are of each kind.

    Example:
        >>> counts(History([]))
        '0 trials'
    """
    running, failed = len(history.running), len(history.failed)
    parts = [f"{len(history)} trial{'s' * (len(history) != 1)}"]
    if failed or running:
        parts.append(f"{len(history.complete)} with a value")
    return ", ".join(parts + [f"{failed} failed"] * bool(failed) + [f"{running} running"] * bool(running))


def failures(history: History, most: int = 5) -> list[tuple[str, int]]:
    """The commonest reasons of failure, on one line each; those that differ in numbers only are one."""
    reasons = [" ".join(str(trial.reason).split())[:200] for trial in history.failed]
    kinds = [alike(reason) for reason in reasons]
    example = dict(zip(reversed(kinds), reversed(reasons), strict=True))
    return [(example[kind], count) for kind, count in Counter(kinds).most_common(most)]


def _listed(params: Params) -> list[str]:
    width = max((len(printable(name)) for name in params), default=0)
    rows = [f"  {printable(n):{width}} = {shortened(v)}" for n, v in list(params.items())[:PARAMETERS]]
    left = len(params) - PARAMETERS
    return [*rows, f"  and {left} more: hidim best --json"] if left > 0 else rows


def shortened(value: Any) -> str:
    """A value on one line: strings in quotes, long vectors cut."""
    if isinstance(value, np.ndarray | LazyVector):
        value = np.asarray(value[:LONGEST])
    text = dumped(value) if isinstance(value, str) else as_text(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON has them; of a vector that is too long to be written down, how it begins."""
    huge = {n for n, v in params.items() if isinstance(v, LazyVector) and len(v) > COORDINATES}
    return {
        n: f"{shortened(v)} ({len(v)} coordinates)" if n in huge else as_plain(v) for n, v in params.items()
    }
