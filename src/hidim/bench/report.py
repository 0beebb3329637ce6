"""Tables of a sweep: median regret with quartiles, and the methods' own time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from hidim._types import Array
from hidim.bench.naming import PREFIX
from hidim.bench.runner import Record
from hidim.bench.tables import figure, render


@dataclass(frozen=True)
class Row:
    """What the seeds of one method on one problem amount to.

    Args:
        regrets: the final regrets of the runs that ended well, sorted.
        own_seconds: the median over them of the time that the method itself took.
        failures: how many runs ended with an error.
        crashes: the median share of evaluations without a value in the last half of a run.
    """

    problem: str
    evaluations: int
    method: str
    regrets: tuple[float, ...]
    own_seconds: float
    failures: int
    crashes: float

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile of the final regret; NaN without a run."""
        if not self.regrets:
            return (float("nan"),) * 3
        low, middle, high = np.quantile(self.regrets, [0.25, 0.5, 0.75]).tolist()
        return low, middle, high


def regret_curve(record: Record) -> Array:
    """Best value so far minus the optimum after every evaluation, of shape (evaluations,), never negative."""
    regrets: Array = np.fmin.accumulate(np.array(record["values"], dtype=float)) - record["optimum"]
    return regrets.clip(min=0.0)


def final_regret(record: Record) -> float:
    """Regret of the recommended configuration, which without noise is the best one."""
    if record.get("recommended") is not None:
        return float(record["recommended"] - record["optimum"])
    return float(regret_curve(record)[-1])


def summarise(records: Iterable[Record]) -> list[Row]:
    """One row per problem, number of evaluations and method: problems as they come, best method first."""
    groups = defaultdict(list)
    for record in records:
        groups[record["problem"], record["evaluations"], record["method"]].append(record)
    rows = [_row(*names, runs) for names, runs in groups.items()]
    order = {row.problem: place for place, row in reversed(list(enumerate(rows)))}
    return sorted(rows, key=lambda row: (order[row.problem], row.evaluations, _rank(row)))


def long_table(rows: Sequence[Row], *, markdown: bool = False) -> str:
    """One line per problem and method."""
    lines = []
    crashing = any(row.crashes > 0 for row in rows)
    for (problem, evaluations), group in groupby(rows, key=lambda row: (row.problem, row.evaluations)):
        for place, row in enumerate(group):
            low, middle, high = map(figure, row.quartiles)
            name = f"{problem}, {evaluations} evaluations" if place == 0 else ""
            runs = f"{len(row.regrets)}" + (f" ({row.failures} failed)" if row.failures else "")
            crashes = [f"{100 * row.crashes:.0f} %"] if crashing else []
            lines.append([name, row.method, runs, middle, low, high, figure(row.own_seconds), *crashes])
    header = ["problem", "method", "runs", "median regret", "lower quartile", "upper quartile", "own time, s"]
    header += ["crashes, last half"] if crashing else []
    return render(header, lines, left=2, markdown=markdown)


def wide_table(rows: Sequence[Row], *, markdown: bool = False) -> str:
    """One line per problem, one column per method: median regret [quartiles], then the median own time."""
    methods = sorted({row.method for row in rows}, key=ours_first)
    lines = []
    for (problem, evaluations), group in groupby(rows, key=lambda row: (row.problem, row.evaluations)):
        cells = {row.method: _cell(row) for row in group}
        lines.append([f"{problem}, n={evaluations}", *(cells.get(method, "–") for method in methods)])
    lines.append(["own time of a run, s", *(figure(_own_time(rows, method)) for method in methods)])
    return render(["problem", *methods], lines, markdown=markdown)


def provenance(records: Iterable[Record]) -> str:
    """Which versions on which machines the records come from, one line for each combination."""
    sources = set()
    for record in records:
        if not record["error"]:
            packages = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
            sources.add(f"{packages}; {record['platform']}")
    return "\n".join(sorted(sources))


def ours_first(method: str) -> tuple[bool, str]:
    """Sorting key: hidim's methods before the peers, each by name."""
    return not method.startswith(PREFIX), method


def _row(problem: str, evaluations: int, method: str, runs: Sequence[Record]) -> Row:
    good = [run for run in runs if not run["error"]]
    regrets = tuple(sorted(map(final_regret, good)))
    seconds = _median([run["own_seconds"] for run in good])
    crashes = _median(
        [np.isnan(np.array(run["values"], dtype=float))[evaluations // 2 :].mean() for run in good]
    )
    return Row(problem, evaluations, method, regrets, seconds, len(runs) - len(good), crashes)


def _rank(row: Row) -> float:
    median = row.quartiles[1]
    return float("inf") if np.isnan(median) else median


def _cell(row: Row) -> str:
    low, middle, high = row.quartiles
    failed = f", {row.failures} failed" if row.failures else ""
    return f"{figure(middle, 2)} [{figure(low, 2)}, {figure(high, 2)}]{failed}"


def _own_time(rows: Sequence[Row], method: str) -> float:
    return _median([row.own_seconds for row in rows if row.method == method and row.regrets])


def _median(numbers: Sequence[float]) -> float:
    return float(np.median(numbers)) if numbers else float("nan")
