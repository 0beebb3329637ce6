"""One process at a time: a lock on an open file, which vanishes with its owner, however that ends.

Such a lock belongs to the open file, and forked processes share open files: a worker that survives its
killed driver would keep the journal locked. So children close what they inherit.
"""

from __future__ import annotations

import logging
import os
from io import FileIO
from weakref import WeakSet

logger = logging.getLogger("hidim")

_locked: WeakSet[FileIO] = WeakSet()


def _close_inherited() -> None:
    for file in list(_locked):
        file.close()
    _locked.clear()


if os.name == "nt":  # pragma: no cover (the tests run on POSIX systems)
    import msvcrt

    def is_locked(path: str | os.PathLike[str]) -> bool:
        """Whether somebody holds the lock of a file."""
        with FileIO(path, "r+") as file:
            return not lock(file)

    def lock(file: FileIO) -> bool:
        """Lock an open file until it is closed; False if somebody else holds it."""
        # One byte far behind the end: a locked byte cannot be read by anybody else.
        file.seek(0x7FFFFFFE)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # Windows only
        except OSError:
            return False
        return True

else:
    import fcntl

    os.register_at_fork(after_in_child=_close_inherited)

    def is_locked(path: str | os.PathLike[str]) -> bool:
        """Whether somebody holds the lock of a file."""
        with FileIO(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError:  # a file system without locks
                return False
        return False

    def lock(file: FileIO) -> bool:
        """Lock an open file until it is closed; False if somebody else holds it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:  # some file systems of clusters have no locks
            logger.warning(
                "%s cannot be locked (%s): let no other run use it", os.fsdecode(file.name), error.strerror
            )
        _locked.add(file)
        return True
