"""The pictures that people ask for, put together from their panels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from hidim.errors import HidimError
from hidim.insight import Insight
from hidim.plot.bars import draw_importance
from hidim.plot.curves import draw_slices, rows_of
from hidim.plot.effects import draw_effects, panels_of
from hidim.plot.layout import Arrangement, lay_out
from hidim.plot.progress import draw_convergence
from hidim.plot.style import finish, new_figure, note
from hidim.plot.tree import draw_tree
from hidim.space import Space
from hidim.trial import History, Trial

_Path = str | os.PathLike[str] | None

#: In inches: the width of a page with everything, of pictures of a tree, and of their margins together.
PAGE, NARROWEST, WIDEST, MARGIN = 11.0, 7.0, 16.0, 0.3

#: The largest values of which there are pictures.
DRAWABLE = 1e300


def overview(
    space: Space | Insight,
    history: History | None = None,
    *,
    maximize: bool | None = None,
    best: Trial | None = None,
    path: _Path = None,
) -> Any:
    """One page: convergence, importance, and slices through the best point along what matters most.

    Of a conditional space, the best nodes of its tree come last. Where the trials are too few for a model,
    the page says so and shows convergence alone.

    Args:
        space: what can vary; or an `Insight`, which knows everything.
        history: all trials.
        maximize: whether large values are good; by default as the history says.
        best: the trial through which the slices go; by default the one with the best value.
        path: where to save the picture; its ending decides the format.

    Example:
        >>> from hidim import Float, Space
        >>> trials = [Trial({"x": 0.1 * i}, i).completed(0.01 * i**2, rank=i) for i in range(10)]
        >>> figure = overview(Space(x=Float(0, 1)), History(trials))
        >>> [axis.get_title(loc="left") for axis in figure.axes]
        ['Convergence', 'Importance', 'Slices through the best']
    """
    insight = _insight(space, history, maximize, best)
    try:
        pieces = insight.slices()
    except HidimError as error:
        figure = new_figure(8.0, 4.0)
        above, below = figure.subplots(2, 1, height_ratios=[1.0, 0.08])
        draw_convergence(above, insight)
        note(below, f"No importance and no slices: {error}.")
        return finish(figure, path)
    rows = len(rows_of(len(pieces)))
    layout = _layout(insight)
    heights = [3.9, 2.5 * rows, *([_height(layout, PAGE)] if layout else [])]
    figure = new_figure(PAGE, sum(heights))
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    left, right = grid[0].subgridspec(1, 2, width_ratios=[1.7, 1.0])
    draw_convergence(figure.add_subplot(left), insight)
    draw_importance(figure.add_subplot(right), insight)
    draw_slices(figure, grid[1], insight, pieces)
    if layout:
        draw_tree(figure.add_subplot(grid[2]), insight, layout, PAGE - MARGIN)
    return finish(figure, path)


def _insight(
    space: Space | Insight, history: History | None, maximize: bool | None, best: Trial | None = None
) -> Insight:
    if isinstance(space, Insight):
        insight = space
    elif history is None:
        raise HidimError(
            "a picture is drawn of a space and its history, or of an Insight, as result.insight() or "
            "Insight.from_study(study) gives it"
        )
    else:
        insight = Insight(space, history, maximize=maximize, best=best)
    _check_drawable(insight.history)
    return insight


def _check_drawable(history: History) -> None:
    largest = float(np.max(np.abs(history.losses(maximize=False)), initial=0.0))
    if largest > DRAWABLE:
        raise HidimError(
            f"values up to {largest:.2g} cannot be drawn, since axes overflow: return at most {DRAWABLE:g}, "
            "or fail where there is no value"
        )


def _layout(insight: Insight) -> Arrangement | None:
    """Of the best nodes, for a part of a page; None without a tree."""
    try:
        return lay_out(insight.branches(), maximize=insight.maximize, most=16, roomy=8)
    except HidimError:
        return None


def _height(layout: Arrangement, width: float) -> float:
    """Of a panel of that width: the tree, its heading and its key."""
    return layout.height * min(1.0, (width - MARGIN) / layout.width) + 1.0


def convergence(
    space: Space | Insight,
    history: History | None = None,
    *,
    maximize: bool | None = None,
    best: Trial | None = None,
    path: _Path = None,
) -> Any:
    """Every value in the order of finishing, the best so far, and failed trials at the margin."""
    figure = new_figure(7.5, 4.0)
    draw_convergence(figure.subplots(), _insight(space, history, maximize, best))
    return finish(figure, path)


def importance(
    space: Space | Insight,
    history: History | None = None,
    *,
    maximize: bool | None = None,
    path: _Path = None,
) -> Any:
    """The twelve most important parameters, and all others in one bar.

    Coordinates of a long `Vector` stand singly where they dominate. See `Insight.importance`.
    """
    insight = _insight(space, history, maximize)
    count = len(insight.importance().entries(12))
    figure = new_figure(6.5, 1.3 + 0.28 * max(count, 3))
    draw_importance(figure.subplots(), insight)
    return finish(figure, path)


def slices(
    space: Space | Insight,
    history: History | str | None = None,
    *names: str,
    maximize: bool | None = None,
    best: Trial | None = None,
    path: _Path = None,
) -> Any:
    """The objective along single parameters through the best point, with a central 95 % band.

    By default along the six most important ones. See `Insight.slices`.
    """
    if isinstance(history, str):  # of an insight, names come next
        names, history = (history, *names), None
    insight = _insight(space, history, maximize, best)
    pieces = insight.slices(*names)
    rows = rows_of(len(pieces))
    figure = new_figure(3.6 * max(rows[0], 1.5), 2.7 * len(rows))
    draw_slices(figure, figure.add_gridspec(1, 1)[0], insight, pieces)
    return finish(figure, path)


def components(
    space: Space | Insight,
    history: History | None = None,
    *,
    groups: Sequence[Sequence[str]] | None = None,
    maximize: bool | None = None,
    best: Trial | None = None,
    path: _Path = None,
) -> Any:
    """The change of the value with single parameters, or along learnt directions, strongest groups first.

    All panels have one scale. See `Insight.components`.
    """
    known = _insight(space, history, maximize, best).components(groups)
    rows = rows_of(len(panels_of(known)))
    figure = new_figure(3.6 * max(rows[0], 1.5), 2.7 * len(rows))
    draw_effects(figure, figure.add_gridspec(1, 1)[0], known)
    return finish(figure, path)


def tree(
    space: Space | Insight,
    history: History | None = None,
    *,
    maximize: bool | None = None,
    best: Trial | None = None,
    path: _Path = None,
) -> Any:
    """The tree of a conditional space: trials, best value and expected best value of every node.

    Of more than sixty nodes the best are shown. See `Insight.branches`; a space without branches is a
    `HidimError`.
    """
    insight = _insight(space, history, maximize, best)
    layout = lay_out(insight.branches(), maximize=insight.maximize)
    width = min(max(layout.width, NARROWEST), WIDEST) + MARGIN
    figure = new_figure(width, _height(layout, width))
    draw_tree(figure.subplots(), insight, layout, width - MARGIN)
    return finish(figure, path)
