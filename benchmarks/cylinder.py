"""The picture of docs/cylinder.md: what two kernels call similar, and where they are unsure.

python benchmarks/cylinder.py --out docs/img/cylinder.png
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hidim import Space, Vector
from hidim._types import Array
from hidim.belief.priors import Cylindrical, Flat, Prior
from hidim.frame import Ground
from hidim.gp.posterior import Posterior
from hidim.plot.style import ACCENT, DARK, GREY, finish, heading, new_figure

SIDE = 201
POINT = np.array([[0.74, 0.62]])
DATA = np.array([[0.5, 0.5], [0.74, 0.62], [0.35, 0.8], [0.3, 0.3]])


def models() -> dict[str, tuple[Prior, dict[str, float]]]:
    """Both kernels, with a length-scale of the same reach."""
    plain = Flat(lengthscales="isotropic")
    turned = Cylindrical()
    return {
        "Matérn": (plain, {"log_amplitude": 0.0, "log_lengthscale": np.log(0.35)}),
        "cylinder": (
            turned,
            {"log_amplitude": 0.0, "log_lengthscale": np.log(0.5), "log_alpha": -0.3, "log_beta": 0.3},
        ),
    }


def theta(model: Any, values: dict[str, float]) -> Array:
    """θ with these values, 1e-4 for the noise, and weights that favour what is in the same direction."""
    found = model.start.copy()
    for name, value in values.items():
        found[model.holds(name)] = value
    if (weights := model.holds("log_weight")).any():
        found[weights] = np.log([0.15, 0.4, 0.25, 0.2])
    found[-1] = np.log(1e-4)
    return np.clip(found, *model.bounds)


def draw(axis: Any, values: Array, levels: Array, colours: str, points: Array) -> None:
    line = np.linspace(-1, 1, SIDE)
    shown = axis.contourf(line, line, values.reshape(SIDE, SIDE), levels=levels, cmap=colours, extend="both")
    axis.contour(line, line, values.reshape(SIDE, SIDE), levels=levels[::2], colors="white", linewidths=0.4)
    axis.plot(*(2 * points - 1).T, "o", color=ACCENT, markersize=6, markeredgecolor="white")
    axis.plot(0, 0, "+", color=DARK, markersize=9)
    axis.set_aspect("equal")
    axis.set_xticks([-1, 0, 1])
    axis.set_yticks([-1, 0, 1])
    axis.tick_params(colors=GREY, labelsize=8)
    axis.figure.colorbar(shown, ax=axis, shrink=0.85, ticks=levels[::4]).ax.tick_params(
        colors=GREY, labelsize=8
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="docs/img/cylinder.png")
    options = parser.parse_args()
    ground, line = Ground(Space(x=Vector(2, -1, 1))), np.linspace(0, 1, SIDE)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    figure = new_figure(9.2, 7.6)
    axes = figure.subplots(2, 2)
    for column, (name, (prior, values)) in enumerate(models().items()):
        model = prior.model(ground)
        at = theta(model, values)
        similar = model.kernel.against(at[:-1], POINT)(grid).value[:, 0]
        heading(axes[0, column], f"Similar to the point: {name}")
        draw(axes[0, column], similar, np.linspace(0, 1, 21), "Blues", POINT)
        posterior = Posterior(model, at, DATA, np.zeros(len(DATA)))
        deviation = np.sqrt(posterior.predict(grid).variance)
        heading(axes[1, column], f"Unsure after four trials: {name}")
        draw(axes[1, column], deviation, np.linspace(0, 1, 21), "Oranges", DATA)
    finish(figure, options.out)


if __name__ == "__main__":
    main()
