"""What thorough starts are worth before main effects begin, and after: the suite in three ways.

    hidim bench suite --methods "hidim:mixed(thorough=false)" --out results/suite-thorough.jsonl
    hidim bench suite --methods "hidim:mixed(calm=1, thorough=true)" --out results/suite-thorough.jsonl
    python benchmarks/thorough.py results/suite.jsonl results/suite-thorough.jsonl --out results/thorough.md

Main effects begin with two trials for every parameter: with 10 to 12 on the small problems of the suite, with
40 to 80 on those of 20 to 40, and in 200 trials hardly on those of 100 and more, to which all sparse ones
belong.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

from hidim.bench.report import provenance
from hidim.bench.runner import Record, read_records
from hidim.bench.suite import CLASSES, floor_of, regrets
from hidim.bench.tables import figure, render

OURS = "hidim:auto"
OTHERS = {
    "never thorough": "hidim:mixed(thorough=false)",
    "always thorough, and restless: the version before": "hidim:mixed(calm=1, thorough=true)",
}
STOPS = (50, 100, 200)


def table(records: Sequence[Record], other: str) -> str:
    """Per class and number of trials: runs of `auto` that are better than those of `other`, as Markdown."""
    found = {stop: regrets(records, stop) for stop in STOPS}
    rows = []
    for name, problems in [*CLASSES.items(), ("all", [p for some in CLASSES.values() for p in some])]:
        rows.append([name, *(_cell(found[stop], problems, other) for stop in STOPS)])
    return render(["", *(f"after {stop}" for stop in STOPS)], rows, left=1, markdown=True)


def _cell(found: dict[tuple[str, str], dict[int, float]], problems: Sequence[str], other: str) -> str:
    differences = []
    for problem in problems:
        least = floor_of(found, problem)
        ours, theirs = found.get((problem, OURS), {}), found.get((problem, other), {})
        for seed in ours.keys() & theirs.keys():
            differences.append(math.log(max(theirs[seed], least) / max(ours[seed], least)))
    differ = [difference for difference in differences if difference]
    if not differ:
        return "all alike"
    better, p = sum(difference > 0.0 for difference in differ), float(wilcoxon(differ).pvalue)
    ratio = math.exp(float(np.mean(differences)))
    return f"{better} of {len(differ)}, regret {figure(ratio, 2)} × (p = {figure(p, 1)})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("thorough.md"))
    args = parser.parse_args()
    methods = {OURS, *OTHERS.values()}
    records = [r for path in args.results for r in read_records(path) if r["method"] in methods]
    parts = [
        "# Thorough starts before main effects, and after",
        "Runs of `auto`, which is thorough until there are main effects, that are better than one with the "
        "same seed done otherwise, of those that differ; regret of the other as a multiple of that of `auto` "
        "(geometric mean of all runs); Wilcoxon's signed ranks. That `auto` is thorough until then was "
        "chosen on these problems.",
    ]
    for about, method in OTHERS.items():
        parts += [f"## {about.capitalize()} (`{method.removeprefix('hidim:')}`)", table(records, method)]
    args.out.write_text("\n\n".join([*parts, provenance(records)]) + "\n")


if __name__ == "__main__":
    main()
