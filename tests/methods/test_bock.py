"""BOCK: its parts at work."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import hidim
from hidim import Choice, Float, Int, Optimizer, Space, Vector
from hidim.errors import MethodError
from hidim.frame import suggestion
from hidim.methods import METHODS, Recipe, configured
from saved import reloaded

QUICK = {"burn_in": 5, "draws": 2, "thinning": 1, "growth": 0.1, "raw": 128, "max_calls": 10}
SPACE = Space(x=Vector(6, -1, 1))


def quick(name: str = "bock", **settings) -> Recipe:
    wanted = QUICK if name != "bock-map" else {"raw": 128, "max_calls": 10}
    found = configured(name, **{**wanted, **settings})
    assert isinstance(found, Recipe)
    return found


def run(method, space, objective, count: int, seed: int = 0) -> Optimizer:
    optimizer = Optimizer(space, method, seed=seed)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, float(objective(trial.params)))
    return optimizer


def bowl_at(place):
    return lambda params: np.sum((params["x"] - place) ** 2)


@pytest.mark.parametrize("name", ["bock", "bock-map", "matern-slice"])
def test_finds_an_optimum_near_the_centre_that_random_points_do_not(name):
    place = np.linspace(-0.3, 0.3, 6)
    best = run(quick(name), SPACE, bowl_at(place), 40).best.value
    assert best < 0.02 * run("random", SPACE, bowl_at(place), 40).best.value


def test_begins_with_the_centre_and_one_other_point():
    history = run(quick(), SPACE, bowl_at(0.2), 4).history
    np.testing.assert_allclose(history[0].params["x"], 0.0, atol=1e-12)
    assert [trial.meta["way"] for trial in history] == ["design", "design", "spray", "spray"]


def test_chains_go_on_where_the_history_says_that_they_ended(monkeypatch):
    from hidim.belief.inference import slices

    seen = []
    original = slices.sample

    def spying(model, x, y, start, rng, **settings):
        found = original(model, x, y, start, rng, **settings)
        seen.append((start, settings["burn_in"], settings["count"] * settings["thinning"], found[-1]))
        return found

    monkeypatch.setattr(slices, "sample", spying)
    optimizer = run(configured("bock", raw=64), SPACE, bowl_at(0.2), 6)
    reloaded(optimizer).ask()  # a stranger to the caches
    assert [burn_in for _, burn_in, _, _ in seen] == [100, 0, 0, 0, 0]
    assert all(sweeps == 10 for _, _, sweeps, _ in seen)
    for before, after in itertools.pairwise(seen):
        np.testing.assert_array_equal(after[0], before[3])


# -- the centre ----------------------------------------------------------------------------------------------


def test_a_given_centre_is_tried_first_and_is_the_axis():
    place = np.array([0.7, -0.6, 0.5, 0.8, -0.7, 0.6])
    centred = quick(center={"x": place})
    optimizer = run(centred, SPACE, bowl_at(place + 0.05), 25)
    np.testing.assert_allclose(optimizer.history[0].params["x"], place, atol=1e-12)
    assert optimizer.best.value < 0.002
    assert reloaded(optimizer).ask() == optimizer.ask()
    task = optimizer._task
    ground = centred.frame.scene(task, optimizer.history, 25, task.rng(25)).ground
    np.testing.assert_allclose(ground.center, 0.5 * (1 + place))
    assert ground.reach(np.arange(6)) == pytest.approx(np.linalg.norm(1 + np.abs(place)))


def test_start_with_and_center_work_together():
    """What is to be started with comes first, then the centre, once."""
    place, other = np.full(6, 0.5), np.full(6, -0.5)
    for start_with in ([{"x": other}], [{"x": other}, {"x": place}]):
        result = hidim.minimize(
            bowl_at(0.5), SPACE, n_trials=6, method=quick(center={"x": place}), start_with=start_with
        )
        tried = [trial.params["x"] for trial in result.history]
        np.testing.assert_allclose(tried[0], other)
        np.testing.assert_allclose(tried[1], place)
        assert sum(np.allclose(point, place, atol=1e-9) for point in tried) == 1


def test_a_moving_centre_follows_the_best_trial():
    method = quick(center="best")
    optimizer = run(method, SPACE, bowl_at(0.6), 15)
    task = optimizer._task
    ground = method.frame.scene(task, optimizer.history, 15, task.rng(15)).ground
    np.testing.assert_allclose(ground.center, 0.5 * (1 + optimizer.best.params["x"]))
    assert reloaded(optimizer).ask() == optimizer.ask()


@pytest.mark.parametrize(
    ("center", "error", "says"),
    [
        (3, MethodError, "a configuration, as"),
        ("middle", MethodError, "a configuration, as"),
        ("", MethodError, "a configuration, as"),
        (np.zeros(6), MethodError, "a configuration, as"),
        ({"x": [[0.1] * 6]}, MethodError, "'x' is to be a number, a label or a vector"),
        ({"x": [0.1, "a"]}, MethodError, "'x' is to be"),
        ({"x": {1, 2}}, MethodError, "'x' is to be"),
        ({"x": [0.1] * 5}, MethodError, "center: .*'x'.*6"),
        ({"y": 1}, MethodError, "center: .*'x' is missing"),
    ],
)
def test_a_centre_that_is_none_is_refused_with_the_mend(center, error, says):
    with pytest.raises(error, match=says):
        Optimizer(SPACE, quick(center=center)).ask()


def test_a_centre_may_be_given_in_numbers_of_any_type():
    space = Space(a=Float(0, 1), n=Int(1, 9), c=Choice(1, None, "x"), x=Vector(3, 0, 5))
    center = {"a": np.array(0.25), "n": np.int64(4), "c": None, "x": range(3)}
    optimizer = Optimizer(space, quick(center=center))
    first = optimizer.ask().params
    assert (first["a"], first["n"], first["c"]) == (0.25, 4, None)
    np.testing.assert_allclose(first["x"], [0, 1, 2])
    assert reloaded(optimizer).method == optimizer.method


def test_a_centre_that_moves_needs_a_prior_that_looks_at_it():
    with pytest.raises(MethodError, match="prior='cylinder'"):
        configured("gp", frame="cube", center="best")


def test_a_running_trial_close_to_the_centre_does_not_stop_the_search():
    optimizer = Optimizer(SPACE, quick(center={"x": np.full(6, 0.3)}), seed=1)
    for value in (-0.5, 0.1, 0.7):
        optimizer.add({"x": np.full(6, value)}, float(value**2))
    optimizer.ask()  # the centre, which does not come back
    assert optimizer.ask().meta["way"] == "spray"


def test_integers_are_at_the_centre_if_they_are_as_close_as_can_be():
    """½ is no level of an even number of integers; the first trial is the centre all the same."""
    space = Space(n=Int(0, 7), x=Float(0, 1))
    optimizer = run(quick(), space, lambda p: p["n"] + p["x"], 3)
    task = optimizer._task
    scene = quick().frame.scene(task, optimizer.history, 3, task.rng(3))
    np.testing.assert_allclose(scene.ground.middle, scene.seen.x[0])


def test_a_centre_in_a_conditional_space_leaves_out_what_is_inactive():
    space = Space(
        rate=Float(1e-4, 1e0, log=True),
        model=Choice(tree=Space(depth=Int(1, 9)), line=Space(slope=Float(0, 1))),
    )
    center = {"rate": 1e-2, "model": "tree", "depth": 4}

    def objective(params) -> float:
        return abs(math.log10(params["rate"]) + 2.2) + 0.1 * abs(params.get("depth", 9) - 5)

    optimizer = run(quick(center=center), space, objective, 20)
    assert optimizer.history[0].params == pytest.approx(center)
    assert optimizer.history[1].meta["way"] == "design"
    assert all(trial.meta["way"] == "spray" for trial in optimizer.history[2:])
    assert optimizer.best.value < 0.2
    assert reloaded(optimizer).ask() == optimizer.ask()


# -- the ball ------------------------------------------------------------------------------------------------


def test_a_ball_is_never_left_and_its_inner_cube_can_be():
    """BOCK's ball about [−1, 1]^D, for an objective that allows for it: a vector with bounds ±√D."""
    dim = 6
    space = Space(x=Vector(dim, -math.sqrt(dim), math.sqrt(dim)))
    optimizer = run(quick(region="ball"), space, lambda p: -p["x"][0] - 0.1 * p["x"][1], 25)
    points = np.array([trial.params["x"] for trial in optimizer.history])
    assert np.linalg.norm(points, axis=1).max() <= math.sqrt(dim) * (1 + 1e-9)
    assert np.abs(points[1]).max() <= 1  # the design is within the cube
    assert points[:, 0].max() > 2  # and the optimum is not
    task = optimizer._task
    ground = quick(region="ball").frame.scene(task, optimizer.history, 25, task.rng(25)).ground
    assert ground.reach(np.arange(dim)) == pytest.approx(math.sqrt(dim))
    assert np.linalg.norm(ground.snap(ground.sample(task.rng(0), 50)) - 0.5, axis=1).max() <= 0.5
    assert reloaded(optimizer).ask() == optimizer.ask()


