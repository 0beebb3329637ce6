"""What a suggestion leaves in the storage: the method's meta, and the point while others cannot see it yet.

A note is one text under the system attributes "hidim:0", "hidim:1", … of a trial, cut into pieces that every
database takes. It says for which space it was written: in another one it means nothing.
"""

from __future__ import annotations

import base64
import json
import logging
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hidim._types import Array
from hidim.events import check_meta, is_deep

logger = logging.getLogger("hidim")

#: Of what methods remember: notes of another one mean nothing.
FORMAT = 1

#: Characters of a piece; MySQL's TEXT holds 65,535 bytes.
PIECE = 30_000

#: The attribute with the first piece, which is written last.
FIRST = "hidim:0"

#: That the objective itself failed, and not the machine under it.
FAILED = "hidim:failed"

#: That a trial was broken off, and says nothing.
INTERRUPTED = "hidim:interrupted"


class Once:
    """Warnings, each of which is said of the first trial that it is about."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, text: str, *about: Any) -> None:
        if text not in self._said:
            self._said.add(text)
            logger.warning(text, *about)


@dataclass(frozen=True, eq=False)
class Note:
    """Of one suggestion.

    Args:
        space: fingerprint of the space.
        meta: what the method wants to remember.
        point: (D,) of the unit cube, to single precision; NaN in inactive columns.
    """

    space: str
    meta: dict[str, Any]
    point: Array

    def write(self, put: Callable[[str, Any], None]) -> None:
        """Put the pieces, the first one last: whoever sees that one sees all."""
        point = base64.b64encode(self.point.astype("<f4").tobytes()).decode("ascii")
        text = json.dumps({"space": self.space, "point": point, "meta": self.meta}, separators=(",", ":"))
        pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        for place in reversed(range(1, len(pieces))):
            put(f"hidim:{place}", pieces[place])
        put(FIRST, {"pieces": len(pieces), "crc": _crc(text), "text": pieces[0]})

    @classmethod
    def read(
        cls, attributes: Mapping[str, Any], number: int, tell: Callable[..., None] = logger.warning
    ) -> Note | None:
        """The note of a trial; None if there is none, or what is there is none, which is said by `tell`."""
        first = attributes.get(FIRST)
        if first is None:
            return None
        try:
            text = first["text"] + "".join(attributes[f"hidim:{k}"] for k in range(1, first["pieces"]))
            if first["crc"] != _crc(text):
                raise ValueError("it is not what was written")
            data = json.loads(text)
            space, meta = data["space"], data["meta"]
            point = np.frombuffer(base64.b64decode(data["point"]), dtype="<f4").astype(np.float64)
            if not isinstance(space, str) or not isinstance(meta, dict) or is_deep(meta):
                raise ValueError("it is no note")
            check_meta(meta, "the note")
            if (abs(point - 0.5) > 0.5).any():
                raise ValueError("the point is not in the unit cube")
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            tell("what hidim noted with trial %d is damaged and ignored: %r", number, error)
            return None
        return cls(space, meta, point)


def _crc(text: str) -> int:
    return zlib.crc32(text.encode())
