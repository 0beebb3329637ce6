"""The journal: an append-only file of JSON lines that outlives whatever happens to the run.

One event is one line, on the disk before the run goes on:

    {"event": "run",  "format": 1, "space": …, "method": …, "seed": …, "budget": …, "maximize": …, "crc": …}
    {"event": "ask",  "id": 0, "params": …, "meta": …, "crc": …}
    {"event": "tell", "id": 0, "value": 0.3, "variance": null, "seconds": 1.2, "crc": …}
    {"event": "fail", "id": 0, "reason": "ValueError: …", "seconds": 0.1, "crc": …}

A line that was torn by a crash is cut off; a line that was damaged later fails its checksum and is passed
over, with a warning. Trials keep the order of their asks; ids may have gaps where an ask was damaged.
"""

from __future__ import annotations

import json
import logging
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from hidim import serial
from hidim._version import __version__
from hidim.errors import HidimError, HistoryError
from hidim.run.lock import lock
from hidim.space import Space
from hidim.space.tree import walk
from hidim.trial import Trial, TrialState

logger = logging.getLogger("hidim")

FORMAT = 1
START = b'{"event": "run", '

Event = dict[str, Any]


@dataclass
class Contents:
    """What a journal says.

    Args:
        run: the last event that describes the run; None if there is none.
        trials: by the ids of their asks.
        damage: one line for a person about everything that could not be read.
        size: bytes up to the end of the last whole line.
        finished: how many trials are complete or failed.
    """

    run: Event | None = None
    trials: dict[int, Trial] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    size: int = 0
    finished: int = 0


