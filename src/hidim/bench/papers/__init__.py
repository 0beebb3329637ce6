"""The papers' own experiments, run again: `hidim bench paper rembo-table1`."""

from hidim.bench.papers.addtree import SYNTHETIC
from hidim.bench.papers.base import Study
from hidim.bench.papers.rembo import FIGURE_3, TABLE_1

#: Every experiment by its name.
STUDIES: dict[str, Study] = {study.name: study for study in (TABLE_1, FIGURE_3, SYNTHETIC)}

__all__ = ["STUDIES", "Study"]
