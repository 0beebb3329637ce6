"""The pictures of docs/additive.md: a sum after a change of axes, and the components of a run.

python benchmarks/additive.py --out docs/img/additive.png --components docs/img/components.png
"""

from __future__ import annotations

import argparse

import numpy as np

from hidim import Choice, Float, Int, Space, Vector, minimize, plot
from hidim._types import Params
from hidim.belief.priors import Additive, Lesson
from hidim.frame import Ground
from hidim.gp.fit import fit
from hidim.gp.posterior import Posterior
from hidim.plot.style import ACCENT, DARK, GREY, SMALL, finish, heading, label, new_figure, quiet

SPACE = Space(x=Vector(2))
TURN = np.array([[0.8, 0.6], [-0.6, 0.8]])
TRIALS, GRID = 30, 81


def first(z):
    return np.sin(7.0 * z)


def second(z):
    return 3.0 * z**2


def value(x):
    """A sum of two functions of one number each, along turned axes."""
    z = (x - 0.5) @ TURN
    return first(z[:, 0]) + second(z[:, 1])


def training(params: Params) -> float:
    """An invented training: two parts of it are pairs."""
    w = params["w"]
    rate = (np.log10(params["lr"]) + 2.0) ** 2 * (1.5 if params["act"] == "tanh" else 1.0)
    return float(
        rate + 0.1 * (params["depth"] - 5) ** 2 + 2.0 * (w[0] + w[1] - 0.3) ** 2 + np.sin(3.0 * w[2])
    )


def draw_components(path: str) -> None:
    space = Space(
        lr=Float(1e-4, 1, log=True),
        depth=Int(1, 12),
        act=Choice("relu", "tanh", "gelu"),
        w=Vector(4, -1, 1),
    )
    result = minimize(training, space, 80, method="add-gp(size=2)", seed=0)
    plot.components(space, result.history, path=path)


def known(prior: Additive) -> Posterior:
    """What the model makes of some observations, after it has learnt what it can."""
    rng = np.random.default_rng(3)
    x = rng.random((TRIALS, 2))
    y = value(x)
    y = (y - value(rng.random((10_000, 2))).mean()) / y.std()
    structure = None
    for _ in range(3):
        structure = prior.learnt(Lesson(Ground(SPACE), x, y, structure=structure), rng)
    model = prior.model(Ground(SPACE), structure=structure)
    theta = fit(model, x, y, [model.start], max_evaluations=100).theta
    return Posterior(model, theta, x, y * value(x).std())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="where to save the picture")
    parser.add_argument("--components", required=True, help="likewise, of the components of a run")
    arguments = parser.parse_args()
    draw_components(arguments.components)
    ticks = np.linspace(0.0, 1.0, GRID)
    points = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    axes_model, turned = known(Additive(size=1)), known(Additive(size=1, delta=None, pursuit="gradient"))
    truth = value(points)
    maps = [
        ("The function", truth, None),
        (f"A sum along the axes, {TRIALS} trials", axes_model.predict(points).mean, axes_model),
        ("A sum along learnt directions", turned.predict(points).mean, turned),
    ]
    figure = new_figure(10.5, 6.0)
    grid = figure.add_gridspec(2, 1, height_ratios=[1.35, 1.0])
    levels = np.linspace(truth.min() - 0.3, truth.max() + 0.3, 15)
    for cell, (title, shown, model) in zip(grid[0].subgridspec(1, 3), maps, strict=True):
        axis = figure.add_subplot(cell)
        centred = shown - shown.mean() + truth.mean()
        axis.contourf(ticks, ticks, centred.reshape(GRID, GRID), levels=levels, cmap="Blues_r", extend="both")
        axis.set_aspect("equal")
        heading(axis, title)
        axis.set_xticks([0, 1])
        axis.set_yticks([0, 1])
        axis.tick_params(colors=GREY, labelsize=SMALL)
        for spine in axis.spines.values():
            spine.set_visible(False)
        if model is not None:
            axis.plot(*model.x.T, "o", color="white", ms=3.5, markeredgecolor=DARK, mew=0.6)
            error = float(np.sqrt(np.mean((centred - truth) ** 2)) / truth.std())
            label(axis, x=f"off by {error:.0%} of the deviation")
        if model is turned:
            _, mixing = turned.unmixed()
            for w in mixing.weights.T:
                axis.annotate(
                    "",
                    0.5 + 0.3 * w,
                    (0.5, 0.5),
                    arrowprops={"arrowstyle": "->", "color": DARK, "lw": 1.6},
                )
    unmixed, mixing = turned.unmixed()
    for place, cell in enumerate(grid[1].subgridspec(1, 2)):
        axis = figure.add_subplot(cell)
        quiet(axis)
        w = mixing.weights[:, place]
        z = np.linspace(*np.quantile((points - 0.5) @ w, [0.0, 1.0]), 101)
        rows = np.full((len(z), 2), np.nan)
        rows[:, place] = 0.5 + z
        found = unmixed.predict(rows)
        mean = found.mean - unmixed.mean
        own = first if abs(w @ TURN[:, 0]) > abs(w @ TURN[:, 1]) else second
        cosine = w @ TURN[:, 0 if own is first else 1]
        exact = own(np.sign(cosine) * z)
        shift = np.mean(mean) - np.mean(exact)
        axis.plot(z, mean - shift, color=ACCENT, lw=1.8, label="learnt")
        axis.plot(z, exact, color=DARK, lw=1.0, ls="--", label="true")
        label(axis, x=f"{w[0]:.2f} x[0] {'+' if w[1] >= 0 else '-'} {abs(w[1]):.2f} x[1]")
        heading(axis, f"Along direction {place + 1}")
        if place == 0:
            axis.legend(frameon=False, fontsize=SMALL, labelcolor=GREY)
    finish(figure, arguments.out)


if __name__ == "__main__":
    main()
