"""The default against the one before it, kind by kind of problem; and against peers on COCO's bbob.

    python benchmarks/default.py run default.jsonl --half seen --methods hidim:default,before
    python benchmarks/default.py table default.jsonl --half seen --ours hidim:default --other before
    python benchmarks/default.py peers default.jsonl
    python benchmarks/default.py bbob default.jsonl
    python benchmarks/default.py table default.jsonl --half both --each --other turbo
    python benchmarks/default.py suite default.jsonl --with results/suite.jsonl results/suite-*.jsonl
    python benchmarks/default.py long default.jsonl
    python benchmarks/default.py time default.jsonl

`before` is the method `mixed` of 47 settings, from a git worktree of the commit that last had it, which this
script makes beside the checkout; `joint` is that with nine of its parts off. Problems of COCO take
`pip install coco-experiment`.

The rule, written down before anything was run. A kind of problem is worse if, over its pairs of runs (the
same problem, seed and number of evaluations), the mean logarithm of the ratio of regrets is above 0 with a
one-sided p below .05 divided by the number of kinds (t-test), or if its geometric mean exceeds 1.3. A regret
below 1e-9 of the worst of a problem counts as solved; no pair counts as more than a factor of a hundred. What
is not worse goes; where a kind is worse, one part comes back, the largest first, until it is not. Half of the
functions (UNSEEN) are not run before the choice is made. bbob-mixint is run after it: a guard, no evidence.
Seeds begin with 100, which nothing was chosen on.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from hidim._settings import split_names
from hidim._types import Array, Params
from hidim.bench import functions, suite
from hidim.bench.base import BoxProblem, Suggest, TreeProblem
from hidim.bench.conditional import DeepTree
from hidim.bench.functions import Landscape, of_few
from hidim.bench.problems import FAMILIES, NAMED, Family, Named
from hidim.bench.report import final_regret, regret_curve
from hidim.bench.runner import Job, Record, read_records, sweep
from hidim.bench.tables import figure, render
from hidim.space import Choice, Float, Int, Space, Vector

#: The last commit with the method `mixed`.
BEFORE = "b6d9f57"

OFF = "bold=0, restless=0, last=0, fair=0, twins=false, apart=false, thorough=false, wide=false, scouts=0"
METHODS = {"before": "hidim:mixed", "joint": f"hidim:mixed({OFF}, credit=count, frame=cube)"}

FIRST_SEED = 100

# -- problems that nothing was chosen on -------------------------------------------------------------------

for _name, _build, _count in (
    ("rosenbrock10", functions.rosenbrock, 10),
    ("ackley10", functions.ackley, 10),
    ("griewank6", functions.griewank, 6),
    ("styblinski8", functions.styblinski, 8),
    ("rastrigin5", functions.rastrigin, 5),
    ("zakharov12", functions.zakharov, 12),
):
    FAMILIES[_name] = Family(of_few(_build, _count), f"{_count} coordinates", least=_count, scattered=True)


@dataclass(frozen=True)
class Coco(BoxProblem):
    """A function of COCO's bbob or bbob-mixint, whose integers are parameters of their own."""

    levels: tuple[int, ...] = ()

    def space(self) -> Space:
        real = {"x": Vector(self.dim - len(self.levels), 0.0, 1.0)}
        return Space({f"i{place}": Int(0, top) for place, top in enumerate(self.levels)} | real)

    def draw(self, suggest: Suggest) -> Params:
        whole = {f"i{place}": suggest.integer(f"i{place}", 0, top) for place, top in enumerate(self.levels)}
        return whole | {"x": suggest.vector("x", self.dim - len(self.levels))}

    def value(self, params: Params) -> float:
        whole = [params[f"i{place}"] / top for place, top in enumerate(self.levels)]
        return self.evaluate(np.concatenate([whole, params["x"]]))


def coco(suite: str, number: int, dim: int, instance: int) -> Coco:
    import cocoex

    found = cocoex.Suite(suite, f"instances: {instance}", f"dimensions: {dim} function_indices: {number}")
    function = found[0]
    low, high = np.array(function.lower_bounds), np.array(function.upper_bounds)
    whole = int(function.number_of_integer_variables)
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:  # COCO writes the best point into the working directory
        os.chdir(folder)
        try:
            function._best_parameter("print")
            best = np.loadtxt("._bbob_problem_best_parameter.txt")
        finally:
            os.chdir(home)

    def evaluate(u: Array, keep: object = found) -> float:
        return float(function(low + (high - low) * u))

    name = f"{suite}-{number}-{instance}-{dim}"
    levels = tuple(high[:whole].astype(int).tolist())
    return Coco(name, dim, float(function(best)), evaluate, (best - low) / (high - low), levels=levels)


