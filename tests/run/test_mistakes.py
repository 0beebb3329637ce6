"""Failures that are not the function's nature: mistakes in the objective, and how a run is mended."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest

from hidim import Float, HidimError, Optimizer, Space, minimize
from hidim.errors import MethodError, TrialError
from hidim.trial import TrialState

SPACE = Space(x=Float(0, 1))


def square(params):
    return (params["x"] - 0.3) ** 2


def typo(params):
    return undefined_name + params["x"]  # noqa: F821


def returns_nothing(params):
    square(params)


def exits(params):
    raise SystemExit(3)


def run(objective, n_trials=50, **options):
    return minimize(objective, SPACE, n_trials, method="random", progress=False, **options)


# -- fail_fast ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", [typo, returns_nothing])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_mistake_does_not_burn_all_trials(objective, workers):
    calls = []

    def counted(params):
        calls.append(params)
        return objective(params)

    with pytest.raises(HidimError, match="trials all failed alike; fail_fast=None would go on"):
        run(counted, workers=workers)
    assert 5 <= len(calls) <= 5 + workers


def test_the_message_names_the_journal_and_the_way_out(tmp_path):
    with pytest.raises(HidimError, match=r"NameError.*journal='.*j', retry_failed=True"):
        run(typo, journal=tmp_path / "j")


def test_fail_fast_can_be_set_and_switched_off():
    with pytest.raises(HidimError, match="all 2 trials failed"):
        run(typo, fail_fast=2)
    with pytest.raises(HidimError, match="all 9 trials failed"):
        run(typo, 9, fail_fast=None)
    with pytest.raises(MethodError, match="fail_fast must be a positive integer"):
        run(typo, fail_fast=0)


def raises_another_kind_each_time(calls):
    raise ValueError("abcdefghi"[len(calls)])


@pytest.mark.parametrize(
    "fails", [raises_another_kind_each_time, lambda calls: float("nan"), lambda calls: float("inf")]
)
def test_failures_that_may_be_the_functions_nature_do_not_end_a_run(fails):
    calls = []

    def objective(params):
        calls.append(params)
        return square(params) if len(calls) > 7 else fails(calls)

    assert len(run(objective, 10).history) == 10


def test_a_run_that_has_a_value_goes_on_however_many_trials_fail():
    calls = []

    def objective(params):
        calls.append(params)
        return 1.0 if len(calls) == 1 else typo(params)

    assert len(run(objective, 12).history.failed) == 11


# -- sys.exit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_sys_exit_in_an_objective_ends_the_run_with_the_result_so_far(workers):
    calls = []

    def objective(params):
        calls.append(params)
        return 1.0 if len(calls) <= 2 else exits(params)

    result = run(objective, workers=workers)
    assert len(result.history.complete) == 2
    assert result.stopped == "the objective ended the run: SystemExit: 3"


def test_sys_exit_in_a_worker_process_ends_the_run():
    with pytest.raises(HidimError, match="the objective ended the run: SystemExit: 3"):
        run(exits, executor=lambda: ProcessPoolExecutor(1))


# -- retry -------------------------------------------------------------------------------------------------


def test_failed_trials_are_evaluated_again_on_resuming(tmp_path):
    with pytest.raises(HidimError):
        run(typo, 20, journal=tmp_path / "j")
    kept = run(square, 20, journal=tmp_path / "j")
    assert len(kept.history.failed) == 5
    mended = run(square, 20, journal=tmp_path / "j", retry_failed=True)
    assert len(mended.history.complete) == len(mended.history) == 20
    assert [t.rank for t in mended.history.complete[-5:]] == [15, 16, 17, 18, 19]
    again = run(square, 20, journal=tmp_path / "j")
    assert list(again.history) == list(mended.history)
    assert list(Optimizer.load(tmp_path / "j").history) == list(mended.history)


def test_an_optimizer_takes_back_that_a_trial_failed():
    optimizer = Optimizer(SPACE, "random")
    first, second = optimizer.ask(2)
    optimizer.fail(first, "the disk was full")
    optimizer.tell(second, 0.5)
    again = optimizer.retry(first)
    assert again.params == first.params
    assert [t.state for t in optimizer.history] == [TrialState.RUNNING, TrialState.COMPLETE]
    optimizer.tell(again, 0.25)
    assert [t.rank for t in optimizer.history] == [1, 0]
    with pytest.raises(TrialError, match="trial 0 is complete: only failed trials"):
        optimizer.retry(0)
    with pytest.raises(TrialError, match="retry wants a trial"):
        optimizer.retry(7)
