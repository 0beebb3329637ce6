"""BOCK's figure 4: own time on Rosenbrock in 20, 50 and 100 dimensions (200, 400 and 600 evaluations).

    python benchmarks/bock_growth.py benchmarks/results/bock*.jsonl --out docs/img/bock-growth.png

Left: of a whole run, mean and deviation over the seeds, as in the paper. Right: of single suggestions in 100
dimensions, as trials add up; the mean of all runs and of thirty neighbours.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from hidim._types import Array
from hidim.bench.papers.bock import COMPARED, EVALUATIONS
from hidim.bench.runner import Record, read_records
from hidim.plot.style import finish, heading, label, new_figure, quiet

COLOURS = dict(zip(COMPARED, ("#1f6feb", "#9a6700", "#bf3989", "#24292f"), strict=True))
WINDOW = 31


def seconds(records: list[Record], dim: int, method: str) -> Array:
    """Own seconds (seeds, evaluations)."""
    found = [
        record["ask_seconds"]
        for record in records
        if (record["problem"], record["method"]) == (f"rosenbrock-{dim}", method)
        and not record["error"]
        and record["evaluations"] == EVALUATIONS[dim]
    ]
    return np.array(found).reshape(len(found), EVALUATIONS[dim])


def totals(axis: Any, records: list[Record], method: str) -> None:
    runs = {dim: seconds(records, dim, method).sum(axis=1) / 60 for dim in EVALUATIONS}
    dims = [dim for dim, found in runs.items() if len(found)]
    if dims:
        means, spread = (np.array([make(runs[dim]) for dim in dims]) for make in (np.mean, np.std))
        name = method.removeprefix("hidim:")
        axis.errorbar(dims, means, spread, color=COLOURS[method], marker="o", capsize=3, label=name)


def single(axis: Any, records: list[Record], method: str) -> None:
    found = seconds(records, 100, method)
    if len(found):
        middle = np.mean(found, axis=0)
        windows = np.lib.stride_tricks.sliding_window_view(middle, WINDOW)
        axis.plot(np.arange(len(windows)) + WINDOW // 2 + 1, np.mean(windows, axis=1), color=COLOURS[method])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("docs/img/bock-growth.png"))
    options = parser.parse_args()
    records = [record for path in options.results for record in read_records(path)]
    figure = new_figure(9.2, 3.6)
    left, right = figure.subplots(1, 2)
    for axis, text in ((left, "A run on Rosenbrock"), (right, "A suggestion in 100 dimensions")):
        quiet(axis)
        heading(axis, text)
        axis.set_yscale("log")
    for method in COMPARED:
        totals(left, records, method)
        single(right, records, method)
    left.set_xticks(list(EVALUATIONS), [f"{dim}\n({n} trials)" for dim, n in EVALUATIONS.items()])
    left.legend(fontsize=8, frameon=False)
    label(left, x="dimensions", y="own time, minutes")
    label(right, x="trials", y="own time, seconds")
    finish(figure, options.out)


if __name__ == "__main__":
    main()