@dataclass(frozen=True)
class Pick(TreeProblem):
    """One of four functions, each with numbers of its own, behind two common ones that shift them."""

    name: str
    size: int
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        own = {
            key: Space({f"{key}{i}": Float(0.0, 1.0) for i in range(self.size)})
            for key in ("bowl", "valley", "waves", "steps")
        }
        return Space({"a": Float(0.0, 1.0), "b": Float(0.0, 1.0), "which": Choice(own)})

    def value(self, params: Params) -> float:
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        best, centre = rng.permutation(4), rng.uniform(0.2, 0.8, (4, self.size + 2))
        place = ("bowl", "valley", "waves", "steps").index(params["which"])
        own = np.array([params[f"{params['which']}{i}"] for i in range(self.size)])
        u = np.concatenate([[params["a"], params["b"]], own]) - centre[place]
        u[2] += 0.5 * u[0]
        match params["which"]:
            case "bowl":
                value = float(u @ u)
            case "valley":
                bend = 4.0 * u[1:] - 16.0 * u[:-1] ** 2
                value = float((bend @ bend + 4.0 * u @ u) / len(u))
            case "waves":
                value = float((u @ u) + 0.1 * np.sum(1.0 - np.cos(6.0 * np.pi * u)) / len(u))
            case _:
                value = float(np.abs(u).mean() + 0.05 * np.floor(10.0 * np.abs(u)).mean())
        return value + 0.1 * int(best[place])

    def is_best_branch(self, params: Params) -> bool:
        best = np.random.default_rng(zlib.crc32(self.name.encode())).permutation(4)
        return bool(best[("bowl", "valley", "waves", "steps").index(params["which"])] == 0)


@dataclass(frozen=True)
class Stages(TreeProblem):
    """A chain of stages, each off or on with two numbers and an integer; neighbours that are on interact."""

    name: str
    size: int
    noise: float = 0.0

    @property
    def optimum(self) -> float:
        return self._lowest()

    def space(self) -> Space:
        def on(i: int) -> Space:
            return Space({f"u{i}": Float(0.0, 1.0), f"v{i}": Float(1e-4, 1.0, log=True), f"k{i}": Int(1, 9)})

        return Space({f"s{i}": Choice(off=Space({}), on=on(i)) for i in range(self.size)})

    def _drawn(self) -> tuple[Array, Array, Array, Array]:
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        worth = rng.uniform(-0.5, 1.0, self.size)  # what a stage that is set well is worth
        pair = rng.uniform(-0.4, 0.4, self.size - 1)
        return worth, pair, rng.uniform(0.2, 0.8, (self.size, 2)), rng.integers(2, 9, self.size)

    def _lowest(self) -> float:
        """By recursion along the chain: the value of the first stages, by whether the last of them is on."""
        worth, pair, _, _ = self._drawn()
        off, on = 0.0, -worth[0]
        for gain, bond in zip(worth[1:], pair, strict=True):
            off, on = min(off, on), min(off, on + bond) - gain
        return float(min(off, on))

    def value(self, params: Params) -> float:
        worth, pair, centre, whole = self._drawn()
        on = np.array([params[f"s{i}"] == "on" for i in range(self.size)])
        total = float(on[1:] @ (pair * on[:-1]))
        for i in np.flatnonzero(on):
            v = 1.0 + math.log10(params[f"v{i}"]) / 4.0
            away = np.array([params[f"u{i}"] - centre[i, 0], v - centre[i, 1]])
            away[1] += 0.7 * away[0]
            total += -worth[i] + 2.0 * float(away @ away) + 0.02 * (params[f"k{i}"] - whole[i]) ** 2
        return total

    def is_best_branch(self, params: Params) -> bool:
        choices = [(params[f"s{i}"] == "on") for i in range(self.size)]
        worth, pair, _, _ = self._drawn()
        on = np.array(choices)
        return bool(float(on[1:] @ (pair * on[:-1])) - float(worth @ on) <= self._lowest() + 1e-12)


