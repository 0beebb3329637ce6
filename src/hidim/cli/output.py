"""Standard output and standard error: what a terminal would obey, hide or lack is written as escapes."""

from __future__ import annotations

import io
import re
import sys
from typing import Any

from hidim.space.render import printable


class Plain:
    """A stream for a person: whatever a program, a label or a path has in it stays text."""

    def __init__(self, stream: Any) -> None:
        self.rich_proxied_file = stream  # rich, which knows what it writes, goes by this name around it

    def write(self, text: str) -> Any:
        return self.rich_proxied_file.write(re.sub(r"[^\n\t]+", lambda part: printable(part[0]), text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def plainly(stream: Any) -> Any:
    """A stream with escapes for what a terminal obeys, and for characters that it does not have."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream if stream is None or isinstance(stream, Plain) else Plain(stream)


def speak_utf8() -> None:
    """Write standard output as UTF-8 and to the letter, unless it is a terminal: programs read it."""
    if sys.stdout is not None and not sys.stdout.isatty():
        sys.stdout = getattr(sys.stdout, "rich_proxied_file", sys.stdout)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
