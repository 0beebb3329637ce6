"""Ways of proposing earn the next suggestions, and their box adapts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hidim.search import Situation, Ways
from hidim.search.credit import TERMS, WAYS, box_length, choose_way, improvements
from hidim.trial import History, Trial


def complete(values, way):
    return [Trial({}, i, meta={"way": way}).completed(v, i) for i, v in enumerate(values)]


def past(values, way, **kwargs):
    return improvements(History(complete(values, way)), maximize=kwargs.get("maximize", False))


def test_the_box_shrinks_without_success_and_grows_with_it():
    start = box_length([])
    assert box_length(past([0.0] * 40, "box")) < start
    assert box_length(past(range(0, -40, -1), "box")) > start
    assert box_length(past(range(40), "box", maximize=True)) > start
    assert box_length(past([0.0] * 40, "few")) == start


def test_a_failed_trial_is_a_trial_without_success():
    failed = History([Trial({}, n, meta={"way": "box"}).failed("crash", n) for n in range(30)])
    assert improvements(failed, maximize=False) == [("box", False)] * 30
    assert box_length(improvements(failed, maximize=False)) < box_length([])


def test_a_way_that_brings_improvements_is_chosen_more_often_and_no_way_is_given_up():
    rng = np.random.default_rng(0)
    drawn = [choose_way(past(range(0, -30, -1), WAYS[1]), rng) for _ in range(600)]
    # Shares of .5, .4 and .1; standard deviations are 12, 12 and 7.
    assert [drawn.count(way) for way in WAYS] == pytest.approx([300, 240, 60], abs=40)
    even = [choose_way([], rng) for _ in range(600)]
    assert [even.count(way) for way in WAYS] == pytest.approx([360, 120, 120], abs=40)
    more = [choose_way([], rng, (*WAYS, TERMS)) for _ in range(600)]
    assert [more.count(way) for way in (*WAYS, TERMS)] == pytest.approx([330, 90, 90, 90], abs=40)


def drawn(ways, *, conditional=False, has_effects=False, tried="few", numbers=True):
    """Plans for the suggestion after some of "box" that gained, and one of `tried`."""
    trials = [Trial({}, 0, meta={"way": "all"}).completed(9.0, 0), *complete([9.0, 8.0, 3.0, 1.0], "box")]
    trials += [Trial({}, 5, meta={"way": tried}).completed(0.0, 5)]
    ground = SimpleNamespace(space=SimpleNamespace(is_conditional=conditional), varies_continuously=numbers)
    scene = SimpleNamespace(trials=History(trials), task=SimpleNamespace(maximize=False), ground=ground)
    situation, belief = Situation(scene, np.empty((0, 2))), SimpleNamespace(has_effects=has_effects)
    rng = np.random.default_rng(0)
    return [ways.chosen(situation, belief, rng) for _ in range(400)]


@pytest.mark.parametrize(
    ("moment", "by_gain"),
    [
        ({}, False),
        ({"has_effects": True}, True),
        ({"tried": TERMS}, True),
        ({"conditional": True}, True),
    ],
    ids=["before", "with", "after", "in a tree"],
)
def test_gains_count_once_there_are_main_effects(moment, by_gain):
    """By gains, a way without any falls below the half that "all" has by counts."""
    plans = drawn(Ways(credit="late-gain"), **moment)
    assert ([plan.way for plan in plans].count("all") < 160) == by_gain


@pytest.mark.parametrize(
    ("asked", "moment", "is_thorough"),
    [
        (True, {"has_effects": True}, True),
        (False, {}, False),
        ("early", {}, True),
        ("early", {"has_effects": True}, False),
        ("early", {"tried": TERMS}, False),
        (True, {"numbers": False}, False),
    ],
)
def test_all_is_thorough_where_it_is_asked_and_there_are_but_numbers(asked, moment, is_thorough):
    plans = drawn(Ways(thorough=asked), **moment)
    assert {plan.thorough for plan in plans if plan.way == "all"} == {is_thorough}
    assert not any(plan.thorough for plan in plans if plan.way != "all")