def hidden(name: str, dim: int, build: Callable[[int], Landscape], noise: float = 0.0) -> BoxProblem:
    """A landscape moved by a fifth of the cube, with noise of a share of its interquartile range."""
    landscape, rng = build(dim), np.random.default_rng(zlib.crc32(name.encode()))
    width = landscape.high - landscape.low
    at = (landscape.minimiser - landscape.low) / width
    shift = np.clip(at + rng.uniform(-0.2, 0.2, dim), 0.05, 0.95) - at

    def evaluate(u: Array) -> float:
        return landscape.formula(landscape.low + width * (1.0 - np.abs(1.0 - (u - shift) % 2.0)))

    values = [evaluate(u) for u in rng.random((1000, dim))]
    low, high = np.quantile(values, [0.25, 0.75])
    return BoxProblem(name, dim, landscape.optimum, evaluate, at + shift, noise * float(high - low))


NAMED |= {
    f"{suite}-{number}-{instance}-{dim}": Named(partial(coco, suite, number, dim, instance), "COCO")
    for suite in ("bbob", "bbob-mixint")
    for number in range(1, 25)
    for instance in range(1, 9)
    for dim in (20, 40)
}
NAMED |= {f"pick-{n}": Named(partial(Pick, f"pick-{n}", n), "four functions") for n in (3, 4, 6, 8)}
NAMED |= {f"stages-{n}": Named(partial(Stages, f"stages-{n}", n), "a chain") for n in (4, 6, 8, 12)}
NAMED |= {
    f"tree-{depth}x{width}": Named(partial(DeepTree, f"tree-{depth}x{width}", depth, width), "a tree")
    for depth, width in ((2, 3), (2, 6), (3, 3), (4, 2))
}
NOISY = {
    "noisy-bowl-8": (8, functions.ellipsoid, 0.1),
    "noisy-levy-10": (10, functions.levy, 0.1),
    "noisy-ackley-15": (15, functions.ackley, 0.05),
    "noisy-rosenbrock-12": (12, functions.rosenbrock, 0.1),
    "noisy-hartmann-12": (12, functions.repeated_hartmann6, 0.2),
    "noisy-griewank-20": (20, functions.griewank, 0.05),
    "noisy-styblinski-20": (20, functions.styblinski, 0.1),
    "noisy-zakharov-6": (6, functions.zakharov, 0.1),
}
NAMED |= {
    name: Named(partial(hidden, name, dim, build, noise), "noise")
    for name, (dim, build, noise) in NOISY.items()
}

# -- the plan ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """Problems that count together: those seen before the choice, those not, evaluations and seeds."""

    seen: dict[str, int]
    unseen: dict[str, int]
    seeds: int


def _each(names: str | Sequence[str], evaluations: int) -> dict[str, int]:
    return dict.fromkeys(names.split() if isinstance(names, str) else names, evaluations)


def _bbob(suite: str, numbers: range) -> dict[str, int]:
    dims = (20,) if suite == "bbob-mixint" else (20, 40)
    instances = (3,) if suite == "bbob-mixint" else (3, 4)
    names = [f"{suite}-{n}-{i}-{d}" for d in dims for i in instances for n in numbers]
    return dict.fromkeys(names, 200)


