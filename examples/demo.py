"""A conditional, high-dimensional run from start to end: `make demo`.

Sixty weights, a step size and one of two models with parameters of their own; deep forests crash, and some
trials take much longer than others. Four workers evaluate, and the run is broken off in the middle and
resumed from its journal. In the end there are a summary, a picture and a page.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

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
N_TRIALS, WORKERS = 160, 4


def objective(params: dict) -> float:
    """Six of the sixty weights matter; the forest is the better model, and fails when it is too deep."""
    time.sleep(0.03 * np.random.default_rng().pareto(2.0))
    active = params["weights"][[3, 14, 15, 35, 44, 58]]
    loss = float(np.sum((active - [0.5, -0.3, 0.1, 0.7, -0.6, 0.2]) ** 2))
    loss += 0.1 * (np.log10(params["step"]) + 3.0) ** 2
    if params["model"] == "ridge":
        return loss + 0.5 + 0.05 * np.log10(params["penalty"]) ** 2
    if params["depth"] > 22:
        raise MemoryError("the forest is too deep")
    return loss + 0.01 * (params["depth"] - 9) ** 2 + 0.1 * (params["criterion"] == "gini")


def run(n_trials: int, journal: Path, method: str = "auto") -> hidim.Result:
    with ThreadPoolExecutor(WORKERS) as executor:
        return hidim.minimize(
            objective,
            SPACE,
            n_trials,
            method=method,
            seed=0,
            executor=executor,
            journal=journal,
            progress=True,
        )


def main() -> None:
    logging.getLogger("hidim").setLevel(logging.ERROR)  # here, failures are part of the plan
    print(SPACE, "\n")
    with TemporaryDirectory() as folder:
        journal = Path(folder) / "run.jsonl"
        print(f"Half of {N_TRIALS} trials on {WORKERS} workers, then resumed from the journal:", flush=True)
        run(N_TRIALS // 2, journal)
        result = run(N_TRIALS, journal)
        random = run(N_TRIALS, Path(folder) / "random.jsonl", method="random")

    print(f"\n{result.explain()}\n")
    print(f"own time per trial: {1000 * result.own_seconds / (N_TRIALS / 2):.0f} ms")
    print(f"random search with as many trials: {random.best.value:.5f}")
    result.plot("demo.png")
    print(f"picture: demo.png; page for the browser: {result.report('demo.html', title='hidim: the demo')}")


if __name__ == "__main__":
    main()
