"""What notebooks show of runs: a small table and a line of the best value so far."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

#: Pixels of a sparkline.
WIDTH, HEIGHT = 220, 36


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Names and what belongs to them.

    Example:
        >>> table("best", [("lr", "<1e-3")])
        '<table><caption>best</caption><tr><th>lr</th><td>&lt;1e-3</td></tr></table>'
    """
    lines = (f"<tr><th>{escape(str(name))}</th><td>{escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"


def sparkline(values: Sequence[float]) -> str:
    """Values in their order, as a line; nothing where there are not two of them to be drawn."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    spread = high - low
    if len(values) < 2 or not 0.0 < spread < math.inf:
        return ""
    along = (WIDTH - 4) / (len(values) - 1)
    points = " ".join(
        f"{2 + along * place:.1f},{2 + (HEIGHT - 4) * (high - value) / spread:.1f}"
        for place, value in enumerate(values)
    )
    line = f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    return f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="best so far">{line}</svg>'
