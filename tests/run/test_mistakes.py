"""Failures that are not the function's nature: mistakes in the objective, and how a run is mended."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from hidim import Choice, Float, HidimError, Measured, Optimizer, Space, Vector, minimize
from hidim.errors import MethodError, TrialError
from hidim.trial import TrialState

SPACE = Space(x=Float(0, 1))


def square(params):
    return (params["x"] - 0.3) ** 2


def typo(params):
    return undefined_name + params["x"]  # noqa: F821  (the typo that is tested)


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
        run(counted, 60, workers=workers)
    certain = 5 if objective is typo else 50  # nothing may be what a part of the space gives
    assert certain <= len(calls) <= certain + workers


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


@pytest.mark.parametrize("fails", [ValueError("too hot"), ZeroDivisionError(), TypeError("no NoneType")])
def test_a_region_in_which_all_fails_does_not_end_a_run(fails):
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) <= 30:
            raise fails
        return square(params)

    assert len(run(objective, 32).history.complete) == 2


def test_a_pair_is_refused_with_the_mend_at_once():
    with pytest.raises(HidimError, match=r"returned the pair \(1.0, 0.1\): write hidim.Measured\(value, var"):
        run(lambda p: (1.0, 0.1))
    with pytest.raises(TrialError, match=r"not \(1.0, 2.0\); write hidim.Measured"):
        Optimizer(SPACE).add({"x": 0.5}, (1.0, 2.0))
    assert Optimizer(SPACE).add({"x": 0.5}, Measured(1.0, 0.25)).variance == 0.25


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


def test_a_typo_ends_a_run_that_knows_values_from_before(tmp_path):
    good = run(square, 6, journal=tmp_path / "j")
    with pytest.raises(HidimError, match="all 5 trials failed"):
        run(typo, start_from=good)
    resumed = run(typo, journal=tmp_path / "j")
    assert len(resumed.history.failed) == 5
    assert "all failed alike" in resumed.stopped
    assert resumed.best == good.best


@pytest.mark.parametrize("value", [np.array(np.nan), np.float32(np.nan)])
def test_nan_of_any_kind_is_no_mistake(value):
    calls = []

    def objective(params):
        calls.append(params)
        return square(params) if len(calls) > 7 else value

    assert len(run(objective, 10).history) == 10


def test_what_is_no_number_is_one_mistake_whatever_it_says():
    space = Space(x=Float(0, 1), k=Choice(*"abcdefgh"))
    with pytest.raises(HidimError, match="trials all failed alike"):
        minimize(lambda p: p, space, 40, method="random", progress=False)


def test_a_retry_that_was_damaged_does_not_lose_what_came_after(tmp_path):
    with pytest.raises(HidimError):
        run(typo, 5, journal=tmp_path / "j")
    mended = run(square, 5, journal=tmp_path / "j", retry_failed=True)
    lines = (tmp_path / "j").read_bytes().splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if b'"retry"' in line)
    lines[place] = lines[place].replace(b"retry", b"retyr")
    (tmp_path / "j").write_bytes(b"".join(lines))
    assert list(Optimizer.load(tmp_path / "j").history) == list(mended.history)


def test_no_more_failures_are_taken_back_than_can_be_tried_again(tmp_path):
    calls = []

    def sometimes(params):
        calls.append(params)
        return typo(params) if len(calls) % 2 else square(params)

    run(sometimes, 10, journal=tmp_path / "j")
    assert len(run(square, 6, journal=tmp_path / "j", retry_failed=True).history.failed) == 4


def test_a_journal_deleted_after_a_retry_is_written_with_the_right_ranks(tmp_path):
    calls = []

    def sometimes(params):
        calls.append(params)
        return typo(params) if len(calls) in (2, 3, 4) else square(params)

    def deletes(params):
        (tmp_path / "j").unlink(missing_ok=True)
        return square(params)

    run(sometimes, 8, journal=tmp_path / "j")
    known = run(deletes, 8, journal=tmp_path / "j", retry_failed=True)
    assert [t.rank for t in Optimizer.load(tmp_path / "j").history] == [t.rank for t in known.history]


def test_a_trial_that_is_resumed_gets_arrays(tmp_path):
    calls: list[object] = []

    def objective(params):
        calls.append(params)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return float((params["x"] ** 2).sum())

    space = Space(x=Vector(3000, low=-1, high=1))
    options = {"method": "rembo", "journal": tmp_path / "j", "progress": False}
    minimize(objective, space, 5, **options)
    assert not minimize(objective, space, 5, **options).history.failed
