"""A billion parameters beside 25: own time of a suggestion and peak memory; lazy beside dense at a million.

    python benchmarks/billion.py --out benchmarks/results/billion.md

Every run is a process of its own on one thread; the two dimensions take turns, so that both meet the same
machine.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

from hidim.bench.runner import one_thread, versions
from hidim.bench.tables import render

DIMS = (25, 10**9)
METHODS = (
    "hidim:rembo",
    "hidim:rembo(low=2,runs=4)",
    "hidim:rembo(low=2,runs=4,search=multistart)",
    "hidim:baxus",
)

RUN = """
import json, resource, sys
from hidim.bench.runner import Job, execute
record = execute(Job(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": record["own_seconds"], "peak": peak, "error": record["error"]}))
"""


def measured(problem: str, method: str, seed: int, trials: int) -> tuple[float, float]:
    """Own milliseconds per trial and peak megabytes of a run."""
    command = [sys.executable, "-c", RUN, problem, method, str(seed), str(trials)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    if found["error"]:
        raise RuntimeError(found["error"])
    return 1e3 * found["seconds"] / trials, found["peak"] / 1024


def identical(trials: int) -> tuple[int, int]:
    """How many of the vectors of a million coordinates are the same lazily and densely, of how many."""
    import hidim

    optimizer = hidim.Optimizer(
        hidim.Space(x=hidim.Vector(10**6, -1, 1)), method="rembo(low=3, search=multistart)", seed=0
    )
    same = 0
    rng = np.random.default_rng(0)
    for _ in range(trials):
        trial = optimizer.ask()
        dense, lazy = trial.params["x"], optimizer.history[-1].params["x"]
        some = rng.integers(10**6, size=1000)
        pieces = np.concatenate([lazy.chunk(a, a + 77_777) for a in range(0, 10**6, 77_777)])
        single = np.array([lazy[int(i)] for i in some[:50]])
        same += bool(
            np.array_equal(dense, pieces)
            and np.array_equal(dense[some], lazy[some])
            and np.array_equal(dense[some[:50]], single)
        )
        optimizer.tell(trial, float(np.sum(dense[:10] ** 2)))
    return same, trials


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    with one_thread():
        for method in METHODS:
            found = np.array(
                [
                    [measured(f"branin-{dim}", method, seed, options.trials) for dim in DIMS]
                    for seed in range(options.seeds)
                ]
            )  # (seeds, dims, 2)
            small, large = np.median(found[:, :, 0], axis=0)
            memory = found[:, :, 1].max(axis=0)
            row = [method, f"{small:.1f}", f"{large:.1f}", f"{large / small:.2f}"]
            rows.append([*row, f"{memory[0]:.0f}", f"{memory[1]:.0f}"])
            print(rows[-1], flush=True)
        same, trials = identical(20)
    packages = ", ".join(f"{name} {number}" for name, number in versions().items())
    header = ["method", "ms, D = 25", "ms, D = 10⁹", "ratio", "MB, D = 25", "MB, D = 10⁹"]
    parts = [
        "# A billion parameters",
        f"`python benchmarks/billion.py --trials {options.trials} --seeds {options.seeds}`; {packages}, "
        f"{platform.machine()}",
        "Branin of two coordinates; own time per trial (ask and tell, median over seeds) and peak memory of "
        "the whole process (largest).",
        render(header, rows, markdown=True),
        f"D = 10⁶, plain arrays: {same} of {trials} vectors are the same, to the last bit, as their lazy "
        "twins in the history, by chunks, by lists of indices and one by one.",
    ]
    options.out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(options.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
