"""Plain tables, for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan


def render(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, markdown: bool = False
) -> str:
    """Columns padded to equal width; the first `left` are left-aligned, the others right-aligned.

    Example:
        >>> print(render(["name", "value"], [["a", "1.5"], ["long", "12"]]))
        name  value
        ----  -----
        a       1.5
        long     12
    """
    widths = [max(len(cells[i]) for cells in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |" if markdown else "  ".join(padded).rstrip()

    rule = ["-" * width for width in widths]
    if markdown:
        rule[left:] = [f"{dashes[:-1]}:" for dashes in rule[left:]]
    return "\n".join([line(header), line(rule), *map(line, rows)])


def figure(number: float, digits: int = 3) -> str:
    """A number to so many significant digits, in plain notation up to a million; NaN is a dash.

    Example:
        >>> figure(14890.2), figure(0.000412345), figure(float("nan"))
        ('14900', '0.000412', '–')
    """
    return "–" if isnan(number) else f"{float(f'{number:.{digits - 1}e}'):g}"
