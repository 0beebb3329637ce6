"""The parts of a sum: by how much the value changes with single parameters, or along directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hidim._optional import require
from hidim.insight import Component, Components, Effect
from hidim.insight.components import direction_name
from hidim.insight.findings import POOR
from hidim.insight.importance import percent
from hidim.insight.text import short
from hidim.plot.curves import rows_of
from hidim.plot.style import ACCENT, DARK, GREY, PALE, SMALL, heading, label, plain, quiet

#: The most panels of a picture, labels of a choice that are named, and characters below a panel.
MOST, NAMED, WIDE = 9, 8, 38

#: How the best trial is shown.
BEST: dict[str, Any] = {
    "marker": "o",
    "color": DARK,
    "ms": 6,
    "markeredgecolor": "white",
    "zorder": 5,
    "clip_on": False,
}


def panels_of(components: Sequence[Component]) -> list[tuple[int, Component, Effect]]:
    """The effects that get a panel, group by group: their group's place, the group, the effect."""
    every = [(place, c, effect) for place, c in enumerate(components) for effect in c.effects]
    return [entry for entry in every if entry[1].share >= 0.005 or entry[0] == 0][:MOST]


def draw_effects(figure: Any, grid: Any, components: Components) -> list[Any]:
    """One panel for every effect, with its 95 % band; all on one scale, so that heights compare."""
    shown = panels_of(components)
    rows = rows_of(len(shown))
    outer = grid.subgridspec(len(rows), 1)
    cells = [cell for row, count in enumerate(rows) for cell in outer[row].subgridspec(1, count)]
    lefts = np.cumsum([0, *rows[:-1]]).tolist()
    panels: list[Any] = []
    for cell, (place, component, effect) in zip(cells, shown, strict=True):
        axis = figure.add_subplot(cell, sharey=panels[0] if panels else None)
        quiet(axis)
        _draw(axis, effect)
        label(axis, x=_name(effect))
        several = f"group {place + 1}: " if len(component.effects) > 1 else ""
        title = f"{several}{percent(component.share)}"
        axis.set_title(title, loc="right", fontsize=SMALL, color=GREY)
        if len(panels) in lefts:
            label(axis, y="change of the value, 95 % band")
        else:
            axis.tick_params(axis="y", which="both", left=False, labelleft=False)
        panels.append(axis)
    heading(panels[0], "Away from the best")
    trust = f"left-out trials are predicted with R² = {components.quality:.2f}"
    guess = "" if components.quality > POOR else "a guess: "
    figure.supxlabel(guess + trust, fontsize=SMALL, color=GREY)
    means = np.concatenate([effect.mean for _, _, effect in shown])
    margin = 0.15 * max(float(np.ptp(means)), 1e-12)
    panels[0].set_ylim(float(means.min()) - margin, float(means.max()) + margin)
    return panels


def _name(effect: Effect) -> str:
    """What a panel is about; of a direction as many of its weights as fit."""
    if not effect.weights:
        return short(effect.name, WIDE)
    fewer = (direction_name(effect.weights, count) + " …" for count in (3, 2))
    names = [effect.name, *fewer, short(direction_name(effect.weights, 1), WIDE)]
    return next(name for name in names if len(name) <= WIDE)


def _draw(axis: Any, effect: Effect) -> None:
    axis.axhline(0.0, color=PALE, linewidth=1.0, zorder=0)
    if isinstance(effect.grid, tuple):
        places = np.arange(len(effect.grid))
        reach = np.stack([effect.mean - effect.low, effect.high - effect.mean])
        axis.errorbar(places, effect.mean, reach, fmt="o", color=ACCENT, ecolor=PALE, ms=5, elinewidth=3.5)
        named = places[:: max(1, len(places) // NAMED)]
        room = max(3, WIDE // len(named))
        axis.set_xticks(
            named, [plain(short(str(effect.grid[place]), room)) for place in named], fontsize=SMALL
        )
        axis.margins(x=0.2)
        if effect.at is not None:
            axis.plot([effect.grid.index(effect.at)], [0.0], **BEST)
        return
    grid = np.asarray(effect.grid, dtype=np.float64)
    if effect.log:
        axis.set_xscale("log")
    axis.fill_between(grid, effect.low, effect.high, color=ACCENT, alpha=0.15, linewidth=0)
    axis.plot(grid, effect.mean, color=ACCENT, linewidth=1.8)
    axis.set_xlim(grid[0], grid[-1])
    if not effect.log:
        whole = bool(np.all(grid == np.round(grid)))
        axis.xaxis.set_major_locator(require("matplotlib.ticker", "plot").MaxNLocator(4, integer=whole))
    if effect.at is not None:
        axis.plot([effect.at], [0.0], **BEST)
