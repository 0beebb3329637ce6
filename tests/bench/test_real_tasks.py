"""The real tasks of RPP-GP-UCB and of Elastic GP, as far as they need no data of others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hidim.bench.problems import NAMED, problem

from .conftest import MakeRecord

SCRIPTS = ("real_tasks", "real_sums", "elastic_tasks")


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType]]:
    """Both scripts; importing them adds their problems, which are taken away again."""
    before = dict(NAMED)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import elastic_tasks
    import real_sums

    yield elastic_tasks, real_sums
    for name in SCRIPTS:
        sys.modules.pop(name, None)
    NAMED.clear()
    NAMED.update(before)


def test_the_area_counts_how_often_a_positive_has_the_larger_score(tasks) -> None:
    rng = np.random.default_rng(0)
    scores, y = rng.integers(0, 5, 40).astype(float), np.where(rng.random(40) < 0.4, 1.0, -1.0)
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[y > 0] for b in scores[y < 0]]
    assert tasks[0].area(scores, y) == pytest.approx(np.mean(pairs))


def test_a_cascade_with_the_right_thresholds_separates_what_two_stumps_can(tasks) -> None:
    """The class is an "or" of two features: stumps at one half rank all but the ties."""
    x = np.random.default_rng(1).random((400, 2))
    y = np.where((x > 0.5).any(axis=1), 1.0, -1.0)
    right, wrong = (tasks[0].cascaded(x, y, np.full(2, at)) for at in (0.5, 0.02))
    assert tasks[0].area(right, y) > 0.95 > tasks[0].area(wrong, y)


def test_credit_data_become_24_features_within_bounds(tasks, tmp_path: Path, monkeypatch) -> None:
    module, rng = tasks[0], np.random.default_rng(2)
    numbers = [f"number{k}" for k in range(7)]
    columns = {name: rng.random(30) for name in (*numbers, *module.SINGLE)}
    for category in module.ORDERED:
        chosen = rng.integers(0, 3, 30)
        columns |= {f"{category}.{k}": (chosen == k).astype(float) for k in range(3)}
    lines = [",".join([*columns, "Class"])]
    for row in range(30):
        lines.append(
            ",".join([*(str(values[row]) for values in columns.values()), "Good" if row % 3 else "Bad"])
        )
    (tmp_path / "GermanCredit.csv").write_text("\n".join(lines))
    monkeypatch.setenv("ELASTIC_DATA", str(tmp_path))
    x, y = module.table("GermanCredit", str(tmp_path))
    assert x.shape == (30, 24)
    assert (x.min(axis=0) == 0.0).all()
    assert (x.max(axis=0) == 1.0).all()
    assert (y > 0).sum() == 20
    task = problem("stumps-24")
    assert task.space().dim == 24
    values = [task.value({"x": rng.random(24)}) for _ in range(5)]
    assert all(0.0 <= value <= 1.0 for value in values)
    assert len(set(values)) > 1


def test_an_alloy_has_eight_elements_and_a_temperature(tasks) -> None:
    space = problem("alloy-9").space()
    assert space.dim == 9
    shares = [high for _, high in tasks[0].ELEMENTS.values()]
    assert sum(shares) < 20.0  # of a hundred: the rest is aluminium


def test_pictures_show_the_tasks_that_were_run(tasks, make_record: MakeRecord, tmp_path: Path) -> None:
    from real_tasks import plot

    for module, name in ((tasks[0], "stumps-33"), (tasks[1], "lasso-180")):
        records = [
            make_record(method, [3.0, 2.0, 1.5 + seed], problem=name, seed=seed)
            for method in ("hidim:gp", "random")
            for seed in range(2)
        ]
        plot(module.TASKS, records, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000
