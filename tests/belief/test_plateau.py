"""On a plateau more is asked for than any improvement."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hidim import Choice, Space, Vector
from hidim.acquisition.beta import Fixed
from hidim.acquisition.confidence import ConfidenceBound
from hidim.acquisition.utility import GroupBounds, Improvement, Moment, Usual
from hidim.belief.plateau import plateau
from hidim.frame import Ground


@pytest.mark.parametrize(
    ("values", "ties"),
    [
        ([], 0),
        ([1.0], 0),
        ([3.0, 1.0, 2.0], 0),
        ([3.0, 1.0, 1.0], 0),
        ([3.0, 1.0, 1.0, 1.0], 2),
        ([1.0] * 30, 29),
        ([1.0, 1.0, 1.0, 0.5], 0),
        ([1.0, 1.0, 1.0, *range(2, 11)], 0),
        ([2.0, 2.0, 2.0, 1.0, 1.0], 0),
    ],
)
def test_a_plateau_is_several_late_ties_with_the_best_value(values, ties):
    assert plateau(seen(values, np.random.default_rng(0).random((len(values), 3)))) == ties


def seen(values, points, space=None):
    """What a plateau is judged by: points (n, d) of a space, of real numbers by default, and their losses."""
    ground = Ground(space or Space(w=Vector(points.shape[1], low=0.0, high=1.0)))
    return SimpleNamespace(
        ground=ground, seen=SimpleNamespace(x=points, y=np.array(values, dtype=np.float64))
    )


def test_ties_of_numbers_that_do_not_matter_are_no_plateau():
    points = np.tile(np.random.default_rng(1).random(8), (6, 1))
    points[np.arange(6), np.arange(6)] = 0.5  # each has one column moved, and two from each other
    assert plateau(seen([1.0] * 6, points)) == 0
    switches = Space({f"s{i}": Choice("on", "off") for i in range(8)})
    assert plateau(seen([1.0] * 6, points, switches)) == 5
    fixed = np.column_stack([points, np.full((6, 12), 0.5)])  # what does not vary says nothing
    constants = {f"c{i}": Choice("one") for i in range(12)}
    assert plateau(seen([1.0] * 6, fixed, Space(w=Vector(8, low=0.0, high=1.0), **constants))) == 0
    points[3:] = np.random.default_rng(2).random((3, 8))
    assert plateau(seen([1.0] * 6, points)) == 3


def test_the_best_of_noisy_values_is_no_margin_but_bounds_are():
    decision = Usual().decided(Moment(noisy=True), np.random.default_rng(0))
    assert isinstance(decision.acquisition(SimpleNamespace(dim=2), 0), ConfidenceBound)


def test_bounds_are_wider_the_longer_a_plateau_is():
    belief = SimpleNamespace(dim=2, widest=2, groups=(np.arange(2),))

    def width(ties):
        moment = Moment(ties=ties)
        return GroupBounds(Fixed(4.0)).decided(moment, np.random.default_rng(0)).roots(belief)[0]

    assert width(0) == 2.0
    assert 2.0 < width(2) < width(6) < width(10)
    assert width(100_000) == 8.0


@pytest.mark.parametrize(
    "utility", [Usual(), Improvement(plateau=0.1), Improvement(logarithm=False, plateau=0.1)]
)
def test_the_margin_grows_with_the_ties_up_to_a_limit(utility):
    belief = SimpleNamespace(y=np.array([0.0, 1.0]))

    def margin(ties):
        decision = utility.decided(Moment(ties=ties), np.random.default_rng(0))
        return -decision.acquisition(belief, 0).best

    assert Moment(noisy=True, ties=9).demand == 0.0  # noisy values that are equal are so by chance
    assert margin(0) == 0.0
    assert 0.0 < margin(2) < margin(6) < margin(10) < 1.0
    assert margin(100_000) == margin(50) < 1.0