KINDS = {
    "ablation": Kind(
        {
            "rep-branin-6-shifted": 80,
            "rosenbrock-8-shifted": 150,
            "ackley-10-shifted": 120,
            "levy-15-shifted": 150,
            "rosenbrock-20-shifted-rotated": 150,
            "ackley8-60-shifted": 120,
        },
        {
            "rastrigin-6-shifted": 150,
            "griewank-8-shifted": 120,
            "rep-hartmann6-12-shifted": 100,
            "styblinski-15-shifted": 150,
            "hartmann6-50-shifted": 150,
            "levy10-100-shifted": 150,
        },
        12,
    ),
    "suite": Kind(
        _each(
            "levy-5-shifted hartmann6-6-rotated rosenbrock-20-shifted rep-hartmann6-20-shifted "
            "rosenbrock-100-shifted levy-20-shifted styblinski-40-shifted levy-300-shifted "
            "ellipsoid-40-shifted-rotated ackley-20-shifted rastrigin-20-shifted branin-200 "
            "levy10-200-shifted rosenbrock6-1000 switches-200",
            200,
        ),
        _each(
            "rosenbrock-5-shifted rastrigin-5-shifted rep-branin-20-shifted zakharov-20-shifted "
            "rep-branin-100-shifted levy-40-shifted ellipsoid-100-shifted levy-20-shifted-rotated "
            "rosenbrock-40-shifted-rotated ackley-40-shifted griewank-20-shifted hartmann6-300-shifted "
            "ackley8-300-shifted switches-60 discrete-47",
            200,
        ),
        4,
    ),
    "bbob": Kind(_bbob("bbob", range(1, 25, 2)), _bbob("bbob", range(2, 25, 2)), 1),
    "conditional": Kind(
        _each("jenatton-shifted training pick-4 stages-6 tree-2x6", 60)
        | {"pipeline": 80, "network": 100, "tree-56": 150},
        _each("pick-6 stages-8 tree-2x3", 60) | {"pick-8": 100, "stages-12": 100, "tree-4x2": 150},
        6,
    ),
    "noisy": Kind(
        _each("noisy-bowl-8 noisy-ackley-15 noisy-hartmann-12 noisy-styblinski-20", 120),
        _each("noisy-levy-10 noisy-rosenbrock-12 noisy-griewank-20 noisy-zakharov-6", 120),
        5,
    ),
    "sparse": Kind(
        _each("levy10-200-shifted rosenbrock10-200-shifted ackley8-300-shifted styblinski8-150-shifted", 200),
        _each("ackley10-200-shifted griewank6-100-shifted zakharov12-250-shifted rastrigin5-120-shifted", 200)
        | _each("hartmann6-400-shifted levy10-400-shifted", 200),
        5,
    ),
    "long": Kind(
        _each(
            "ackley-30-shifted rep-hartmann6-20-shifted hartmann6-60-rotated levy-40-shifted "
            "rastrigin-20-shifted-rotated rosenbrock-20-shifted",
            1000,
        ),
        _each(
            "styblinski-40-shifted griewank-20-shifted-rotated hartmann6-6-rotated levy10-200-shifted "
            "ellipsoid-40-shifted-rotated rep-branin-100-shifted",
            1000,
        ),
        3,
    ),
    "mixint": Kind({}, _bbob("bbob-mixint", range(1, 25)), 1),
}

PEERS = ("pycma", "optuna-tpe", "optuna-gp", "turbo")


def jobs_of(half: str, methods: Sequence[str], kinds: Sequence[str], seeds: int | None) -> list[Job]:
    """All runs, seed by seed over all kinds, so that an early stop still compares everything."""
    found = []
    for name in kinds:
        kind = KINDS[name]
        problems = kind.seen if half == "seen" else kind.unseen
        for problem, evaluations in problems.items():
            for seed in range(min(kind.seeds, seeds or kind.seeds)):
                found += [Job(problem, method, FIRST_SEED + seed, evaluations) for method in methods]
    return sorted(found, key=lambda job: (job.seed, job.evaluations >= 1000))


def peer_jobs() -> list[Job]:
    """Peers on COCO's bbob, and TuRBO-1 beside the default where 10 of 200 coordinates matter."""
    found = [Job(f"bbob-{n}-3-20", peer, FIRST_SEED, 200) for n in range(1, 25) for peer in PEERS]
    for seed in range(FIRST_SEED, FIRST_SEED + 10):
        for name in ("levy", "ackley", "rosenbrock"):
            found += [
                Job(f"{name}10-200-shifted", method, seed, 200) for method in ("hidim:default", "turbo")
            ]
    return found


# -- tables ------------------------------------------------------------------------------------------------

MOST, SOLVED, WORSE = math.log(100.0), 1e-9, 1.3


