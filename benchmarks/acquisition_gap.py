"""How much of the acquisition function's maximum a search in a tree misses, in nats.

    python benchmarks/acquisition_gap.py --out results/acquisition-gap.md

A run is stopped after n trials, and the search asked once more, with the log expected improvement under the
model of that moment. What the first of its points scores is compared with the best that is found by a search
without haste: 20,000 points anywhere and around the hundred best trials, the best five of every path and 400
in all refined by 200 calls, labels changed one at a time while that helps; it begins at what the others
found, too. 0.05 nats are 5 % of the expected improvement. `before` is a search of the same posterior with
`wide=False`, `longer` that one with more starts and calls, so that it takes the time of `now`.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hidim import Optimizer
from hidim._types import Array, Indices, Rng
from hidim.acquisition.utility import Improvement
from hidim.bench.problems import problem
from hidim.bench.runner import versions
from hidim.bench.tables import render
from hidim.frame import Ground
from hidim.methods import configured
from hidim.methods.recipe import Recipe
from hidim.optim.lbfgs import ascend
from hidim.optim.starts import perturbed
from hidim.search import Found, Paths, Search, Situation, Target
from hidim.search.discrete import jumped
from hidim.search.refine import refined, stepped

PROBLEMS = ("jenatton", "tree-56", "training", "pipeline", "network")
TRIALS = (20, 50, 100, 150)

#: What the search without haste looks at: points, the best trials, refined ones of a path and in all, calls.
POINTS, BEST, EACH, REFINED, CALLS = 20_000, 100, 5, 400, 200

#: Starts and calls of `longer`.
LONGER = 4096, 160

#: Gaps of more nats than this are misses.
MISS = 0.05


#: What is compared.
SEARCHES = ("before", "longer", "now")


class Missed(NamedTuple):
    """Of one moment, by searches: the gaps in nats, and the seconds that they took."""

    gaps: list[float]
    seconds: list[float]


@dataclass(frozen=True)
class Watched(Search):
    """A search that notes what it was asked and what it found."""

    inner: Paths = field(default_factory=Paths)
    notes: list[Missed] = field(default_factory=list)

    def __call__(self, target: Target, situation: Situation, rng: Rng) -> Found:
        before = replace(self.inner, ways=replace(self.inner.ways, wide=False))
        longer = replace(before, ways=replace(before.ways, raw=LONGER[0], max_calls=LONGER[1]))
        state, seconds, points = rng.bit_generator.state, [], []
        for search in (before, longer, self.inner):
            rng.bit_generator.state = state
            begin = time.process_time()
            found = search(target, situation, rng)
            seconds.append(time.process_time() - begin)
            points.append(found.points[:EACH])
        best = thorough(target, situation, np.vstack(points), np.random.default_rng(0))
        gaps = [max(best - float(target.scores(some[:1])[0]), 0.0) for some in points]
        self.notes.append(Missed(gaps, seconds))
        return found


def thorough(target: Target, situation: Situation, found: Array, rng: Rng) -> float:
    """The largest score that a search without haste finds, which begins at what was found (k, d), too."""
    ground = situation.scene.ground
    known = ground.to_unit(situation.ranked[:BEST])
    near, moved = perturbed(rng, known, POINTS // 2, movable=ground.levels > 1)
    anywhere = rng.random((POINTS - len(near), ground.dim))
    starts = ground.snap(ground.from_unit(np.vstack([jumped(ground, near, moved, rng), anywhere])))
    starts = starts[np.argsort(-target.scores(starts), kind="stable")]
    starts = np.vstack([found, starts[_first_of_each(_paths(starts))[:REFINED]]])
    best, before = _climbed(target, ground, starts), -np.inf
    while (score := float(target.scores(best[:1])[0])) > before + 1e-6:
        best, before = _climbed(target, ground, stepped(target, ground, best, rng)), score
    return max(score, before)


def _climbed(target: Target, ground: Ground, starts: Array) -> Array:
    """Where the starts (r, d) lead if all of their numbers may move, best first."""
    lower, upper = (np.broadcast_to(edge, starts.shape) for edge in (ground.lower, ground.upper))
    free = np.ones(starts.shape, dtype=np.bool_)
    return refined(ascend, target, ground, starts, free, lower, upper, CALLS, 1e-6)


def _paths(points: Array) -> Indices:
    """Which of the paths each point (n, d) is on, as numbers (n,): by the parameters that exist there."""
    return np.unique(np.isnan(points), axis=0, return_inverse=True)[1].ravel()


def _first_of_each(paths: Indices) -> Indices:
    """Places of the first `EACH` of every path, in order."""
    counts: dict[int, int] = defaultdict(int)
    kept = []
    for place, path in enumerate(paths.tolist()):
        counts[path] += 1
        if counts[path] <= EACH:
            kept.append(place)
    return np.array(kept)


def measured(name: str, method: str, seed: int, trials: Sequence[int]) -> list[Missed]:
    """The gaps of one run after each of these numbers of trials."""
    task = problem(name)
    recipe = configured(method)
    assert isinstance(recipe, Recipe)
    assert isinstance(recipe.search, Paths)
    plain = Optimizer(task.space(), recipe, seed=seed)
    missed = []
    for number in range(max(trials)):
        if number in trials:
            missed += _at(plain, recipe, seed)
        trial = plain.ask()
        plain.tell(trial, task.value(trial.params))
    return missed + _at(plain, recipe, seed)


def _at(run: Optimizer, recipe: Recipe, seed: int) -> list[Missed]:
    assert isinstance(recipe.search, Paths)
    watched = Watched(recipe.search)
    asked = replace(recipe, utility=Improvement(), search=watched)
    again = Optimizer(run.space, asked, seed=seed, noisy=False)  # no probes of noise
    again._restore(run.history)
    again.ask()
    return watched.notes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--methods", default="addtree,mixed", help="with commas between them")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="with commas between them")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a Markdown file; by default the table is printed")
    given = parser.parse_args()
    rows, everything = [], defaultdict(list)
    for name in given.problems.split(","):
        for method in given.methods.split(","):
            runs = [measured(name, method, seed, TRIALS) for seed in range(given.seeds)]
            for place, when in enumerate(SEARCHES):
                gaps = np.array([[missed.gaps[place] for missed in run] for run in runs])
                seconds = np.mean([missed.seconds[place] for run in runs for missed in run])
                shown = [", ".join(f"{gap:.2f}" for gap in column) for column in gaps.T]
                misses = f"{int((gaps > MISS).sum())} of {gaps.size}"
                rows.append([name, method, when, *shown, misses, f"{gaps.max():.2f}", f"{seconds:.3f}"])
                print(rows[-1], flush=True)
                everything[method, when].append((gaps, seconds))
    for (method, when), found in everything.items():
        gaps, seconds = np.hstack([gaps for gaps, _ in found]), np.mean([each for _, each in found])
        totals = ["**all**", method, when, *[""] * len(TRIALS), f"{int((gaps > MISS).sum())} of {gaps.size}"]
        rows.append([*totals, f"{gaps.max():.2f}", f"{seconds:.3f}"])
    header = [
        "problem",
        "method",
        "search",
        *(f"n = {n}" for n in TRIALS),
        f"> {MISS}",
        "worst",
        "s a search",
    ]
    command = f"python benchmarks/acquisition_gap.py --seeds {given.seeds}"
    made = ", ".join(f"{package} {version}" for package, version in versions().items())
    notes = f"`{command}`, of the present code; {made}; {os.cpu_count()} cores, one thread."
    table = render(header, rows, left=3, markdown=True)
    text = "\n\n".join(["# What a search misses, in nats", table, notes]) + "\n"
    if given.out:
        given.out.write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