class Journal:
    """A journal that is open for appending, locked against other processes.

    Args:
        path: the file; it is created if it does not exist.
        space: what can vary; a journal of another space is refused.
        settings: method, seed, budget and direction, for the record; a journal of the other direction is
            refused.

    Example:
        >>> import tempfile
        >>> from hidim import Float, Space
        >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
        >>> with Journal(path, Space(x=Float(0, 1)), {"maximize": False}) as journal:
        ...     journal.ask(Trial({"x": 0.5}, number=0))
        >>> with Journal(path, Space(x=Float(0, 1)), {"maximize": False}) as journal:
        ...     journal.trials[0].params
        {'x': 0.5}
    """

    def __init__(self, path: str | os.PathLike[str], space: Space, settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        existed = self.path.exists()
        try:
            self._file = FileIO(self.path, "a+")
        except OSError as error:
            raise HistoryError(f"the journal {self.path} cannot be opened: {error.strerror}") from error
        try:
            if not lock(self._file):
                raise HistoryError(
                    f"the journal {self.path} is in use by another run: wait for it, or give another path"
                )
            self._take_up(space, settings, existed)
        except BaseException:
            self.close()
            raise

    def _take_up(self, space: Space, settings: Mapping[str, Any], existed: bool) -> None:
        self._file.seek(0)
        contents = read(self.path, self._file.readall(), space)
        run = {"format": FORMAT, "hidim": __version__, "space": space.to_dict(), **settings}
        if contents.run is not None:
            _check(self.path, contents.run, run)
        for damage in contents.damage:
            logger.warning("%s: %s", self.path, damage)
        self.damage = contents.damage
        self.trials, self._ids = renumbered(contents.trials)
        self._next_id = 1 + max(contents.trials, default=-1)
        self._file.truncate(contents.size)
        if contents.run is None or any(contents.run.get(key) != value for key, value in _plain(run).items()):
            self._write({"event": "run", **run})
        if not existed:
            _sync_folder(self.path.parent)

    def ask(self, trial: Trial) -> None:
        """Note that `trial` is about to be evaluated."""
        self._ids[trial.number] = self._next_id
        self._next_id += 1
        written = serial.write_trial(trial)
        event = {"event": "ask", "id": self._ids[trial.number]}
        self._write(event | {"params": written["params"], "meta": written["meta"]})

    def finish(self, trial: Trial) -> None:
        """Note the value of a complete trial, or the reason of a failed one."""
        if trial.state is TrialState.COMPLETE:
            result = {"event": "tell", "id": self._ids[trial.number], "value": trial.value}
            self._write(result | {"variance": trial.variance, "seconds": trial.seconds})
        else:
            result = {"event": "fail", "id": self._ids[trial.number], "reason": trial.reason}
            self._write(result | {"seconds": trial.seconds})

    def _write(self, event: Event) -> None:
        line = seal(event)
        try:
            written = self._file.write(line)
            while written < len(line):
                written += self._file.write(line[written:])
            os.fsync(self._file.fileno())
        except OSError as error:
            raise HistoryError(
                f"the journal {self.path} cannot be written: {error.strerror}; all that was told before is "
                "in it, and the run can be resumed from it"
            ) from error

    def close(self) -> None:
        self._file.close()  # which unlocks it

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def seal(event: Event) -> bytes:
    """An event as a line with its checksum.

    Example:
        >>> seal({"event": "ask", "id": 3})
        b'{"event": "ask", "id": 3, "crc": "e38b964f"}\\n'
    """
    body = json.dumps(event, allow_nan=False)[:-1]
    return f'{body}, "crc": "{zlib.crc32(body.encode()):08x}"}}\n'.encode()


def unseal(line: bytes) -> Event | None:
    """The event of a line, or None if the line is damaged."""
    body, mark, seal = line.rstrip(b"\r\n").rpartition(b', "crc": "')
    if not mark or seal != f'{zlib.crc32(body):08x}"}}'.encode():
        return None
    event: Event = json.loads(body + b"}")
    return event


def read(path: Path, data: bytes, space: Space) -> Contents:
    """Everything that the journal at `path` says, whose bytes are `data`, about trials of `space`."""
    contents = Contents(size=data.rfind(b"\n") + 1)
    torn = data[contents.size :]
    if contents.size == 0 and not (START.startswith(torn) or torn.startswith(START)):
        raise HistoryError(f"{path} is not a journal of hidim: give another path")
    events = list(_events(data[: contents.size], contents))
    if contents.size and not events:
        raise HistoryError(f"{path} is not a journal of hidim, or all of it is damaged: give another path")
    runs = [event for _, event in events if event["event"] == "run"]
    contents.run = runs[-1] if runs else None
    if contents.run is not None:
        _check(path, contents.run, {"space": space.to_dict()})
    for number, event in events:
        _apply(event, number, space, contents)
    if torn:
        contents.damage.append(f"the last line was torn by a crash and is dropped ({len(torn)} bytes)")
    return contents


def described(path: Path, data: bytes) -> Event:
    """The last event of a journal, whose bytes are `data`, that describes its run."""
    runs = [event for _, event in _events(data, Contents()) if event["event"] == "run"]
    if not runs:
        raise HistoryError(f"{path} does not say of which run it is: it is no journal of hidim, or damaged")
    return runs[-1]


def _events(data: bytes, contents: Contents) -> Iterator[tuple[int, Event]]:
    for number, line in enumerate(data.splitlines(), start=1):
        event = unseal(line)
        if event is None:
            contents.damage.append(f"line {number} is damaged and is passed over")
        else:
            yield number, event


def _apply(event: Event, line: int, space: Space, contents: Contents) -> None:
    kind, trials = event["event"], contents.trials
    if kind == "run":
        return
    number = event["id"]
    if kind == "ask":
        trials[number] = _asked(event, space)
    elif number not in trials:
        contents.damage.append(f"line {line} tells of trial {number}, whose ask is lost: it is passed over")
    elif trials[number].state is not TrialState.RUNNING:
        contents.damage.append(f"line {line} tells of trial {number} again: it is passed over")
    else:
        rank, trial, seconds = contents.finished, trials[number], event["seconds"]
        contents.finished += 1
        trials[number] = (
            trial.completed(event["value"], rank, variance=event["variance"], seconds=seconds)
            if kind == "tell"
            else trial.failed(event["reason"], rank, seconds=seconds)
        )


def _asked(event: Event, space: Space) -> Trial:
    try:
        return Trial(serial.read_params(event["params"], space), event["id"], meta=event["meta"])
    except HidimError as error:
        raise HistoryError(f"trial {event['id']} of the journal does not fit the space: {error}") from error


def renumbered(trials: Mapping[int, Trial]) -> tuple[list[Trial], dict[int, int]]:
    """Trials with numbers 0, 1, 2, …, and the id of each number.

    What a method remembers of a trial may name earlier ones. Where numbers have moved, it must forget.
    """
    ordered = [
        trial if trial.number == number else replace(trial, number=number, meta={})
        for number, trial in enumerate(trials.values())
    ]
    return ordered, dict(enumerate(trials))


def _check(path: Path, found: Event, wanted: Mapping[str, Any]) -> None:
    if not isinstance(found.get("format"), int) or found["format"] > FORMAT:
        raise HistoryError(
            f"{path} was written by hidim {found.get('hidim')} in format {found.get('format')}, and this "
            f"hidim {__version__} reads up to {FORMAT}: upgrade hidim, or give another path"
        )
    for key, what in (("space", "another space"), ("maximize", "a run in the other direction")):
        # As text: the order of parameters counts, because it is the order of the columns.
        if key in wanted and json.dumps(found.get(key)) != json.dumps(wanted[key]):
            difference = _difference(key, found, wanted)
            raise HistoryError(f"{path} is the journal of {what}{difference}: give another path")


def _difference(key: str, found: Event, wanted: Mapping[str, Any]) -> str:
    if key != "space":
        return ""
    try:
        was, now = _places(found["space"]), _places(wanted["space"])
    except HidimError:
        return ""
    title = next((title for title in [*was, *now] if was.get(title) != now.get(title)), None)
    if title is None:
        return " (its parameters are in another order)" if list(was) != list(now) else ""
    before, after = (f"{title} = {p[title]}" if title in p else f"no {title}" for p in (was, now))
    return f" (it has {before}, this run has {after})"


def _places(space: Mapping[str, Any]) -> dict[str, str]:
    """What all parameters are, by their readable names, as "model=svm/C"."""
    return {str(place): repr(place.parameter) for place in walk(Space.from_dict(space))}


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """`data` as it will be read again: tuples are lists then."""
    plain: dict[str, Any] = json.loads(json.dumps(data))
    return plain


def _sync_folder(folder: Path) -> None:
    """Make sure that a new file's name is on the disk; some systems cannot open folders, and need not."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
