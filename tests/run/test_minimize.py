"""`minimize` as a person calls it: arguments, failures, results."""

from __future__ import annotations

import math
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import hidim
from hidim import Choice, Float, HidimError, Int, Measured, Space, TrialState, Vector
from hidim.errors import MethodError, ParameterError
from hidim.methods import configured

SPACE = Space(x=Float(0, 1), c=Choice("a", "b"))


def test_the_best_of_n_trials():
    result = hidim.minimize(lambda p: (p["x"] - 0.3) ** 2, SPACE, n_trials=15, seed=1)
    assert len(result.history) == 15
    assert result.best.value == min(t.value for t in result.history)
    assert "15 complete" in repr(result)


@pytest.mark.parametrize("executor", [None, lambda: ThreadPoolExecutor(1)])
def test_with_one_worker_the_loop_is_ask_and_tell(executor):
    result = hidim.minimize(lambda p: p["x"], SPACE, n_trials=13, seed=2, executor=executor)
    optimizer = hidim.Optimizer(SPACE, seed=2, budget=13)
    for known in result.history:
        trial = optimizer.ask()
        assert trial.params == known.params
        optimizer.tell(trial, trial.params["x"])


def test_maximising():
    result = hidim.minimize(lambda p: p["x"], SPACE, n_trials=8, method="random", maximize=True)
    assert result.maximize
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


class Speechless(Exception):
    def __str__(self):
        raise ValueError("no words")


class Panic(BaseException):
    """As compiled extensions raise it."""


def raises(error):
    def objective(params):
        raise error

    return objective


NO_VALUE = {
    "infinity": (lambda p: math.inf, "the value is inf"),
    "minus infinity": (lambda p: -math.inf, "the value is -inf"),
    "an integer beyond all floats": (lambda p: 10**400, "the value is inf"),
    "nothing": (lambda p: None, "returned None: return a number"),
    "text": (lambda p: "0.5", "returned '0.5'"),
    "a truth value": (lambda p: True, "returned True"),
    "a list": (lambda p: [0.5], "returned [0.5]"),
    "a ragged list": (lambda p: [[1], [1, 2]], "returned [[1], [1, 2]]: return a number"),
    "a complex number": (lambda p: np.complex128(1 + 2j), "returned np.complex128(1+2j)"),
    "three things": (lambda p: (1.0, 2.0, 3.0), "returned (1.0, 2.0, 3.0)"),
    "a negative variance": (lambda p: Measured(1.0, -1.0), "a noise variance must be a number of at least 0"),
    "a variance of nan": (lambda p: Measured(1.0, math.nan), "a noise variance must be"),
    "a panic": (raises(Panic("index out of bounds")), "Panic: index out of bounds"),
    "an exception without words": (raises(Speechless()), "Speechless"),
    "an exception of many lines": (raises(ValueError("one\ntwo")), "ValueError: one\ntwo"),
}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("case", NO_VALUE)
def test_what_is_no_value_makes_a_failed_trial_with_a_reason(case, workers):
    objective, reason = NO_VALUE[case]
    calls = []

    def sometimes(params):
        calls.append(params)
        return 1.0 if len(calls) == 1 else objective(params)

    result = hidim.minimize(sometimes, SPACE, n_trials=3, method="random", workers=workers)
    assert [t.state for t in result.history].count(TrialState.COMPLETE) == 1
    failed = [t for t in result.history if t.state is TrialState.FAILED]
    assert len(failed) == 2
    assert all(reason in t.reason for t in failed)
    assert all(t.seconds >= 0 for t in failed)


def test_numpy_scalars_are_values():
    result = hidim.minimize(lambda p: np.float32(0.5), SPACE, n_trials=2, method="random")
    assert [t.value for t in result.history] == [0.5, 0.5]
    assert type(result.best.value) is float


def test_a_failure_is_logged_once_with_its_traceback(caplog):
    def objective(params):
        if params["x"] < 0.5:
            raise RuntimeError("diverged")
        return params["x"]

    hidim.minimize(objective, SPACE, n_trials=10, method="sobol")
    assert caplog.text.count("failed: RuntimeError: diverged") == 1
    assert 'raise RuntimeError("diverged")' in caplog.text


def test_an_objective_may_take_its_params_apart():
    def objective(params):
        x = params.pop("x")
        params["c"] = None
        return x

    result = hidim.minimize(objective, SPACE, n_trials=14)
    assert all(t.params["x"] == t.value for t in result.history)


