"""Tuning lp_solve on an instance of MIPLIB, as REMBO does (§4.3): 40 binary and 7 categorical parameters.

    python benchmarks/lpsolve.py survey --library liblpsolve55.so --instances FOLDER
    python benchmarks/lpsolve.py run --library … --instances … --methods random,smac --out lpsolve.jsonl

`FOLDER` holds MPS files of MIPLIB 3 (benchmarks/README.md says where they come from). `survey` tells how the
objective varies over random configurations; `run` is `hidim bench run` on this problem.

The objective is the relative gap between the best solution after 2000 iterations of the simplex method and
the known optimum: work, not time, so that it does not depend on how busy or fast the machine is. There is no
value if lp_solve crashes, calls the instance infeasible or unbounded, or finds no solution. Its switches for
random choices are left out, and its generator is seeded. Every evaluation is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from hidim._settings import split_names
from hidim._types import Params
from hidim.bench.base import Crash
from hidim.bench.discrete import Labelled
from hidim.bench.peers import Random
from hidim.bench.problems import NAMED, Named
from hidim.bench.runner import plan, sweep
from hidim.errors import HidimError

WORKER = Path(__file__).with_name("lpsolve_worker.py")
PREFIX = "lpsolve-"
ITERATIONS = 2000
SECONDS = 120  # a guard against loops without iterations; a run takes less than one second

#: What `solve` returns when there is no solution; after the first two there should have been one.
STATUS = {
    0: "a wrong solution",
    1: "a wrong solution",
    2: "called infeasible",
    3: "called unbounded",
    5: "numerical failure",
    6: "no solution in time",
}

#: Known optima.
INSTANCES = {"fixnet6": 3983.0, "set1ch": 54537.75, "khb05250": 106940226.0}

#: For every function of lp_solve, the switches that it takes, by their bits.
SWITCHES = {
    "set_bb_rule": {
        "node-weight-reverse": 8,
        "node-branch-reverse": 16,
        "node-greedy": 32,
        "node-pseudo-cost": 64,
        "node-depth-first": 128,
        "node-dynamic": 1024,
        "node-restart": 2048,
        "node-breadth-first": 4096,
        "node-auto-order": 8192,
        "node-reduced-cost-fixing": 16384,
        "node-strong-branching": 32768,
    },
    "set_pivoting": {
        "price-primal-fallback": 4,
        "price-multiple": 8,
        "price-partial": 16,
        "price-adaptive": 32,
        "price-auto-partial": 256,
        "price-loop-left": 1024,
        "price-loop-alternate": 2048,
        "price-harris": 4096,
        "price-true-norm": 16384,
    },
    "set_anti_degen": {
        "degen-fixed-variables": 1,
        "degen-column-check": 2,
        "degen-stalling": 4,
        "degen-numerical-failure": 8,
        "degen-lost-feasibility": 16,
        "degen-infeasible": 32,
        "degen-dynamic": 64,
        "degen-during-branching": 128,
        "degen-perturb": 256,
        "degen-bound-flip": 512,
    },
    "set_presolve": {
        "presolve-rows": 1,
        "presolve-columns": 2,
        "presolve-linear-dependence": 4,
        "presolve-eliminate-equations": 256,
        "presolve-implied-free": 512,
    },
    "set_scaling": {
        "scale-power-of-two": 32,
        "scale-equilibrate": 64,
        "scale-integers": 128,
        "scale-dynamic": 256,
    },
    "set_improve": {"improve-branching": 8},
}

#: The categorical parameters: the function of lp_solve, and the number of each label.
CHOICES = {
    "node-rule": (
        "set_bb_rule",
        {
            "first": 0,
            "gap": 1,
            "range": 2,
            "fraction": 3,
            "pseudo-cost": 4,
            "pseudo-non-integer": 5,
            "pseudo-ratio": 6,
        },
    ),
    "price-rule": ("set_pivoting", {"first-index": 0, "dantzig": 1, "devex": 2, "steepest-edge": 3}),
    "scaling": (
        "set_scaling",
        {
            "none": 0,
            "extreme": 1,
            "range": 2,
            "mean": 3,
            "geometric": 4,
            "curtis-reid": 7,
            "logarithmic-mean": 19,
            "logarithmic-geometric": 20,
        },
    ),
    "simplex": ("set_simplextype", {"primal-primal": 5, "dual-primal": 6, "primal-dual": 9, "dual-dual": 10}),
    "crash": ("set_basiscrash", {"none": 0, "most-feasible": 2, "least-degenerate": 3}),
    "branch": ("set_bb_floorfirst", {"ceiling": 1, "floor": 0, "automatic": 2}),
    "improve": ("set_improve", {"none": 0, "dual": 2, "theta": 4, "dual-theta": 6}),
}

OPTIONS = {name: ("off", "on") for bits in SWITCHES.values() for name in bits} | {
    name: tuple(codes) for name, (_, codes) in CHOICES.items()
}


def settings(params: Params) -> dict[str, list[int]]:
    """The functions of lp_solve to call for a configuration, and their arguments."""
    codes: Counter[str] = Counter()
    for function, bits in SWITCHES.items():
        codes[function] += sum(bit for name, bit in bits.items() if params[name] == "on")
    for name, (function, numbers) in CHOICES.items():
        codes[function] += numbers[params[name]]
    found = {function: [code] for function, code in codes.items()}
    found["set_presolve"].append(-1)  # as many rounds as lp_solve likes
    return found


@dataclass(frozen=True)
class LpSolve(Labelled):
    """lp_solve on one instance; library and folder come from the environment, as sweeps are processes."""

    name: str
    optimum: float = 0.0
    noise: float = 0.0
    options: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: OPTIONS, repr=False)

    @property
    def instance(self) -> str:
        return self.name.removeprefix(PREFIX)

    def value(self, params: Params) -> float:
        objective = evaluate(*files(self.instance), settings(params))
        best = INSTANCES[self.instance]
        return max(0.0, (objective - best) / abs(best))


def evaluate(library: Path, model: Path, values: dict[str, list[int]]) -> float:
    """The objective of the best solution that lp_solve finds, or `Crash`."""
    command = [sys.executable, "-I", "-S", str(WORKER), str(library), str(model)]
    command += [str(ITERATIONS), json.dumps(values)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Crash(f"no end in {SECONDS} s") from None
    if ended.returncode < 0:
        raise Crash(f"killed by signal {-ended.returncode}")
    if ended.returncode:
        raise HidimError(f"lp_solve could not be run: {ended.stderr.strip()}")
    result = json.loads(ended.stdout.splitlines()[-1])
    if result["objective"] is None:
        raise Crash(STATUS.get(result["status"], f"status {result['status']}"))
    return float(result["objective"])


def files(instance: str) -> tuple[Path, Path]:
    """The library and the model."""
    for variable, option in (("LPSOLVE_LIBRARY", "library"), ("LPSOLVE_INSTANCES", "instances")):
        if not os.environ.get(variable):
            raise HidimError(f"give --{option}, or set {variable}")
    library = Path(os.environ["LPSOLVE_LIBRARY"])
    model = Path(os.environ["LPSOLVE_INSTANCES"]) / f"{instance}.mps"
    if not model.exists():
        raise HidimError(f"there is no {model}; unpack it from MIPLIB 3")
    return library, model


# At the top level, because every process of a sweep imports this file again.
NAMED.update(
    {
        PREFIX + instance: Named(partial(LpSolve, PREFIX + instance), f"REMBO: lp_solve on {instance}")
        for instance in INSTANCES
    }
)


def survey(problem: LpSolve, count: int, seed: int) -> str:
    """How the gap varies over random configurations, as Markdown."""
    draws, gaps, failures = Random(problem, seed, count), [], Counter[str]()
    start = time.perf_counter()
    for _ in range(count):
        try:
            gaps.append(problem.value(draws.ask()))
        except Crash as crash:
            failures[str(crash)] += 1
    seconds = (time.perf_counter() - start) / count
    quantiles = np.quantile(gaps, [0, 0.1, 0.25, 0.5, 0.75, 1]) if gaps else [float("nan")] * 6
    rows = [
        f"{problem.name}, {count} random configurations, {seconds:.2f} s each",
        f"- {len(gaps)} with a gap, {len(set(gaps))} different ones",
        "- least, 10 %, quartiles, greatest: " + ", ".join(f"{gap:.3f}" for gap in quantiles),
        "- without: " + (", ".join(f"{cause} ({n})" for cause, n in failures.most_common()) or "none"),
    ]
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=["survey", "run"])
    parser.add_argument("--library", type=Path, help="liblpsolve55.so (or LPSOLVE_LIBRARY)")
    parser.add_argument("--instances", type=Path, help="folder of MPS files (or LPSOLVE_INSTANCES)")
    parser.add_argument("--instance", choices=INSTANCES, default="fixnet6")
    parser.add_argument("--methods", type=split_names, default=["hidim:gp", "random"], help="by commas")
    parser.add_argument("--seeds", type=int, default=10, help="seeds 0 to N-1")
    parser.add_argument("--evaluations", type=int, default=250, help="per run")
    parser.add_argument("--configurations", type=int, default=100, help="of a survey")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("lpsolve.jsonl"), help="results file, appended to")
    options = parser.parse_args()
    for variable, path in (("LPSOLVE_LIBRARY", options.library), ("LPSOLVE_INSTANCES", options.instances)):
        if path is not None:
            os.environ[variable] = str(path.resolve())
    problem = LpSolve(PREFIX + options.instance)
    files(problem.instance)  # here, rather than in every run
    if options.action == "survey":
        print(survey(problem, options.configurations, seed=0))
        return 0
    jobs = plan([problem.name], options.methods, range(options.seeds), options.evaluations)
    return int(any(record["error"] for record in sweep(jobs, options.out, options.jobs)))


if __name__ == "__main__":
    sys.exit(main())