@pytest.mark.parametrize("search", ["ascent", "multistart", "direct+cma-es", "sprays"])
def test_every_search_stays_in_the_ball(search):
    space = Space(x=Vector(5, -2, 2))
    method = configured("gp", frame="cube", region="ball", search=search, initial=4)
    optimizer = run(method, space, lambda p: -p["x"].sum(), 12)
    assert max(np.linalg.norm(trial.params["x"]) for trial in optimizer.history) <= 2 * (1 + 1e-9)


def test_what_is_taken_for_want_of_something_new_is_in_the_ball_too():
    space = Space(x=Vector(8, -2, 2))
    optimizer = run(quick(region="ball"), space, lambda p: -p["x"].sum(), 5)
    task = optimizer._task
    scene = quick(region="ball").frame.scene(task, optimizer.history, 5, task.rng(5))
    found = suggestion(scene, scene.seen.x, task.rng(5), {})  # nothing but what is known already
    assert found.meta["instead"] == "random"
    assert np.linalg.norm(found.params["x"]) <= 2 * (1 + 1e-9)


def test_box_and_ball_do_not_share_what_they_remember():
    """One task that served the box answers for the ball like a fresh one."""
    optimizer = run(quick("bock-map"), SPACE, bowl_at(0.2), 12)
    ball = quick("bock-map", region="ball")
    fresh = Optimizer(SPACE, ball, seed=0)._task
    used = ball.suggest(optimizer._task, optimizer.history, 12)
    np.testing.assert_array_equal(used.params["x"], ball.suggest(fresh, optimizer.history, 12).params["x"])


