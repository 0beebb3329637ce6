"""Looks aside: windows around the best point of a run that gains nothing any more, and new starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, Vector
from hidim.frame import Aside, Scene, suggestion
from hidim.task import Task
from hidim.trial import History, Trial
from saved import reloaded

DIM = 5
VECTOR = Vector(DIM, 0, 1)
MIDDLE = np.full(DIM, 0.6)

#: Trials that a window holds in so few dimensions; as many without gain halve it.
COUNT = 15


def settled(vector: Vector = VECTOR, *, noisy: bool | None = None, **more) -> tuple[Task, History]:
    """Trials ever closer to a point, at which the fifth stands.

    Args:
        more: other parameters, and their values in all trials.
    """
    space = Space(x=vector, **{name: parameter for name, (parameter, _) in more.items()})
    rng, trials = np.random.default_rng(0), []
    for number in range(60):
        away = 0.4 * 0.94**number * rng.uniform(-1.0, 1.0, DIM) * (number != 5)
        params = Space(x=vector).decode(MIDDLE + away) | {name: value for name, (_, value) in more.items()}
        trials.append(Trial(params, number).completed(float(np.abs(away).sum()), number))
    return Task(space, seed=0, noisy=noisy), History(trials)


def aside(task: Task, history: History, number: int = 61) -> Scene:
    return Aside().scene(task, history, number, np.random.default_rng(0))


def window(task: Task, history: History) -> float | None:
    return aside(task, history).meta.get("window")


def with_more(history: History, *more: tuple[np.ndarray, float, dict]) -> History:
    """After further trials: points, values, and what is remembered of them."""
    n = len(history)
    told = [Trial({"x": x}, n + k, meta=meta).completed(y, n + k) for k, (x, y, meta) in enumerate(more)]
    return History([*history, *told])


def test_there_is_no_window_before_there_are_three_times_as_many_trials_as_it_holds():
    task, history = settled()
    assert window(task, History(history[: 3 * COUNT])) is None
    assert window(task, History(history[: 3 * COUNT + 1])) is not None


@pytest.mark.parametrize(
    "settings",
    [
        {"noisy": True},
        {"k": (Int(0, 9), 4)},
        {"c": (Choice("a", "b"), "a")},
        {"c": (Choice("a", b=Space(z=Float(0, 1))), "a")},
    ],
    ids=["noisy", "integer", "label", "conditional"],
)
def test_noisy_discrete_and_conditional_tasks_have_no_windows(settings):
    assert window(*settled(**settings)) is None


def test_a_run_that_gains_has_no_window_and_others_have_it_every_other_time():
    task, history = settled()
    keys = [aside(task, history, n).key for n in range(60, 64)]
    assert keys[::2] == ["cube"] * 2
    assert "cube" not in keys[1::2]
    falling = History([replace(trial, value=0.9**trial.number) for trial in history])
    assert aside(task, falling).key == "cube"


def test_a_window_holds_the_nearest_trials_in_its_own_coordinates():
    task, history = settled()
    half = window(task, history)
    near = np.sort([np.abs(trial.params["x"] - MIDDLE).max() for trial in history])[COUNT]
    assert 0.5 * near < half <= near
    scene = aside(task, history)
    points = np.array([trial.params["x"] for trial in scene.trials.complete])
    inside = [np.abs(trial.params["x"] - MIDDLE).max() <= half for trial in history]
    assert 2 <= len(points) == sum(inside) <= COUNT + 1
    np.testing.assert_allclose(scene.seen.x, 0.5 + 0.5 * (points - MIDDLE) / half)
    np.testing.assert_allclose(scene.to_cube(scene.seen.x), points)
    told = suggestion(scene, np.full((1, DIM), 0.75), np.random.default_rng(0), {"way": "all"})
    np.testing.assert_allclose(told.params["x"], MIDDLE + 0.5 * half)
    assert told.meta == {"way": "all", "window": half}


def test_a_window_without_gain_is_halved_twice_then_given_up_until_something_is_found():
    task, history = settled()
    half, found = window(task, history), []
    for _ in range(4):
        found.append(window(task, history))
        tried = [(MIDDLE + 0.3 + 0.001 * k, 9.0, {"window": half}) for k in range(COUNT)]
        history = with_more(history, *tried)
    assert found == [half, half / 2, half / 4, None]
    better = with_more(history, (MIDDLE + 1e-3, -1e-6, {"window": half}))
    assert window(task, better) == half


def test_gains_in_windows_are_none_of_the_whole_space_and_keep_them_open():
    task, history = settled()
    for meta, opens in (({"window": 0.01}, True), ({"way": "all"}, False)):
        gained = with_more(history, (MIDDLE + 1e-3, -1.0, meta))
        assert (window(task, gained) is not None) == opens


def test_a_new_start_knows_its_own_trials_alone_and_another_follows_where_it_stands_still():
    task, history = settled(c=(Choice("a", "b"), "a"))  # without windows
    assert aside(task, history, 62).key == "cube"
    first = aside(task, history)
    assert first.meta == {"afresh": 1}
    assert (first.asked, len(first.seen.y)) == (0, 0)
    rng, best = np.random.default_rng(1), 5.0
    for number in range(60, 60 + 2 * 60, 2):  # as good as the first run, but for the last third
        best = 0.5 * best if number < 100 else best
        params = {"x": rng.random(DIM), "c": "b"}
        own = Trial(params, number, meta={"afresh": 1}).completed(best, number)
        other = Trial(params | {"c": "a"}, number + 1).completed(9.0, number + 1)
        history = History([*history, own, other])
    assert aside(task, History(history[:101]), 101).meta == {"afresh": 1}
    assert len(aside(task, History(history[:101]), 101).seen.y) == 21
    assert aside(task, history, 181).meta == {"afresh": 2}


def test_no_new_start_repeats_a_configuration_of_others():
    task, history = settled(c=(Choice("a", "b"), "a"))
    scene = aside(task, history)
    known = scene.ground.space.encode(history[7].params)[None]
    assert suggestion(scene, known, np.random.default_rng(0), {}).meta["instead"] == "random"


@pytest.mark.parametrize(
    "vector",
    [Vector(DIM, -5, 10), Vector(DIM, 1e-5, 1, log=True), Vector(DIM, 1e6, 1e6 + 1)],
    ids=["shifted", "log", "far"],
)
def test_suggestions_in_the_corner_of_a_window_are_in_it(vector):
    task, history = settled(vector)
    scene = aside(task, history)
    corner = suggestion(scene, np.ones((1, DIM)), np.random.default_rng(0), {})
    more = with_more(history, (corner.params["x"], 9.0, {**corner.meta}))
    again = aside(task, more)
    assert again.meta == scene.meta
    np.testing.assert_allclose(again.seen.x[-1], 1.0)


def ackley(x: np.ndarray) -> float:
    """Flat but for the last thousandth of the way, of which a model of all of the cube sees nothing."""
    z = 600.0 * (x - MIDDLE)
    return float(
        20.0 - 20.0 * np.exp(-0.2 * np.sqrt(np.mean(z**2))) + np.e - np.exp(np.mean(np.cos(2.0 * np.pi * z)))
    )


def test_a_run_follows_its_window_into_the_steep_end_of_a_function_as_before_after_a_reload():
    rng = np.random.default_rng(0)
    wide, close = rng.random((20, DIM)), MIDDLE + 0.0015 * rng.uniform(-1.0, 1.0, (40, DIM))
    optimizer = Optimizer(Space(x=VECTOR), "default", seed=0)
    for point in sorted([*wide, *close], key=ackley):  # nothing is gained since the first
        optimizer.add({"x": point}, ackley(point))
    begun = best = optimizer.best
    for _ in range(12):
        trial = optimizer.ask()
        if half := trial.meta.get("window"):
            assert np.abs(trial.params["x"] - best.params["x"]).max() <= half + 1e-12
        optimizer.tell(trial, ackley(trial.params["x"]))
        best = optimizer.best
    assert sum("window" in trial.meta for trial in optimizer.history) >= 4
    assert best.value < begun.value
    assert "window" in best.meta
    again, batch = reloaded(optimizer), optimizer.ask(4)
    assert batch == again.ask(4)
    assert len({trial.params["x"].tobytes() for trial in batch}) == 4
    assert not any("instead" in trial.meta for trial in batch)
