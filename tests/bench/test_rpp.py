"""The tables of RPP-GP-UCB beside what was measured."""

from __future__ import annotations

from functools import partial

from hidim.bench.papers import STUDIES

from .conftest import MakeRecord


def test_means_stand_beside_the_papers_and_differences_are_of_the_same_seeds(make_record: MakeRecord) -> None:
    """Regrets are 1 less than values."""
    run = partial(make_record, problem="rpp-50")
    early = [101.0] * 499 + [51.0]
    records = [run("hidim:add-gp(size=10)", early + [21.0 + seed] * 500, seed=seed) for seed in range(2)]
    records += [run("hidim:rpp-gp(size=10)", early + [19.0 + 3 * seed] * 500, seed=seed) for seed in range(2)]
    text = STUDIES["rpp-table1"].report(records)
    assert "50.0 ± 0.0 (2)" in text
    assert "20.5 ± 0.5 (2)" in text
    assert "-1.0 ± 1.0" in text
    assert "31.3 ± 2.1" in text  # the paper's


def test_every_cell_of_table_5_is_run_and_read(make_record: MakeRecord) -> None:
    study = STUDIES["rpp-table5"]
    assert len(set(study.pairs)) == 9
    records = [make_record(method, [8.0] * 1000, problem=problem) for problem, method in study.pairs]
    assert study.report(records).count("7.0 (1)") == 9
