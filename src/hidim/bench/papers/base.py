"""What an experiment of a paper is: runs, and a report that sets them beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from hidim.bench.runner import Job, Record


@dataclass(frozen=True)
class Study:
    """An experiment.

    Args:
        name: for the command line.
        about: one line for people.
        pairs: (problem, method) of every cell.
        evaluations: of a run, or of a run on each problem.
        seeds: how many runs of each cell are worth the name.
        report: the records as Markdown.
        doubled: methods that have twice as many evaluations.
    """

    name: str
    about: str
    pairs: tuple[tuple[str, str], ...]
    evaluations: int | Mapping[str, int]
    seeds: int
    report: Callable[[Sequence[Record]], str]
    doubled: frozenset[str] = frozenset()

    def jobs(self, seeds: int) -> list[Job]:
        """All runs, seed by seed so that an early stop still has something in every cell."""
        return [
            Job(problem, method, seed, self._evaluations(problem, method))
            for seed, (problem, method) in product(range(seeds), self.pairs)
        ]

    def _evaluations(self, problem: str, method: str) -> int:
        count = self.evaluations if isinstance(self.evaluations, int) else self.evaluations[problem]
        return 2 * count if method in self.doubled else count
