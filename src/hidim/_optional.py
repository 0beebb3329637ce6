"""Guarded imports: a missing extra is answered with the line that installs it."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

from hidim.errors import MissingDependencyError


def require(module: str, extra: str) -> Any:
    """Import `module`, or say which extra of hidim brings it.

    Example:
        >>> require("json", extra="plot").dumps([1])
        '[1]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(module, extra) from error


def check(package: str, extra: str) -> None:
    """Say which extra brings `package` if it is missing; does not take the time to import it."""
    if find_spec(package) is None:
        raise _missing(package, extra)


def _missing(module: str, extra: str) -> MissingDependencyError:
    package = module.partition(".")[0]
    return MissingDependencyError(f"this needs the package {package!r}: pip install 'hidim[{extra}]'")
