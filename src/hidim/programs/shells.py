"""Lines for a shell: which programs read them, where in one the quotes are, and words for one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import TypeVar

#: Programs that read the word after -c as a script.
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish", "busybox")

#: The option of theirs that says so, with others before it as in -ec.
SCRIPT = re.compile(r"-\w*c")

Part = TypeVar("Part")


def quoted(*words: str) -> str:
    """Words as a person types them; a sign that nobody sees stands in $'…', as bash, zsh and ksh read it."""
    return "".join(c if c.isprintable() or c in "\n\t" else _in_octal(c) for c in shlex.join(words))


def _in_octal(sign: str) -> str:
    """The bytes of a sign between those in quotes; a word that has such a sign is quoted by all means."""
    errors = "surrogateescape" if "\udc80" <= sign <= "\udcff" else "surrogatepass"  # a byte of a path
    return "'$'" + "".join(f"\\{byte:03o}" for byte in sign.encode(errors=errors)) + "''"


def in_quotes(words: Iterable[Sequence[str | Part]]) -> Part | None:
    """The first part of a line that is no text and stands between quotes, None if there is no such.

    Example:
        >>> in_quotes([["echo '", 1, "'"]]), in_quotes([["echo '' ", 1]]), in_quotes([['"$(f ', 1, ')"']])
        (1, None, None)
    """
    inside = [""]  # of which quotes, or of $( ), from the outermost on
    for word in words:
        for part in word:
            if isinstance(part, str):
                _scan(part, inside)
            elif inside[-1] in ("'", '"'):
                return part
        _scan(" ", inside)
    return None


def _scan(text: str, inside: list[str]) -> None:
    escaped = False
    for place, sign in enumerate(text):
        quote = inside[-1]
        if escaped:
            escaped = False
        elif quote == "'":
            if sign == "'":
                inside.pop()
        elif sign == "\\":
            escaped = True
        elif sign == "(" and text[max(place - 1, 0)] == "$":
            inside.append(")")
        elif len(inside) > 1 and sign == quote:
            inside.pop()
        elif sign == '"' or (sign == "'" and quote != '"'):
            inside.append(sign)
