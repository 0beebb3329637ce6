"""Tables and plots of hand-made records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hidim.bench.curves import plot_convergence
from hidim.bench.report import long_table, provenance, regret_curve, summarise, wide_table
from hidim.errors import HidimError

from .conftest import MakeRecord


def test_regret_is_best_so_far_and_never_negative(make_record: MakeRecord) -> None:
    np.testing.assert_allclose(regret_curve(make_record("a", [3, 5, 0.999])), [2, 2, 0])


def test_rows_are_quartiles_over_seeds_best_method_first(make_record: MakeRecord) -> None:
    records = [make_record("slow", [9, 9, 9], seed=0)]
    records += [make_record("good", [9, 9, 2 + seed], seed=seed) for seed in range(5)]
    rows = summarise(records)
    assert [row.method for row in rows] == ["good", "slow"]
    assert rows[0].quartiles == (2, 3, 4)


def test_failed_runs_are_counted_not_averaged(make_record: MakeRecord) -> None:
    records = [make_record("a", [3, 3, 3]), make_record("a", [2], seed=1, error="it broke")]
    records.append(make_record("b", [], error="it broke"))
    rows = summarise(records)
    assert "1 (1 failed)" in long_table(rows)
    assert "–" in long_table(rows)
    assert "2 [2, 2], 1 failed" in wide_table(rows)


def test_markdown_tables_have_one_line_a_problem(make_record: MakeRecord) -> None:
    records = [
        make_record(method, [3, 2, 2], problem=name) for name in ("p", "q") for method in ("a", "hidim:gp")
    ]
    table = wide_table(summarise(records), markdown=True).splitlines()
    assert [cell.strip() for cell in table[0].strip("|").split("|")] == ["problem", "hidim:gp", "a"]
    assert len(table) == 2 + 2 + 1
    assert len({len(line) for line in table}) == 1
    assert provenance(records) == "python 3.11; a machine"


def test_plot_is_written(make_record: MakeRecord, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    records = [make_record(name, [3, 2, 1], seed=seed) for name in ("a", "b") for seed in range(2)]
    plot_convergence([*records, make_record("a", [3, 2, 1.5], problem="q")], tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 10_000
    with pytest.raises(HidimError, match="no run"):
        plot_convergence([make_record("a", [], error="it broke")], tmp_path / "none.png")
