"""A conditional, high-dimensional problem from start to end: `make demo`.

Sixty weights, a step size and one of two models with parameters of their own; a quarter of one branch
crashes. The run is saved in the middle and taken up again, as after a restart.
"""

from __future__ import annotations

import logging
import tempfile
import time
from pathlib import Path

import numpy as np

import hidim
from hidim import Choice, Float, Int, Space, Vector

SPACE = Space(
    step=Float(1e-5, 1e-1, log=True),
    weights=Vector(60, low=-1, high=1),
    model=Choice(
        ridge=Space(penalty=Float(1e-4, 1e2, log=True)),
        forest=Space(depth=Int(1, 30), criterion=Choice("gini", "entropy")),
    ),
)
N_TRIALS = 120


def objective(params: dict) -> float:
    """Six of the sixty weights matter; the forest is the better model, and fails when it is too deep."""
    active = params["weights"][[3, 14, 15, 35, 44, 58]]
    loss = float(np.sum((active - [0.5, -0.3, 0.1, 0.7, -0.6, 0.2]) ** 2))
    loss += 0.1 * (np.log10(params["step"]) + 3.0) ** 2
    if params["model"] == "ridge":
        return loss + 0.5 + 0.05 * np.log10(params["penalty"]) ** 2
    if params["depth"] > 22:
        raise MemoryError("the forest is too deep")
    return loss + 0.01 * (params["depth"] - 9) ** 2 + 0.1 * (params["criterion"] == "gini")


def evaluate(optimizer: hidim.Optimizer, trials: int) -> float:
    """Ask, evaluate and tell; gives the optimizer's own seconds."""
    own = 0.0
    for _ in range(trials):
        start = time.perf_counter()
        trial = optimizer.ask()
        own += time.perf_counter() - start
        try:
            optimizer.tell(trial, objective(trial.params))
        except MemoryError as error:
            optimizer.fail(trial, str(error))
        if (trial.number + 1) % 20 == 0:
            print(f"  {trial.number + 1:4d} trials   best {optimizer.best.value:9.5f}")
    return own


def main() -> None:
    print(SPACE, "\n")
    optimizer = hidim.Optimizer(SPACE, seed=0, budget=N_TRIALS)
    own = evaluate(optimizer, N_TRIALS // 2)
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "run.json"
        optimizer.save(saved)
        print(f"  saved ({saved.stat().st_size / 1024:.0f} kB) and loaded")
        optimizer = hidim.Optimizer.load(saved)
    own += evaluate(optimizer, N_TRIALS - N_TRIALS // 2)

    best, history = optimizer.best, optimizer.history
    print(f"\n{history}")
    print(f"own time per suggestion: {1000 * own / N_TRIALS:.0f} ms")
    print(f"best: {best.value:.5f} in trial {best.number}")
    for name, value in best.params.items():
        print(f"  {name:10} {np.round(value, 2)[:8]} …" if name == "weights" else f"  {name:10} {value!r}")
    logging.getLogger("hidim").setLevel(logging.ERROR)  # here, failures are part of the plan
    random = hidim.minimize(objective, SPACE, n_trials=N_TRIALS, method="random", seed=0)
    print(f"random search with as many trials: {random.best.value:.5f}")
    _plot(history, random.history)


def _plot(history: hidim.History, random: hidim.History) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for label, trials, colour in (("hidim", history, "#1f6feb"), ("random search", random, "#8b949e")):
        values = np.array([np.nan if t.value is None else t.value for t in trials])
        axes.plot(values, ".", color=colour, alpha=0.35)
        axes.plot(np.fmin.accumulate(values), color=colour, label=label, linewidth=2)
    axes.set(yscale="log", xlabel="trial", ylabel="loss", title="60 weights, one step size, two models")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig("demo.png", dpi=120)
    print("picture: demo.png")


if __name__ == "__main__":
    main()
