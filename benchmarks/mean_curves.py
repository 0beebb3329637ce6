"""The best value so far against evaluations, mean and error over the seeds: one panel a problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hidim._types import Array
from hidim.bench.report import regret_curve
from hidim.bench.runner import Record

COLOURS = ("#1f6feb", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#6e7781")


def curves(records: Sequence[Record], problem: str, method: str) -> Array:
    """The runs (seeds, evaluations) of a cell, as far as the shortest of them goes."""
    found = [r for r in records if (r["problem"], r["method"]) == (problem, method) and not r["error"]]
    every = [regret_curve(record) for record in found]
    shortest = min(map(len, every), default=0)
    return np.array([curve[:shortest] for curve in every])


def draw(axis: Any, found: Array, name: str, colour: str, *, deviation: bool = False) -> None:
    """Mean and standard error (or deviation) of (seeds, evaluations); nothing if there are no runs."""
    if not len(found):
        return
    mean, spread, at = found.mean(axis=0), found.std(axis=0), np.arange(1, found.shape[1] + 1)
    if not deviation:
        spread = spread / np.sqrt(len(found))
    axis.plot(at, mean, color=colour, linewidth=1.6, label=name.removeprefix("hidim:"))
    axis.fill_between(at, mean - spread, mean + spread, color=colour, alpha=0.12, linewidth=0)
