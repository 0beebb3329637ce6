"""Draws one decision of `gp` in one dimension: trials, the model, and what a point is worth.

python benchmarks/decision.py docs/img/decision.png
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import hidim
from hidim.acquisition.improvement import LogExpectedImprovement
from hidim.belief.inference import Study
from hidim.methods import Task, configured

TRIED = (0.05, 0.24, 0.4, 0.58, 0.8, 0.97)


def truth(x: np.ndarray) -> np.ndarray:
    return np.sin(6.0 * x) + 0.9 * np.cos(14.0 * x + 1.5) + x


def draw(path: str) -> None:
    space = hidim.Space(x=hidim.Float(0, 1))
    method = configured("gp", outcome="identity", twins=False)
    known = hidim.Optimizer(space, method)
    for x in TRIED:
        known.add({"x": x}, float(truth(np.array(x))))
    history, task = known.history, Task(space)
    rng = task.rng(len(history))
    scene = method.frame.scene(task, history, len(history), rng)
    study = Study(method.prior, type(method.inference).__name__, scene, noisy=False)
    posterior = study.posterior(method.inference.fitted(study, rng), 0)
    grid = np.linspace(0.0, 1.0, 600)
    mean, variance, _ = posterior.predict(grid[:, None])
    worth = LogExpectedImprovement(float(posterior.y.min())).on(posterior)(grid[:, None]).value
    losses = truth(np.array(TRIED))
    mean, deviation = losses.mean() + losses.std() * mean, losses.std() * np.sqrt(variance)
    chosen = float(grid[np.argmax(worth)])

    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True, height_ratios=(2, 1))
    above.fill_between(grid, mean - 2 * deviation, mean + 2 * deviation, color="C0", alpha=0.2, lw=0)
    above.plot(grid, mean, "C0", label="what the model expects, ± 2 deviations")
    above.plot(grid, truth(grid), "k--", lw=1, alpha=0.6, label="the function")
    above.plot(TRIED, losses, "ko", label="trials")
    above.set_ylabel("loss")
    above.legend(loc="upper right", fontsize=8, frameon=False)
    below.plot(grid, np.maximum(worth, -15.0), "C1")
    below.set_ylabel("log EI")
    below.set_xlabel("parameter")
    for axes in (above, below):
        axes.axvline(chosen, color="C3", lw=1)
        axes.spines[["top", "right"]].set_visible(False)
    below.annotate(
        "the next trial", (chosen, -13.0), (6, 0), textcoords="offset points", color="C3", fontsize=9
    )
    figure.tight_layout()
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    draw(sys.argv[1])
