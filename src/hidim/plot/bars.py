"""Shares of the parameters as bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from hidim.insight import Insight
from hidim.insight.findings import POOR
from hidim.insight.importance import Entry, Importance, percent
from hidim.insight.text import shortened
from hidim.plot.style import ACCENT, DARK, GREY, PALE, SMALL, heading, label, plain, quiet

#: Bars of single names, and characters of a name.
MOST, LONGEST = 12, 30
#: Room for at least so many bars: a single one should not fill the panel.
FEWEST = 5


def draw_importance(axis: Any, insight: Insight) -> None:
    """The most important parameters, and all others in one grey bar."""
    shares = insight.importance()
    entries = _entries(shares)
    others = len(shares.shares) - sum(len(entry.columns) for entry in entries)
    names = shortened([entry.name for entry in entries], LONGEST)
    widths = [entry.share for entry in entries]
    colours = [ACCENT] * len(entries)
    if others:
        names.append("the other" if others == 1 else f"the other {others}")
        widths.append(max(1.0 - sum(widths), 0.0))
        colours.append(PALE)
    quiet(axis)
    axis.grid(visible=False)
    heading(axis, "Importance")
    places = np.arange(len(names))
    axis.barh(places, widths, color=colours, height=0.62)
    for place, width in zip(places, widths, strict=True):
        axis.text(width, place, f" {percent(width)}", va="center", ha="left", fontsize=SMALL, color=GREY)
    axis.set_yticks(places, [plain(name) for name in names], fontsize=SMALL, color=DARK)
    axis.set_ylim(max(len(names), FEWEST) - 0.4, -0.6)
    axis.set_xlim(0.0, 1.18 * max(widths))
    axis.tick_params(axis="y", length=0)
    axis.set_xticks([])
    axis.spines["bottom"].set_visible(False)
    quality = insight.learned.quality
    trust = f"left-out trials are predicted with R² = {quality:.2f}" if quality > POOR else "which is a guess"
    label(axis, x=f"share of the variation as the model sees it,\n{trust}")


def _entries(shares: Importance) -> list[Entry]:
    entries = shares.entries(MOST)
    nothing_to_compare = len(entries) == 1 and len(entries[0].columns) > 1
    return shares.entries(MOST, singly=True) if nothing_to_compare else entries
