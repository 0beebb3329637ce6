from __future__ import annotations

import math

import pytest

import hidim
from hidim import Choice, Float, HidimError, Space, TrialState

SPACE = Space(x=Float(0, 1), c=Choice("a", "b"))


def test_the_best_of_n_trials():
    result = hidim.minimize(lambda p: (p["x"] - 0.3) ** 2, SPACE, n_trials=15, seed=1)
    assert len(result.history) == 15
    assert result.best.value == min(t.value for t in result.history)
    assert "15 complete" in repr(result)


def test_the_loop_is_ask_and_tell():
    result = hidim.minimize(lambda p: p["x"], SPACE, n_trials=13, seed=2)
    optimizer = hidim.Optimizer(SPACE, seed=2, budget=13)
    for known in result.history:
        trial = optimizer.ask()
        assert trial.params == known.params
        optimizer.tell(trial, trial.params["x"])


def test_maximising():
    result = hidim.minimize(lambda p: p["x"], SPACE, n_trials=8, method="random", maximize=True)
    assert result.best.value == max(t.value for t in result.history)


def test_an_objective_that_raises_or_returns_nan_makes_failed_trials():
    def objective(params):
        if params["x"] < 0.3:
            raise RuntimeError("diverged")
        return math.nan if params["x"] > 0.8 else params["x"]

    result = hidim.minimize(objective, SPACE, n_trials=20, method="sobol")
    failed = [t for t in result.history if t.state is TrialState.FAILED]
    assert {t.reason for t in failed} == {"RuntimeError: diverged", "the value is nan"}
    assert result.best.value >= 0.3


def test_an_objective_may_take_its_params_apart():
    def objective(params):
        x = params.pop("x")
        params["c"] = None
        return x

    result = hidim.minimize(objective, SPACE, n_trials=14)
    assert all(t.params["x"] == t.value for t in result.history)


def test_an_interrupt_is_not_swallowed():
    def objective(params):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hidim.minimize(objective, SPACE, n_trials=3, method="random")


def test_if_all_trials_fail_the_reasons_are_told():
    def objective(params):
        raise ValueError("no license")

    with pytest.raises(HidimError, match="all 4 trials failed: ValueError: no license"):
        hidim.minimize(objective, SPACE, n_trials=4, method="random")


def test_an_objective_that_returns_nothing_is_told_so():
    with pytest.raises(HidimError, match="None"):
        hidim.minimize(lambda params: None, SPACE, n_trials=3, method="random")


@pytest.mark.parametrize("n_trials", [0, -1, 2.5, True, "10", None])
def test_the_number_of_trials_is_a_positive_integer(n_trials):
    with pytest.raises(HidimError, match="n_trials must be a positive integer"):
        hidim.minimize(lambda p: 0.0, SPACE, n_trials=n_trials)


def test_a_bad_method_is_refused_before_the_objective_is_called():
    def objective(params):
        raise AssertionError("called")

    with pytest.raises(HidimError, match="did you mean 'random'"):
        hidim.minimize(objective, SPACE, n_trials=3, method="randm")


def test_an_interrupt_ends_the_run_with_the_result_so_far(caplog):
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return params["x"] ** 2

    result = hidim.minimize(objective, Space(x=Float(-1, 1)), n_trials=9)
    assert len(result.history) == 4
    assert result.history[3].reason == "interrupted"
    assert result.best.value == min(t.value for t in result.history[:3])
    assert "interrupted in trial 4 of 9" in caplog.text
