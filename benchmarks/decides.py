"""Draws the picture of docs/decides.md: how the default decides, on a function of two parameters.

python benchmarks/decides.py docs/img/decides.png

Model, acquisition function and ascents are those of the library at that moment of a run; the starts and the
window are chosen so that one sees them.
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import ConnectionPatch, FancyBboxPatch, Rectangle

import hidim
from hidim._types import Array
from hidim.acquisition.improvement import LogExpectedImprovement
from hidim.belief.inference import Study
from hidim.gp.posterior import Posterior
from hidim.methods import Task
from hidim.methods.default import DEFAULT
from hidim.optim.base import Objective
from hidim.optim.lbfgs import ascend

INK, GREY, PALE = "#333333", "#8a8a8a", "#eef1f5"
COLOURS = {"all": "#1f6f9f", "few": "#c1440e", "effects": "#5b8c2a"}
NEXT = "#c1440e"
TRIALS, SEED, GRID = 14, 4, 81

TOLD = [
    (
        "1  Frame",
        "All of the space and, now and then, a look\naside: at an option, in a window, or afresh",
        "window",
    ),
    ("2  Model", "A Gaussian process of what adds up\nand what interacts; evidence weighs the parts", ""),
    (
        "3  Fit",
        "The most probable transform of losses, and\nthe peak; again after 15 % more trials",
        "fit",
    ),
    (
        "4  Utility",
        "Log expected improvement, times the chance\nof success; a bound if values are noisy",
        "feasible",
    ),
    ("5  Ascents", "Some 400 starts in one of three ways;\nthe best four climb, in one batch", "way"),
    ("6  Novelty", "The best point that nobody has tried\nis the next trial", "instead"),
]


def truth(x: Array) -> Array:
    """Two basins, one of them deeper, on a slope."""
    deep = np.exp(-((x - (0.7, 0.6)) ** 2).sum(axis=-1) / 0.05)
    flat = np.exp(-((x - (0.22, 0.3)) ** 2).sum(axis=-1) / 0.06)
    return np.exp(3.0 * (0.3 * (x[..., 0] - x[..., 1]) - deep - 0.7 * flat))


def known(task: Task, trials: int) -> hidim.History:
    run = hidim.Optimizer(task.space, DEFAULT, seed=SEED)
    for _ in range(trials):
        trial = run.ask()
        run.tell(trial, float(truth(np.array([trial.params["a"], trial.params["b"]]))))
    return run.history


def draw(path: str) -> None:
    task = Task(hidim.Space(a=hidim.Float(0, 1), b=hidim.Float(0, 1)), seed=SEED)
    history = known(task, TRIALS)
    scene = DEFAULT.frame.scene(task, history, TRIALS, task.rng(TRIALS))
    study = Study(DEFAULT.prior, "Peak", scene, noisy=False)
    fitted = DEFAULT.inference.fitted(study, task.rng(TRIALS))
    posterior = study.posterior(fitted, 0)
    objective = LogExpectedImprovement(float(posterior.y.min())).on(posterior)
    x, best = scene.seen.x, scene.seen.x[np.argsort(scene.seen.y)]
    line = np.linspace(0.0, 1.0, GRID)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    mean = posterior.predict(grid).mean.reshape(GRID, GRID)
    worth = objective(grid).value
    worth = np.maximum(worth, worth.max() - 9.0).reshape(GRID, GRID)

    figure, axes = plt.subplots(2, 3, figsize=(10.4, 8.2))
    figure.subplots_adjust(left=0.03, right=0.97, top=0.945, bottom=0.11, wspace=0.16, hspace=0.52)
    frame, model, fit, utility, ascents, novelty = axes.ravel()
    for place, (axis, (title, words, meta)) in enumerate(zip(axes.ravel(), TOLD, strict=True)):
        _framed(axis)
        axis.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK)
        axis.text(0.0, -0.05, words, transform=axis.transAxes, fontsize=9.4, color=INK, va="top")
        if meta:
            told = f'meta["{meta}"]'
            axis.text(
                1.0,
                1.03,
                told,
                transform=axis.transAxes,
                fontsize=9,
                color=GREY,
                ha="right",
                family="monospace",
            )
        if place in (0, 1, 3, 4):
            _arrow(figure, axis, axes.ravel()[place + 1])
    _turn(figure, fit, utility)

    _trials(frame, x)
    half = 0.16
    frame.add_patch(Rectangle(best[0] - half, 2 * half, 2 * half, fill=False, ls="--", ec=NEXT, lw=1.6))
    frame.plot(*best[0], "*", color=NEXT, ms=13, zorder=4)
    frame.text(*(best[0] + (0.0, half + 0.02)), "a window", color=NEXT, fontsize=9.5, ha="center")

    _parts(model, posterior)

    _filled(fit, line, mean, "#ffffff", "#2f7fb8")
    _trials(fit, x)
    inset = fit.inset_axes((0.66, 0.05, 0.31, 0.28))
    losses = np.sort(scene.seen.y)
    inset.plot(losses, np.sort(posterior.y), color=INK, lw=1.5)
    inset.text(0.95, 0.07, "transform", transform=inset.transAxes, fontsize=8, color=INK, ha="right")
    _framed(inset, None)

    _filled(utility, line, worth, "#ffffff", "#d9702a")
    _trials(utility, x)

    _filled(ascents, line, worth, "#ffffff", "#b9bec6")
    ends = _climbs(ascents, objective, best[0])

    _filled(novelty, line, worth, "#ffffff", "#d8dce2")
    _trials(novelty, x)
    ranked = ends[np.argsort(-objective(ends).value)]
    for point in ranked[1:]:
        novelty.plot(*point, "o", mfc="none", mec=GREY, ms=9)
    novelty.plot(*ranked[0], "*", color=NEXT, ms=15, zorder=4)
    right = ranked[0][0] < 0.6
    novelty.annotate(
        "the next trial",
        ranked[0],
        (16 if right else -16, -4),
        textcoords="offset points",
        bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 1.5},
        color=NEXT,
        fontsize=10,
        ha="left" if right else "right",
    )
    figure.text(
        0.5,
        0.018,
        "It is evaluated and told, and 1 comes again. The first ten trials are a design.",
        ha="center",
        fontsize=9.6,
        color=INK,
    )
    figure.savefig(path, facecolor="white", dpi=150)


def _framed(axis: Axes, limits: tuple[float, float] | None = (0.0, 1.0)) -> None:
    axis.set(xlim=limits, ylim=limits, xticks=[], yticks=[], facecolor="white")
    for spine in axis.spines.values():
        spine.set_color("#b8bfc9")


def _trials(axis: Axes, x: Array) -> None:
    axis.plot(x[:, 0], x[:, 1], "o", color=INK, ms=4.5, mec="white", mew=0.6, zorder=3)


def _filled(axis: Axes, line: Array, values: Array, low: str, high: str) -> None:
    shades = LinearSegmentedColormap.from_list("", [low, high])
    filled = axis.contourf(line, line, values, 13, cmap=shades, zorder=0)
    filled.set_edgecolor("face")
    filled.set_rasterized(True)


def _arrow(figure: plt.Figure, left: Axes, right: Axes) -> None:
    a, b = left.get_position(), right.get_position()
    middle = 0.5 * (a.y0 + a.y1)
    figure.add_artist(
        ConnectionPatch(
            (a.x1 + 0.008, middle),
            (b.x0 - 0.008, middle),
            "figure fraction",
            "figure fraction",
            arrowstyle="-|>",
            mutation_scale=16,
            color=GREY,
            lw=1.8,
        )
    )


def _turn(figure: plt.Figure, above: Axes, below: Axes) -> None:
    """From the end of the first row to the beginning of the second."""
    a, b = above.get_position(), below.get_position()
    xs, ys = 0.5 * (a.x0 + a.x1), 0.5 * (b.x0 + b.x1)
    level, start, end = a.y0 - 0.088, a.y0 - 0.072, b.y1 + 0.045
    style = {"color": GREY, "lw": 1.8, "solid_capstyle": "round", "transform": figure.transFigure}
    figure.add_artist(plt.Line2D([xs, xs, ys], [start, level, level], **style))
    figure.add_artist(
        ConnectionPatch(
            (ys, level),
            (ys, end),
            "figure fraction",
            "figure fraction",
            arrowstyle="-|>",
            mutation_scale=16,
            color=GREY,
            lw=1.8,
        )
    )


def _parts(axis: Axes, posterior: Posterior) -> None:
    """The three parts of the sum, by samples of what each may look like."""
    rng, t = np.random.default_rng(5), np.linspace(0.0, 1.0, 120)
    cards = [
        (0.69, "main effects"),
        (0.365, "nodes of a tree, if there is one"),
        (0.04, "all together: a product"),
    ]
    signs = ["", "+", "+"]
    for (low, name), sign in zip(cards, signs, strict=True):
        axis.add_patch(
            FancyBboxPatch(
                (0.1, low), 0.86, 0.27, boxstyle="round,pad=0,rounding_size=0.02", fc=PALE, ec="none"
            )
        )
        axis.text(0.13, low + 0.252, name, fontsize=8.8, color=INK, va="top")
        axis.text(0.05, low + 0.13, sign, fontsize=15, color=INK, ha="center", va="center")
    for place in range(4):  # a function of every parameter
        curve = np.interp(t, np.linspace(0, 1, 5), rng.standard_normal(5))
        curve = np.convolve(np.pad(curve, 20, "edge"), np.hanning(41) / np.hanning(41).sum(), "valid")
        curve = (curve - curve.mean()) / (4.2 * max(np.ptp(curve), 1e-9) / 0.6)
        axis.plot(0.14 + 0.205 * place + 0.17 * t, 0.79 + curve, color=COLOURS["effects"], lw=1.8)
    points = {
        "": (0.53, 0.545),
        "l": (0.34, 0.475),
        "r": (0.72, 0.475),
        "ll": (0.24, 0.405),
        "lr": (0.44, 0.405),
        "rl": (0.62, 0.405),
        "rr": (0.82, 0.405),
    }
    for name, point in points.items():
        if name:
            axis.plot(*zip(points[name[:-1]], point, strict=True), color="#b8bfc9", lw=1.3, zorder=1)
        taken = name in ("", "l", "lr")
        axis.plot(*point, "o", ms=9 if taken else 6, color=COLOURS["all"] if taken else "#b8bfc9", zorder=2)
    inset = axis.inset_axes((0.13, 0.06, 0.8, 0.165))
    u, v = np.meshgrid(np.linspace(0, 3.2, 90), np.linspace(0, 1, 40))
    inset.contourf(
        u,
        v,
        np.sin(2.6 * u + 3.0 * v) * np.cos(2.2 * v - 1.3 * u),
        9,
        cmap=LinearSegmentedColormap.from_list("", ["#ffffff", "#8a63ad"]),
    )
    inset.axis("off")


def _climbs(axis: Axes, objective: Objective, best: Array) -> Array:
    """Ascents of the three ways, from starts that show them; where they end (r, 2)."""
    a, b = best
    starts = {
        "all": [((0.4, 0.82), (1, 1)), ((0.33, 0.22), (1, 1)), ((0.05, 0.5), (1, 1))],
        "few": [((a - 0.19, b), (1, 0)), ((a, b - 0.22), (0, 1))],
        "effects": [((a - 0.045, b + 0.2), (1, 1))],
    }
    ends = []
    for way, every in starts.items():
        colour = COLOURS[way]
        for start, free in every:
            x, free = np.array([start]), np.array([free], dtype=np.bool_)
            lower, upper = np.where(free, 0.0, x), np.where(free, 1.0, x)
            path = [x[0], *(ascend(objective, x, lower, upper, max_calls=n)[0][0] for n in range(2, 31))]
            axis.plot(*np.array(path).T, "-", color=colour, lw=2.0, zorder=3)
            axis.plot(*path[0], "o", color=colour, ms=5.5, zorder=3)
            axis.plot(*path[-1], "o", mfc="white", mec=colour, mew=1.8, ms=7, zorder=4)
            ends.append(path[-1])
        axis.plot([], [], "o-", color=colour, lw=2.0, ms=5, label=way)
    axis.legend(loc="lower right", fontsize=8.5, frameon=True, framealpha=0.9, edgecolor="none")
    return np.array(ends)


if __name__ == "__main__":
    draw(sys.argv[1])
