"""Standard output and standard error, whatever they are able to show."""

from __future__ import annotations

import io
import sys


def speak_plainly() -> None:
    """Write characters that a terminal or a file does not have by their numbers, in the place of dying."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def speak_utf8() -> None:
    """Write standard output as UTF-8: what is read by programs is the same everywhere."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
