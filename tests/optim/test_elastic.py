"""Walks down a family of functions: where they end, what they cost, and that they do find the way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidim.acquisition.improvement import ExpectedImprovement, LogExpectedImprovement
from hidim.errors import MethodError
from hidim.gp.kernels import Scaled, SquaredExponential, Stationary
from hidim.gp.maps import Scale
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior
from hidim.optim import Elastic, Score
from hidim.optim.elastic import Start

DIM = 10
TOP = np.linspace(0.2, 0.7, DIM)
BOX = np.zeros(DIM), np.ones(DIM)


def bump(width: float, top: np.ndarray = TOP):
    """exp(−‖x − top‖² / 2 width²): flat to the last digit a few widths away."""

    def objective(u: np.ndarray) -> Score:
        away = (u - top) / width
        value = np.exp(-0.5 * np.vecdot(away, away))
        return Score(value, lambda g: -(g * value)[:, None] * away / width)

    return objective


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def frozen(dim: int, lengthscale: float, n: int = 40, seed: int = 0) -> Posterior:
    """Of a bowl, n points at random."""
    x = rng(seed).random((n, dim))
    y = ((x - 0.4) ** 2).sum(axis=1)
    model = Model(Scaled(Stationary(SquaredExponential(), Scale(dim, ard=False))))
    theta = np.where(model.holds("log_lengthscale"), math.log(lengthscale), 0.0)
    theta[-1] = math.log(1e-4)
    return Posterior(model, theta, x, (y - y.mean()) / y.std())


def family_of(posterior: Posterior, acquisition=ExpectedImprovement):
    best = float(posterior.y.min())
    return lambda factor: acquisition(best).on(posterior if factor == 1.0 else posterior.stretched(factor))


def test_a_peak_that_no_start_can_see_is_found_from_wider_ones():
    found = Elastic().over(lambda scale: bump(0.01 * scale), *BOX, rng())
    np.testing.assert_allclose(found.point, TOP, atol=1e-4)
    blind = Elastic(longest=1.0).over(lambda scale: bump(0.01 * scale), *BOX, rng())
    assert blind.value < 1e-100


def test_a_maximum_that_wanders_is_followed_to_where_it_ends():
    """At larger scales it is elsewhere: only what counts at 1 is the answer."""
    found = Elastic().over(lambda scale: bump(0.02 * scale, TOP + 0.05 * math.log(scale)), *BOX, rng())
    np.testing.assert_allclose(found.point, TOP, atol=1e-4)


def test_a_step_that_loses_the_way_is_halved():
    """The maximum wanders farther in a whole step than its hill is wide, but not in a half one."""

    def family(scale: float):
        top, radius = 0.1 + 0.1 * math.log2(scale), 0.09 if scale < 64 else 2.0

        def objective(u: np.ndarray) -> Score:
            away = (u - top) / radius
            rest = np.maximum(1.0 - np.vecdot(away, away), 0.0)
            return Score(rest**2, lambda g: -4.0 * (g * rest)[:, None] * away / radius)

        return objective

    box, start = (np.zeros(1), np.ones(1)), np.array([[0.95]])
    settings = {"longest": 64.0, "step": 2.0, "lanes": 1, "calls": 20, "evaluations": 5000}
    walk = Elastic(halvings=2, **settings).walk(family, Start(start, *box), 5000)
    assert walk.values[0] == pytest.approx(1.0, abs=1e-6)
    assert any(math.log2(scale) % 1.0 == 0.5 for scale in walk.paths[0])
    lost = Elastic(halvings=0, **settings).walk(family, Start(start, *box), 5000)
    assert lost.values[0] == 0.0


@pytest.mark.parametrize("acquisition", [ExpectedImprovement, LogExpectedImprovement])
@given(seed=st.integers(0, 10_000), dim=st.integers(1, 12), lengthscale=st.floats(0.03, 1.0))
@settings(max_examples=25, deadline=None)
def test_the_answer_is_a_local_maximum_at_the_target_inside_the_box(acquisition, seed, dim, lengthscale):
    posterior = frozen(dim, lengthscale, seed=seed)
    scored = []

    def family(factor: float):
        objective = family_of(posterior, acquisition)(factor)

        def spying(u: np.ndarray) -> Score:
            scored.append(u.copy())
            return objective(u)

        return spying

    found = Elastic(lanes=5, evaluations=500).over(family, np.zeros(dim), np.ones(dim), rng(seed))
    everything = np.vstack(scored)
    assert (everything >= 0.0).all()
    assert (everything <= 1.0).all()
    assert found.evaluations == len(everything)
    target = family_of(posterior, acquisition)(1.0)
    score = target(found.point[None])
    assert found.value == pytest.approx(float(score.value[0]), rel=1e-9, abs=1e-12)
    slope = score.to_inputs(np.ones(1))[0]
    out = ((found.point <= 0.0) & (slope < 0.0)) | ((found.point >= 1.0) & (slope > 0.0))
    size = min(abs(found.value), 1.0)
    near = np.clip(found.point + 1e-3 * rng(seed).standard_normal((200, dim)), 0.0, 1.0)
    assert target(near).value.max() <= found.value + 1e-3 * size
    assert np.abs(slope * ~out).max() * 1e-3 <= 1e-2 * size


def test_works_where_every_covariance_underflows():
    """In 100 dimensions at 0.02 all covariances are exactly zero, and so are all slopes."""
    posterior = frozen(100, 0.02)
    covariances = posterior.model.kernel.against(posterior.theta[:-1], posterior.x)
    assert not covariances(rng(1).random((50, 100))).value.any()
    family = family_of(posterior)
    flat = float(family(1.0)(rng(1).random((1, 100))).value[0])
    found = Elastic().over(family, np.zeros(100), np.ones(100), rng(7))
    assert found.value > 2.0 * flat
    blind = Elastic(longest=1.0).over(family, np.zeros(100), np.ones(100), rng(7))
    assert blind.value == pytest.approx(flat)


def test_what_is_flat_at_every_scale_is_said_to_be_and_costs_little():
    walk = Elastic(lanes=4, evaluations=1000).walk(
        lambda _: lambda u: Score(np.zeros(len(u)), lambda _: np.zeros_like(u)),
        Start(rng().random((4, 3)), np.zeros(3), np.ones(3)),
        1000,
    )
    assert walk.flat.all()
    assert walk.paths == [[1.0]] * 4
    np.testing.assert_array_equal(walk.points, walk.starts)
    assert walk.evaluations <= 4 * 10 + 1


def test_a_start_at_the_top_is_kept_and_no_walk_is_told_of():
    walk = Elastic().walk(
        lambda scale: bump(0.05 * scale, TOP + 0.2 * (scale > 1.0)), Start(TOP[None], *BOX), 500
    )
    np.testing.assert_array_equal(walk.points, TOP[None])
    assert walk.values[0] == 1.0
    assert walk.paths == [[1.0]]


def test_nothing_that_can_move_is_not_flat():
    walk = Elastic().walk(lambda scale: bump(0.01 * scale), Start(TOP[None] + 0.1, TOP + 0.1, TOP + 0.1), 500)
    assert not walk.flat.any()
    assert walk.evaluations < 10


def test_a_start_without_a_value_takes_what_its_walk_finds():
    def family(scale: float):
        def objective(u: np.ndarray) -> Score:
            inner = bump(0.05 * scale)(u)
            hole = np.abs(u - 0.9).max(axis=1) < 0.05
            if scale > 1.0:
                return inner
            return Score(
                np.where(hole, np.nan, inner.value),
                lambda g: np.where(hole[:, None], np.nan, inner.to_inputs(g)),
            )

        return objective

    walk = Elastic().walk(family, Start(np.full((1, DIM), 0.9), *BOX), 2000)
    assert walk.values[0] == pytest.approx(1.0, abs=1e-3)


def test_starts_on_a_slope_are_not_lifted():
    walk = Elastic().walk(lambda scale: bump(0.5 * scale), Start(rng().random((6, DIM)), *BOX), 2000)
    assert not walk.flat.any()
    assert walk.paths == [[1.0]] * 6


@pytest.mark.parametrize("calls", [2, 5, 100])
@pytest.mark.parametrize("evaluations", [1, 60, 200, 700, 2000])
def test_no_more_points_are_scored_than_allowed(evaluations, calls):
    """But for the first ascent, which nothing can be found without."""
    counted = 0

    def family(scale: float):
        def objective(u: np.ndarray) -> Score:
            nonlocal counted
            counted += len(u)
            return bump(0.01 * scale)(u)

        return objective

    found = Elastic(evaluations=evaluations, calls=calls).over(family, *BOX, rng())
    assert found.evaluations == counted
    assert counted <= max(evaluations, 5)


def test_seconds_end_it_early():
    quick = Elastic(evaluations=50_000, seconds=0.0).over(lambda scale: bump(0.01 * scale), *BOX, rng())
    assert quick.evaluations < 5_000


@pytest.mark.parametrize(
    "wrong",
    [{"lanes": 0}, {"longest": 0.5}, {"step": 1.0}, {"halvings": -1}, {"calls": 1}, {"seconds": -1.0}],
)
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(MethodError, match=next(iter(wrong))):
        Elastic(**wrong)