def test_an_objective_may_take_the_params_of_a_resumed_trial_apart(tmp_path):
    space = Space(x=Float(0, 1), w=Vector(3))
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) == 2:
            raise KeyboardInterrupt
        params["w"] *= 0.0
        return params.pop("x")

    hidim.minimize(objective, space, n_trials=4, method="random", journal=tmp_path / "j")
    resumed = hidim.minimize(objective, space, n_trials=4, method="random", journal=tmp_path / "j")
    assert all(t.params["x"] == t.value and t.params["w"].any() for t in resumed.history)


def test_a_value_may_come_with_the_variance_of_its_noise():
    result = hidim.minimize(lambda p: Measured(p["x"], 0.01), SPACE, n_trials=13, seed=1)
    assert all(t.variance == 0.01 for t in result.history)
    assert result.noisy
    assert "best by the model's mean, observed" in repr(result)
    assert result.best in list(result.history)


def test_a_variance_of_none_or_zero_is_no_noise():
    result = hidim.minimize(lambda p: Measured(p["x"], None), SPACE, n_trials=4, method="random")
    assert [t.variance for t in result.history] == [None] * 4
    result = hidim.minimize(lambda p: Measured(p["x"], 0.0), SPACE, n_trials=4, method="random")
    assert not result.noisy


def test_if_all_trials_fail_the_reasons_are_told():
    def objective(params):
        raise ValueError("no license")

    with pytest.raises(HidimError, match="all 4 trials failed: ValueError: no license"):
        hidim.minimize(objective, SPACE, n_trials=4, method="random")


def test_if_all_trials_fail_for_many_reasons_some_are_told():
    calls = []

    def objective(params):
        calls.append(params)
        raise ValueError(f"reason {'abcde'[len(calls) - 1]}")

    with pytest.raises(HidimError, match=r"reason a \(1 time\).*reason c.*and 2 other reasons; mend"):
        hidim.minimize(objective, SPACE, n_trials=5, method="random")


def test_if_all_trials_fail_and_the_run_ends_early_that_is_told_too():
    with pytest.raises(HidimError, match=r"all 2 trials failed: .*; the run ended early: the stop callback"):
        hidim.minimize(
            lambda p: None, SPACE, n_trials=9, method="random", stop=lambda history: len(history) == 2
        )


def test_an_objective_that_returns_nothing_is_told_so():
    with pytest.raises(HidimError, match="None"):
        hidim.minimize(lambda params: None, SPACE, n_trials=3, method="random")


def test_without_a_number_of_trials_the_time_or_a_function_ends_the_run():
    def enough(history):
        return len(history.finished) >= 4

    found = hidim.minimize(lambda p: 0.0, SPACE, method="random", stop=enough)
    assert len(found.history) == 4
    timed = hidim.minimize(lambda p: 0.0, SPACE, n_trials=None, method="random", time_budget=0.05)
    assert timed.stopped == "the time budget of 0.05 s is spent"
    with pytest.raises(HidimError, match="say when the run ends"):
        hidim.minimize(lambda p: 0.0, SPACE)


def test_what_is_said_about_a_run_is_kept(tmp_path):
    about = {"command": ["./simulate", "{x}"], "by": "me"}
    path = tmp_path / "run.jsonl"
    found = hidim.minimize(lambda p: 0.0, SPACE, 2, method="random", journal=path, about=about)
    assert found.about == hidim.Result.from_journal(path).about == about


# -- arguments ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_trials", [0, -1, 2.5, True, "10"])
def test_the_number_of_trials_is_a_positive_integer(n_trials):
    with pytest.raises(HidimError, match="n_trials must be a positive integer"):
        hidim.minimize(lambda p: 0.0, SPACE, n_trials=n_trials)


@pytest.mark.parametrize("workers", [0, -1, 2.0, True, "4"])
def test_the_number_of_workers_is_a_positive_integer(workers):
    with pytest.raises(MethodError, match="workers must be a positive integer"):
        hidim.minimize(lambda p: 0.0, SPACE, n_trials=1, workers=workers)


@pytest.mark.parametrize("name", ["timeout", "time_budget"])
@pytest.mark.parametrize("seconds", [0, -1.0, math.nan, math.inf, True, "1"])
def test_times_are_positive_numbers(name, seconds):
    with pytest.raises(MethodError, match=f"{name} must be a positive number of seconds"):
        hidim.minimize(lambda p: 0.0, SPACE, n_trials=1, **{name: seconds})


@pytest.mark.parametrize("callbacks", [3, None, [3], [print, "print"]])
def test_callbacks_are_functions(callbacks):
    with pytest.raises(MethodError, match="callbacks must be functions, not"):
        hidim.minimize(lambda p: 0.0, SPACE, n_trials=1, callbacks=callbacks)


def test_the_stop_callback_is_a_function():
    with pytest.raises(MethodError, match="stop must be a function, not 3"):
        hidim.minimize(lambda p: 0.0, SPACE, n_trials=1, stop=3)


