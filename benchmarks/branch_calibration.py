"""Whether the intervals of `Branches` hold the truth: a hundred small random trees with known minima.

Every tree has two to four options, some with a choice of their own behind them, and up to two parameters that
all branches have. What a leaf does with its parameters is a bowl, ripples, a smooth random function, or the
exponential of one; what all have in common is added, or bends with the rest. One tree in five is noisy. Half
of the histories are random designs, half are runs of `auto`, of 20 to 60 trials each; in one of three, an
option is hardly ever chosen. The truth of a node is the smallest value without noise of all leaves behind it.

python benchmarks/branch_calibration.py --histories trees.pickle --out trees.md

`--histories` keeps the trials between calls: the runs of `auto` take most of the time.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

import hidim
from hidim import Choice, Float, History, Optimizer, Space, Trial
from hidim.bench.tables import render
from hidim.insight import Insight

#: Trees, and points of each leaf from the best of which its minimum is looked for.
TREES, POINTS, POLISHED = 100, 4096, 6
#: The part of the trials that an option keeps that is hardly visited.
HARDLY = 0.1

Landscape = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Tree:
    """A conditional space whose objective has known minima.

    Args:
        space: its options are "a", "b", …, those of a choice behind an option "u" and "v".
        leaves: of each leaf, by its title, the names of its parameters and the loss as a function of them.
        truths: the smallest loss behind every node, by its title.
        noise: standard deviation of what is observed.
    """

    space: Space
    leaves: dict[str, tuple[list[str], Landscape]]
    truths: dict[str, float]
    noise: float

    def leaf(self, params: dict[str, Any]) -> str:
        inner = f"/{params['way']}" if "way" in params else ""
        return params["option"] + inner

    def loss(self, params: dict[str, Any]) -> float:
        """Without noise."""
        names, landscape = self.leaves[self.leaf(params)]
        return float(landscape(np.array([[params[name] for name in names]]))[0])


# -- random trees ------------------------------------------------------------------------------------------


def random_tree(seed: int) -> Tree:
    rng = np.random.default_rng(seed)
    common = [f"s{i}" for i in range(rng.integers(0, 3))]
    size, mixed = 10.0 ** rng.uniform(-2, 3), bool(rng.random() < 0.5)
    shared = _landscape(rng, len(common), wild=False) if common and not mixed else None
    options: dict[str, Space] = {}
    leaves: dict[str, tuple[list[str], Landscape]] = {}
    deep = int(rng.integers(0, 4)) if rng.random() < 0.5 else -1
    for place, label in enumerate("abcd"[: rng.integers(2, 5)]):
        own = [f"{label}{i}" for i in range(rng.integers(1, 4))]
        parts: dict[str, Any] = {name: Float(0, 1) for name in own}
        if place == deep:
            inner = {way: [f"{label}{way}{i}" for i in range(rng.integers(1, 3))] for way in "uv"}
            below = {way: Space({name: Float(0, 1) for name in names}) for way, names in inner.items()}
            parts["way"] = Choice(**below)
            for way, names in inner.items():
                leaves[f"{label}/{way}"] = (
                    [*common, *own, *names],
                    _leaf(rng, common, own + names, shared, size),
                )
        else:
            leaves[label] = [*common, *own], _leaf(rng, common, own, shared, size)
        options[label] = Space(parts)
    space = Space({**{name: Float(0, 1) for name in common}, "option": Choice(**options)})
    minima = {leaf: _minimum(landscape, len(names), rng) for leaf, (names, landscape) in leaves.items()}
    truths = {"": min(minima.values())}
    for label in options:
        behind = {leaf: value for leaf, value in minima.items() if leaf[0] == label}
        truths[f"option={label}"] = min(behind.values())
        truths |= {f"option={label}/way={leaf[-1]}": value for leaf, value in behind.items() if "/" in leaf}
    noise = 0.05 * size if rng.random() < 0.2 else 0.0
    return Tree(space, leaves, truths, noise)


def _leaf(
    rng: np.random.Generator, common: list[str], own: list[str], shared: Landscape | None, size: float
) -> Landscape:
    """The loss of a leaf at (r, d) parameters, those first that all have; about `size` large."""
    level, width = rng.uniform(-1.0, 1.0), len(common)
    if shared is None:
        bent = _landscape(rng, width + len(own), wild=True)
        return lambda u: size * (level + bent(u))
    single = _landscape(rng, len(own), wild=True)
    return lambda u: size * (level + shared(u[:, :width]) + single(u[:, width:]))


def _landscape(rng: np.random.Generator, dim: int, *, wild: bool) -> Landscape:
    """A function on the cube whose standard deviation is about 1."""
    kind = rng.choice(["bowl", "ripples", "smooth", "steep"] if wild else ["bowl", "smooth"])
    centre, weights = rng.random(dim), rng.uniform(0.3, 3.0, dim)
    waves = rng.standard_normal((40, dim)) / rng.uniform(0.25, 0.8)
    phases, heights = rng.uniform(0, 2 * np.pi, 40), rng.standard_normal(40) / np.sqrt(20)
    steepness = rng.uniform(1.0, 2.5)

    def bowl(u: np.ndarray) -> np.ndarray:
        return 3.0 * ((u - centre) ** 2) @ weights

    def smooth(u: np.ndarray) -> np.ndarray:
        return np.cos(u @ waves.T + phases) @ heights

    if kind == "bowl":
        return bowl
    if kind == "smooth":
        return smooth
    if kind == "ripples":
        return lambda u: bowl(u) + 0.3 * np.sin(9.0 * u + phases[:dim]).sum(axis=1)
    return lambda u: 0.3 * np.expm1(steepness * smooth(u))


def _minimum(landscape: Landscape, dim: int, rng: np.random.Generator) -> float:
    points = rng.random((POINTS, dim))
    values = landscape(points)
    starts = points[np.argsort(values)[:POLISHED]]
    bounds = [(0.0, 1.0)] * dim
    found = [minimize(lambda x: landscape(x[None])[0], start, bounds=bounds).fun for start in starts]
    return float(min(found))


# -- histories ---------------------------------------------------------------------------------------------


def random_history(tree: Tree, seed: int) -> History:
    """Trials at random or of `auto`; in one history of three, one option has next to none."""
    rng = np.random.default_rng([seed, 1])
    count, hardly = int(rng.integers(20, 61)), rng.random() < 1 / 3
    method = "random" if seed % 2 else "auto"
    optimizer = Optimizer(tree.space, method=method, seed=seed)
    rare = str(rng.choice(list(dict.fromkeys(leaf[0] for leaf in tree.leaves))))
    kept: list[Trial] = []
    while len(kept) < count:
        trial = optimizer.ask()
        params = trial.params
        if hardly and params["option"] == rare and rng.random() > HARDLY:
            params = tree.space.sample(rng, 1)[0]
        value = tree.loss(params) + tree.noise * rng.standard_normal()
        if params is trial.params:
            optimizer.tell(trial, value)
        else:
            optimizer._withdraw(trial)
            optimizer.add(params, value)
        kept.append(Trial(params, len(kept)).completed(value, len(kept)))
    return History(kept)


# -- what is told of them ----------------------------------------------------------------------------------


class Told(NamedTuple):
    """Of one node: the truth, what was expected, and the scale of the history."""

    seed: int
    title: str
    trials: int
    best: float
    truth: float
    spread: float
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    noisy: bool = False

    @property
    def shown(self) -> bool:
        return not np.isnan(self.value)

    @property
    def holds(self) -> bool:
        slack = 1e-6 * self.spread  # of the search for the truth
        return self.low - slack <= self.truth <= self.high + slack

    @property
    def width(self) -> float:
        return (self.high - self.low) / self.spread


def told(tree: Tree, history: History, seed: int) -> Iterator[Told]:
    """One entry for every node but those that are no branch."""
    values = np.array([trial.value for trial in history.complete])
    for title, branch in Insight(tree.space, history).branches().items():
        best = np.nan if branch.best is None else float(branch.best.value)
        entry = Told(
            seed,
            title,
            branch.complete,
            best,
            tree.truths[title],
            float(np.std(values)),
            noisy=tree.noise > 0,
        )
        if branch.expected is None:
            yield entry
        else:
            e = branch.expected
            yield entry._replace(value=e.value, low=e.low, high=e.high)


def figures(entries: Sequence[Told]) -> list[str]:
    shown = [e for e in entries if e.shown]
    if not shown:
        return [str(len(entries)), "0 %", "–", "–", "–", "–"]
    error = np.median([abs(e.value - e.truth) / e.spread for e in shown])
    return [
        str(len(entries)),
        f"{len(shown) / len(entries):.0%}",
        f"{np.mean([e.holds for e in shown]):.1%}",
        f"{np.median([e.width for e in shown]):.3f}",
        f"{np.quantile([e.width for e in shown], 0.9):.2f}",
        f"{error:.3f}",
    ]


def table(entries: Sequence[Told]) -> str:
    """Coverage and widths, by kinds of histories and nodes, as Markdown."""
    kinds: dict[str, list[Told]] = {
        "all": list(entries),
        "random designs": [e for e in entries if e.seed % 2],
        "runs of `auto`": [e for e in entries if not e.seed % 2],
        "the whole space": [e for e in entries if not e.title],
        "branches": [e for e in entries if e.title],
        "of 0 trials": [e for e in entries if e.trials == 0],
        "of 1 to 4 trials": [e for e in entries if 1 <= e.trials < 5],
        "of 5 to 14 trials": [e for e in entries if 5 <= e.trials < 15],
        "of 15 trials or more": [e for e in entries if e.trials >= 15],
        "noisy": [e for e in entries if e.noisy],
    }
    header = [
        "nodes",
        "number",
        "shown",
        "hold the truth",
        "median width",
        "90 % of widths below",
        "median error",
    ]
    return render(header, [[name, *figures(group)] for name, group in kinds.items()], left=1, markdown=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=Path)
    parser.add_argument("--trees", type=int, default=TREES)
    parser.add_argument("--first", type=int, default=0, help="the first seed: other trees with another")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.trees)
    trees = [random_tree(seed) for seed in seeds]
    if options.histories and options.histories.exists():
        histories = pickle.loads(options.histories.read_bytes())
    else:
        histories = [random_history(tree, seed) for seed, tree in zip(seeds, trees, strict=True)]
        if options.histories:
            options.histories.write_bytes(pickle.dumps(histories))
    begin = time.perf_counter()
    every = zip(seeds, trees, histories, strict=True)
    entries = [entry for seed, tree, history in every for entry in told(tree, history, seed)]
    seconds = (time.perf_counter() - begin) / len(trees)
    text = (
        f"{len(trees)} trees, hidim {hidim.__version__}, {seconds:.2f} s for each. Widths of the 95 % "
        f"intervals and errors are in standard deviations of all values of a history.\n\n{table(entries)}\n"
    )
    print(text)
    if options.out:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
