"""Windows around the best point of a run that has settled."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hidim import Choice, Int, Optimizer, Space, Vector
from hidim.frame import Cube, Zooming, suggestion
from hidim.frame.noise import is_noisy
from hidim.frame.zooming import OFF, SHORT, Mark, Window
from hidim.task import Task
from hidim.trial import History, Trial

DIM = 4
SPACE = Space(x=Vector(DIM, 0, 1))
MIDDLE = np.full(DIM, 0.6)


def settled(space: Space = SPACE, count: int = 60, **task) -> tuple[Task, History]:
    """Trials ever closer to a point, each 8 % closer than the one before, of which the fifth is the best."""
    rng = np.random.default_rng(0)
    trials = []
    for number in range(count):
        away = 0.5 * 0.92 ** ((number - 5) % count) * rng.uniform(-1.0, 1.0, DIM)
        point = np.clip(MIDDLE + away, 0.0, 1.0) if number != 5 else MIDDLE
        value = 0.0 if number == 5 else 1.0 + float(np.abs(away).sum())
        meta = {"way": "all"} | ({"fit": {}} if number == 20 else {})
        trials.append(Trial({"x": point}, number, meta=meta).completed(value, number))
    return Task(space, seed=0, **task), History(trials)


def with_more(history: History, *more: tuple[np.ndarray, float, Mark | None]) -> History:
    """After further trials, each with the mark of its window."""
    n = len(history)
    return History(
        [
            *history,
            *(
                Trial(
                    {"x": x}, n + k, meta={"way": "box"} | ({} if mark is None else mark._asdict())
                ).completed(y, n + k)
                for k, (x, y, mark) in enumerate(more)
            ),
        ]
    )


def within(frame: Zooming, task: Task, history: History):
    """The first scene that is a window's."""
    scenes = (frame.scene(task, history, n, np.random.default_rng(n)) for n in range(100))
    return next(scene for scene in scenes if scene.key == "window")


def test_a_run_that_gains_has_no_window_and_draws_nothing():
    task, history = settled()
    falling = History([replace(t, value=100.0 * 0.9**t.number) for t in history])
    rng = np.random.default_rng(3)
    assert Zooming().window(task, falling) is None
    assert Zooming().scene(task, falling, 60, rng).key == "cube"
    assert rng.random() == np.random.default_rng(3).random()


def test_the_window_of_a_settled_run_holds_the_nearest_trials_in_its_own_coordinates():
    task, history = settled()
    window = Zooming().window(task, history)
    away = np.sort([np.abs(t.params["x"] - MIDDLE).max() for t in history])
    assert window.mark == (5, pytest.approx(away[10]))
    scene = within(Zooming(), task, history)
    assert len(scene.seen.y) == len(scene.trials) == 11
    assert not any(trial.meta for trial in scene.trials)
    np.testing.assert_allclose(scene.seen.x[np.argmin(scene.seen.y)], 0.5)
    assert np.ptp(scene.seen.x, axis=0).max() > 0.4
    found = [trial.params["x"] for trial in scene.trials.complete]
    np.testing.assert_allclose(scene.to_cube(scene.seen.x), found, atol=1e-15)
    told = suggestion(scene, np.full((1, DIM), 0.75), np.random.default_rng(0), {"way": "all"})
    np.testing.assert_allclose(told.params["x"], MIDDLE + 0.5 * window.mark.within)
    assert told.meta == {"way": "all", "around": 5, "within": window.mark.within}


def test_where_only_digits_are_left_there_is_no_window():
    task, history = settled()
    for share, opens in ((3e-4, True), (3e-5, False)):
        close = [replace(t, value=share * t.value if t.number > 40 else t.value) for t in history]
        assert (Zooming().window(task, History(close)) is not None) == opens


def test_windows_and_the_cube_know_of_each_other_points_and_values_alone():
    task, history = settled()
    mark = Zooming().window(task, history).mark
    history = with_more(history, (MIDDLE + 0.3 * mark.within, 0.5, mark))
    scene = within(Zooming(), task, history)
    assert [bool(trial.meta) for trial in scene.trials] == [False] * 11 + [True]
    whole = Zooming().scenes(task, history)[0]
    assert [bool(trial.meta) for trial in whole.trials] == [True] * 60 + [False]
    assert len(whole.seen.y) == 61


def test_the_window_moves_with_the_best_point_and_keeps_its_width():
    task, history = settled()
    mark = Zooming().window(task, history).mark
    for step, number in ((0.9 * OFF, 5), (1.1 * OFF, 60)):
        found = Zooming().window(task, with_more(history, (MIDDLE + step * mark.within, -1.0, mark)))
        assert found.mark == (number, mark.within)
    outside = with_more(history, (MIDDLE + 1.5 * mark.within, -1.0, mark))
    assert Zooming().window(task, outside) is None  # something was gained, and elsewhere


