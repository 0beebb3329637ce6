"""The objective along single parameters, with a band of uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hidim._optional import require
from hidim._types import Array
from hidim.insight import Insight, Slice
from hidim.insight.importance import percent
from hidim.insight.text import short, shortened
from hidim.plot.style import ACCENT, DARK, GREY, PALE, SMALL, heading, label, plain, quiet, wants_log

#: Numbers with at most so many values are drawn as points.
FEW = 12


def rows_of(count: int) -> list[int]:
    """How many panels stand in each row, so that no place stays empty.

    Example:
        >>> [rows_of(count) for count in (1, 3, 4, 5, 6)]
        [[1], [3], [2, 2], [3, 2], [3, 3]]
    """
    rows = -(-count // 3)
    return [count // rows + (row < count % rows) for row in range(rows)]


def draw_slices(figure: Any, grid: Any, insight: Insight, slices: Sequence[Slice]) -> list[Any]:
    """One panel for every slice, in rows of a grid (a subplot spec or a grid spec of one cell)."""
    rows = rows_of(len(slices))
    outer = grid.subgridspec(len(rows), 1)
    cells = [cell for row, count in enumerate(rows) for cell in outer[row].subgridspec(1, count)]
    names = shortened([piece.name for piece in slices], 34)
    panels: list[Any] = []
    for cell, piece, name in zip(cells, slices, names, strict=True):
        axis = figure.add_subplot(cell, sharey=panels[0] if panels else None)
        _draw(axis, insight, piece)
        label(axis, x=name)
        share = insight.importance().coordinates[piece.name]
        axis.set_title(f"importance {percent(share)}", loc="right", fontsize=SMALL, color=GREY)
        panels.append(axis)
    lefts = np.cumsum([0, *rows[:-1]]).tolist()
    for place, axis in enumerate(panels):
        if place in lefts:
            label(axis, y="value, 95 % band")
        else:
            axis.tick_params(axis="y", which="both", left=False, labelleft=False)
    heading(panels[0], "Slices through the best")
    _limit(panels[0], insight, slices)
    return panels


def _draw(axis: Any, insight: Insight, piece: Slice) -> None:
    quiet(axis)
    if isinstance(piece.grid, tuple):
        at = float(piece.grid.index(piece.at))
        _points(axis, np.arange(len(piece.grid), dtype=np.float64), piece)
        _name_labels(axis, [str(option) for option in piece.grid])
    else:
        at = float(piece.at)
        _number(axis, np.asarray(piece.grid), piece)
        if len(piece.grid) > FEW:
            _rug(axis, insight, piece)
    best = insight.best.value
    axis.plot([at], [best], "o", color=DARK, ms=6, markeredgecolor="white", zorder=5, clip_on=False)


def _number(axis: Any, grid: Array, piece: Slice) -> None:
    if piece.log:
        axis.set_xscale("log")
    if piece.whole and len(grid) <= FEW:
        _points(axis, grid, piece)
        axis.set_xticks(grid, [f"{value:g}" for value in grid])
        axis.minorticks_off()
        return
    axis.fill_between(grid, piece.low, piece.high, color=ACCENT, alpha=0.15, linewidth=0)
    axis.plot(grid, piece.median, color=ACCENT, linewidth=1.8)
    axis.set_xlim(grid[0], grid[-1])
    ticker = require("matplotlib.ticker", "plot")
    if not piece.log:
        axis.xaxis.set_major_locator(ticker.MaxNLocator(4, integer=isinstance(piece.at, int)))
    elif grid[-1] > 50.0 * grid[0]:
        axis.xaxis.set_major_locator(ticker.LogLocator(numticks=5))
        axis.minorticks_off()


def _rug(axis: Any, insight: Insight, piece: Slice) -> None:
    """Ticks at the values that were tried: far from them the curve is a guess."""
    column = insight.space.columns.names.index(piece.name)
    units = insight.points[:, column]
    values = insight.vertex(column).along(column).scale.from_unit(units[~np.isnan(units)])
    heights = np.full(len(values), 0.02)
    axis.plot(
        values, heights, "|", transform=axis.get_xaxis_transform(), color=GREY, ms=5, mew=0.6, alpha=0.5
    )


def _points(axis: Any, places: Array, piece: Slice) -> None:
    reach = np.abs(np.stack([piece.median - piece.low, piece.high - piece.median]))
    size, width = (5.0, 3.5) if len(places) <= 2 * FEW else (3.0, 1.5)
    axis.errorbar(places, piece.median, reach, fmt="o", color=ACCENT, ecolor=PALE, ms=size, elinewidth=width)
    axis.margins(x=max(0.03, 0.8 / (len(places) + 1)) if len(places) > 1 else 0.4)


def _name_labels(axis: Any, labels: list[str]) -> None:
    tilt = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if sum(map(len, labels)) > 24 else {}
    shown = range(0, len(labels), max(1, len(labels) // 16))
    axis.set_xticks(list(shown), [plain(short(labels[i], 16)) for i in shown], fontsize=SMALL, **tilt)


def _limit(axis: Any, insight: Insight, slices: Sequence[Slice]) -> None:
    """Limits of the common value axis: all medians, and of the bands what lies within the values seen."""
    seen = np.array([trial.value for trial in insight.ranked], dtype=np.float64)
    bands = [np.clip(end, seen.min(), seen.max()) for piece in slices for end in (piece.low, piece.high)]
    shown = np.concatenate([*bands, *(piece.median for piece in slices), [float(insight.best.value or 0.0)]])
    bottom, top = float(shown.min()), float(shown.max())
    if wants_log(np.clip(shown, seen.min(), None)):
        bottom = max(bottom, float(seen.min()))
        axis.set_yscale("log", nonpositive="clip")
        axis.set_ylim(bottom * (bottom / top) ** 0.06, top * (top / bottom) ** 0.06)
    elif top > bottom:
        axis.set_ylim(bottom - 0.08 * (top - bottom), top + 0.08 * (top - bottom))
