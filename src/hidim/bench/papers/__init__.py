"""The papers' own experiments, run again: `hidim bench paper rembo-table1`."""

from hidim.bench.papers.addtree import SYNTHETIC
from hidim.bench.papers.base import Study
from hidim.bench.papers.bock import SHIFTS, TABLE_1, TABLE_2
from hidim.bench.papers.rembo import FIGURE_3
from hidim.bench.papers.rembo import TABLE_1 as REMBO_TABLE_1

#: Every experiment by its name.
STUDIES: dict[str, Study] = {
    study.name: study for study in (REMBO_TABLE_1, FIGURE_3, SYNTHETIC, TABLE_1, TABLE_2, SHIFTS)
}

__all__ = ["STUDIES", "Study"]
