"""discrete-47: its shape, its optimum, and what is idle."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from hidim.bench.discrete import Table, discrete_47
from hidim.bench.peers import Random
from hidim.bench.problems import problem
from hidim.bench.runner import Job, execute


@pytest.fixture(scope="module")
def task() -> Table:
    return discrete_47()


def configurations(task: Table, start: dict[str, str]) -> Iterator[dict[str, str]]:
    """All that differ from `start` in active parameters only."""
    for labels in product(*(task.options[name] for name in task.active)):
        yield start | dict(zip(task.active, labels, strict=True))


def test_forty_binary_and_seven_categorical_parameters(task: Table) -> None:
    counts = [len(labels) for labels in task.options.values()]
    assert counts == [2] * 40 + [7, 4, 8, 4, 3, 3, 4]
    assert task.space().dim == 47
    task.space().validate(Random(task, 0, 1).ask())


def test_optimum_is_the_least_of_all_values(task: Table) -> None:
    values = [task.value(params) for params in configurations(task, Random(task, 1, 1).ask())]
    assert len(set(values)) == 896
    assert min(values) == task.optimum


def test_exactly_five_parameters_matter(task: Table) -> None:
    start = Random(task, 2, 1).ask()
    moving = {
        name
        for name, labels in task.options.items()
        if len({task.value(start | {name: label}) for label in labels}) > 1
    }
    assert moving == set(task.active)
    assert sum(name.startswith("b") for name in moving) == 2
    assert sum(name.startswith("c") for name in moving) == 3


def test_effects_interact(task: Table) -> None:
    values = task.values
    additive = sum(values.mean(axis=axes, keepdims=True) for axes in _all_but_one(values.ndim))
    rest = values - additive + (values.ndim - 1) * values.mean()
    assert 0.1 < rest.var() / values.var() < 0.6


def _all_but_one(ndim: int) -> list[tuple[int, ...]]:
    return [tuple(axis for axis in range(ndim) if axis != kept) for kept in range(ndim)]


def test_the_name_means_the_same_function_for_ever() -> None:
    again = problem("discrete-47")
    first = {name: labels[0] for name, labels in discrete_47().options.items()}
    np.testing.assert_allclose([again.optimum, again.value(first)], [-5.720807815636775, 7.0574017469607])


def test_a_sweep_runs_it() -> None:
    record = execute(Job("discrete-47", "hidim:rembo(low=2,runs=1,kernel=categorical)", 0, 6))
    assert record["error"] is None
    assert min(record["values"]) >= record["optimum"]
