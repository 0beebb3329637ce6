"""How often learnt groups are the planted ones: a table for docs/additive.md.

python benchmarks/partitions.py --out benchmarks/results/partitions.md

A function is a sum over random groups of D columns of products of sines: within a group nothing is additive.
Groups are learnt from n random points by the prior of `add-gp`, three times in turn with the hyperparameters,
as a run does it every 25 trials; beside it the best of five random partitions, which is all that the code of
Add-GP-UCB tries.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from hidim import Space, Vector
from hidim._types import Array, Indices
from hidim.belief.priors import Additive, Lesson
from hidim.bench.tables import render
from hidim.frame import Ground
from hidim.gp import partition
from hidim.gp.fit import fit
from hidim.gp.partition import random_partition

CASES = ((12, 3), (20, 4), (50, 5))
TRIALS = (100, 300)
ROUNDS = 3


def planted(dim: int, size: int, n: int, seed: int) -> tuple[Array, Array, list[Indices]]:
    """Points, standardised values, and the groups."""
    rng = np.random.default_rng([dim, n, seed])
    groups = random_partition([np.arange(dim)], size, rng)
    x = rng.random((n, dim))
    y = np.sum([np.prod(np.sin(3.0 * x[:, group] + 0.5), axis=1) for group in groups], axis=0)
    return x, (y - y.mean()) / y.std(), groups


def together(groups: list[Indices], dim: int) -> Array:
    """Which pairs of columns (D, D) are in one group."""
    member = np.empty(dim, dtype=np.intp)
    for place, group in enumerate(groups):
        member[group] = place
    return member[:, None] == member


def found(dim: int, size: int, n: int, seed: int, exchanges: bool) -> float:
    """The share of the pairs of columns that are together, and are found to be."""
    x, y, groups = planted(dim, size, n, seed)
    space, prior, rng = Space(x=Vector(dim)), Additive(size=size), np.random.default_rng(seed)
    structure, theta = None, None
    before, partition.ROUNDS = partition.ROUNDS, partition.ROUNDS if exchanges else 0
    for _ in range(ROUNDS):
        structure = prior.learnt(Lesson(Ground(space), x, y, structure=structure, theta=theta), rng)
        model = prior.model(Ground(space), structure=structure)
        theta = fit(model, x, y, [model.start if theta is None else theta]).theta
    partition.ROUNDS = before
    truth = together(groups, dim) & ~np.eye(dim, dtype=bool)
    learnt = together([np.array(group) for group in structure["groups"]], dim)
    return float(learnt[truth].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = []
    for dim, size in CASES:
        for n in TRIALS:
            cells = []
            for exchanges in (True, False):
                shares = np.array([found(dim, size, n, seed, exchanges) for seed in range(options.runs)])
                cells += [f"{np.mean(shares == 1.0):.0%}", f"{shares.mean():.0%}"]
            rows.append([f"{dim}", f"{size}", f"{n}", *cells])
            print(rows[-1], flush=True)
    header = ["D", "size", "n", "all found", "pairs found", "random: all", "random: pairs"]
    text = f"{__doc__}\nRuns: {options.runs} a row.\n\n{render(header, rows, left=0, markdown=True)}\n"
    options.out.write_text(text.replace('"""', ""), encoding="utf-8")


if __name__ == "__main__":
    main()
