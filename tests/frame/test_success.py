"""Alternatives get their share of suggestions by what they have gained."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidim.frame.success import LATELY, Step, shares, steps
from hidim.trial import History, Trial, TrialState


def history(losses, which):
    trials = []
    for number, (loss, one) in enumerate(zip(losses, which, strict=True)):
        state = TrialState.FAILED if loss is None else TrialState.COMPLETE
        trials.append(Trial({"x": 0.0}, number, loss, state, {"model": one}, rank=number))
    return History(trials)


def test_steps_know_the_best_before_them_and_failures_gain_nothing():
    found = steps(history([3.0, 5.0, None, 2.5], [0, 1, 1, 0]), "model", maximize=False)
    assert [step.gain for step in found] == [0.0, 0.0, 0.0, 0.5]  # of 4 − 3, the median less the best
    assert [step.improved for step in found] == [True, False, False, True]


def test_maximising_counts_what_is_larger_as_a_gain():
    found = steps(history([3.0, 5.0], [0, 1]), "model", maximize=True)
    assert [step.gain for step in found] == [0.0, 1.0]


def test_what_gained_more_with_a_try_has_the_larger_share_and_none_starves():
    past = [Step(0, 10.0, 9.0, 2.0)] * 5 + [Step(1, 5.0, 6.0, 2.0)] * 20 + [Step(2, 5.0, 4.9, 2.0)] * 2
    found = shares(past, 3)
    assert found.sum() == pytest.approx(1.0)
    assert found[0] > found[2] > found[1] >= 0.1


def test_many_tiny_gains_do_not_outvote_a_large_one():
    past = [Step(0, 1.0, 1.0 - 1e-6, 1.0), Step(1, 1.0, 1.0, 1.0)] * 10 + [Step(1, 1.0, 0.0, 1.0)]
    found = shares(past, 2)
    assert found[1] > 2.0 * found[0]


def test_a_huge_step_long_ago_does_not_silence_the_others():
    past = [Step(0, 1e10, 1.0, 1e10), *[Step(0, 1.0, 2.0, 0.1), Step(1, 1.0, 0.996, 0.1)] * 50]
    found = shares(past, 2)
    assert found[1] > 0.7


def test_what_was_suggested_in_their_place_counts_for_nobody():
    past = [Step(0, 1.0, 0.5, 1.0, own=False), Step(1, 1.0, 0.9, 1.0)]
    assert shares(past, 2)[1] > shares(past[1:], 2)[1] - 1e-12
    assert shares(past[:1], 2).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "past", [[], [Step(0, np.inf, 1.0)], [Step("svm", 1.0, 0.0)], [Step(-1, 1.0, 0.0)], [Step(7, 1.0, 0.0)]]
)
def test_without_gains_of_theirs_all_are_alike(past):
    assert shares(past, 2).tolist() == [0.5, 0.5]


@given(losses=st.lists(st.one_of(st.integers(-5, 5).map(float), st.none()), max_size=60))
def test_what_is_within_reach_lies_below_the_median_of_the_last_losses(losses):
    expected, known = [], []
    for loss in losses:
        expected.append(float(np.median(known[-LATELY:])) - min(known) if known else math.inf)
        known += [] if loss is None else [loss]
    found = steps(history(losses, [0] * len(losses)), "model", maximize=False)
    assert [step.reach for step in found] == expected
