"""Long runs: what is still gained after trial 300, on eight problems of the suite.

    cd benchmarks
    python long_runs.py results/suite-auto-1000.jsonl results/suite-1000.jsonl \\
        results/suite-turbo-1000.jsonl --out results/suite-1000.md

The first file is `auto` as it is. Its runs in the others, of earlier versions, are called by the file's name.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from hidim._types import Array
from hidim.bench.report import provenance, regret_curve
from hidim.bench.runner import Record, read_records
from hidim.bench.tables import figure, render

OURS = "hidim:auto"
STOPS = (300, 500, 700, 1000)

#: Methods that were run with all seeds wherever there are but numbers.
RANKED = {OURS, "turbo", "pycma", "optuna-tpe", "random"}

#: By problem, then by method: regret so far (runs, trials).
Found = Mapping[str, Mapping[str, Array]]


def called(record: Record, path: Path, first: Path) -> str:
    return record["method"] if path == first or record["method"] != OURS else f"{OURS}, {path.stem}"


def gathered(paths: Sequence[Path]) -> tuple[Found, list[Record]]:
    curves: dict[str, dict[str, list[Array]]] = defaultdict(lambda: defaultdict(list))
    records = []
    for path in paths:
        for record in read_records(path):
            curve = regret_curve(record)[: STOPS[-1]]
            curves[record["problem"]][called(record, path, paths[0])].append(curve)
            records.append(record)
    found = {p: {m: np.array(runs) for m, runs in methods.items()} for p, methods in curves.items()}
    return found, records


def report(found: Found) -> str:
    """A table of each problem, and ranks by means after the last trial, as Markdown."""
    parts = ["# Regret after trial 300", "Means of so many runs, and their median in brackets."]
    for problem, methods in found.items():
        rows = [
            [method, str(len(runs)), *(_cell(runs[:, stop - 1]) for stop in STOPS)]
            for method, runs in methods.items()
        ]
        parts += [f"## {problem}", render(["", "runs", *map(str, STOPS)], rows, left=1, markdown=True)]
    return "\n\n".join([*parts, _ranks(found)])


def _cell(regrets: Array) -> str:
    return f"{figure(float(regrets.mean()), 2)} ({figure(float(np.median(regrets)), 2)})"


def _ranks(found: Found) -> str:
    of_numbers = [methods for methods in found.values() if set(methods) >= RANKED]
    names = sorted(RANKED)
    means = np.array([[methods[m][:, STOPS[-1] - 1].mean() for m in names] for methods in of_numbers])
    ranks = 1.0 + means.argsort(axis=1).argsort(axis=1).mean(axis=0)
    best_first = sorted(zip(ranks, names, strict=True))
    told = ", ".join(f"{name} {rank:.2f}" for rank, name in best_first)
    where = f"{STOPS[-1]} evaluations on {len(of_numbers)} problems of numbers"
    return f"Mean ranks by means after {where}: {told}."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    found, records = gathered(options.results)
    text = f"{report(found)}\n\n{provenance(records)}\n"
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
