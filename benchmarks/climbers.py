"""Adam or L-BFGS? What each makes of BOCK's acquisition function at the same number of evaluations.

    python benchmarks/climbers.py --out benchmarks/results/climbers.md

A run of `bock-map` is stopped after so many trials; from the best of its candidates both climb the log
expected improvement under its posterior. Shown is the mean over seeds of the best that they reach, less the
best that either finds with 500 calls: 0 is all that is to be had, −0.7 half of the expected improvement.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from hidim import Optimizer
from hidim._types import Array
from hidim.bench.problems import problem
from hidim.bench.runner import versions
from hidim.bench.tables import render
from hidim.methods import configured
from hidim.optim.climb import CLIMBERS
from hidim.search import Situation, Sprays, Target

PROBLEMS = ("rosenbrock-20", "levy-20-shifted", "rep-hartmann6-50-shifted", "rosenbrock-100-shifted")
TRIALS, SEEDS, CALLS = (30, 120), 3, (5, 10, 20, 40, 100, 500)


def frozen(name: str, seed: int, trials: int) -> tuple[Target, Array, Any]:
    """The target of the next suggestion, and the starts that the search would refine."""
    task = problem(name)
    optimizer = Optimizer(task.space(), configured("bock-map"), seed=seed)
    kept: list[tuple[Target, Array, Any]] = []
    original = Sprays.__call__

    def spying(self: Sprays, target: Target, situation: Situation, rng: np.random.Generator) -> Any:
        starts = self._starts(target, situation, np.random.default_rng(seed))
        order = np.argsort(-target.scores(starts), kind="stable")[: self.refined]
        kept[:] = [(target, target.inputs(starts[order]), situation.scene.ground)]
        return original(self, target, situation, rng)

    Sprays.__call__ = spying  # type: ignore[method-assign]
    try:
        for _ in range(trials):
            trial = optimizer.ask()
            optimizer.tell(trial, task.value(trial.params))
        optimizer.ask()
    finally:
        Sprays.__call__ = original  # type: ignore[method-assign]
    return kept[0]


def reached(name: str, seed: int, trials: int) -> Array:
    """The best scores (climbers, calls), less the best of all."""
    target, starts, ground = frozen(name, seed, trials)
    found = np.array(
        [
            [
                climb(target.objective, starts, ground.lower, ground.upper, max_calls=calls, tolerance=1e-6)[
                    1
                ].max()
                for calls in CALLS
            ]
            for climb in CLIMBERS.values()
        ]
    )
    return np.asarray(found - found.max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("climbers.md"))
    options = parser.parse_args()
    rows = []
    for name in PROBLEMS:
        for trials in TRIALS:
            scores = np.mean([reached(name, seed, trials) for seed in range(SEEDS)], axis=0)
            for climber, line in zip(CLIMBERS, scores, strict=True):
                rows.append([name, f"{trials}", climber, *(f"{value:.3f}" for value in line)])
            print(*rows[-2:], sep="\n", flush=True)
    header = ["problem", "trials", "climber", *(f"{calls} calls" for calls in CALLS)]
    table = render(header, rows, left=3, markdown=True)
    about = ", ".join(f"{package} {version}" for package, version in versions().items())
    meaning = (__doc__ or "").split("\n\n")[-1].strip()
    text = f"# Adam or L-BFGS\n\n{meaning}\n\n{table}\n\n{SEEDS} seeds; {about}\n"
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
