"""Files of histories: read and opened with errors that name the file, the fault and the mend.

Only plain files will do: reading a pipe waits for ever, and a device keeps nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hidim.errors import HistoryError


def path_of(path: Any) -> Path:
    """A path that the system can take, whether there is a file or not."""
    try:
        found = Path(path)
        os.fsencode(found)
    except (TypeError, UnicodeError) as error:
        raise HistoryError(f"the name of a file must be a path, not {path!r}") from error
    if "\0" in str(found):
        raise HistoryError(f"the name of a file must be a path without null characters, not {path!r}")
    return found


@contextmanager
def said(path: Path, action: str) -> Iterator[None]:
    """Turn what the system refuses into a `HistoryError` that says so: `action` is "read", "written", …"""
    try:
        yield
    except OSError as error:
        raise HistoryError(f"{path} cannot be {action}: {error.strerror}; give another path") from error


def exists(path: Path, action: str) -> bool:
    """Whether there is such a file; one that is no plain file is refused."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise HistoryError(f"{path} cannot be {action}: {error.strerror}; give another path") from error
    if not stat.S_ISREG(mode):
        fault = "Is a directory" if stat.S_ISDIR(mode) else "it is a pipe or a device and no plain file"
        raise HistoryError(f"{path} cannot be {action}: {fault}; give another path")
    return True


def place_for(path: Any) -> Path:
    """Where a file can be written: in a folder that is there, and over plain files alone."""
    place = path_of(path)
    exists(place, "written")
    if not place.parent.is_dir():
        raise HistoryError(
            f"{place} cannot be written: there is no folder {place.parent}; make it, or give another"
        )
    return place


def read_bytes(path: Path) -> bytes:
    """All of a plain file; one that is missing is Python's own `FileNotFoundError`."""
    if not exists(path, "read"):
        raise FileNotFoundError(2, os.strerror(2), str(path))
    with said(path, "read"):
        return path.read_bytes()


def write_whole(path: Path, data: bytes) -> None:
    """Put a file with `data` in the place of `path` in one step; nothing is left behind if that fails."""
    draft = path.with_name(path.name + ".part")
    with said(path, "written"):
        try:
            with draft.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())  # before the old file goes, the new one must be on the disk
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
