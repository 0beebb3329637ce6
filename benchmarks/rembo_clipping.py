"""REMBO's table 1 with the paper's settings: what is evaluated is clipped to the box, or it is not.

    python benchmarks/rembo_clipping.py --seeds 10 --jobs 2 --out results/rembo-clipping.jsonl

The paper says f(A y) in its algorithm and clips A y in its text. Both are run: `rembo-paper` suggests y, and
what it is told is Branin's function at clip(A y), or at A y itself. The formula has the same minimum on the
whole plane, so that gaps compare; but more of the plane is at the minimum, and no edge is flat.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hidim import Optimizer
from hidim._settings import split_names
from hidim.bench.functions import branin
from hidim.bench.papers.rembo import PAPER
from hidim.bench.problems import active_coordinates, problem
from hidim.bench.tables import figure, render
from hidim.frame import Subspaces
from hidim.methods import configured
from hidim.methods.recipe import Recipe
from hidim.task import Task

PROBLEM, EVALUATIONS = "branin-25", 500


class Job(NamedTuple):
    """A run: d, k, whether A y is clipped, and the seed."""

    low: int
    runs: int
    clipped: bool
    seed: int


def run(job: Job) -> dict[str, Any]:
    """A run, and its gap to the optimum after all evaluations."""
    task, landscape = Task(problem(PROBLEM).space(), seed=job.seed), branin()
    active = active_coordinates(PROBLEM)
    method = configured("rembo-paper", low=job.low, runs=job.runs)
    assert isinstance(method, Recipe)
    assert isinstance(method.frame, Subspaces)
    optimizer = Optimizer(task.space, method, seed=job.seed, budget=EVALUATIONS)
    best = np.inf
    for _ in range(EVALUATIONS):
        trial = optimizer.ask()
        embedding = method.frame.embedding(task, trial.meta["run"])
        x = embedding.rows(active) @ np.array(trial.meta["y"])
        unit = 0.5 * (1.0 + (np.clip(x, -1.0, 1.0) if job.clipped else x))
        value = landscape.formula(landscape.low + (landscape.high - landscape.low) * unit)
        optimizer.tell(trial, value)
        best = min(best, value)
    return {**job._asdict(), "gap": float(best - landscape.optimum)}


def table(found: Sequence[dict[str, Any]]) -> str:
    """Means beside the paper's means, as Markdown."""
    rows = []
    for (low, runs), (mean, deviation) in sorted(PAPER.items()):
        cells = []
        for clipped in (True, False):
            cell = [r["gap"] for r in found if (r["low"], r["runs"], r["clipped"]) == (low, runs, clipped)]
            gaps = np.array(cell)
            spread = f"{gaps.mean():.4f} ± {gaps.std():.4f}" if cell else "–"
            cells += [f"{len(gaps)}", spread, figure(float(np.median(gaps))) if cell else "–"]
        if any(r["low"] == low and r["runs"] == runs for r in found):
            rows.append([f"{low}", f"{runs}", *cells, f"{mean:.4f} ± {deviation:.4f}"])
    header = ["d", "k", "runs", "clipped: mean ± sd", "median", "runs", "unclipped: mean ± sd", "median"]
    return render([*header, "paper: mean ± sd, 50 runs"], rows, left=2, markdown=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--runs", default="1,2,4,5,10", help="k, by commas")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("rembo-clipping.jsonl"))
    options = parser.parse_args()
    known = []
    if options.out.exists():
        known = [json.loads(line) for line in options.out.read_text().splitlines()]
    done = {Job(*(r[field] for field in Job._fields)) for r in known}
    # The cells in which clipping matters most first, and every cell once before any has its second run.
    wanted = {int(runs) for runs in split_names(options.runs)}
    cells = sorted((cell for cell in PAPER if cell[1] in wanted), key=lambda cell: (cell[1], -cell[0]))
    jobs = [
        job
        for seed, cell, clipped in product(range(options.seeds), cells, (True, False))
        if (job := Job(*cell, clipped, seed)) not in done
    ]
    with multiprocessing.Pool(options.jobs) as pool, options.out.open("a") as out:
        for record in pool.imap_unordered(run, jobs):
            out.write(json.dumps(record) + "\n")
            out.flush()
            known.append(record)
    print(table(known))


if __name__ == "__main__":
    main()