def test_a_window_without_success_is_halved_and_given_up_until_something_is_found():
    task, history = settled()
    mark = Zooming().window(task, history).mark
    tried = [(MIDDLE + 0.01 * k * mark.within, 2.0, mark) for k in range(1, SHORT + 1)]
    assert Zooming().window(task, with_more(history, *tried[:-1])).mark == mark
    half = Zooming().window(task, with_more(history, *tried)).mark
    assert half.within <= 0.5 * mark.within
    tried += [(MIDDLE - 0.01 * k * half.within, 2.0, half) for k in range(1, SHORT + 1)]
    assert Zooming().window(task, with_more(history, *tried[:-1])).mark == half
    assert Zooming().window(task, with_more(history, *tried)) is None
    better = (MIDDLE + 0.1 * half.within, -1.0, None)
    assert Zooming().window(task, with_more(history, *tried, better)).mark.within == half.within


@pytest.mark.parametrize(
    "forged",
    [
        {"around": 10**9, "within": 0.1},
        {"around": 5, "within": math.inf},
        {"around": 5, "within": -1.0},
        {"around": 5, "within": 0.0},
        {"around": 5},
        {"around": 5, "within": "b"},
        {"around": 5, "within": 10**400},
        {"around": "5", "within": 0.1},
        {"around": 30, "within": 1e-4},  # of another trial, far away
    ],
)
def test_marks_that_make_no_sense_are_not_heeded(forged):
    task, history = settled()
    expected = Zooming().window(task, history).mark
    forged = History([*history[:-1], replace(history[59], meta={"way": "all"} | forged)])
    assert Zooming().window(task, forged).mark == expected


def test_noisy_values_have_no_windows():
    assert Zooming().window(*settled(noisy=True)) is None


def test_what_a_probe_in_a_window_found_is_known_everywhere():
    task, history = settled()
    mark = Zooming().window(task, history).mark
    probe = Trial({"x": MIDDLE + 1e-9}, 60, meta={"way": "probe", "probe": 0.0} | mark._asdict())
    history = History([*history, probe.completed(0.9, 60)])
    assert is_noisy(task, Zooming().scene(task, history, 61, np.random.default_rng(0)).history)
    assert is_noisy(task, Zooming().scenes(task, history)[0].history)


def test_before_any_model_was_asked_there_is_no_window():
    task, history = settled()
    added = History([replace(trial, meta={"way": "added"}) for trial in history])
    assert Zooming().window(task, added) is None


@pytest.mark.parametrize(
    "cube", [Cube(region="ball"), Cube(center={"x": [0.5] * DIM})], ids=["ball", "center"]
)
def test_balls_and_centres_have_no_windows(cube):
    assert Zooming(cube).window(*settled()) is None


@pytest.mark.parametrize(
    "vector",
    [Vector(DIM, -5, 10), Vector(DIM, 1e-5, 1, log=True), Vector(DIM, 1e6, 1e6 + 1)],
    ids=["shifted", "log", "far"],
)
def test_suggestions_on_the_edge_of_a_window_are_in_it(vector):
    space, rng = Space(x=vector), np.random.default_rng(0)
    for _ in range(50):
        window = Window.around(rng.uniform(0.2, 0.8, DIM), Mark(0, float(rng.uniform(1e-4, 0.2))))
        edge = window.to_cube(rng.integers(0, 2, (1, DIM)).astype(float))
        back = space.encode(space.decode(edge[0]))[None]
        assert window.holds(back)[0]
        np.testing.assert_allclose(window.to_cube(window.shown(back)), edge, atol=2e-9)


@pytest.mark.parametrize("more", [{"k": Int(0, 9)}, {"c": Choice("a", "b")}], ids=["integer", "label"])
def test_spaces_with_levels_have_no_windows(more):
    known = {"k": 4, "c": "a"}
    space = Space(x=Vector(DIM, 0, 1), **more)
    history = History(
        [replace(t, params=dict(t.params) | {name: known[name] for name in more}) for t in settled()[1]]
    )
    assert Zooming().window(Task(space, seed=0), history) is None


def rippled(x: np.ndarray) -> float:
    """Ripples that are finer than what is known of the bowl in which they are."""
    return float(np.sum(20.0 * (x - 0.37) ** 2 + 0.3 * np.sin(150.0 * (x - 0.37)) ** 2))


def told(optimizer: Optimizer, count: int) -> Optimizer:
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, rippled(trial.params["x"]))
    return optimizer


@cache
def _windowed() -> bytes:
    return pickle.dumps(told(Optimizer(Space(x=Vector(3, 0, 1)), "auto", seed=0), 75))


def windowed() -> Optimizer:
    """A run that has gone into a window; made once."""
    return pickle.loads(_windowed())


def test_a_run_goes_on_in_its_window_after_a_reload_as_if_nothing_had_happened(tmp_path):
    optimizer = windowed()
    assert any("within" in trial.meta for trial in optimizer.history)
    optimizer.save(tmp_path / "run.json")
    again = Optimizer.load(tmp_path / "run.json")
    for _ in range(6):
        trial, same = optimizer.ask(), again.ask()
        assert trial.meta == same.meta
        np.testing.assert_array_equal(trial.params["x"], same.params["x"])
        optimizer.tell(trial, rippled(trial.params["x"]))
        again.tell(same, rippled(same.params["x"]))


def test_batches_in_a_window_are_not_taken_for_copies_of_each_other():
    batch = windowed().ask(8)
    inside = [trial for trial in batch if "within" in trial.meta]
    assert len(inside) >= 2
    assert not any("instead" in trial.meta for trial in inside)
    assert len({trial.params["x"].tobytes() for trial in batch}) == 8
