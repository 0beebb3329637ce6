"""The papers' own experiments, run again: `hidim bench paper rembo-table1`."""

from hidim.bench.papers import bock, elastic, rembo, rpp
from hidim.bench.papers.addtree import SYNTHETIC
from hidim.bench.papers.base import Study

#: Every experiment by its name.
STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        rembo.TABLE_1,
        rembo.FIGURE_3,
        SYNTHETIC,
        bock.TABLE_1,
        bock.TABLE_2,
        bock.SHIFTS,
        rpp.TABLE_1,
        rpp.TABLE_2,
        rpp.TABLE_5,
        elastic.FIGURES,
    )
}

__all__ = ["STUDIES", "Study"]
