"""The suite of problems: what is run, and what is said of it."""

import math
from itertools import product

import numpy as np
import pytest

from hidim.bench.discrete import switches
from hidim.bench.problems import problem
from hidim.bench.suite import CLASSES, plan_suite, problems, stops, table, takes


def record(name, method, seed, regrets):
    return {
        "problem": name,
        "method": method,
        "seed": seed,
        "evaluations": len(regrets),
        "optimum": 0.0,
        "values": regrets,
        "error": None,
    }


def runs(method, level, seeds=5):
    return [
        record(name, method, seed, [100.0, level * (1 + seed)])
        for name in problems()
        for seed in range(seeds)
    ]


def row(text, first):
    """The cells of the first row that begins so."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {first}"))
    return [cell.strip() for cell in line.strip("| ").split("|")][1:]


@pytest.mark.parametrize("name", problems())
def test_no_value_of_the_suite_is_below_the_optimum(name):
    task = problem(name)
    values = [task.value(params) for params in task.space().sample(np.random.default_rng(0), 20)]
    assert min(values) >= task.optimum
    assert all(map(math.isfinite, values))


def test_the_best_of_all_settings_of_switches_is_the_optimum():
    task = switches("few", 10)
    every = (dict(zip(task.options, on, strict=True)) for on in product(("off", "on"), repeat=10))
    assert min(map(task.value, every)) == pytest.approx(task.optimum, abs=1e-12)


def test_methods_that_need_a_box_are_not_run_on_switches():
    assert {name for name in problems() if not takes("pycma", name)} == set(CLASSES["binary"])
    assert len(plan_suite(["hidim:gp", "random"], range(2), 30)) == 2 * 2 * len(problems())


def test_a_method_that_is_always_ahead_has_rank_one_and_wins_all():
    text = table([*runs("hidim:auto", 1.0), *runs("random", 4.0)], "hidim:auto", 2)
    assert row(text, "**all**") == ["1.00", "2.00"]
    assert row(text, "**geometric mean**")[-1] == "**0.25**"
    assert "100 % (" in text
    assert row(text, "random")[:2] == ["0 %", "0 %"]


def test_methods_of_hidim_are_shown_but_are_no_peers():
    text = table([*runs("hidim:auto", 1.0), *runs("hidim:gp", 0.1), *runs("random", 4.0)], "hidim:auto", 2)
    assert row(text, "**geometric mean**")[-1] == "**0.25**"
    assert row(text, "**all**")[0] == "2.00"


def test_runs_that_did_not_go_so_far_and_failed_ones_do_not_count():
    half = [one | {"values": one["values"][:1]} for one in runs("random", 4.0)]
    failed = [one | {"error": "died"} for one in runs("pycma", 0.1)]
    text = table([*runs("hidim:auto", 1.0), *half, *failed], "hidim:auto", 2)
    assert "random" not in text
    assert "pycma" not in text


def test_it_looks_at_the_budgets_that_a_run_has():
    assert stops(200) == [100, 200]
    assert stops(1000) == [100, 200, 1000]
    assert stops(50) == [50]
