"""Add-Tree's regression experiment (figure 4b): test error against the number of samples.

    python benchmarks/tree_regression.py --out benchmarks/results/tree-regression.md

Samples of the synthetic function of §5.1: fair coins for the choices, uniform numbers. Each model is fitted
by MAP to the first n of them; the mean squared error is over 50 other samples, and the median of it over the
repetitions is shown. The paper: 1e-4 with 24 samples (independent processes 44); with 20, 1e-3 against 1e-1.
"""

from __future__ import annotations

import argparse
import platform
from pathlib import Path

import numpy as np

import hidim
from hidim._types import Array
from hidim.belief.priors import Flat, Prior, Tree
from hidim.bench.problems import problem
from hidim.bench.tables import figure, render
from hidim.frame import Ground
from hidim.gp.fit import fit
from hidim.gp.outcome import standardised
from hidim.gp.posterior import Posterior

SIZES = (10, 15, 20, 24, 30, 36, 44, 60)
TESTS = 50

#: The models that are compared. The plain ones are the paper's: squared exponential, one independent
#: length-scale for every number.
MODELS: dict[str, Prior] = {
    "Add-Tree (plain)": Tree(lengthscales="ard", warped=False),
    "independent (plain)": Tree(by="paths", lengthscales="ard", warped=False),
    "Add-Tree": Tree(),
    "independent": Tree(by="paths"),
    "Add-Tree (Matérn)": Tree(form="matern"),
    "flat": Flat(),
}


def squared_error(prior: Prior, name: str, size: int, seed: int) -> float:
    """Of one model on one data set."""
    task, rng = problem(name), np.random.default_rng([seed, 7])
    space = task.space()
    samples = space.sample(rng, max(SIZES) + TESTS)
    values = np.array([task.value(params) for params in samples])
    x = prior.inputs(Ground(space), space.encode_all(samples))
    y, level, spread = standardised_with(values[:size])
    model = prior.model(Ground(space))
    found = fit(model, x[:size], y, [model.start, 0.5 * model.start], max_evaluations=100)
    predicted = Posterior(model, found.theta, x[:size], y).predict(x[-TESTS:]).mean
    return float(np.mean((level + spread * predicted - values[-TESTS:]) ** 2))


def standardised_with(values: Array) -> tuple[Array, float, float]:
    """Values with mean 0 and standard deviation 1, and what takes them back."""
    return standardised(values), float(values.mean()), float(values.std())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="repetitions")
    parser.add_argument("--problem", default="jenatton", help="or jenatton-shifted")
    parser.add_argument("--out", type=Path, help="a Markdown file; by default the table is printed")
    given = parser.parse_args()
    rows = []
    for label, prior in MODELS.items():
        errors = [
            np.median([squared_error(prior, given.problem, size, seed) for seed in range(given.seeds)])
            for size in SIZES
        ]
        rows.append([label, *(figure(float(error), 2) for error in errors)])
        print(rows[-1], flush=True)
    table = render(["model", *(f"n = {size}" for size in SIZES)], rows, left=1, markdown=True)
    command = f"python benchmarks/tree_regression.py --seeds {given.seeds} --problem {given.problem}"
    about = f"`{command}`; hidim {hidim.__version__}, numpy {np.__version__}, {platform.machine()}"
    text = "\n\n".join(["# Regression on a conditional function: median squared error", about, table]) + "\n"
    if given.out:
        given.out.write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
