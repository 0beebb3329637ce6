"""Real tasks on the command line: to be run on several methods, and drawn as mean curves."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hidim._settings import split_names
from hidim._types import Array
from hidim.bench.runner import Record, plan, read_records, sweep
from hidim.errors import HidimError
from hidim.plot.style import finish, heading, label, new_figure, quiet

COLOURS = ("#1f6feb", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#6e7781")


def curves(records: Sequence[Record], problem: str, method: str) -> Array:
    """The best values less the optimum (seeds, evaluations) of a cell, as far as the shortest run goes."""
    found = [r for r in records if (r["problem"], r["method"]) == (problem, method) and not r["error"]]
    every = [np.fmin.accumulate(np.array(run["values"], dtype=float)) - run["optimum"] for run in found]
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


@dataclass(frozen=True)
class Task:
    """A problem of `NAMED`, and how it is run.

    Args:
        methods: by commas.
        value: what the axis is called.
        evaluations: of a run.
        data: the variable that says where its data are, if it needs any.
    """

    methods: str
    value: str
    evaluations: int
    data: str | None = None


def plot(tasks: Mapping[str, Task], records: Sequence[Record], path: Path) -> None:
    """The best value so far, mean and standard error over the seeds: one panel a task."""
    known = [name for name in tasks if any(record["problem"] == name for record in records)]
    figure = new_figure(4.4 * len(known), 3.7)
    for axis, name in zip(figure.subplots(1, len(known), squeeze=False)[0], known, strict=True):
        quiet(axis)
        heading(axis, name)
        for method, colour in zip(split_names(tasks[name].methods), COLOURS, strict=False):
            draw(axis, curves(records, name, method), method, colour)
        # From where a tenth of the evaluations leads: before, all curves fall, and from far above the others.
        every = [curves(records, name, method) for method in split_names(tasks[name].methods)]
        axis.set_ylim(top=max(float(found[:, found.shape[1] // 10].mean()) for found in every if len(found)))
        label(axis, x="evaluations", y=tasks[name].value)
        axis.legend(fontsize=7.5, frameon=False)
    finish(figure, path)


def main(tasks: Mapping[str, Task], about: str | None, out: str) -> int:
    """Run the tasks, or draw what was run."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=["run", "plot"], nargs="?", default="run")
    parser.add_argument("results", type=Path, nargs="?", help="of `run`, to be drawn")
    parser.add_argument("--data", type=Path, help="where the data are")
    parser.add_argument("--problems", type=split_names, default=list(tasks), help="by commas")
    parser.add_argument("--methods", type=split_names, help="by commas, instead of those of the picture")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 to N-1")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path(out))
    options = parser.parse_args()
    if options.action == "plot":
        plot(tasks, read_records(options.results), options.out)
        return 0
    failed = False
    for name in options.problems:
        task = tasks[name]
        if task.data is not None and options.data is not None:
            os.environ[task.data] = str(options.data.resolve())
        if task.data is not None and task.data not in os.environ:
            raise HidimError(f"give --data, or set {task.data}")
        methods = options.methods or split_names(task.methods)
        jobs = plan([name], methods, range(options.seeds), task.evaluations)
        failed |= any(record["error"] for record in sweep(jobs, options.out, options.jobs))
    return int(failed)
