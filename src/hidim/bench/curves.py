"""Convergence plots: median regret with a band between the quartiles, one panel per problem."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from hidim._optional import require
from hidim.bench.report import ours_first, regret_curve
from hidim.bench.runner import Record
from hidim.errors import HidimError

FLOOR = 1e-12  # regrets below are rounding of the optimum, and zero has no logarithm
COLUMNS = 3


def plot_convergence(records: Sequence[Record], path: Path) -> None:
    """Draw every problem of `records` into the picture `path`, whose ending decides the format."""
    good = [record for record in records if not record["error"]]
    if not good:
        raise HidimError("there is no run without error to plot")
    require("matplotlib", "bench").use("Agg")
    from matplotlib import pyplot

    problems = list(dict.fromkeys(record["problem"] for record in good))
    methods = sorted({record["method"] for record in good}, key=ours_first)
    columns = min(COLUMNS, ceil(sqrt(len(problems))))
    rows = ceil(len(problems) / columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(4.4 * columns, 3.2 * rows + 0.6), squeeze=False, layout="constrained"
    )
    for axis, problem in zip(axes.flat, problems, strict=False):
        _panel(axis, problem, methods, [record for record in good if record["problem"] == problem])
    for axis in axes.flat[len(problems) :]:
        axis.remove()
    _label(figure, axes, methods)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _panel(axis: Any, problem: str, methods: Sequence[str], records: Sequence[Record]) -> None:
    for place, method in enumerate(methods):
        curves = [regret_curve(record) for record in records if record["method"] == method]
        if not curves:
            continue
        shortest = min(map(len, curves))
        stack = np.maximum([curve[:shortest] for curve in curves], FLOOR)
        low, middle, high = np.quantile(stack, [0.25, 0.5, 0.75], axis=0)
        steps, colour = np.arange(1, shortest + 1), f"C{place % 10}"
        axis.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)
        axis.plot(steps, middle, color=colour, linewidth=1.8, label=method)
    axis.set_title(problem, fontsize=11)
    axis.set_yscale("log")
    axis.margins(x=0)
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)


def _label(figure: Any, axes: Any, methods: Sequence[str]) -> None:
    figure.supxlabel("evaluations", fontsize=11)
    figure.supylabel("regret, median and quartiles", fontsize=11)
    handles: dict[str, Any] = {}
    for axis in axes.flat:
        lines, names = axis.get_legend_handles_labels()
        handles |= dict(zip(names, lines, strict=True))
    figure.legend(
        [handles[method] for method in methods],
        methods,
        loc="outside upper center",
        ncols=min(len(methods), 6),
        frameon=False,
    )
