"""The picture of docs/embeddings.md: what a random embedding is, where it works, and where it does not.

    hidim bench run --problems branin-1000,levy-20-shifted --seeds 10 --evaluations 200 \\
        --methods "hidim:rembo(low=2),hidim:rembo,hidim:baxus,hidim:gp,hidim:random" \\
        --out benchmarks/results/embeddings.jsonl
    python benchmarks/embeddings.py benchmarks/results/embeddings.jsonl --out docs/img/embeddings.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hidim.bench.report import regret_curve
from hidim.bench.runner import Record, read_records
from hidim.embed import Gaussian

COLOURS = {
    "hidim:rembo(low=2)": "#c1440e",
    "hidim:rembo": "#e8a27c",
    "hidim:baxus": "#2a6f97",
    "hidim:gp": "#444444",
    "hidim:random": "#aaaaaa",
}
TITLES = {
    "branin-1000": "Works: 2 of 1000 parameters matter",
    "levy-20-shifted": "Does not: all of 20 parameters matter",
}


def draw_idea(axes: Axes) -> None:
    """A function of two parameters, of which one matters, and a line that crosses all its values."""
    side = np.linspace(-1.6, 1.6, 200)
    height = np.sin(2.2 * side + 0.5) + 0.35 * side**2
    axes.contourf(side, side, np.repeat(height[:, None], 200, axis=1), levels=14, cmap="YlGnBu", alpha=0.55)
    axes.add_patch(matplotlib.patches.Rectangle((-1, -1), 2, 2, fill=False, lw=1.5, ec="#333333"))
    line = Gaussian(high=2, low=1, seed=12)
    y = np.linspace(-1.0, 1.0, 400)[:, None]
    raw, clipped = y @ line.rows(np.arange(2)).T, line.lift(y, np.arange(2))
    axes.plot(*raw.T, ls=":", lw=1.2, color="#c1440e", label="A y")
    axes.plot(*clipped.T, lw=2.5, color="#c1440e", label="clip(A y)")
    axes.plot(
        [-1, 1],
        [side[np.argmin(np.where(np.abs(side) <= 1, height, 9))]] * 2,
        lw=1,
        ls="--",
        color="#333333",
        label="optimum",
    )
    axes.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), xlabel="does not matter", ylabel="matters", aspect="equal")
    axes.set_title("A random line meets every value", fontsize=11)
    axes.legend(loc="upper left", fontsize=8, frameon=True)


def draw_curves(axes: Axes, records: list[Record], problem: str) -> None:
    """Median and quartiles of the regret of each method."""
    for method, colour in COLOURS.items():
        runs = [r for r in records if (r["problem"], r["method"]) == (problem, method) and not r["error"]]
        if not runs:
            continue
        curves = np.maximum([regret_curve(record) for record in runs], 1e-9)
        low, middle, high = np.quantile(curves, [0.25, 0.5, 0.75], axis=0)
        steps = np.arange(1, len(middle) + 1)
        axes.fill_between(steps, low, high, color=colour, alpha=0.15, lw=0)
        axes.plot(steps, middle, color=colour, lw=1.8, label=method.removeprefix("hidim:"))
    axes.set(yscale="log", xlabel="evaluations", ylabel="regret (median, quartiles)")
    axes.set_title(TITLES[problem], fontsize=11)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, frameon=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    records = read_records(options.results)
    figure = Figure(figsize=(12.5, 3.9), layout="constrained")
    axes = figure.subplots(1, 3)
    draw_idea(axes[0])
    for place, problem in enumerate(TITLES, start=1):
        draw_curves(axes[place], records, problem)
    figure.savefig(options.out, dpi=130)


if __name__ == "__main__":
    main()
