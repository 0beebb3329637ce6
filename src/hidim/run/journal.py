"""The journal: an append-only file that outlives whatever happens to the run.

Its lines are those of `hidim.lines`; each is on the disk before the run goes on.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from hidim import lines
from hidim._lock import lock
from hidim.errors import HistoryError
from hidim.space import Space
from hidim.trial import Trial

logger = logging.getLogger("hidim")


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
        contents = lines.read(str(self.path), self._file.readall(), space)
        run = lines.run_event(space, settings)
        if contents.run is not None:
            lines.check(str(self.path), contents.run, run)
        for damage in contents.damage:
            logger.warning("%s: %s", self.path, damage)
        for before, after in () if contents.run is None else lines.changes(contents.run, run):
            logger.warning("%s was written with %s, and goes on with %s", self.path, before, after)
        if "part" not in run.get("method", {"part": ""}):
            logger.warning(
                "%s cannot say how to make the method %s again: enter it by hidim.methods.register, or give "
                "it whenever the run is taken up",
                self.path,
                run["method"]["name"],
            )
        self.damage = contents.damage
        self.trials, self._ids = lines.renumbered(contents.trials)
        self._next_id = 1 + max(contents.trials, default=-1)
        self._file.truncate(contents.size)
        if contents.run is None or any(contents.run.get(key) != value for key, value in _plain(run).items()):
            self._write(run)
        if not existed:
            _sync_folder(self.path.parent)

    def ask(self, trial: Trial) -> None:
        """Note that `trial` is about to be evaluated."""
        self._ids[trial.number] = self._next_id
        self._next_id += 1
        self._write(lines.ask_event(trial, self._ids[trial.number]))

    def finish(self, trial: Trial) -> None:
        """Note the value of a complete trial, or the reason of a failed one."""
        self._write(lines.finish_event(trial, self._ids[trial.number]))

    def retry(self, trial: Trial) -> None:
        """Note that a trial which failed is about to be evaluated again."""
        self._write(lines.retry_event(self._ids[trial.number]))

    def _write(self, event: lines.Event) -> None:
        line = lines.seal(event)
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


def recorded_seed(path: str | os.PathLike[str]) -> int | None:
    """The seed of the run that a journal keeps; None if there is none yet."""
    if not Path(path).is_file() or not (data := Path(path).read_bytes()):
        return None
    try:
        seed = lines.described(os.fspath(path), data).get("seed")
    except HistoryError:  # whoever opens it will say what is wrong
        return None
    return seed if isinstance(seed, int) else None


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
