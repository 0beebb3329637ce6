"""Formulas as MathML, which browsers draw themselves: pages need neither scripts nor a network."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

#: Between two dollars each, on lines of their own.
FORMULA = re.compile(r"^\$\$(.+?)\$\$$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    return FORMULA.sub(lambda found: convert(found.group(1).strip(), display="block"), markdown)
