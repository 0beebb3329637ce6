"""Elastic GP's figures 3 and 4, drawn from `hidim bench paper elastic-figures`.

python benchmarks/elastic_figures.py results/elastic-figures.jsonl --out docs/img/elastic-figures.png
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from real_tasks import COLOURS, curves, draw

from hidim.bench.papers.elastic import EVALUATIONS, NAMES
from hidim.bench.runner import read_records
from hidim.plot.style import finish, heading, label, new_figure, quiet

SHOWN = ("EGP", "multistart", "EGP, log EI", "multistart, log EI", "gp", "gp, elastic search", "2 × random")


def picture(results: Path, path: Path) -> None:
    """Mean regret and its standard error, one panel a problem; the last is the legend."""
    records = read_records(results)
    figure = new_figure(11.0, 6.4)
    axes: list[Any] = list(figure.subplots(2, 3).flat)
    for axis, (problem, evaluations) in zip(axes, EVALUATIONS.items(), strict=False):
        quiet(axis)
        heading(axis, problem)
        for name, colour in zip(SHOWN, COLOURS, strict=True):
            found = curves(records, problem, NAMES[name])
            twice = 2 if NAMES[name] == "random" else 1  # random search evaluates two points a step
            draw(axis, found[:, twice - 1 :: twice] if len(found) else found, name, colour)
        axis.set_xlim(1, evaluations)
        if not problem.startswith("gaussian"):
            axis.set_yscale("log")
        label(axis, x="evaluations", y="regret")
    axes[-1].axis("off")
    axes[-1].legend(*axes[0].get_legend_handles_labels(), loc="center", frameon=False, fontsize=10)
    finish(figure, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/img/elastic-figures.png"))
    options = parser.parse_args()
    picture(options.results, options.out)