@pytest.mark.parametrize("executor", [3, "threads", object(), lambda: 3])
def test_what_is_no_executor_is_refused(executor):
    with pytest.raises(MethodError, match=r"executor must be a concurrent.futures.Executor or a function"):
        hidim.minimize(lambda p: 0.0, SPACE, n_trials=1, executor=executor, workers=2)


def test_a_bad_method_is_refused_before_the_objective_is_called():
    with pytest.raises(HidimError, match="did you mean 'random'"):
        hidim.minimize(raises(AssertionError("called")), SPACE, n_trials=3, method="randm")


def test_bad_arguments_leave_no_journal_behind(tmp_path):
    path = tmp_path / "j"
    for bad in ({"method": "randm"}, {"executor": 3}, {"workers": 0}, {"timeout": -1}):
        with pytest.raises(HidimError):
            hidim.minimize(lambda p: 0.0, SPACE, n_trials=3, journal=path, **bad)
    with pytest.raises(HidimError):
        hidim.minimize(lambda a, b: 0.0, SPACE, n_trials=3, journal=path)
    assert not path.exists()


# -- the result --------------------------------------------------------------------------------------------


def test_the_result_says_why_the_run_ended_and_how_long_it_took():
    def objective(params):
        time.sleep(0.02)
        return params["x"]

    result = hidim.minimize(objective, SPACE, n_trials=5, method="random")
    assert result.stopped == "all 5 trials are done"
    assert result.space == SPACE
    assert not result.maximize
    assert not result.noisy
    assert result.objective_seconds >= 0.1
    assert 0 < result.own_seconds < 5
    assert result.best == min(result.history, key=lambda t: t.value)
    assert [t.rank for t in result.history] == list(range(5))


def test_the_seconds_of_the_objective_are_summed_over_workers():
    result = hidim.minimize(
        lambda p: time.sleep(0.05) or p["x"], SPACE, n_trials=8, method="random", workers=4
    )
    assert result.objective_seconds >= 8 * 0.05
    assert result.objective_seconds == pytest.approx(sum(t.seconds for t in result.history))


def test_configurations_to_start_with_come_first_and_only_once(tmp_path):
    given = [{"x": 0.25, "c": "b"}, {"x": 0.5, "c": "a"}]
    for n_trials in (1, 6):
        result = hidim.minimize(
            lambda p: p["x"],
            SPACE,
            n_trials,
            start_with=given,
            journal=tmp_path / "run.jsonl",
            method="random",
        )
    assert [t.params for t in result.history[:2]] == given
    assert sum(t.params in given for t in result.history) == 2


def test_a_run_too_short_for_a_model_is_told_how_to_have_one(caplog):
    hidim.minimize(lambda p: p["x"], Space(x=Float(0, 1)), 4)
    assert "as in method='default(initial=2)'" in caplog.text
    caplog.clear()
    hidim.minimize(lambda p: p["x"], Space(x=Float(0, 1)), 4, method="default(initial=2)")
    hidim.minimize(lambda p: p["n"], Space(n=Int(1, 4)), 4)  # there is no more to be tried
    assert "no model will be asked" not in caplog.text


def test_a_single_configuration_to_start_with_is_no_list_of_them():
    with pytest.raises(ParameterError, match=r"a list of configurations is wanted.*: write \[\{'x': 0.5"):
        hidim.minimize(lambda p: p["x"], SPACE, 3, start_with={"x": 0.5, "c": "a"})


def test_an_objective_and_a_space_in_the_wrong_order_are_told_so():
    with pytest.raises(MethodError, match="the objective comes first"):
        hidim.minimize(SPACE, lambda p: p["x"], 3)


def test_a_configuration_to_start_with_must_fit_the_space():
    with pytest.raises(HidimError, match="above its upper bound"):
        hidim.minimize(lambda p: p["x"], SPACE, 3, start_with=[{"x": 2.0, "c": "a"}])


def test_the_only_parameter_may_be_the_argument_itself():
    result = hidim.minimize(lambda x: float((x**2).sum()), Space(x=Vector(2, -1, 1)), 4, method="random")
    assert len(result.history.complete) == 4


def test_no_trial_is_started_after_the_time_budget_not_even_one_made_ahead():
    starts = []
    begin = time.monotonic()

    def objective(p):
        starts.append(time.monotonic() - begin)
        time.sleep(0.05)
        return p["x"]

    result = hidim.minimize(objective, SPACE, 1000, workers=2, time_budget=0.6, method="random")
    assert "time budget" in result.stopped
    assert max(starts) < 0.65


