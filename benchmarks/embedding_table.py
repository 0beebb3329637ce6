"""Embeddings beside random search and the default: few directions that matter, in 25 to a billion dimensions.

    P=branin-25,branin-100-shifted,branin-10000-shifted,branin-1000000000
    P=$P,hartmann6-25-shifted,hartmann6-100-shifted,hartmann6-10000-shifted,hartmann6-1000000000
    P=$P,levy10-10000-shifted,levy20-10000-shifted
    hidim bench run --problems $P --seeds 10 --evaluations 150 \\
        --methods hidim:random,hidim:rembo,hidim:rembo-paper,hidim:baxus,hidim:auto \\
        --out results/embedding-table.jsonl
    python benchmarks/embedding_table.py results/embedding-table.jsonl --out results/embedding-table.md

Beyond 5,000 columns `auto` is `baxus`, whose runs stand for it. What is called "before" are ten runs of
`hidim:rembo` and `hidim:baxus` of the commit before bins were equally full, 3b64c19~1, whose records were
renamed: sed 's/"method": "hidim:/"method": "before:/'.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from hidim._limits import COLUMNS_WITHOUT_EMBEDDING
from hidim.bench.problems import problem as named
from hidim.bench.report import final_regret, provenance
from hidim.bench.runner import Record, read_records
from hidim.bench.suite import paired
from hidim.bench.tables import figure, render

METHODS = (
    "hidim:random",
    "hidim:rembo",
    "hidim:rembo-paper",
    "hidim:baxus",
    "hidim:auto",
    "before:rembo",
    "before:baxus",
)

#: Pairs that are tested.
TESTS = (
    ("hidim:rembo", "hidim:random"),
    ("hidim:rembo", "hidim:rembo-paper"),
    ("hidim:rembo", "before:rembo"),
    ("hidim:baxus", "before:baxus"),
    ("hidim:baxus", "hidim:rembo"),
)

#: On some runs of which defaults of `rembo` were chosen.
CHOSEN_ON = (
    "branin-25",
    "branin-100-shifted",
    "branin-1000000000",
    "hartmann6-25-shifted",
    "hartmann6-100-shifted",
)

Found = Mapping[tuple[str, str], dict[int, float]]


def regrets(records: Sequence[Record]) -> Found:
    """By problem and method, and by seed."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        if not record["error"]:
            found.setdefault((record["problem"], record["method"]), {})[int(record["seed"])] = final_regret(
                record
            )
    for problem in {name for name, _ in found}:
        if named(problem).space().dim > COLUMNS_WITHOUT_EMBEDDING:
            found[problem, "hidim:auto"] = found.get((problem, "hidim:baxus"), {})
    return found


def report(found: Found) -> str:
    """Means and medians, then tests by Wilcoxon's signed ranks, as Markdown."""
    problems = list(dict.fromkeys(problem for problem, _ in found))
    rows = []
    for problem in problems:
        cells = [list(found.get((problem, method), {}).values()) for method in METHODS]
        shown = [
            f"{figure(float(np.mean(c)), 2)} ({figure(float(np.median(c)), 2)})" if c else "–" for c in cells
        ]
        rows.append([problem + "\\*" * (problem in CHOSEN_ON), *shown])
    tests = [
        [problem, *(paired(found, [problem], one, other) for one, other in TESTS)] for problem in problems
    ]
    tests.append(["all", *(paired(found, problems, one, other) for one, other in TESTS)])
    names = [method.removeprefix("hidim:") for method in METHODS]
    against = [f"{one.removeprefix('hidim:')} / {other.removeprefix('hidim:')}" for one, other in TESTS]
    return "\n\n".join(
        [
            "# Few directions that matter: regret after 150 evaluations",
            "Means, and medians in brackets. Fits of `auto` were built on the rows up to 100 columns. "
            "\\* On runs of these, defaults of `rembo` were chosen; of the "
            "others, but `levy20`, one run of its variants each was looked at.",
            render(["", *names], rows, left=1, markdown=True),
            "How often the first of two is better with the same seed, and p of Wilcoxon's signed ranks.",
            render(["", *against], tests, left=1, markdown=True),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    records = read_records(options.results)
    text = f"{report(regrets(records))}\n\n{provenance(records)}\n"
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
