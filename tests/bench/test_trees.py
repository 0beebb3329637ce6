"""Conditional problems: right branches, and what is said of runs."""

import numpy as np
import pytest
from scipy.optimize import minimize

from hidim.bench.problems import problem
from hidim.bench.runner import execute
from hidim.bench.trees import EVALUATIONS, plan_trees, table


def numbers_of(params):
    return [name for name, value in params.items() if isinstance(value, float)]


@pytest.mark.parametrize("name", EVALUATIONS)
def test_the_best_of_many_random_configurations_polished_is_in_the_branch_called_best(name):
    task, rng = problem(name), np.random.default_rng(0)
    drawn = task.space().sample(rng, 1000)
    right = [params for params in drawn if task.is_best_branch(params)]
    assert 0 < len(right) < len(drawn)

    def polished(params):
        names = numbers_of(params)
        bounds = [bounds_of(task, params, one) for one in names]
        start = np.array([params[one] for one in names])

        def value(x):
            return task.value(params | dict(zip(names, x.tolist(), strict=True)))

        found = minimize(value, start, bounds=bounds)
        return min(float(found.fun), task.value(params))

    def best(some):
        return min(map(polished, sorted(some, key=task.value)[:3]))

    wrong = [params for params in drawn if not task.is_best_branch(params)]
    assert best(right) < best(wrong)


def bounds_of(task, params, name):
    """Of a number of a configuration."""

    def found(space):
        for key, parameter in space.items():
            if key == name:
                return parameter.low, parameter.high
            if key in params and hasattr(parameter, "options"):
                own = found(parameter.options[parameter.positions[params[key]]].space)
                if own is not None:
                    return own
        return None

    return found(task.space())


def record(seed, method, value, branch):
    return {
        "problem": "training",
        "method": method,
        "seed": seed,
        "evaluations": 2,
        "optimum": 0.0,
        "values": [1.0, value],
        "best_branch": branch,
        "error": None,
    }


def test_the_table_counts_wrong_branches_and_wins():
    ours = [record(seed, "hidim:auto", 1e-3, True) for seed in range(6)]
    others = [record(seed, "random", 1e-1, seed > 1) for seed in range(6)]
    text = table([*ours, *others], "hidim:auto")
    assert "| training, n = 2 | 0.001 | 0.1 |" in " ".join(text.split())
    assert "0 of 6" in text
    assert "2 of 6" in text
    assert "100 % (0.03)" in text


def test_a_problem_that_a_method_did_not_run_is_left_blank():
    ours = [record(seed, "hidim:auto", 1e-3, True) for seed in range(6)]
    elsewhere = {**record(0, "smac", 1e-1, True), "problem": "jenatton"}
    blank = [line for line in table([*ours, elsewhere], "hidim:auto").splitlines() if "| jenatton" in line]
    assert blank
    assert all("–" in line for line in blank)


def test_a_run_says_whether_its_best_configuration_is_in_the_right_branch():
    job = next(job for job in plan_trees(["random"], [0]) if job.problem == "training")
    run = execute(job)
    assert run["best_branch"] in (True, False)
    assert len(plan_trees(["random", "hidim:gp"], range(3))) == 6 * len(EVALUATIONS)
