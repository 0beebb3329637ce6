"""Timing cells and their tables."""

from __future__ import annotations

from hidim.bench.latency import Cell, latency_tables, measure, measure_all


def test_measure_separates_the_first_ask() -> None:
    cell = measure("random", dim=12, size=20, repeats=3, family="hartmann6")
    assert len(cell.asks) == 3
    assert 0 < cell.mean < 0.1
    assert cell.peak_mb > 10


def test_cells_run_in_processes_of_their_own() -> None:
    (cell,) = measure_all(["random"], [10], [5], repeats=2, peer_repeats=1, family="levy")
    assert (cell.method, cell.dim, cell.size, len(cell.asks)) == ("random", 10, 5, 1)


def test_a_named_problem_has_the_columns_that_it_has() -> None:
    cells = measure_all(["hidim:random"], [10, 20], [5], repeats=1, peer_repeats=1, family="jenatton")
    assert [(cell.dim, cell.size) for cell in cells] == [(9, 5)]


def test_ratios_are_to_the_first_method() -> None:
    cells = [Cell("fast", 10, 50, 0.1, (0.01, 0.03), 40), Cell("slow", 10, 50, 1.0, (0.5,), 300)]
    lines = latency_tables(cells).splitlines()
    assert lines[2].split() == ["fast", "10", "50", "100.0", "20.0", "2", "1.0×", "40"]
    assert lines[3].split()[-2] == "25.0×"


def test_one_method_gives_grids() -> None:
    cells = [Cell("m", dim, size, 0.1, (0.01,), 40) for dim in (10, 20) for size in (50, 100)]
    text = latency_tables(cells, markdown=True)
    assert text.count("D=20") == 3
    assert "peak memory" in text