def ratios(records: Sequence[Record], problems: dict[str, int], pair: tuple[str, str], share: float) -> Array:
    """Rows (problem, log ratio) of the pairs of runs, after a share of their evaluations."""
    runs: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        if not record["error"] and problems.get(record["problem"]) == record["evaluations"]:
            at = max(int(share * record["evaluations"]), 1)
            noisy = record.get("recommended") is not None and share == 1.0
            regret = final_regret(record) if noisy else float(regret_curve(record)[at - 1])
            runs.setdefault((record["problem"], record["method"]), {})[int(record["seed"])] = regret
    rows = []
    for place, name in enumerate(problems):
        own, other = (runs.get((name, method), {}) for method in pair)
        worst = max([*own.values(), *other.values()], default=1.0)
        for seed in sorted(own.keys() & other.keys()):
            gap = math.log(max(own[seed], SOLVED * worst) / max(other[seed], SOLVED * worst)) if worst else 0
            rows.append((place, np.clip(gap, -MOST, MOST)))
    return np.array(rows).reshape(-1, 2)


def _cells(gaps: Array, kinds: int) -> list[str]:
    """Geometric mean with its 90 % interval, better : worse, p that it is worse, the verdict."""
    n, mean = len(gaps), float(gaps.mean())
    if n < 3:
        return [str(n), figure(math.exp(mean), 2), "", "", "", ""]
    error = float(gaps.std(ddof=1)) / math.sqrt(n)
    p = float(student.sf(mean / max(error, 1e-12), n - 1))
    reach = float(student.ppf(0.95, n - 1)) * error
    low, high = math.exp(mean - reach), math.exp(mean + reach)
    worse = p < 0.05 / kinds or math.exp(mean) > WORSE
    wins = f"{int((gaps < 0).sum())} : {int((gaps > 0).sum())}"
    interval = f"{figure(low, 2)} – {figure(high, 2)}"
    return [str(n), figure(math.exp(mean), 2), interval, wins, figure(p, 2), "worse" if worse else ""]


def table(records: Sequence[Record], half: str, ours: str, other: str, each: bool) -> str:
    """Kinds of problems, after a quarter, half and all of the evaluations."""
    pair = (METHODS.get(ours, ours), METHODS.get(other, other))
    parts = []
    for share in (0.25, 0.5, 1.0):
        rows, every = [], []
        for name, kind in KINDS.items():
            halves = {"seen": kind.seen, "unseen": kind.unseen, "both": kind.seen | kind.unseen}
            found = ratios(records, halves[half], pair, share)
            if len(found):
                every.append(found[:, 1])
                rows.append([name, *_cells(found[:, 1], len(KINDS) - 1)])
            if each and share == 1.0:
                for place, problem in enumerate(halves[half]):
                    own = found[found[:, 0] == place, 1]
                    if len(own):
                        rows.append([f"  {problem}", *_cells(own, len(KINDS) - 1)])
        if every:
            rows.append(["**all**", *_cells(np.concatenate(every), len(KINDS) - 1)])
        head = [f"{share:.0%} of the evaluations", "pairs", "ratio", "90 %", "better : worse", "p", ""]
        parts.append(render(head, rows, left=1, markdown=True))
    parts.append(_branches(records, half, pair))
    return "\n\n".join(parts)


def _branches(records: Sequence[Record], half: str, pair: tuple[str, str]) -> str:
    """Runs that end in a wrong branch, and own time of a run."""
    rows = []
    for method in pair:
        own = [record for record in records if record["method"] == method and not record["error"]]
        known = [record["best_branch"] for record in own if record.get("best_branch") is not None]
        seconds = [record["own_seconds"] / record["evaluations"] for record in own]
        wrong = f"{known.count(False)} of {len(known)}"
        rows.append([method, str(len(own)), wrong, figure(float(np.mean(seconds)) if seconds else 0.0, 2)])
    return render(["", "runs", "in a wrong branch", "own s per trial"], rows, left=1, markdown=True)


def bbob_table(records: Sequence[Record], ours: str, dim: int = 20, instance: int = 3) -> str:
    """Regret after 200 evaluations beside the best of the peers that ran, function by function."""
    rows, logs = [], []
    for number in range(1, 25):
        name = f"bbob-{number}-{instance}-{dim}"
        found = {r["method"]: final_regret(r) for r in records if r["problem"] == name and not r["error"]}
        peers = {peer: found[peer] for peer in PEERS if peer in found}
        if METHODS.get(ours, ours) not in found or not peers:
            continue
        own, best = found[METHODS.get(ours, ours)], min(peers, key=lambda peer: peers[peer])
        logs.append(math.log(max(own, 1e-12) / max(peers[best], 1e-12)))
        rows.append([f"f{number}", figure(own), figure(peers[best]), best, figure(math.exp(logs[-1]), 2)])
    mean = math.exp(float(np.mean(logs))) if logs else math.nan
    rows.append(["**geometric mean**", "", "", f"behind on {sum(g > 0 for g in logs)}", figure(mean, 2)])
    return render(["", ours, "best peer", "which", "ratio"], rows, left=1, markdown=True)


