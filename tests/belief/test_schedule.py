"""Length-scales on a schedule: REMBO's Algorithm 3, with a likelihood that is written down."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from hidim.belief.inference import Schedule
from hidim.errors import MethodError

LOG_L, LOG_U, LOG_3 = math.log(0.01), math.log(50.0), math.log(3.0)


class Fit:
    """By a likelihood that is highest at `log_scale`; counts how often it was asked."""

    def __init__(self, schedule: Schedule, log_scale: float) -> None:
        self.schedule, self.log_scale = schedule, log_scale
        self.calls = 0

    def __call__(self, low: np.ndarray, upper: np.ndarray) -> np.ndarray:
        self.calls += 1

        def likelihood(scales: np.ndarray) -> float:
            assert np.all((scales >= low - 1e-9) & (scales <= upper + 1e-9))
            return -float(np.sum((scales - self.log_scale) ** 2))

        return self.schedule.best(likelihood, low, upper)


def run(deviations, *, first=3, size=1, schedule=None, log_scale=LOG_3, longest=50.0):
    """Metas of one suggestion for every deviation, and at which numbers there was a refit."""
    schedule = schedule or Schedule()
    metas = [{"way": "design"} for _ in range(first)]
    refits = []
    for deviation in deviations:
        fit = Fit(schedule, log_scale)
        last = metas[-1].get("fit")
        scales = schedule.current(last, len(metas), size, fit, longest)
        refits += [len(metas)] * fit.calls
        assert np.all((scales.fitted >= LOG_L) & (scales.fitted <= scales.upper))
        noted = scales._replace(calm=schedule.noted(scales.calm, deviation))
        metas.append({"fit": json.loads(json.dumps(noted.memory()))})
    return metas[first:], refits


def uppers(metas) -> list[float]:
    return [meta["fit"]["upper"][0] for meta in metas]


UNSURE, CALM = 0.1, 1e-4


def test_scales_are_refitted_at_first_and_then_every_twenty_suggestions():
    metas, refits = run([UNSURE] * 60)
    assert refits == [3, 20, 40, 60]
    assert uppers(metas) == [LOG_U] * 60
    assert all(meta["fit"]["scales"] == metas[0]["fit"]["scales"] for meta in metas)


def test_a_refit_finds_the_most_likely_scale():
    metas, _ = run([UNSURE], log_scale=LOG_3)
    assert metas[0]["fit"]["scales"][0] == pytest.approx(LOG_3, abs=0.05)


def test_after_five_calm_suggestions_the_longest_scale_is_lowered_and_a_refit_made_at_once():
    metas, refits = run([UNSURE] * 2 + [CALM] * 5 + [UNSURE] * 3)
    assert refits == [3, 10]
    fitted = metas[0]["fit"]["scales"][0]
    assert uppers(metas[:7]) == [LOG_U] * 7
    assert uppers(metas[7:]) == pytest.approx([math.log(0.9) + fitted] * 3)
    assert all(meta["fit"]["scales"][0] <= math.log(0.9) + fitted for meta in metas[7:])


def test_the_calm_are_counted_and_the_count_ends_with_an_unsure_one():
    metas, refits = run([CALM] * 4 + [UNSURE] + [CALM] * 4 + [UNSURE] * 2)
    assert [meta["fit"]["calm"] for meta in metas] == [1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 0]
    assert refits == [3]
    assert uppers(metas) == [LOG_U] * 11


def test_the_count_begins_anew_once_the_longest_scale_was_lowered():
    metas, refits = run([CALM] * 16, first=2)
    assert refits == [2, 7, 12, 17]
    assert [meta["fit"]["calm"] for meta in metas] == [1, 2, 3, 4, 5] * 3 + [1]
    assert np.all(np.diff(sorted(set(uppers(metas)))) > 0.0)
    assert len(set(uppers(metas))) == 4


def test_a_regular_refit_does_not_end_the_count():
    metas, refits = run([UNSURE] * 15 + [CALM] * 5 + [UNSURE])
    assert refits == [3, 20, 23]
    assert [meta["fit"]["calm"] for meta in metas[14:]] == [0, 1, 2, 3, 4, 5, 0]


def test_calm_at_a_regular_refit_is_one_refit_with_a_lowered_bound():
    metas, refits = run([UNSURE] * 12 + [CALM] * 5 + [UNSURE] * 2)
    assert refits == [3, 20]
    assert uppers(metas)[17] == pytest.approx(math.log(0.9) + metas[16]["fit"]["scales"][0])


def test_the_threshold_itself_is_not_calm():
    metas, _ = run([0.002, 0.0019, 0.002])
    assert [meta["fit"]["calm"] for meta in metas] == [0, 1, 0]


def test_the_longest_scale_never_falls_below_the_shortest():
    metas, _ = run([CALM] * 120, log_scale=-100.0)
    assert min(uppers(metas)) == LOG_L
    assert metas[-1]["fit"]["scales"] == [LOG_L]


def test_every_scale_has_bounds_of_its_own():
    metas, _ = run([CALM] * 6, size=2, log_scale=np.array([LOG_3, math.log(0.2)]))
    before, after = metas[0]["fit"]["scales"], metas[-1]["fit"]["upper"]
    assert before == pytest.approx([LOG_3, math.log(0.2)], abs=0.3)
    assert after == pytest.approx([math.log(0.9) + scale for scale in before])


def test_its_settings_are_used():
    schedule = Schedule(shortest=0.5, longest=4.0, every=7, patience=2, threshold=1.0)
    _, refits = run([2.0] * 12, schedule=schedule, longest=4.0)
    assert refits == [3, 7, 14]
    metas, refits = run([0.5] * 6, schedule=schedule, longest=4.0, log_scale=-9.0)
    assert refits == [3, 5, 7]
    assert metas[-1]["fit"]["scales"] == [math.log(0.5)]


def test_the_state_is_what_the_last_suggestion_remembers_and_nothing_else():
    schedule, fit = Schedule(), Fit(Schedule(), 0.0)
    remembered = {"scales": [0.25], "upper": [1.5], "calm": 4}
    for _ in range(2):
        assert schedule.current(remembered, 11, 1, fit, 50.0).memory() == remembered
    assert fit.calls == 0


def test_a_likelihood_that_is_nowhere_finite_does_no_harm():
    found = Schedule().best(lambda _: -math.inf, np.array([LOG_L]), np.array([LOG_U]))
    assert LOG_L <= found[0] <= LOG_U


@pytest.mark.parametrize(
    "settings",
    [
        {"shortest": 0.0},
        {"shortest": 2.0, "longest": 1.0},
        {"every": 0},
        {"patience": 0},
        {"patience": 2.5},
        {"threshold": -0.1},
        {"fit_evaluations": 2},
    ],
    ids=str,
)
def test_bad_settings_are_named(settings):
    with pytest.raises(MethodError, match=next(reversed(settings))):
        Schedule(**settings)


def test_whole_numbers_are_numbers():
    assert Schedule(shortest=1, longest=50.5).longest == 50.5
