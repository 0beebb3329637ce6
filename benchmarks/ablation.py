"""What every part of the default is worth: the same runs without it.

    python benchmarks/ablation.py --jobs 2 --out results/ablation.jsonl

No flat problem of these is in `hidim bench suite`. Shown is the chance that a run of the whole is better than
one without the part, both with any seed, as a mean over problems: above 50 %, the part pays. Each is tested
by Wilcoxon's rank sums, added up over problems (van Elteren 1960), which make as much of the last digits as
of a wrong basin. The whole is in every comparison, so it has twice as many seeds.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist

import numpy as np

from hidim.bench.report import final_regret
from hidim.bench.runner import Record, plan, read_records, sweep
from hidim.bench.suite import floor_of
from hidim.bench.tables import figure, render

#: Evaluations of a run, by problem.
FLAT = {
    "rep-branin-6-shifted": 80,
    "rastrigin-6-shifted": 150,
    "rosenbrock-8-shifted": 150,
    "griewank-8-shifted": 120,
    "ackley-10-shifted": 120,
    "rep-hartmann6-12-shifted": 100,
    "levy-15-shifted": 150,
    "styblinski-15-shifted": 150,
    "rosenbrock-20-shifted-rotated": 150,
    "hartmann6-50-shifted": 150,
    "ackley8-60-shifted": 120,
    "levy10-100-shifted": 150,
}
#: Eight of them in long runs, for parts that begin when a run has settled; with two thirds of the seeds.
LONG = dict.fromkeys(
    (
        "rastrigin-6-shifted",
        "rosenbrock-8-shifted",
        "griewank-8-shifted",
        "ackley-10-shifted",
        "levy-15-shifted",
        "styblinski-15-shifted",
        "rep-hartmann6-12-shifted",
        "levy10-100-shifted",
    ),
    500,
)
TREES = {"jenatton-shifted": 60, "training": 60, "pipeline": 80, "network": 100}

#: Of which parts are left out: the default as it was when it was restless as soon as a run had settled, and
#: always thorough. Now it is restless later, and thorough until there are main effects (see `thorough.py`).
WAS = "calm=1, thorough=true"
WHOLE = f"hidim:mixed({WAS})"

#: What is left out or done otherwise everywhere, and the method that says so.
BOTH = {
    "no part that adds up": f"hidim:mixed(prior=flat, search=ways, credit=late-gain, {WAS})",
    "no simpler models beside it": f"hidim:mixed(twins=false, {WAS})",
    "models by a coin": f"hidim:mixed(toss=even, {WAS})",
    "ways by counts": f"hidim:mixed(credit=count, {WAS})",
    "no bold suggestions": f"hidim:mixed(bold=0, {WAS})",
    "never restless": "hidim:mixed(restless=0, thorough=true)",
    "no end game": f"hidim:mixed(last=0, {WAS})",
    "losses as they are": f"hidim:mixed(outcome=identity, {WAS})",
}

#: The same, of parts that only one kind of space has.
PARTS_FLAT = BOTH | {
    "no thorough search": "hidim:mixed(calm=1, thorough=false)",
    "no windows": f"hidim:mixed(frame=cube, {WAS})",
    "no starts where columns differ": f"hidim:mixed(apart=false, {WAS})",
    "neither restless nor thorough": "hidim:mixed(restless=0, thorough=false)",
    "none of bold, restless, thorough": "hidim:mixed(bold=0, restless=0, thorough=false)",
}
PARTS_LONG = {
    about: PARTS_FLAT[about]
    for about in (
        "no bold suggestions",
        "never restless",
        "no thorough search",
        "none of bold, restless, thorough",
    )
}
PARTS_TREES = BOTH | {
    "no wide search": f"hidim:mixed(wide=false, {WAS})",
    "no functions of single parameters": f"hidim:mixed(effects=false, {WAS})",
    "no part that interacts": f"hidim:mixed(prior=tree, {WAS})",
    "no chances of options": f"hidim:mixed(fair=0, {WAS})",
}

Found = Mapping[tuple[str, str], dict[int, float]]


def table(
    records: Sequence[Record], problems: Mapping[str, int], parts: Mapping[str, str], title: str
) -> str:
    """One row for every part, as Markdown."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        if not record["error"] and problems.get(record["problem"]) == record["evaluations"]:
            cell = found.setdefault((record["problem"], record["method"]), {})
            cell[int(record["seed"])] = final_regret(record)
    rows = []
    for about, method in parts.items():
        compared = [_chance(found, name, method) for name in problems]
        known = [each for each in compared if each is not None]
        if not known:
            continue
        chances, variances = np.array(known).T
        score = float((chances - 0.5).sum() / math.sqrt(variances.sum()))
        p = 2.0 * NormalDist().cdf(-abs(score))
        ratio = math.exp(float(np.mean([_log_ratio(found, name, method) for name in problems])))
        cells = ["–" if each is None else f"{each[0]:.0%}" for each in compared]
        rows.append([about, f"{chances.mean():.0%} ({figure(p, 1)})", figure(ratio, 2), *cells])
    head = [title, "the whole is better (p)", "regret without / with", *problems]
    return render(head, rows, left=1, markdown=True)


def _both(found: Found, problem: str, method: str) -> tuple[np.ndarray, np.ndarray]:
    """Regrets of the whole and of the method, those that count as solved alike."""
    least = floor_of(found, problem)
    runs = (list(found.get((problem, name), {}).values()) for name in (WHOLE, method))
    whole, other = (np.maximum(np.array(each), least) for each in runs)
    return whole, other


def _chance(found: Found, problem: str, method: str) -> tuple[float, float] | None:
    """That the whole is better, half of it where they are alike; and its variance if both were the same."""
    whole, other = _both(found, problem, method)
    if not len(whole) or not len(other):
        return None
    signs = np.sign(other[None] - whole[:, None])
    variance = (len(whole) + len(other) + 1) / (12.0 * len(whole) * len(other))
    return 0.5 + 0.5 * float(signs.mean()), variance


def _log_ratio(found: Found, problem: str, method: str) -> float:
    whole, other = _both(found, problem, method)
    return float(np.log(other).mean() - np.log(whole).mean()) if len(whole) and len(other) else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("ablation.jsonl"))
    args = parser.parse_args()
    jobs = []
    asked = (
        (FLAT, PARTS_FLAT, args.seeds),
        (TREES, PARTS_TREES, args.seeds),
        (LONG, PARTS_LONG, 2 * args.seeds // 3),
    )
    for problems, parts, seeds in asked:
        for name, count in problems.items():
            jobs += plan([name], [WHOLE], range(2 * seeds), count)
            jobs += plan([name], list(parts.values()), range(seeds), count)
    place = {id(job): job.seed // 2 if job.method == WHOLE else job.seed for job in jobs}
    sweep(sorted(jobs, key=lambda job: place[id(job)]), args.out, args.jobs)
    records = read_records(args.out)
    print(table(records, FLAT, PARTS_FLAT, "flat"))
    print()
    print(table(records, LONG, PARTS_LONG, "flat, 500 evaluations"))
    print()
    print(table(records, TREES, PARTS_TREES, "conditional"))


if __name__ == "__main__":
    main()
