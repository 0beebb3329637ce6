"""Tuning lp_solve: what a configuration becomes, and what becomes of crashes."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from hidim.bench.base import Crash
from hidim.bench.peers import Random
from hidim.bench.problems import NAMED, problem
from hidim.errors import HidimError

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "lpsolve.py"


@pytest.fixture
def lpsolve(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name in ("fixnet6", "set1ch", "khb05250"):  # importing the script adds its problems
        monkeypatch.setitem(NAMED, f"lpsolve-{name}", NAMED["jenatton"])
    spec = importlib.util.spec_from_file_location("lpsolve", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "lpsolve", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def solver(lpsolve: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of the one that calls lp_solve; tests write it."""
    (tmp_path / "fixnet6.mps").touch()
    monkeypatch.setenv("LPSOLVE_LIBRARY", "liblpsolve55.so")
    monkeypatch.setenv("LPSOLVE_INSTANCES", str(tmp_path))
    monkeypatch.setattr(lpsolve, "WORKER", tmp_path / "worker.py")
    return tmp_path / "worker.py"


def test_forty_binary_and_seven_categorical_parameters(lpsolve: ModuleType) -> None:
    task = problem("lpsolve-fixnet6")
    counts = [len(labels) for labels in lpsolve.OPTIONS.values()]
    assert counts == [2] * 40 + [7, 4, 8, 4, 3, 3, 4]
    task.space().validate(Random(task, 0, 1).ask())


def test_switches_are_added_to_the_number_of_the_rule(lpsolve: ModuleType) -> None:
    params = {name: labels[0] for name, labels in lpsolve.OPTIONS.items()}
    chosen = {"node-rule": "gap", "node-greedy": "on", "scaling": "geometric", "scale-integers": "on"}
    found = lpsolve.settings(params | chosen)
    assert found["set_bb_rule"] == [1 + 32]
    assert found["set_scaling"] == [4 + 128]
    assert found["set_anti_degen"] == [0]
    assert found["set_presolve"] == [0, -1]
    assert set(found) == {*lpsolve.SWITCHES, *(function for function, _ in lpsolve.CHOICES.values())}


def test_random_choices_of_the_solver_cannot_be_switched_on(lpsolve: ModuleType) -> None:
    assert 256 not in lpsolve.SWITCHES["set_bb_rule"].values()
    assert 128 not in lpsolve.SWITCHES["set_pivoting"].values()


def test_value_is_the_relative_gap(solver: Path) -> None:
    solver.write_text("""print('{"status": 1, "objective": 7966.0}')""")
    task = problem("lpsolve-fixnet6")
    assert task.value(Random(task, 0, 1).ask()) == pytest.approx(1.0)
    assert task.optimum == 0.0


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("import os; os.kill(os.getpid(), 11)", "signal 11"),
        ("import time; time.sleep(60)", "no end"),
        ("""print('{"status": 3, "objective": null}')""", "unbounded"),
        ("""print('{"status": 23, "objective": null}')""", "23"),
    ],
)
def test_runs_without_a_solution_are_crashes(
    program: str, says: str, lpsolve: ModuleType, solver: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lpsolve, "SECONDS", 2)
    solver.write_text(program)
    task = problem("lpsolve-fixnet6")
    with pytest.raises(Crash, match=says):
        task.value(Random(task, 0, 1).ask())


def test_a_library_that_cannot_be_loaded_is_no_crash_of_the_solver(lpsolve: ModuleType, solver: Path) -> None:
    solver.write_text("raise OSError('no such library')")
    task = problem("lpsolve-fixnet6")
    with pytest.raises(HidimError, match="no such library"):
        task.value(Random(task, 0, 1).ask())


@pytest.mark.parametrize("missing", ["LPSOLVE_LIBRARY", "LPSOLVE_INSTANCES"])
def test_paths_must_be_given(missing: str, solver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(missing)
    task = problem("lpsolve-fixnet6")
    with pytest.raises(HidimError, match=missing):
        task.value(Random(task, 0, 1).ask())


@pytest.mark.skipif("LPSOLVE_LIBRARY" not in os.environ, reason="LPSOLVE_LIBRARY names no lp_solve")
def test_the_solver_itself_gives_the_same_value_twice(lpsolve: ModuleType) -> None:
    task = problem("lpsolve-fixnet6")
    draws, values = Random(task, 0, 1), []
    for params in (draws.ask() for _ in range(8)):
        try:
            values.append(task.value(params))
        except Crash:
            continue
        assert task.value(params) == values[-1]
    assert len(set(values)) > 1
    assert all(0.1 < value < 10 for value in values)
