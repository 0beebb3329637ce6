"""Guarded imports: a missing extra is answered with the line that installs it."""

from __future__ import annotations

import importlib
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
        raise MissingDependencyError(
            f"this needs the package {module.partition('.')[0]!r}: pip install 'hidim[{extra}]'"
        ) from error
