"""The figures of Elastic GP as a table, and maximisers on frozen acquisition functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hidim.bench.maximizers import Climb, frozen, measure, plot, shares, table
from hidim.bench.papers import STUDIES
from hidim.bench.papers.elastic import NAMES, compared
from hidim.cli import main

from .conftest import MakeRecord


def test_every_way_of_the_figures_has_a_name_and_random_search_twice_the_evaluations() -> None:
    study = STUDIES["elastic-figures"]
    assert {method for _, method in study.pairs} == set(NAMES.values())
    assert len(set(study.pairs)) == len(study.pairs)
    counts = {(job.problem, job.method): job.evaluations for job in study.jobs(1)}
    assert counts["gaussian-50", "random"] == 2 * counts["gaussian-50", "hidim:gp(frame=cube,scattered=True)"]


def test_means_errors_and_paired_tests_are_told(make_record: MakeRecord) -> None:
    """Regrets are 1 less than values."""
    egp, multistart = NAMES["EGP"], NAMES["multistart"]
    records = [
        make_record(method, [9.0, value + seed], problem="gaussian-20", seed=seed)
        for method, value in ((egp, 2.0), (multistart, 4.0))
        for seed in range(5)
    ]
    text = STUDIES["elastic-figures"].report(records)
    assert "3 ± 0.71 (5)" in text
    assert "EGP better than multistart: gaussian-20 5 of 5" in text
    wins, count, p = compared(records, "gaussian-20", multistart, egp)
    assert (wins, count) == (0, 5)
    assert p == pytest.approx(0.0625)  # the smallest that five pairs can give


def test_a_share_is_that_of_the_best_that_anybody_found() -> None:
    climbs = [
        Climb(5, "0.1", "EI", 0, "a", np.log([0.1, 0.2, 0.2])),
        Climb(5, "0.1", "log EI", 0, "b", np.log([0.1, 0.4])),
    ]
    found = shares(climbs)
    np.testing.assert_allclose(found[5, "0.1", "EI", "a"], [[0.25, 0.5, 0.5]])
    np.testing.assert_allclose(found[5, "0.1", "log EI", "b"], [[0.25, 1.0]])
    assert "0.500" in table(climbs)


def test_every_maximiser_has_the_same_number_of_points_and_none_is_told_more(tmp_path: Path) -> None:
    climbs = measure([5], budget=300, seeds=1)
    assert {len(climb.scores) for climb in climbs} == {300}
    assert all((np.diff(climb.scores) >= 0).all() for climb in climbs)
    assert len({climb.maximiser for climb in climbs}) == 8
    plot(climbs, tmp_path / "climbs.png")
    assert (tmp_path / "climbs.png").stat().st_size > 10_000


def test_frozen_functions_are_the_same_every_time() -> None:
    first, second = (frozen("levy", 5, 0.1, seed=1) for _ in range(2))
    np.testing.assert_array_equal(first.x, second.x)
    assert len(first.y) == 50


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "maximizers", "--dims", "5", "--seeds", "1", "--budget", "120", "--markdown"]) == 0
    assert "| elastic" in capsys.readouterr().out
