"""The picture of docs/elastic.md: a walk down the length-scales in one dimension.

python benchmarks/elastic.py --out docs/img/elastic.png
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

from hidim.acquisition.improvement import ExpectedImprovement
from hidim.gp.kernels import Scaled, SquaredExponential, Stationary
from hidim.gp.maps import Scale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior
from hidim.optim import Elastic
from hidim.optim.base import Objective, Score
from hidim.optim.elastic import Start
from hidim.plot.style import ACCENT, DARK, GREY, PALE, finish, heading, label, new_figure, quiet

TARGET, START, SIDE = 0.02, 0.3, 1201
X = np.array([0.72, 0.84, 0.95])
Y = np.array([-1.0, 0.2, 0.8])


def posterior() -> Posterior:
    model = Model(Scaled(Stationary(SquaredExponential(), Scale(1, ard=False))))
    theta = np.where(model.holds("log_lengthscale"), math.log(TARGET), 0.0)
    theta[-1] = math.log(1e-4)
    return Posterior(model, theta, X[:, None], Y)


def _dot(axis: Any, step: tuple[float, float, float], colour: str, *, hollow: bool = False) -> None:
    axis.plot(*step[1:], "o", color=colour, markersize=6, markerfacecolor="white" if hollow else colour)


def draw(path: Path) -> None:
    known, best = posterior(), float(Y.min())
    line = np.linspace(0.0, 1.0, SIDE)[:, None]
    steps: list[tuple[float, float, float]] = []

    def family(factor: float) -> Objective:
        objective = ExpectedImprovement(best).on(known if factor == 1.0 else known.stretched(factor))

        def spying(u: np.ndarray) -> Score:
            score = objective(u)
            steps.append((factor, float(u[0, 0]), float(score.value[0])))
            return score

        return spying

    walk = Elastic(longest=16.0, calls=20).walk(
        family, Start(np.array([[START]]), np.zeros(1), np.ones(1)), 2000
    )
    path_of = walk.paths[0]
    turn = next(place for place, step in enumerate(steps) if step[0] == max(path_of))
    levels = [1.0, *sorted({2.0**k for k in range(1, round(math.log2(max(path_of))) + 1)})]
    figure = new_figure(8.4, 1.35 * len(levels) + 0.6)
    axes = figure.subplots(len(levels), 1, sharex=True)
    for axis, factor in zip(axes, reversed(levels), strict=True):
        quiet(axis)
        values = ExpectedImprovement(best).on(known if factor == 1.0 else known.stretched(factor))(line).value
        axis.fill_between(line[:, 0], 0.0, values, color=ACCENT, alpha=0.12, linewidth=0)
        axis.plot(line[:, 0], values, color=ACCENT, linewidth=1.6)
        axis.plot(X, np.zeros(len(X)), "|", color=DARK, markersize=9)
        axis.set_ylim(0.0, 1.22 * float(values.max()))
        axis.set_yticks([])
        axis.grid(visible=False)
        heading(axis, f"l = {factor * TARGET:g}" + (", the target" if factor == 1.0 else ""))
        flat = [step for step in steps[:turn] if step[0] == factor]
        if flat:
            _dot(axis, flat[0], PALE)
            axis.annotate(
                "an ascent begins here: flat ground" if factor == 1.0 else "still flat",
                flat[0][1:],
                xytext=(0, 9),
                textcoords="offset points",
                ha="center",
                fontsize=8.5,
                color=GREY,
            )
        began, *_, ended = [step for step in steps[turn:] if step[0] == factor]
        axis.annotate("", ended[1:], began[1:], arrowprops={"arrowstyle": "->", "color": DARK})
        _dot(axis, began, DARK, hollow=True)
        _dot(axis, ended, DARK)
    label(axes[-1], x="x; strokes are trials")
    finish(figure, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/img/elastic.png"))
    draw(parser.parse_args().out)
