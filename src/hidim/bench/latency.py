"""How long one suggestion takes after n trials in D dimensions, and how much memory.

A cell of the table is measured in a process of its own on one thread: n random points with the values of a
smooth function, or of a named problem, as a tree, are entered, then `ask` and `tell` alternate. The first ask
fits its model from nothing; the mean of the asks after it is what a user waits for in the middle of a study,
and holds its share of refits. A ratio is a method's mean over that of the first method in the list.
"""

from __future__ import annotations

import math
import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from hidim.belief.inference.peak import GROWTH
from hidim.bench.base import Problem
from hidim.bench.naming import PREFIX
from hidim.bench.peers import Peer, check_method, make_peer
from hidim.bench.problems import NAMED, problem
from hidim.bench.runner import one_thread, spawn_pool, step
from hidim.bench.tables import render


@dataclass(frozen=True)
class Cell:
    """One measurement.

    Args:
        first: seconds of the first ask.
        asks: seconds of each following ask with its tell.
        peak_mb: largest resident memory of the process, interpreter and libraries included.
    """

    method: str
    dim: int
    size: int
    first: float
    asks: tuple[float, ...]
    peak_mb: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.asks))


def measure(method: str, dim: int, size: int, repeats: int, family: str) -> Cell:
    """Time `method` in this process, with `size` trials entered before the first ask."""
    # Libraries put work off to their first use; that is no part of a suggestion.
    _filled(method, _task(family, 10), 12, budget=13).ask()
    task = _task(family, dim)
    peer = _filled(method, task, size, budget=size + repeats + 1)
    first, *asks = (step(peer, task)[2] for _ in range(repeats + 1))
    return Cell(method, dim, size, first, tuple(asks), _peak_mb())


def measure_all(
    methods: Sequence[str],
    dims: Iterable[int],
    sizes: Iterable[int],
    repeats: int,
    peer_repeats: int,
    family: str,
) -> list[Cell]:
    """All cells, one after another so that they do not disturb each other."""
    for method in methods:
        check_method(method)
    cells = []
    widths = [problem(family).space().dim] if family in NAMED else list(dims)
    for dim, size, method in product(widths, list(sizes), methods):
        _task(family, dim)
        # hidim refits after a stretch of trials: what is timed must hold a whole one.
        stretch = math.ceil(GROWTH * size)
        count = max(repeats, stretch) if method.startswith(PREFIX) else peer_repeats
        with one_thread(), spawn_pool(1) as pool:
            cell = pool.submit(measure, method, dim, size, count, family).result()
        print(f"{method}  D={dim}  n={size}: {1000 * cell.mean:.1f} ms an ask", file=sys.stderr, flush=True)
        cells.append(cell)
    return cells


def latency_tables(cells: Sequence[Cell], *, markdown: bool = False) -> str:
    """Times with ratios to the first method; for a method alone, grids of time and memory instead."""
    if len({cell.method for cell in cells}) == 1 and len(cells) > 1:
        return _grids(cells, markdown)
    reference = {(cell.dim, cell.size): cell.mean for cell in reversed(cells)}
    rows = [
        [
            cell.method,
            f"{cell.dim}",
            f"{cell.size}",
            f"{1000 * cell.first:.1f}",
            f"{1000 * cell.mean:.1f}",
            f"{len(cell.asks)}",
            f"{cell.mean / reference[cell.dim, cell.size]:.1f}×",
            f"{cell.peak_mb:.0f}",
        ]
        for cell in cells
    ]
    header = ["method", "D", "n", "first ask, ms", "mean ask, ms", "asks", "ratio", "peak, MB"]
    return render(header, rows, markdown=markdown)


def _grids(cells: Sequence[Cell], markdown: bool) -> str:
    dims = sorted({cell.dim for cell in cells})
    sizes = sorted({cell.size for cell in cells})
    found = {(cell.size, cell.dim): cell for cell in cells}
    header = ["n", *(f"D={dim}" for dim in dims)]
    shown: dict[str, Callable[[Cell], str]] = {
        "mean ask, ms": lambda cell: f"{1000 * cell.mean:.1f}",
        "first ask, ms": lambda cell: f"{1000 * cell.first:.1f}",
        "peak memory, MB": lambda cell: f"{cell.peak_mb:.0f}",
    }
    grids = []
    for title, show in shown.items():
        rows = [[f"{size}", *(show(found[size, dim]) for dim in dims)] for size in sizes]
        grids.append(f"{cells[0].method}: {title}\n\n{render(header, rows, markdown=markdown)}")
    return "\n\n".join(grids)


def _filled(method: str, task: Problem, size: int, budget: int) -> Peer:
    peer = make_peer(method, task, seed=0, budget=budget)
    for params in task.space().sample(np.random.default_rng(0), size):
        peer.add(params, task.value(params))
    return peer


def _task(family: str, dim: int) -> Problem:
    return problem(family if family in NAMED else f"{family}-{dim}")


def _peak_mb() -> float:
    # macOS counts bytes, Linux kibibytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