def long_table(records: Sequence[Record], ours: str) -> str:
    """Regrets of long runs on their way, seed by seed."""
    rows = []
    for problem in KINDS["long"].seen | KINDS["long"].unseen:
        runs = [r for r in records if r["problem"] == problem and r["evaluations"] == 1000 and not r["error"]]
        curves = [regret_curve(r) for r in sorted(runs, key=lambda r: r["seed"]) if r["method"] == ours]
        if curves:
            at = [
                ", ".join(figure(float(curve[stop - 1]), 2) for curve in curves) for stop in (200, 400, 1000)
            ]
            rows.append([problem, *at])
    return render(["regrets after", "200", "400", "1000"], rows, left=1, markdown=True)


def time_table(records: Sequence[Record]) -> str:
    """Mean milliseconds of a suggestion from the eleventh on, where records have the times of all."""
    rows = []
    for record in records:
        if seconds := record.get("ask_seconds", [])[10:]:
            cells = [record["problem"], record["method"], str(record["evaluations"])]
            rows.append([*cells, figure(1000.0 * float(np.mean(seconds)))])
    return render(["", "method", "trials", "ms"], rows, left=2, markdown=True)


# -- the command -------------------------------------------------------------------------------------------


def worktree() -> Path:
    """The sources of the commit before, beside the checkout."""
    place = Path(tempfile.gettempdir()) / f"hidim-{BEFORE}"
    if not (place / "src").exists():
        subprocess.run(["git", "worktree", "prune"], check=True)
        subprocess.run(["git", "worktree", "add", "--detach", str(place), BEFORE], check=True)
    return place / "src"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "peers", "table", "bbob", "suite", "long", "time"))
    parser.add_argument("records", type=Path)
    parser.add_argument("--half", choices=("seen", "unseen", "both"), default="seen")
    parser.add_argument("--methods", default="before,joint")
    parser.add_argument("--kinds", default=",".join(name for name in KINDS if name != "mixint"))
    parser.add_argument("--seeds", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ours", default="hidim:default")
    parser.add_argument("--other", default="before")
    parser.add_argument("--with", type=Path, nargs="*", default=[], dest="others", help="records of peers")
    parser.add_argument("--each", action="store_true", help="every problem, too")
    args = parser.parse_args()
    kinds = [name for name in KINDS if name in args.kinds.split(",")]
    if args.what == "table":
        print(table(read_records(args.records), args.half, args.ours, args.other, args.each))
        return
    if args.what == "bbob":
        print(bbob_table(read_records(args.records), args.ours))
        return
    if args.what == "suite":  # runs of peers begin with seed 0: pairs of runs are as good as any
        records = [record for path in (args.records, *args.others) for record in read_records(path)]
        print(suite.table([r | {"seed": r["seed"] % FIRST_SEED} for r in records], args.ours, 200))
        return
    if args.what == "long":
        print(long_table(read_records(args.records), args.ours))
        return
    if args.what == "time":
        print(time_table(read_records(args.records)))
        return
    if args.what == "peers":
        sweep(peer_jobs(), args.records, args.jobs)
        return
    names = split_names(args.methods)
    old = [name for name in names if name in METHODS]
    if old and os.environ.get("PYTHONPATH") != str(worktree()):
        again = [sys.executable, __file__, *sys.argv[1:]]
        again += ["--methods", ",".join(old)]  # the last one counts
        subprocess.run(again, check=True, env=os.environ | {"PYTHONPATH": str(worktree())})
        names = [name for name in names if name not in METHODS]
    methods = [METHODS.get(name, name) for name in names]
    halves = ("seen", "unseen") if args.half == "both" else (args.half,)
    jobs = [job for half in halves for job in jobs_of(half, methods, kinds, args.seeds)]
    if jobs:
        sweep(jobs, args.records, args.jobs)


if __name__ == "__main__":
    main()