def test_a_ball_has_its_own_centre():
    with pytest.raises(MethodError, match="region='box'"):
        configured("bock", region="ball", center="best")


# -- variants ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{"warped": False}, {"edge": True}, {"degree": 1}, {"degree": 7}, {"form": "se"}, {"form": "matern12"}],
    ids=str,
)
def test_variants_run_and_are_saved(settings):
    optimizer = run(quick(**settings), SPACE, bowl_at(0.3), 12)
    assert not any("fallback" in trial.meta for trial in optimizer.history)
    again = reloaded(optimizer)
    assert again.method == optimizer.method
    assert again.ask() == optimizer.ask()


def test_adam_climbs_as_the_paper_does():
    optimizer = run(quick(climber="adam", max_calls=100), SPACE, bowl_at(0.2), 25)
    assert optimizer.best.value < 0.3 * bowl_at(0.2)({"x": np.zeros(6)})


def test_the_peak_takes_a_fraction_of_the_factorisations_of_the_chains():
    """Counted, since seconds depend on the machine."""
    from hidim.gp import linalg

    counts = {}
    for name in ("bock", "bock-map"):
        calls, original = 0, linalg.cholesky

        def counting(*args, original=original):
            nonlocal calls
            calls += 1
            return original(*args)

        linalg.cholesky = counting
        try:
            run(configured(name, raw=64), SPACE, bowl_at(0.2), 12)
        finally:
            linalg.cholesky = original
        counts[name] = calls
    assert counts["bock"] > 10 * counts["bock-map"]


def test_labels_and_integers_are_learnt_about():
    space = Space(x=Vector(3, -1, 1), n=Int(0, 20), kind=Choice("a", "b", "c"))

    def objective(params) -> float:
        return float(np.sum((params["x"] - 0.2) ** 2) + 0.1 * abs(params["n"] - 12) + (params["kind"] != "b"))

    best = run(quick(), space, objective, 40).best
    assert best.params["kind"] == "b"
    assert best.params["n"] == 12
    assert best.value < 0.05


def test_recipes_are_made_of_the_parts_that_the_paper_names():
    bock = METHODS["bock"]
    assert isinstance(bock, Recipe)
    assert (bock.inference.burn_in, bock.inference.draws * bock.inference.thinning) == (100, 10)
    assert (bock.search.raw, bock.search.sprays, bock.search.refined) == (20_000, 10, 20)
    assert bock.prior.degree == 3
