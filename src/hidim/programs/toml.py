"""Where in a TOML file which key stands: Python's reader knows, and does not say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

Key = tuple[str, ...]


def lines_of(text: str) -> dict[Key, int]:
    """The number of the line at which every table and key begins, by its path; the first of several.

    Example:
        >>> lines_of('[x]\\nlow = 0\\n\\n[model.options."a b"]\\n')[("model", "options", "a b")]
        4
    """
    found: dict[Key, int] = {}
    table: Key = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?([^\[\]=]+|[^=]*)\]", line)
        if header and (key := _path(header.group(1))):
            table = key
            _note(found, table, number)
        elif "=" in line and (key := _path(line.partition("=")[0])):
            _note(found, (*table, *key), number)
    return found


def _note(found: dict[Key, int], key: Key, number: int) -> None:
    for length in range(1, len(key) + 1):
        found.setdefault(key[:length], number)


def _path(text: str) -> Key:
    """The parts of a dotted key, () if it is none."""
    try:
        return tuple(_descend(tomllib.loads(f"{text.strip()} = 0")))
    except (tomllib.TOMLDecodeError, RecursionError):
        return ()


def _descend(table: object) -> Iterator[str]:
    while isinstance(table, dict) and table:  # a comment has no key at all
        (name, table), *_ = table.items()
        yield name
