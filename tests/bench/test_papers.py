"""The papers' experiments run again, and the problems that were made for them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hidim import Optimizer
from hidim.bench import runner
from hidim.bench.base import BoxProblem
from hidim.bench.papers import STUDIES, Study
from hidim.bench.papers.rembo import MINIMISERS, PAPER, boxes_with_minimiser, holds_minimiser
from hidim.bench.problems import active_coordinates, problem
from hidim.bench.runner import Job, execute, read_records
from hidim.cli import main
from hidim.embed import Gaussian, LazyVector
from hidim.errors import HidimError
from hidim.frame import Subspaces
from hidim.task import Task

from .conftest import MakeRecord


def box(name: str) -> BoxProblem:
    found = problem(name)
    assert isinstance(found, BoxProblem)
    return found


# -- the command -------------------------------------------------------------------------------------------


def test_an_unknown_experiment_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "paper", "rembo-table9"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("hidim: ")
    assert "rembo-table9" in error
    assert all(name in error for name in STUDIES)


def test_experiments_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert not main(["bench", "list"])
    listed = capsys.readouterr().out
    assert all(name in listed and study.about in listed for name, study in STUDIES.items())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Study:
    """Table 1 with two cells and a handful of evaluations, run in this process."""
    monkeypatch.setattr(runner, "spawn_pool", ThreadPoolExecutor)
    pairs = tuple(("branin-25", f"hidim:rembo-paper(low=2,runs={runs})") for runs in (1, 2))
    study = replace(STUDIES["rembo-table1"], pairs=pairs, evaluations=6)
    monkeypatch.setitem(STUDIES, study.name, study)
    return study


def test_an_experiment_is_run_shown_beside_the_paper_and_not_run_again(
    small: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "table1.jsonl"
    command = ["bench", "paper", small.name, "--seeds", "1", "--out", str(out)]
    assert main(command) == 0
    first = capsys.readouterr()
    assert "[2/2]" in first.err
    assert "REMBO, table 1" in first.out
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in first.out.splitlines()]
    by_runs = {row[1]: row for row in rows if row[0] == "2"}
    assert by_runs["1"][-2] == "0.7406 ± 1.8996"
    assert by_runs["2"][-2] == "0.1514 ± 0.9154"
    assert f"hidim bench paper {small.name}" in first.out
    before = out.read_bytes()
    assert {record["seed"] for record in read_records(out)} == {0}

    assert main(command) == 0
    again = capsys.readouterr()
    assert "2 of 2 runs are in" in again.err
    assert again.out == first.out
    assert out.read_bytes() == before


def test_a_run_that_fails_is_an_exit_code(
    small: Study, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = replace(small, pairs=(("branin-25", "hidim:rembo(low=2,runs=1,kernel='cubic')"),))
    monkeypatch.setitem(STUDIES, small.name, broken)
    assert main(["bench", "paper", small.name, "--seeds", "1", "--out", str(tmp_path / "r.jsonl")]) != 0
    assert "cubic" in capsys.readouterr().err


def test_runs_go_seed_by_seed(small: Study) -> None:
    jobs = small.jobs(2)
    assert [(job.seed, job.method[-2]) for job in jobs] == [(0, "1"), (0, "2"), (1, "1"), (1, "2")]
    assert {job.evaluations for job in jobs} == {6}


def test_every_cell_of_every_experiment_can_be_built() -> None:
    for study in STUDIES.values():
        for name in {name for name, _ in study.pairs}:
            assert problem(name).name == name
        for method in {method for _, method in study.pairs if method.startswith("hidim:")}:
            assert execute(Job("branin-25", method, 0, 1))["error"] is None
    assert len(STUDIES["rembo-table1"].pairs) == len(PAPER) == 15


def test_table_1_is_of_the_gaps(make_record: MakeRecord) -> None:
    method = "hidim:rembo-paper(low=2,runs=4)"
    records = [
        make_record(method, [9, 8, 1 + gap], seed=seed, problem="branin-25")
        for seed, gap in enumerate((1, 2, 6))
    ]
    records.append(make_record(method, [], seed=3, problem="branin-25", error="it broke"))
    report = STUDIES["rembo-table1"].report(records)
    (row,) = (line for line in report.splitlines() if line.startswith("| 2 "))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:5] == ["2", "4", "3", "2", "3.0000 ± 2.1602"]
    assert cells[-2:] == ["0.0001 ± 0.0003", "no"]


def test_figure_3_has_quartiles_along_the_way(make_record: MakeRecord) -> None:
    method = "hidim:rembo(low=2,runs=4)"
    records = [
        make_record(method, np.linspace(11, 2 + seed, 500), seed=seed, problem="branin-25")
        for seed in range(3)
    ]
    report = STUDIES["rembo-figure3"].report(records)
    (row,) = (line for line in report.splitlines() if line.startswith("| branin-25 "))
    assert "2 [1.5, 2.5]" in row


# -- does the box hold a minimiser? ------------------------------------------------------------------------


def brute_force(embedding: Gaussian, active: np.ndarray) -> bool:
    """In two dimensions the only candidate is the solution of two equations."""
    rows = embedding.rows(active)
    return any(np.abs(np.linalg.solve(rows, target)).max() <= embedding.radius for target in MINIMISERS)


def test_the_minimisers_are_those_of_branin() -> None:
    task, active = box("branin-25"), active_coordinates("branin-25")
    for minimiser in MINIMISERS:
        point = np.full(25, 0.5)
        point[active] = 0.5 * (1.0 + minimiser)
        assert task.evaluate(point) == pytest.approx(task.optimum, abs=1e-9)


def test_boxes_miss_all_minimisers_as_often_as_they_should() -> None:
    """P(miss) = 0.284 for d = 2 and the √d box; the paper saw 13 of 50."""
    active = active_coordinates("branin-25")
    embeddings = [Gaussian(25, 2, seed) for seed in range(300)]
    expected = [brute_force(embedding, active) for embedding in embeddings]
    assert [holds_minimiser(embedding, active) for embedding in embeddings[:100]] == expected[:100]
    assert np.mean(np.logical_not(expected)) == pytest.approx(0.284, abs=4 * np.sqrt(0.284 * 0.716 / 300))


def test_larger_boxes_and_more_dimensions_hold_a_minimiser_more_often() -> None:
    active = active_coordinates("branin-25")
    held = [
        np.mean([brute_force(Gaussian(25, 2, seed, box=box), active) for seed in range(100)])
        for box in ("log", "sqrt", "theorem")
    ]
    assert held[0] < held[1] < held[2]
    assert held[1] < np.mean([holds_minimiser(Gaussian(25, 6, seed), active) for seed in range(30)])


def test_the_boxes_of_a_run_are_those_of_its_embeddings() -> None:
    active, task = active_coordinates("branin-25"), Task(problem("branin-25").space(), seed=4)
    held = [brute_force(Subspaces(low=2, runs=5).embedding(task, run), active) for run in range(5)]
    assert boxes_with_minimiser("branin-25", 2, 5, 4) == sum(held)


# -- problems ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["branin-25-turned", "branin-2-turned", "branin-300-turned"])
def test_a_turned_problem_keeps_its_optimum(name: str) -> None:
    task = box(name)
    assert task.evaluate(task.minimiser) == pytest.approx(task.optimum, abs=1e-9)
    assert task.minimiser.min() >= 0
    assert task.minimiser.max() <= 1
    points = np.random.default_rng(0).random((300, task.dim))
    assert min(map(task.evaluate, points)) >= task.optimum


@pytest.mark.parametrize("variants", ["shifted-turned", "turned-rotated", "turned-crashing", "turned-walled"])
def test_a_turned_problem_keeps_its_optimum_with_other_variants(variants: str) -> None:
    task = box(f"branin-25-{variants}")
    assert task.evaluate(task.minimiser) == pytest.approx(task.optimum, abs=1e-9)


def test_a_turned_problem_depends_on_all_coordinates_and_its_centre_is_that_of_branin() -> None:
    plain, turned = box("branin-25"), box("branin-25-turned")
    centre = np.full(25, 0.5)
    assert turned.evaluate(centre) == pytest.approx(plain.evaluate(centre))
    point = np.random.default_rng(0).random(25)
    for place in range(25):
        moved = point.copy()
        moved[place] = 1 - 0.9 * moved[place]
        assert turned.evaluate(moved) != turned.evaluate(point)


def test_only_branin_is_turned() -> None:
    with pytest.raises(HidimError, match="only branin is turned"):
        problem("levy-20-turned")


@pytest.mark.parametrize(("family", "count"), [("branin", 2), ("hartmann6", 6)])
def test_a_billion_dimensions_are_evaluated_lazily(family: str, count: int) -> None:
    name = f"{family}-1000000000"
    task, active = box(name), active_coordinates(name)
    assert task.space().dim == 10**9
    assert len(set(active.tolist())) == count
    assert 0 <= active.min() <= active.max() < 10**9
    small = box(f"{family}-{count}")
    assert task.optimum == small.optimum
    optimizer = Optimizer(task.space(), "rembo", seed=1)
    for _ in range(3):
        params = optimizer.ask().params
        assert isinstance(params["x"], LazyVector)
        same = np.empty(count)
        same[active_coordinates(small.name)] = params["x"][active]
        assert task.value(params) == small.evaluate(same) >= task.optimum


def test_a_billion_dimensional_run_is_a_record_like_any_other() -> None:
    record = execute(Job("branin-1000000000", "hidim:rembo(low=2,runs=1)", 0, 4))
    assert record["error"] is None
    assert len(record["values"]) == 4


@pytest.mark.parametrize("name", ["levy-1000001", "branin-1000001-rotated", "branin-1000001-noisy"])
def test_huge_problems_are_plain_and_embedded(name: str) -> None:
    with pytest.raises(HidimError, match="plain branin and hartmann6 only"):
        problem(name)


def test_problems_of_a_million_dimensions_are_dense_and_of_more_are_not() -> None:
    dense, lazy = box("branin-1000000"), box("branin-1000001")
    assert dense.minimiser.shape == (10**6,)
    assert dense.evaluate(dense.minimiser) == pytest.approx(dense.optimum)
    assert lazy.minimiser.size == 0


# -- BOCK ----------------------------------------------------------------------------------------------------


def test_bock_runs_as_long_as_in_the_paper() -> None:
    jobs = STUDIES["bock-table1"].jobs(1)
    assert {(job.problem.rsplit("-", 1)[1], job.evaluations) for job in jobs} == {("20", 200), ("100", 600)}
    shifted = STUDIES["bock-shifted"].jobs(1)
    assert {job.evaluations for job in shifted if "-100-" in job.problem} == {600}
    assert {job.evaluations for job in STUDIES["bock-table2"].jobs(1)} == {200, 400, 600}


def test_bock_is_set_beside_the_paper_by_means_of_complete_cells(make_record: MakeRecord) -> None:
    better = [make_record("hidim:bock", [0.1 * s], seed=s, problem="levy-20") for s in range(5)]
    worse = [make_record("hidim:bock", [60.0], seed=s, problem="rosenbrock-20") for s in range(5)]
    few = [make_record("hidim:bock", [0.0], seed=s, problem="levy-100") for s in range(2)]
    report = STUDIES["bock-table1"].report([*better, *worse, *few])
    assert "0.20 ± 0.16" in report  # mean and deviation of 0, .1, …, .4
    assert "0.00 ± 0.00 (2)" in report
    assert "paper: BOCK" in report
    assert "0.54 ± 0.13" in report
    assert "on 1 of 2 cells; not on rosenbrock-20." in report


def test_the_variants_of_bock_have_the_papers_names(make_record: MakeRecord) -> None:
    report = STUDIES["bock-table2"].report(
        [make_record("hidim:bock(edge=True)", [3.0], problem="rosenbrock-50")]
    )
    assert "| BOCK+B" in report
    assert "3.00 ± 0.00 (1)" in report
