"""Examples in docstrings as sessions, whatever the heading over them says."""

from __future__ import annotations

from typing import Any

import griffe


class Examples(griffe.Extension):
    """griffe draws a session only under the heading "Examples"."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = obj.docstring.value.replace("Example:\n", "Examples:\n")
