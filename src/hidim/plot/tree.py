"""The tree of a conditional space: a box for every node, with its trials, best value and expected best value.

All lengths are inches of a picture at full size; where there is less room, boxes and letters shrink together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hidim._optional import require
from hidim.insight import Branch, Branches, Insight
from hidim.insight.branches import expectation
from hidim.insight.choices import NOTABLE
from hidim.insight.findings import POOR
from hidim.insight.importance import percent
from hidim.insight.text import counted, short
from hidim.plot.layout import LARGE, LITTLE, Arrangement, Size, below
from hidim.plot.style import ACCENT, DARK, GREY, PALE, SMALL, heading, plain, wants_log
from hidim.space.nodes import Node

#: The part of the accent colour in the boxes of the best and of the worst node.
DEEPEST, PALEST = 0.42, 0.03
#: How much wider boxes may be drawn to fill a panel.
STRETCHED = 1.4
#: What is said of a node that several options lead to.
SHARED = " (shared)"
#: Widths of a letter of one point: bold, and not.
BOLD, LIGHT = 0.0092, 0.0078
_CORNERS = "round,pad=0,rounding_size=0.06"


def draw_tree(axis: Any, insight: Insight, layout: Arrangement, width: float) -> None:
    """The boxes and the lines between them, in a panel that is `width` inches wide."""
    size, (first, last) = layout.size, layout.rows
    scale = min(1.0, width / layout.width)
    axis.spines[:].set_visible(False)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_xlim(-0.05, max(layout.width, width / STRETCHED) - 0.05)
    axis.set_ylim(size.down * (last + 0.7), size.down * (first - 0.5))
    heading(axis, "Branches")
    leading = {id(branch.node) for branch in layout.shown if branch.leads}
    for branch in layout.shown:
        for node in below(branch.node):
            if id(node) in layout.at:
                _link(axis, layout, branch.node, node, followed={id(branch.node), id(node)} <= leading)
    titles, modelled = _titles(layout.shown), insight.branches().learned is not None
    colours = _colours(layout.shown, maximize=insight.maximize)
    for branch, colour in zip(layout.shown, colours, strict=True):
        column, row = layout.at[id(branch.node)]
        x, y = column * size.across, row * size.down - size.height / 2.0
        _box(axis, branch, colour, x, y, size)
        for text in _texts(branch, *titles[id(branch.node)], size, modelled=modelled):
            _write(axis, text, x, y, size, scale)
    key = _key(insight.branches(), layout)
    axis.set_xlabel(key, loc="left", multialignment="left", fontsize=SMALL, color=GREY)


def _link(axis: Any, layout: Arrangement, above: Node, node: Node, *, followed: bool) -> None:
    (left, start), (right, end) = layout.at[id(above)], layout.at[id(node)]
    size = layout.size
    begin, stop, gap = left * size.across + size.width, right * size.across, size.across - size.width
    lane = start if right == left + 1 else _lane(layout, left, right, start, end)
    t = np.linspace(0.0, 1.0, 25)
    rise = t * t * (3.0 - 2.0 * t)
    x, y = stop - gap + gap * t, lane + (end - lane) * rise
    if lane != start:
        x, y = np.append(begin + gap * t, x), np.append(start + (lane - start) * rise, y)
    x, y = np.append(begin, x), size.down * np.append(start, y)
    colour, width = (ACCENT, 1.8) if followed else (PALE, 1.0)
    style = "--" if node in above.beside else "-"
    axis.plot(x, y, zorder=1 + followed, linestyle=style, color=colour, linewidth=width)


def _lane(layout: Arrangement, left: float, right: float, start: float, end: float) -> float:
    """The height, in rows, at which a line passes the columns between two boxes without meeting another."""
    between = [row for column, row in layout.at.values() if left < column < right]
    clear = 0.5 * layout.size.height / layout.size.down + 0.05
    heights = [start, end, *(row + side for row in between for side in (-0.5, 0.5))]
    free = [h for h in heights if all(abs(h - row) > clear for row in between)]
    return min(free, key=lambda h: abs(h - start) + abs(h - end), default=start)


def _box(axis: Any, branch: Branch, colour: Any, x: float, y: float, size: Size) -> None:
    edge, width = (ACCENT, 1.8) if branch.leads else (PALE, 0.8)
    style = ":" if branch.best is None else "-"
    box = require("matplotlib.patches", "plot").FancyBboxPatch(
        (x, y), size.width, size.height, boxstyle=_CORNERS, facecolor=colour, edgecolor=edge, linewidth=width,
        linestyle=style, zorder=3,
    )  # fmt: skip
    axis.add_patch(box)


def _colours(shown: Sequence[Branch], *, maximize: bool) -> list[list[float]]:
    """The better the best value of a node, the more colour has its box."""
    values = np.array([np.nan if b.best is None else b.best.value for b in shown], dtype=np.float64)
    tried = ~np.isnan(values)
    if wants_log(values[tried]):
        values = np.log(values)
    depth = np.where(tried, PALEST, 0.0)
    low, high = (np.min(values[tried]), np.max(values[tried])) if tried.any() else (0.0, 0.0)
    if high > low:
        good = (values - low if maximize else high - values) / (high - low)
        depth[tried] += (DEEPEST - PALEST) * good[tried]
    accent = np.array(require("matplotlib.colors", "plot").to_rgb(ACCENT))
    mixed: list[list[float]] = (1.0 - depth[:, None] * (1.0 - accent)).tolist()
    return mixed


# -- words in and under a box ------------------------------------------------------------------------------


class _Text(NamedTuple):
    """Words at a place in a box; `left` is negative where they end at the right."""

    words: str
    left: float
    top: float
    points: float
    colour: str = DARK
    bold: bool = False


def _write(axis: Any, text: _Text, x: float, y: float, size: Size, scale: float) -> None:
    at_right = text.left < 0.0
    axis.text(
        x + text.left + (size.width if at_right else 0.0), y + text.top, plain(text.words), va="center",
        zorder=4, ha="right" if at_right else "left", fontsize=text.points * scale, color=text.colour,
        fontweight="bold" if text.bold else "normal",
    )  # fmt: skip


def _texts(branch: Branch, name: str, label: str, size: Size, *, modelled: bool) -> Iterator[_Text]:
    best = "" if branch.best is None else f"{branch.best.value:.4g}"
    failed = f"{branch.failed} failed" if branch.failed else ""
    share = branch.share if branch.share is not None and branch.share >= NOTABLE else None
    if size is LARGE:
        title, small = SMALL, SMALL - 0.5
        count = counted(branch.complete, "trial")
        yield _Text(count, -0.08, 0.15, small - 0.5, GREY)
        yield _Text("best" if best else "no value", 0.08, 0.36, small, GREY)
        yield _Text(best, 0.7, 0.36, small)
        yield _Text(failed, -0.08, 0.36, small - 0.5, GREY)
        if modelled:
            yield _Text("expected", 0.08, 0.55, small, GREY)
            yield _Text(expectation(branch), 0.7, 0.55, small)
        tail = f", {branch.paths} of {branch.ways} branches"
        under, top = small - 0.5, 0.15
    else:
        title, small = SMALL - 1.0, SMALL - 2.0
        count = ", ".join([str(branch.complete), failed] if failed else [str(branch.complete)])
        yield _Text(count, -0.07, 0.12, small, GREY)
        yield _Text(best or "no value", 0.07, 0.29, small + 0.5, DARK if best else GREY)
        yield _Text(expectation(branch) if modelled else "", -0.07, 0.29, small, GREY)
        tail = ""
        under, top = small - 0.5, 0.12
    room = size.width - 0.24 - len(count) * small * LIGHT
    yield _Text(_decision(name, label, int(room / (title * BOLD))), 0.08, top, title, bold=True)
    if share is not None:
        text = f"{_named(branch.names, 16)}: {percent(share)}{tail}"
        yield _Text(text, 0.08, size.height + under / 72.0, under, ACCENT)


def _titles(shown: Sequence[Branch]) -> dict[int, tuple[str, str]]:
    """The last decision that leads to a node, choice and label, since those before it stand to the left."""
    titles = {id(b.node): (b.node.title, SHARED) if b.node.title else ("all", "") for b in shown}
    for branch in shown:
        for fork in branch.node.forks:
            for option in fork.options:
                titles[id(option)] = fork.vertex.name, option.title.removeprefix(fork.vertex.title)
    return titles


def _decision(name: str, label: str, most: int) -> str:
    """Name and label in at most so many characters; the name is cut first, and that it is shared left out.

    Example:
        >>> _decision("model", "=svm", 12), _decision("classification_model", "=svm", 12)
        ('model=svm', 'clas…del=svm')
        >>> _decision("lr", SHARED, 12)
        'lr'
    """
    if len(label) > most - 4:
        label = "" if label == SHARED else short(label, max(most - 4, 4))
    return short(name, max(most - len(label), 4)) + label


def _named(names: Sequence[str], most: int) -> str:
    """Names in at most so many characters.

    Example:
        >>> _named(["lr"], 9), _named(["alpha", "beta", "gamma"], 14)
        ('lr', 'alpha & 2 more')
    """
    whole = ", ".join(names)
    if len(names) == 1 or len(whole) <= most:
        return short(whole, most)
    tail = f" & {len(names) - 1} more"
    return short(names[0], max(most - len(tail), 4)) + tail


def _key(known: Branches, layout: Arrangement) -> str:
    lines = ["Blue lines lead to the best trial; the darker a box, the better its best value."]
    if known.learned is None:
        lines.append(f"No expected values: {known.unknown}.")
    else:
        quality = known.learned.quality
        trust = f"R² on left-out trials: {quality:.2f}" if quality > POOR else "a guess"
        what = (
            "Expected"
            if layout.size is not LITTLE
            else "Number of trials, best value; in grey what is expected"
        )
        lines.append(
            f"{what}: the best value attainable, by a model of the tree, and its 95 % interval ({trust});\n"
            "– where there are fewer than 5 trials."
        )
    if any((branch.share or 0.0) >= NOTABLE for branch in layout.shown):
        tail = ", and in how many branches that was learnt" if layout.size is LARGE else ""
        lines.append(f"Under a box: the share of its parameters in the variation where they exist{tail}.")
    if layout.left_out:
        lines.append(f"Not shown: {counted(layout.left_out, 'node')} with worse values or none.")
    return "\n".join(lines)
