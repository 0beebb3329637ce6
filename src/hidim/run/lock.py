"""One process at a time: a lock on an open file, which vanishes with its owner, however that ends.

Such a lock belongs to the open file, and forked processes share open files: a worker that survives its
killed driver would keep the journal locked. So children close what they inherit.
"""

from __future__ import annotations

import os
from io import FileIO
from weakref import WeakSet

_locked: WeakSet[FileIO] = WeakSet()


def _close_inherited() -> None:
    for file in list(_locked):
        file.close()
    _locked.clear()


if os.name == "nt":  # pragma: no cover
    import msvcrt

    def lock(file: FileIO) -> bool:
        """Lock an open file until it is closed; False if somebody else holds it."""
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True

else:
    import fcntl

    os.register_at_fork(after_in_child=_close_inherited)

    def lock(file: FileIO) -> bool:
        """Lock an open file until it is closed; False if somebody else holds it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        _locked.add(file)
        return True
