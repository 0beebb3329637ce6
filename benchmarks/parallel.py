"""Sixteen workers and trials of very different length: utilisation, quality, distance of running trials.

    python benchmarks/parallel.py --out benchmarks/results/parallel.md

Every trial sleeps for a Pareto-distributed time (shape 1.5, mean 1 s, infinite variance). *Utilisation* is
the share of worker time spent in trials from the first start to the last start, while there is work for
everybody; *overall* includes the end, in which workers run out of trials. *Closest* is the smallest distance
between two trials that ran at the same time, in root mean square over the coordinates of the unit cube.
"""

from __future__ import annotations

import argparse
import platform
import threading
import time
from pathlib import Path

import numpy as np

import hidim
from hidim.bench.base import BoxProblem
from hidim.bench.problems import problem
from hidim.bench.tables import figure, render

WORKERS, SHAPE, MEAN = 16, 1.5, 1.0


class Clocked:
    """A problem whose evaluations take time, with a log of who ran when, and where."""

    def __init__(self, task: BoxProblem, seed: int) -> None:
        self._task, self._rng = task, np.random.default_rng(seed)
        self._lock = threading.Lock()
        self.spans: list[tuple[float, float]] = []
        self._running: dict[int, np.ndarray] = {}
        self._count = 0
        self.closest = np.inf

    def __call__(self, params: dict) -> float:
        point = params["x"]
        with self._lock:
            number, self._count = self._count, self._count + 1
            seconds = MEAN * (SHAPE - 1) / SHAPE * (1 + self._rng.pareto(SHAPE))
            others = [np.sqrt(np.mean((point - other) ** 2)) for other in self._running.values()]
            self.closest = min([self.closest, *others])
            self._running[number] = point
        start = time.perf_counter()
        time.sleep(seconds)
        with self._lock:
            del self._running[number]
            self.spans.append((start, time.perf_counter()))
        return self._task.value(params)


def utilisation(spans: list[tuple[float, float]], until: float) -> float:
    first = min(start for start, _ in spans)
    busy = sum(min(end, until) - start for start, end in spans if start < until)
    return busy / (WORKERS * (until - first))


def compare(name: str, seed: int, trials: int) -> dict[str, float]:
    task = problem(name)
    assert isinstance(task, BoxProblem)
    alone = hidim.minimize(task.value, task.space(), trials, seed=seed, progress=False)
    clocked = Clocked(task, seed)
    result = hidim.minimize(clocked, task.space(), trials, seed=seed, workers=WORKERS, progress=False)
    assert len(result.history.complete) == trials
    starts, ends = zip(*clocked.spans, strict=True)
    return {
        "sequential": alone.best.value - task.optimum,
        "parallel": result.best.value - task.optimum,
        "utilisation": utilisation(clocked.spans, max(starts)),
        "overall": utilisation(clocked.spans, max(ends)),
        "closest": clocked.closest,
        "own": result.own_seconds / trials,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", default="branin-25,rep-hartmann6-20-shifted,levy-20-shifted")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for name in options.problems.split(","):
        runs = [compare(name, seed, options.trials) for seed in range(options.seeds)]
        column = {key: np.array([run[key] for run in runs]) for key in runs[0]}
        rows.append(
            [
                name,
                figure(np.median(column["sequential"]), 2),
                figure(np.median(column["parallel"]), 2),
                f"{100 * column['utilisation'].mean():.1f} % ({100 * column['utilisation'].min():.1f} %)",
                f"{100 * column['overall'].mean():.0f} %",
                figure(column["closest"].min(), 2),
                f"{1000 * column['own'].mean():.0f} ms",
            ]
        )
        print(rows[-1], flush=True)
    header = [
        "problem",
        "median regret, one worker",
        "16 workers",
        "utilisation (least)",
        "overall",
        "closest",
        "own time per trial",
    ]
    table = render(header, rows, markdown=True)
    command = f"python benchmarks/parallel.py --seeds {options.seeds} --trials {options.trials}"
    versions = f"hidim {hidim.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    method = __doc__.rpartition(".md")[2].strip()
    text = f"""# Sixteen workers, heavy-tailed trials

`{command}`; {versions}, {platform.machine()}

{method}

{table}
"""
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
