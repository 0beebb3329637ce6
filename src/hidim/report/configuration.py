"""The best configuration as text to copy: as JSON, and as Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hidim._types import Params
from hidim.embed import LazyVector
from hidim.report.limits import Limits
from hidim.report.texts import clipped
from hidim.space.labels import to_plain
from hidim.space.render import dumped

#: Numbers of a vector on one line, and of the point for which a lazy one stands that are listed.
PER_LINE, LISTED = 2, 8


def to_copy(params: Params, limits: Limits) -> dict[str, Any]:
    """Both texts, and a note for every vector that is too long to be written down on a page."""
    short: dict[str, Any] = {}
    notes: list[str] = []
    room = limits.coordinates
    for name, value in params.items():
        if isinstance(value, LazyVector) or (isinstance(value, np.ndarray) and value.size > room):
            notes.append(_note(name, value, limits))
        elif isinstance(value, np.ndarray):
            room -= value.size
            short[name] = value.tolist()
        else:
            short[name] = value
    plain = {name: to_plain(value) for name, value in short.items()}
    return {"json": _json(plain), "python": _python(short), "notes": notes}


def _note(name: str, value: LazyVector | Any, limits: Limits) -> str:
    shown = clipped(repr(name), limits.name)
    told = f"{shown} is a vector of {len(value):,} coordinates, too long for a page: "
    told += f"result.best.params[{shown}] "
    if not isinstance(value, LazyVector):
        return told + "has it."
    y = ", ".join(f"{each:.6g}" for each in value.y[:LISTED].tolist())
    more = f", … {len(value.y)} in all" if len(value.y) > LISTED else ""
    kind = type(value.embedding).__name__
    return told + (
        f"computes any of them, as [0], [[3, 5]] or [10:20]. It stands for y = ({y}{more}) of the embedding "
        f"{kind}, seed {value.embedding.seed}."
    )


def _json(params: Mapping[str, Any]) -> str:
    """A key on every line; long lists of numbers on several."""
    parts = [f"{dumped(name)}: {_wrapped(value, dumped)}" for name, value in params.items()]
    return "{\n  " + ",\n  ".join(parts) + "\n}" if parts else "{}"


def _python(params: Mapping[str, Any]) -> str:
    parts = [f"{name!r}: {_wrapped(value, repr)}," for name, value in params.items()]
    return "{\n    " + "\n    ".join(parts) + "\n}" if parts else "{}"


def _wrapped(value: Any, write: Any) -> str:
    if not isinstance(value, list) or len(value) <= PER_LINE:
        return str(write(value))
    rows = [value[start : start + PER_LINE] for start in range(0, len(value), PER_LINE)]
    return "[\n    " + ",\n    ".join(", ".join(map(write, row)) for row in rows) + "\n  ]"
