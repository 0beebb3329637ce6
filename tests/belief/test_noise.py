"""Noise: found out or given, and what it changes."""

from __future__ import annotations

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, Vector
from hidim.errors import TrialError

SPACE = Space(x=Vector(3, -1, 1))


def bowl(params) -> float:
    return float((params["x"] ** 2).sum())


def run(objective, trials: int, space: Space = SPACE, **settings) -> Optimizer:
    optimizer = Optimizer(space, seed=1, budget=trials, **settings)
    for _ in range(trials):
        trial = optimizer.ask()
        value = objective(trial.params)
        optimizer.tell(trial, *value[:1], variance=value[1]) if isinstance(value, tuple) else optimizer.tell(
            trial, value
        )
    return optimizer


def test_noise_is_found_out_by_a_probe_next_to_the_best_trial():
    rng = np.random.default_rng(0)
    optimizer = run(lambda p: bowl(p) + 0.5 * rng.standard_normal(), 40)
    probes = [trial for trial in optimizer.history if "probe" in trial.meta]
    assert optimizer.noisy
    (twin,) = (trial for trial in optimizer.history if trial.value == probes[0].meta["probe"])
    assert np.abs(probes[0].params["x"] - twin.params["x"]).max() < 1e-6


def test_a_smooth_function_is_neither_probed_nor_called_noisy():
    optimizer = run(bowl, 40)
    assert not optimizer.noisy
    assert not any("probe" in trial.meta for trial in optimizer.history)
    assert optimizer.best.value == min(trial.value for trial in optimizer.history)


def test_a_rugged_function_is_cleared_by_its_probe():
    def rugged(params):
        return bowl(params) + float(np.sin(800 * params["x"]).sum())

    optimizer = run(rugged, 60)
    assert not optimizer.noisy
    assert sum("probe" in trial.meta for trial in optimizer.history) <= 1
    assert optimizer.best.value == min(trial.value for trial in optimizer.history)


def test_no_configuration_is_repeated_unless_the_objective_is_noisy():
    def rugged(params):
        return float(params["n"] * 7919 % 31) + (params["c"] == "a")

    space = Space(n=Int(0, 60), c=Choice("a", "b"))
    optimizer = run(rugged, 60, space)
    assert len({(t.params["n"], t.params["c"]) for t in optimizer.history}) == 60


def test_repeated_configurations_with_different_values_show_noise():
    optimizer = Optimizer(Space(n=Int(0, 9)), seed=0)
    optimizer.add({"n": 3}, 1.0)
    assert not optimizer.noisy
    optimizer.add({"n": 3}, 1.0)
    assert not optimizer.noisy
    optimizer.add({"n": 3}, 1.2)
    assert optimizer.noisy


def test_the_best_of_a_noisy_objective_is_the_one_with_the_best_mean():
    lucky = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        optimizer = run(lambda p, rng=rng: bowl(p) + 0.3 * rng.standard_normal(), 50, noisy=True)
        lucky.append(optimizer.best.value == min(trial.value for trial in optimizer.history))
        assert bowl(optimizer.best.params) < 0.2  # where half of the box is above .9
    assert not all(lucky)  # the luckiest may have the best mean, too


def test_values_with_large_variances_count_for_little():
    """The same values, told once with and once without the variances of those that lie."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, size=(40, 3))
    wrong = np.arange(40) % 2 == 0
    values = (points**2).sum(axis=1) + np.where(wrong, 3.0 * rng.standard_normal(40), 0.0)
    found = []
    for variances in (np.where(wrong, 9.0, 1e-6), np.full(40, 1e-6)):
        optimizer = Optimizer(SPACE, seed=0, noisy=True)
        for point, value, variance in zip(points, values, variances, strict=True):
            optimizer.add({"x": point}, value, variance=variance)
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(trial.params), variance=1e-6)
        found.append(bowl(optimizer.best.params))
    assert found[0] < 0.3 < found[1]


def test_given_variances_survive_saving(tmp_path):
    optimizer = run(lambda p: (bowl(p), 0.01), 15)
    optimizer.save(tmp_path / "run.json")
    loaded = Optimizer.load(tmp_path / "run.json")
    assert loaded.noisy
    assert [t.variance for t in loaded.history] == [0.01] * 15
    assert np.array_equal(loaded.ask().params["x"], optimizer.ask().params["x"])


@pytest.mark.parametrize("variance", [-1.0, float("nan"), float("inf"), "much"])
def test_a_variance_that_is_none_is_refused_and_the_trial_stays_open(variance):
    optimizer = Optimizer(Space(x=Float(0, 1)))
    trial = optimizer.ask()
    with pytest.raises(TrialError):
        optimizer.tell(trial, 1.0, variance=variance)
    optimizer.tell(trial, 1.0)
    assert optimizer.best.value == 1.0


def test_a_deterministic_objective_is_not_called_noisy_where_no_probe_is_possible():
    space = Space(n=Int(0, 40), m=Int(0, 40), kind=Choice("plain", fancy=Space(x=Float(0, 1))))

    def rugged(params):
        return float((params["n"] * 7919 + params["m"] * 104729) % 31) + 40.0 * ("x" in params)

    optimizer = run(rugged, 32, space)
    assert not optimizer.noisy
    assert not any("probe" in trial.meta for trial in optimizer.history)
