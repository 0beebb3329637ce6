"""The reverse map: every point of the cube's shadow has one image, and it is the right one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from differences import assert_gradient
from hidim import Choice, Float, Int, Optimizer, Space, Vector
from hidim._limits import COLUMNS_OF_ZONOTOPE
from hidim.embed import Gaussian, Zonotope
from hidim.errors import MethodError
from hidim.gp.kernels.lifted import Unprojected, high_dimensional
from hidim.methods import Method, Task, configured
from hidim.optim.base import Score
from hidim.search import Situation, Target
from hidim.serial import read_method, write_method
from hidim.trial import History

SHADOW = Zonotope(high=20, low=3, seed=4)
ALL = np.arange(20)


def points(rng: np.random.Generator, n: int, stretch: float = 1.0) -> np.ndarray:
    """Some within the zonotope, some outside; all outside with a stretch of 3."""
    return stretch * rng.uniform(-SHADOW.radius, SHADOW.radius, size=(n, 3))


def inside(rng: np.random.Generator, n: int) -> np.ndarray:
    """Projections of points of the cube, many of them near its faces."""
    x = np.clip(2.0 * rng.standard_normal((n, 20)) + 0.5, -1, 1)
    return project(x)


def project(x: np.ndarray) -> np.ndarray:
    rows = SHADOW.rows(ALL)
    return x @ rows / (rows[:, 0] @ rows[:, 0])


def test_the_subspace_is_that_of_the_gaussian_matrix():
    gaussian = Gaussian(20, 3, seed=4).rows(ALL)
    rows = SHADOW.rows(ALL)
    assert np.linalg.matrix_rank(np.hstack([gaussian, rows])) == 3
    square = rows.T @ rows
    np.testing.assert_allclose(square, square[0, 0] * np.eye(3), atol=1e-12)


def test_the_box_just_holds_the_zonotope():
    reach = np.abs(project(np.sign(SHADOW.rows(ALL)).T)).max(axis=0)  # the corner that reaches farthest
    assert np.diag(np.abs(project(np.sign(SHADOW.rows(ALL)).T))).max() == pytest.approx(SHADOW.radius)
    assert reach.max() <= SHADOW.radius + 1e-12


def test_a_point_within_the_zonotope_is_the_projection_of_its_image():
    y = inside(np.random.default_rng(0), 200)
    x = SHADOW.lift(y, ALL)
    assert np.abs(x).max() <= 1.0
    np.testing.assert_allclose(project(x), y, atol=1e-4)
    np.testing.assert_allclose(SHADOW.settle(y).value, y, atol=1e-4)


def test_the_image_is_the_nearest_to_the_subspace_of_all_points_with_that_projection():
    """By another way: a penalty on wrong projections makes it a least-squares problem in a box."""
    y, penalty = 0.9 * inside(np.random.default_rng(1), 8), 1e3
    rows, shadow = SHADOW.rows(ALL), project(np.eye(20)).T
    for point, x in zip(y, SHADOW.lift(y, ALL), strict=True):
        left, right = np.vstack([np.eye(20), penalty * shadow]), np.append(rows @ point, penalty * point)
        np.testing.assert_allclose(x, lsq_linear(left, right, bounds=(-1, 1), tol=1e-14).x, atol=1e-3)


def test_a_point_outside_goes_to_the_nearest_of_the_zonotope():
    y = points(np.random.default_rng(2), 30, stretch=3.0)
    settled = SHADOW.settle(y).value
    for point, found in zip(y, settled, strict=True):
        x = lsq_linear(project(np.eye(20)).T, point, bounds=(-1, 1), tol=1e-12).x
        best = np.linalg.norm(project(x) - point)
        assert np.linalg.norm(found - point) == pytest.approx(best, rel=1e-3, abs=1e-6)
    assert not np.allclose(settled, y)
    np.testing.assert_allclose(SHADOW.settle(settled).value, settled, atol=2e-3)


def test_rows_are_mapped_independently_and_other_seeds_differ():
    y = points(np.random.default_rng(3), 12)
    alone = np.vstack([SHADOW.settle(row[None]).value for row in y])
    np.testing.assert_allclose(SHADOW.settle(y).value, alone, atol=1e-9)
    assert not np.allclose(Zonotope(20, 3, seed=5).settle(y).value, alone)


@pytest.mark.parametrize("move", [SHADOW.image, SHADOW.settle], ids=["image", "settle"])
def test_pullbacks_are_the_derivatives(move):
    rng = np.random.default_rng(5)
    y = np.vstack([0.7 * inside(rng, 6), points(rng, 6)])
    g = rng.standard_normal(move(y).value.shape)
    assert_gradient(move(y).to_inputs(g), lambda v: float(np.vdot(g, move(v).value)), y)


def test_samples_lie_in_the_zonotope_and_fill_it():
    sample = SHADOW.sample(np.random.default_rng(0), 2000)
    np.testing.assert_allclose(SHADOW.settle(sample).value, sample, atol=2e-3)
    assert np.abs(sample).max() <= SHADOW.radius
    assert np.abs(sample).max(axis=0).min() > 0.8 * SHADOW.radius
    assert np.abs(sample.mean(axis=0)).max() < 0.1


@pytest.mark.parametrize(("high", "low"), [(1, 1), (7, 7), (300, 12)])
def test_any_shape_is_settled(high, low):
    shadow = Zonotope(high, low, seed=1)
    y = 5.0 * np.random.default_rng(0).standard_normal((20, low))
    y[0] = 0.0
    x = shadow.lift(y, np.arange(high))
    assert np.isfinite(x).all()
    assert np.abs(x).max() <= 1.0
    np.testing.assert_array_equal(x[0], 0.0)


def test_spaces_beyond_reach_are_refused_with_the_mend():
    with pytest.raises(MethodError, match="Gaussian"):
        Zonotope(COLUMNS_OF_ZONOTOPE + 1, 3)
    with pytest.raises(MethodError, match="map='clip'"):
        Optimizer(
            Space(x=Vector(COLUMNS_OF_ZONOTOPE + 1, 0, 1)), configured("rembo", low=2, map="zonotope"), seed=0
        ).ask()


# -- in rembo ----------------------------------------------------------------------------------------------

QUICK = configured("rembo", low=3, runs=2, initial=2, map="zonotope", search="multistart")


def run(method: Method, space: Space, objective, count: int) -> Optimizer:
    optimizer = Optimizer(space, method, seed=0)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, objective(trial.params))
    return optimizer


def test_trials_are_the_images_of_their_points_which_lie_in_the_zonotope():
    space = Space(x=Vector(20, -1, 1))
    history = run(QUICK, space, lambda p: float((p["x"][2] - 0.9) ** 2 + p["x"][5]), 14).history
    embeddings = [QUICK.frame.embedding(Task(space, seed=0), number) for number in range(2)]
    for trial in history:
        embedding = embeddings[trial.meta["run"]]
        y = np.array([trial.meta["y"]])
        np.testing.assert_allclose(trial.params["x"], embedding.lift(y, ALL)[0], atol=1e-12)
        np.testing.assert_allclose(embedding.settle(y).value, y, atol=2e-3)
    assert {t.meta["way"] for t in history} == {"design", "maximised"}


def test_optima_in_corners_are_reached():
    """A box of clipped points may miss them; the zonotope never does if they can be reached at all."""
    space = Space(x=Vector(30, -1, 1))
    best = run(
        configured("rembo", low=2, runs=1, map="zonotope"), space, lambda p: float(p["x"][3] + p["x"][7]), 25
    ).best
    rows = (
        configured("rembo", low=2, runs=1, map="zonotope")
        .frame.embedding(Task(space, seed=0), 0)
        .rows(np.array([3, 7]))
    )
    assert np.linalg.matrix_rank(rows) == 2
    assert best.value == pytest.approx(-2.0, abs=1e-3)


@pytest.mark.parametrize("kernel", ["low", "high", "categorical"])
def test_every_kernel_works_with_it_and_mixed_spaces_do(kernel):
    space = Space(
        x=Float(0, 1), y=Float(1e-3, 1, log=True), n=Int(1, 9), c=Choice("a", "b", "c"), v=Vector(4, 0, 1)
    )
    method = configured("rembo", low=2, runs=1, initial=2, kernel=kernel, map="zonotope", search="multistart")
    optimizer = run(method, space, lambda p: p["x"] + p["n"] + (p["c"] == "b"), 9)
    assert len(optimizer.history.complete) == 9
    assert read_method(write_method(method)) == method


def test_its_covariance_of_configurations_has_the_right_gradient():
    space = Space(x=Vector(20, -1, 1))
    kernel = high_dimensional(space, Unprojected(SHADOW), as_labels=False, squared=False)
    rng = np.random.default_rng(0)
    y, other, theta = 0.7 * inside(rng, 4), inside(rng, 3), np.array([1.0])
    g = rng.standard_normal((4, 3))
    against = kernel.against(theta, other)
    assert_gradient(against(y).to_inputs(g), lambda v: float(np.vdot(g, against(v).value)), y)
    gram = kernel.gram(theta, np.vstack([y, other])).value
    assert np.linalg.eigvalsh(gram).min() > -1e-9


def test_settings_of_clipping_are_refused():
    with pytest.raises(MethodError, match="use kernel='low'"):
        configured("rembo", map="zonotope", kernel="warped")
    with pytest.raises(MethodError, match="box='log' is for map='clip'"):
        configured("rembo", map="zonotope", box="log")
    with pytest.raises(MethodError, match="clip, zonotope"):
        configured("rembo", map="fold")


def test_an_optimum_in_the_middle_is_found_from_the_boundary():
    """Next to nothing of a box of ten dimensions lies in the zonotope: starts must be chosen there."""
    method, space = configured("rembo", low=10, runs=1, map="zonotope"), Space(x=Vector(100, -1, 1))
    embedding, rng = method.frame.embedding(Task(space, seed=0), 0), np.random.default_rng(0)
    target = 0.3 * embedding.sample(rng, 1)[0]

    def objective(y: np.ndarray) -> Score:
        return Score(-np.sum((y - target) ** 2, axis=1), lambda g: -2.0 * g[:, None] * (y - target))

    corner = embedding.settle(np.full((1, 10), embedding.radius)).value
    scene = method.frame.scene(Task(space, seed=0), History(), 0, rng)
    wanted = Target(objective, lambda: objective, lambda y: y, None, None, None)
    found = method.search(wanted, Situation(scene, corner), rng).points[0]
    np.testing.assert_allclose(found, target, atol=1e-3)
