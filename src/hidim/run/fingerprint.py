"""What an objective is known by, so that a journal can tell whether it goes on with the same one.

Its code and, as far as they can be had, what the code takes from around it: constants, defaults, and
functions of the same module, with what those take. Only hashes are kept. Data that may change while a run
goes on, as lists, arrays and objects, are not looked at; neither are comments and docstrings.
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
    """A short hash of each part of an objective, by name.

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
    found: dict[str, str] = {}
    _look(objective, CODE, found)
    return found | {PYTHON: str(sys.implementation.cache_tag)} if found else {}


def differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The parts that are not as they were; none where nobody can say."""
    if not before or not now or before.get(PYTHON) != now.get(PYTHON):
        return []
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _look(called: Any, name: str, found: dict[str, str]) -> None:
    """Enter a function, under that name, and what it takes from around it."""
    while isinstance(called, partial | MethodType):
        if isinstance(called, partial):
            _enter(f"arguments of {name}", (called.args, tuple(called.keywords.items())), found)
        called = called.func if isinstance(called, partial) else called.__func__
    if not isinstance(called, FunctionType):
        called = type(called).__call__ if callable(called) else None
    if not isinstance(called, FunctionType) or name in found:
        return
    found[name] = hashed(_code_text(called.__code__, called.__doc__).encode())
    defaults = (called.__defaults__ or (), tuple((called.__kwdefaults__ or {}).items()))
    _enter(f"defaults of {name}", defaults, found)
    for other, value in _around(called):
        if isinstance(value, FunctionType) and value.__module__ == called.__module__:
            _look(value, other, found)
        else:
            _enter(other, value, found)


def _enter(name: str, value: Any, found: dict[str, str]) -> None:
    text = _text(value)
    if text is not None and name not in found and value != ((), ()):
        found[name] = hashed(text.encode())


def _around(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Global names and those of enclosing functions that a function reads and does not write."""
    read, written = set[str](), set[str]()
    for code in _codes(function.__code__):
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                read.add(step.argval)
            elif step.opname in ("STORE_GLOBAL", "STORE_DEREF"):
                written.add(step.argval)
    for name in sorted(read - written):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name not in written:
            try:
                yield name, cell.cell_contents
            except ValueError:  # it has no value yet
                continue


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code_text(code: CodeType, about: str | None = None) -> str:
    constants = [_code_text(c) if isinstance(c, CodeType) else _text(c) for c in code.co_consts if c != about]
    return repr((code.co_code, code.co_names, constants))


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
