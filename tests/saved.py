"""Saved histories in tests: written and read again, or changed on purpose under valid checksums."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hidim import Optimizer
from hidim.lines import seal, unseal


def events(path: Path) -> list[dict[str, Any]]:
    """What a file of lines says."""
    return [unseal(line) for line in path.read_bytes().splitlines()]


def reloaded(optimizer: Optimizer) -> Optimizer:
    """The optimizer by way of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        optimizer.save(path)
        return Optimizer.load(path)


def tampered(optimizer: Optimizer, path: Path, change: Callable[[list[dict[str, Any]]], object]) -> Path:
    """A saved optimizer whose events were changed by somebody who knows about checksums."""
    optimizer.save(path)
    known = events(path)
    change(known)
    path.write_bytes(b"".join(map(seal, known)))
    return path