def test_a_result_says_when_the_best_is_the_choice_of_the_model():
    rng = np.random.default_rng(0)
    for method, by_model in (("random", False), ("gp", True)):
        result = hidim.minimize(
            lambda p: p["x"] + 0.1 * rng.standard_normal(), SPACE, 14, method=method, noisy=True
        )
        assert result.noisy
        assert result.by_model is by_model
        assert ("by the model's mean" in repr(result)) is by_model


def test_an_unknown_variance_as_large_as_can_be_does_not_cost_the_result():
    def objective(p):
        return Measured(p["x"], 1e308 if p["x"] > 0.6 else 0.01)

    assert hidim.minimize(objective, SPACE, 14).best.value <= 0.6


@pytest.mark.parametrize("center", [{"x": 3.0}, {"y": 1.0}])
def test_what_a_method_refuses_it_refuses_before_given_configurations_are_evaluated(center):
    evaluated = []
    with pytest.raises(MethodError, match=r"^center: "):
        hidim.minimize(
            evaluated.append,
            Space(x=Float(0, 1)),
            n_trials=4,
            start_with=[{"x": 0.5}],
            method=configured("bock-map", center=center),
            progress=False,
        )
    assert not evaluated


# -- ends, seeds, attributes -------------------------------------------------------------------------------

FOUR = Space(a=Choice("x", "y"), b=Int(0, 1))


@pytest.mark.parametrize("method", ["auto", "random", "sobol", "gp"])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_finite_space_without_noise_is_tried_out(method, workers):
    result = hidim.minimize(lambda p: p["b"], FOUR, 40, method=method, workers=workers, progress=False)
    assert len(result.history) == 4
    assert result.stopped == "all 4 configurations of the space were tried"


def test_a_finite_space_with_noise_is_not():
    result = hidim.minimize(lambda p: p["b"], FOUR, 9, method="random", noisy=True, progress=False)
    assert len(result.history) == 9


def test_a_finite_space_is_tried_out_after_a_crash_too(tmp_path):
    calls = []

    def dies(params):
        calls.append(params)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return params["b"]

    options = {"method": "random", "journal": tmp_path / "j", "progress": False, "seed": 1}
    hidim.minimize(dies, FOUR, 40, **options)
    result = hidim.minimize(lambda p: p["b"], FOUR, 40, **options)
    assert len(result.history.complete) == len(result.history) == 4


def test_a_drawn_seed_is_in_the_result_and_resumed_with_the_journal(tmp_path, caplog):
    def run(n_trials, **options):
        return hidim.minimize(lambda p: p["x"], SPACE, n_trials, method="random", progress=False, **options)

    first = run(3, seed=None, journal=tmp_path / "j")
    second = run(6, seed=None, journal=tmp_path / "j")
    assert second.seed == first.seed
    assert [t.params for t in run(6, seed=first.seed).history] == [t.params for t in second.history]
    assert "was written with" not in caplog.text


def test_the_result_says_which_method_was_at_work():
    result = hidim.minimize(lambda p: p["x"], SPACE, 3, progress=False)
    assert (result.method, result.chosen) == ("auto", "default")


@pytest.mark.parametrize("workers", [1, 2])
def test_an_objective_may_return_a_dict_whose_rest_is_kept(tmp_path, workers):
    def objective(params):
        return {"value": params["x"], "variance": 0.01, "accuracy": np.float32(0.5), "model": object}

    options = {"method": "random", "journal": tmp_path / "j", "workers": workers, "progress": False}
    result = hidim.minimize(objective, SPACE, 3, **options)
    assert all(t.value == t.params["x"] and t.variance == 0.01 for t in result.history)
    assert result.best.attributes == {"accuracy": 0.5, "model": "<class 'object'>"}
    assert list(hidim.Result.from_journal(tmp_path / "j").history) == list(result.history)


def test_a_dict_without_a_value_is_no_value():
    with pytest.raises(HidimError, match=r"returned {'loss': 1}: return a number"):
        hidim.minimize(lambda p: {"loss": 1}, SPACE, 3, method="random")


def test_refusals_come_before_evaluations():
    calls = []
    with pytest.raises(HidimError, match="columns"):
        hidim.minimize(calls.append, Space(w=Vector(10**6)), 30, method="gp")
    assert not calls


@pytest.mark.parametrize("executor", [None, lambda: ProcessPoolExecutor(1, mp_context=get_context("fork"))])
def test_a_timeout_of_centuries_is_one(executor):
    result = hidim.minimize(
        largest, Space(x=Float(0, 1)), 2, executor=executor, timeout=9.3e9, time_budget=1e300
    )
    assert len(result.history.complete) == 2


def largest(params):
    return params["x"]
