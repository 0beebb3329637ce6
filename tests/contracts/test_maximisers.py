"""What every maximiser in `MAXIMISERS` must do."""

from __future__ import annotations

import numpy as np
import pytest

from hidim.optim import MAXIMISERS, Score, ascend

every_maximiser = pytest.mark.parametrize("name", MAXIMISERS)

LOWER, UPPER = np.array([-2.0, 0.0]), np.array([3.0, 0.5])
TOP = np.array([0.7, 0.4])

#: Largest loss, on the hill below, that each may leave; who is not named may leave 0.01.
PROMISED = {"multistart": 1e-9, "direct": 1e-6, "cmaes": 1e-6, "adam": 1e-5, "elastic": 1e-9}


def hill(u: np.ndarray) -> Score:
    """A concave hill of height 0 at TOP, in coordinates scaled to the box."""
    z = (u - TOP) / (UPPER - LOWER)
    return Score(-np.sum(z * z, axis=1), lambda g: -2.0 * g[:, None] * z / (UPPER - LOWER))


def broken(hole: float):
    """The hill, with `hole` for a value and NaN for a gradient in a strip across the middle of the box."""

    def objective(u: np.ndarray) -> Score:
        bad = np.abs(u[:, 0] + 0.5) < 0.6
        inner = hill(u)
        value = np.where(bad, hole, inner.value)
        return Score(value, lambda g: np.where(bad[:, None], np.nan, inner.to_inputs(g)))

    return objective


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@every_maximiser
def test_finds_the_top_as_well_as_promised(name):
    found = MAXIMISERS[name](hill, LOWER, UPPER, rng())
    assert found.value >= -PROMISED.get(name, 0.01)


@every_maximiser
def test_the_value_is_that_of_the_point(name):
    found = MAXIMISERS[name](hill, LOWER, UPPER, rng())
    assert found.point.shape == (2,)
    assert found.value == pytest.approx(hill(found.point[None]).value[0], rel=1e-12, abs=1e-15)
    assert found.evaluations > 0


@every_maximiser
def test_the_same_generator_state_gives_the_same_answer(name):
    first, second = (MAXIMISERS[name](hill, LOWER, UPPER, rng()) for _ in range(2))
    np.testing.assert_array_equal(first.point, second.point)
    assert first[1:] == second[1:]


@every_maximiser
@pytest.mark.parametrize("direction", [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)])
def test_stays_in_the_box_when_the_slope_leads_out(name, direction):
    slope = np.array(direction)
    scored = []

    def objective(u: np.ndarray) -> Score:
        scored.append(u.copy())
        return Score(u @ slope, lambda g: np.outer(g, slope))

    found = MAXIMISERS[name](objective, LOWER, UPPER, rng(), np.array([[-50.0, 50.0]]))
    everything = np.vstack([*scored, found.point])
    assert (everything >= LOWER).all()
    assert (everything <= UPPER).all()
    corner = np.where(slope > 0, UPPER, LOWER)
    assert found.value >= corner @ slope - 0.1 * np.sum(UPPER - LOWER)


@every_maximiser
@pytest.mark.parametrize("fixed", [(True, False), (False, True), (True, True)])
def test_coordinates_without_room_stay_where_they_are(name, fixed):
    lower, upper = LOWER.copy(), UPPER.copy()
    pinned = np.array(fixed)
    lower[pinned] = upper[pinned] = 0.3
    found = MAXIMISERS[name](hill, lower, upper, rng(), np.array([[0.1, 0.1], [1.0, 0.2]]))
    assert (found.point[pinned] == 0.3).all()
    ideal = np.where(pinned, 0.3, TOP)
    assert found.value >= hill(ideal[None]).value[0] - 0.01


@every_maximiser
def test_one_dimension(name):
    def parabola(u: np.ndarray) -> Score:
        return Score(-((u[:, 0] - 0.3) ** 2), lambda g: -2.0 * g[:, None] * (u - 0.3))

    found = MAXIMISERS[name](parabola, np.zeros(1), np.ones(1), rng())
    assert found.value >= -1e-4


@every_maximiser
def test_never_worse_than_the_best_given_start(name):
    starts = np.array([[-1.9, 0.05], [0.70001, 0.40001], [2.0, 0.1]])
    found = MAXIMISERS[name](hill, LOWER, UPPER, rng(), starts)
    assert found.value >= hill(starts).value.max()


@every_maximiser
def test_a_start_in_a_narrow_peak_is_used(name):
    """A needle that no search finds by itself: only the start knows of it."""

    def needle(u: np.ndarray) -> Score:
        near = np.sum((u - 0.123) ** 2, axis=1) < 1e-18
        return Score(np.where(near, 1.0, 0.0), lambda g: np.zeros_like(u))

    found = MAXIMISERS[name](needle, LOWER, UPPER, rng(), np.array([[0.0, 0.0], [0.123, 0.123]]))
    assert found.value == 1.0
    np.testing.assert_array_equal(found.point, [0.123, 0.123])


@every_maximiser
@pytest.mark.parametrize("hole", [np.nan, -np.inf])
def test_survives_a_part_of_the_box_without_values(name, hole):
    found = MAXIMISERS[name](broken(hole), LOWER, UPPER, rng(), np.array([[-0.5, 0.1], [2.5, 0.1]]))
    assert found.value >= -0.01
    assert found.value == pytest.approx(hill(found.point[None]).value[0], rel=1e-12, abs=1e-15)


@every_maximiser
def test_no_value_anywhere_gives_a_point_of_the_box_and_says_so(name):
    def nowhere(u: np.ndarray) -> Score:
        return Score(np.full(len(u), np.nan), lambda g: np.full_like(u, np.nan))

    found = MAXIMISERS[name](nowhere, LOWER, UPPER, rng())
    assert (found.point >= LOWER).all()
    assert (found.point <= UPPER).all()
    assert found.value == -np.inf


def test_every_ascent_stays_in_its_own_box():
    starts = np.array([[0.0, 0.1], [2.0, 0.4]])
    lower = np.array([[-0.5, 0.0], [1.5, 0.4]])
    upper = np.array([[0.5, 0.2], [2.5, 0.4]])
    points, scores, evaluations = ascend(hill, starts, lower, upper)
    np.testing.assert_allclose(points, [[0.5, 0.2], [1.5, 0.4]], atol=1e-6)
    np.testing.assert_allclose(scores, hill(points).value)
    assert evaluations >= 2


def test_ascents_do_not_influence_each_other():
    def valley(u: np.ndarray) -> Score:
        a, b = u[:, 0], u[:, 1]
        value = -((1.0 - a) ** 2) - 10.0 * (b - a * a) ** 2
        gradient = np.column_stack([2.0 * (1.0 - a) + 40.0 * a * (b - a * a), -20.0 * (b - a * a)])
        return Score(value, lambda g: g[:, None] * gradient)

    starts = np.random.default_rng(0).uniform(-2, 2, (6, 2))
    box = np.full(2, -2.0), np.full(2, 2.0)
    together, scores, _ = ascend(valley, starts, *box, max_calls=200)
    alone = [ascend(valley, start[None], *box, max_calls=200)[1][0] for start in starts]
    np.testing.assert_allclose(scores, alone, atol=1e-5)
    assert scores.max() > -1e-4
    np.testing.assert_allclose(together[scores.argmax()], [1.0, 1.0], atol=0.05)
