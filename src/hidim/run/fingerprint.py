"""What an objective is known by, so that a journal can tell whether it goes on with the same one.

Its code and, as far as they can be had, what the code takes from around it: constants, defaults, and
functions of the same module, with what those take. Only hashes are kept. Data that may change while a run
goes on, as lists, arrays, objects and names that the code itself writes, are not looked at; neither are
comments and docstrings.
"""

from __future__ import annotations

import dis
import hashlib
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from hidim.run.evaluate import Numbered

#: The key of the objective itself, and that of the version of Python, which compiles code in its own way.
CODE, PYTHON = "its code", "python"


def fingerprint(objective: Any) -> dict[str, str]:
    """A short hash of each part of an objective, by name; nothing of one that cannot be looked into.

    Example:
        >>> def scaled(factor):
        ...     return lambda x: factor * x
        >>> differing(fingerprint(scaled(2.0)), fingerprint(scaled(2.0)))
        []
        >>> differing(fingerprint(scaled(2.0)), fingerprint(scaled(3.0)))
        ['factor']
    """
    if isinstance(objective, Numbered):
        return objective.fingerprint()
    codes: dict[str, str] = {}
    around: dict[str, Any] = {}
    written: set[str] = set()
    try:
        _look(objective, CODE, codes, around, written)
        texts = {name: _text(value) for name, value in around.items() if name not in written}
    except Exception:  # somebody's object refuses to be looked at
        return {}
    if not codes:
        return {}
    # With the code as salt, for a short constant could be found by trying.
    own = {name: codes[CODE] + text for name, text in texts.items() if text is not None}
    hashes = {name: hashed(text.encode(errors="replace")) for name, text in (own | codes).items()}
    return hashes | {PYTHON: str(sys.implementation.cache_tag)}


def differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The parts that are not as they were, of which the code stands for all; none where nobody can say."""
    if not before or not now or before.get(PYTHON) != now.get(PYTHON):
        return []
    found = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return [CODE] if CODE in found else found


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _look(called: Any, name: str, codes: dict[str, str], around: dict[str, Any], written: set[str]) -> None:
    """Enter a function, under that name, and what it takes from around it."""
    while isinstance(called, partial | MethodType):
        if isinstance(called, partial):
            given = dict[Any, Any](enumerate(called.args)) | called.keywords
            around |= {f"argument {key} of {name}": value for key, value in given.items()}
        called = called.func if isinstance(called, partial) else called.__func__
    function = _function(called) or (_function(type(called).__call__) if callable(called) else None)
    if function is None or name in codes:
        return
    codes[name] = _code_text(function.__code__)
    defaults = dict[Any, Any](enumerate(function.__defaults__ or ())) | (function.__kwdefaults__ or {})
    around |= {f"default {key} of {name}": value for key, value in defaults.items()}
    for other, value in _taken(function, written):
        inner = _function(value)
        if inner is None:
            around.setdefault(other, value)
        elif inner.__module__ == function.__module__:
            _look(inner, other, codes, around, written)


def _function(called: Any) -> FunctionType | None:
    """Python's own functions, and what is in a cache of `functools`."""
    inner = called if isinstance(called, FunctionType) else getattr(called, "__wrapped__", None)
    return inner if isinstance(inner, FunctionType) else None


def _taken(function: FunctionType, written: set[str]) -> Iterator[tuple[str, Any]]:
    """Names, global and of enclosing functions, that a function reads; those that it writes are noted."""
    read = set[str]()
    for code in _codes(function.__code__):
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                read.add(step.argval)
            elif step.opname == "STORE_GLOBAL" or (
                step.opname == "STORE_DEREF" and step.argval in function.__code__.co_freevars
            ):
                written.add(step.argval)
    yield from ((name, function.__globals__[name]) for name in sorted(read) if name in function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it has no value yet
            continue


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code_text(code: CodeType) -> str:
    steps = ((step.opname, step.argval) for step in dis.get_instructions(code))
    return repr([(name, _code_text(a) if isinstance(a, CodeType) else _text(a)) for name, a in steps])


def _text(value: Any) -> str | None:
    """What cannot change, as text; None for everything else."""
    match value:
        case None | bool() | int() | float() | complex() | str() | bytes():
            return repr(value)
        case tuple() | frozenset():
            texts = [_text(entry) for entry in value]
            if any(text is None for text in texts):
                return None
            return repr(sorted(map(str, texts)) if isinstance(value, frozenset) else texts)
    return None
