"""The journal: an append-only file that outlives whatever happens to the run.

Its lines are those of `hidim.lines`; each is on the disk before the run goes on. Before each, the file is
looked for: one that somebody has deleted is written anew, and if another stands in its place, or somebody has
written into it or cut it, all trials are written beside it and the run ends.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from hidim import _files, lines, serial
from hidim._lock import lock
from hidim.errors import HistoryError
from hidim.events import Event
from hidim.run.fingerprint import differing
from hidim.space import Space
from hidim.trial import Trial

logger = logging.getLogger("hidim")

DELETED = "was deleted"

#: What to type when several are to drive one run.
SHARED = (
    'optuna.create_study(sampler=hidim.OptunaSampler(), storage="sqlite:///run.db", study_name="run", '
    "load_if_exists=True) in Python, hidim tune … --storage sqlite:///run.db at the command line"
)


class Journal:
    """A journal that is open for appending, locked against other processes.

    Args:
        path: the file; it is created if it does not exist.
        space: what can vary; a journal of another space is refused.
        settings: method, seed, budget and direction, for the record, and what the objective is known by; a
            journal of the other direction is refused.

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
        self.path = _files.path_of(path).absolute()  # an objective may go to another folder
        self._space, self._settings = space, settings
        self._other: tuple[Event, list[tuple[str, str]]] | None = None  # what it goes on with, if it does
        existed = _files.exists(self.path, "opened")
        self._file = self._opened()
        try:
            with _files.said(self.path, "taken up"):
                self._take_up(space, settings, existed)
        except BaseException:
            self.close()
            raise

    def _opened(self) -> FileIO:
        """The file, locked."""
        with _files.said(self.path, "opened"):
            file = FileIO(self.path, "a+")
        if not lock(file) and not self._locked_soon(file):
            file.close()
            raise HistoryError(
                f"the journal {self.path} is in use by another run: wait for it, or give another path. A run "
                f"that several drivers share is kept in a storage: {SHARED}"
            )
        return file

    @staticmethod
    def _locked_soon(file: FileIO) -> bool:
        """Whether the lock can be had a moment later: somebody may just have looked who holds it."""
        time.sleep(0.05)
        return lock(file)

    def _take_up(self, space: Space, settings: Mapping[str, Any], existed: bool) -> None:
        self._file.seek(0)
        contents = lines.read(str(self.path), self._file.readall(), space)
        run = lines.run_event(space, settings)
        if contents.run is not None:
            lines.check(str(self.path), contents.run, run)
        for damage in contents.damage:
            logger.warning("%s: %s", self.path, damage)
        if "part" not in run.get("method", {"part": ""}):
            logger.warning(
                "%s cannot say how to make the method %s again: enter it by hidim.methods.register, or give "
                "it whenever the run is taken up",
                self.path,
                run["method"]["name"],
            )
        mine = run.get("objective", {})
        told = (differing(known, mine) for known in contents.objectives.values())
        self.changed = [parts for parts in told if parts]  # of the objective, trial by trial
        self.damage = contents.damage
        self.trials, self._ids = lines.renumbered(contents.trials)
        self._known = {trial.number: trial for trial in self.trials}
        self._next_id = 1 + max(contents.trials, default=-1)
        self._file.truncate(contents.size)
        self._size = contents.size
        if contents.unended:
            self._append(b"\n")
        if contents.run is None:
            self._write(run)
        elif any(contents.run.get(key) != value for key, value in _plain(run).items()):
            self._other = run, list(lines.changes(contents.run, run))
        if not existed:
            _sync_folder(self.path.parent)

    def ask(self, trial: Trial) -> None:
        """Note that `trial` is about to be evaluated."""
        self._ids[trial.number] = self._next_id
        self._next_id += 1
        self._known[trial.number] = trial
        self._write(lines.ask_event(trial, self._ids[trial.number]))

    def enter(self, trials: Iterable[Trial]) -> None:
        """Note finished trials of another run, all at once."""
        events = []
        for trial in trials:
            self._ids[trial.number], self._known[trial.number] = self._next_id, trial
            events += [lines.ask_event(trial, self._next_id), lines.finish_event(trial, self._next_id)]
            self._next_id += 1
        if events:
            self._write(*events)

    def finish(self, trial: Trial) -> None:
        """Note the value of a complete trial, or the reason of a failed one."""
        self._known[trial.number] = trial
        self._write(lines.finish_event(trial, self._ids[trial.number]))

    def retry(self, trial: Trial) -> None:
        """Note that a trial which failed is about to be evaluated again."""
        self._known = {t.number: t for t in serial.retried(list(self._known.values()), trial.number)}
        self._write(lines.retry_event(self._ids[trial.number]))

    def _write(self, *events: Event) -> None:
        if self._other is not None:  # only now: a run that is over stays what it was
            (run, changes), self._other = self._other, None
            for before, after in changes:
                logger.warning("%s was written with %s, and goes on with %s", self.path, before, after)
            events = run, *events
        fault = self._disturbance()
        if fault is not None:
            self._recover(fault)  # which knows of these events, too
            return
        try:
            self._append(b"".join(map(lines.seal, events)))
        except OSError as error:
            raise HistoryError(
                f"the journal {self.path} cannot be written: {error.strerror}; all that was told before is "
                "in it, and the run can be resumed from it"
            ) from error

    def _disturbance(self) -> str | None:
        """What somebody has done to the file since the last write; None if nothing."""
        try:
            found = self.path.stat()
        except OSError:
            return DELETED
        mine = os.fstat(self._file.fileno())
        if not os.path.samestat(found, mine):
            return "was replaced by another file"
        if mine.st_size != self._size:
            return f"was {'cut' if mine.st_size < self._size else 'written to'} by somebody else"
        return None

    def _recover(self, fault: str) -> None:
        """Write a file that was deleted anew; whatever else has happened, keep all trials and end the run."""
        try:
            if fault != DELETED:
                raise HistoryError(f"the journal {self.path} {fault} while the run went on")
            with _files.said(self.path, "written anew"):
                self._write_anew()
        except HistoryError as error:
            raise HistoryError(f"{error}. {self._rescued()}") from error
        logger.warning("the journal %s was deleted while the run went on, and is written anew", self.path)

    def _write_anew(self) -> None:
        """All lines of the run into a new file at the old place, which is locked like the old one."""
        file = self._opened()
        if os.fstat(file.fileno()).st_size:  # somebody was faster
            file.close()
            raise HistoryError(f"the journal {self.path} was replaced by another file while the run went on")
        self._file.close()
        self._file, self._size = file, 0
        self._ids = {number: number for number in self._known}
        self._next_id = 1 + max(self._known)
        self._append(self._all())
        _sync_folder(self.path.parent)

    def _rescued(self) -> str:
        """Write all trials beside the journal, or where temporary files are, and say where."""
        for folder in (self.path.parent, Path(tempfile.gettempdir())):
            with suppress(OSError):
                handle, name = tempfile.mkstemp(".jsonl", f"{self.path.stem[:99]}.rescued.", folder)
                with open(handle, "wb") as file:
                    file.write(self._all())
                    file.flush()
                    os.fsync(handle)
                return f"All {len(self._known)} trials are in {name}, and the run can be resumed from there"
        return "Its trials could not be written anywhere else, and are lost with the run"

    def _all(self) -> bytes:
        return lines.whole(self._space, self._settings, list(self._known.values()))

    def _append(self, data: bytes) -> None:
        written = 0
        while written < len(data):
            written += self._file.write(data[written:])
        os.fsync(self._file.fileno())
        self._size += len(data)

    def close(self) -> None:
        self._file.close()  # which unlocks it

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def recorded_seed(path: str | os.PathLike[str]) -> int | None:
    """The seed of the run that a journal keeps; None if there is none yet."""
    place = _files.path_of(path)
    if not place.is_file() or not (data := place.read_bytes()):
        return None
    try:
        seed: int = lines.described(os.fspath(path), data).settings["seed"]
    except HistoryError:  # whoever opens it will say what is wrong
        return None
    return seed


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
