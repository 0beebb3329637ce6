"""What every frame in `FRAMES` must do: show trials as points, and make new configurations of points."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hidim import Optimizer, Space, Vector
from hidim.frame import FRAMES, Growing, Subspaces, design, suggestion
from hidim.methods import METHODS
from hidim.task import Task
from hidim.trial import History, Trial
from space.corpus import CORPUS

SPACES = {
    "vector": Space(x=Vector(12, -1, 1)),
    "long": Space(x=Vector(3000, -1, 1)),
    "mixed": CORPUS["mixed"],
}

every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
every_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES.keys())


def filled(frame, space: Space, count: int = 9) -> tuple[Task, History]:
    """Trials of a method with that frame: the third has failed, the last is running."""
    method = "rembo" if isinstance(frame, Subspaces) else "gp"
    recipe = dataclasses.replace(METHODS[method], frame=frame, initial=99)
    optimizer = Optimizer(space, recipe, seed=1)
    for number in range(count):
        trial = optimizer.ask()
        if number == 2:
            optimizer.fail(trial)
        elif number < count - 1:
            optimizer.tell(trial, float(number))
    return optimizer._task, optimizer.history


@every_frame
@every_space
def test_points_of_a_scene_stand_for_the_trials_they_come_from(frame, space):
    task, history = filled(frame, space)
    for number in range(9, 13):
        scene = frame.scene(task, history, number, task.rng(number))
        assert scene.seen.x.shape == (len(scene.trials.complete), scene.ground.dim)
        np.testing.assert_array_equal(scene.seen.y, scene.trials.losses(maximize=False))
        assert len(scene.seen.failed) == len(scene.trials.failed)
        assert len(scene.seen.running) == len(scene.trials.running)
        assert np.all((scene.seen.x >= scene.ground.lower) & (scene.seen.x <= scene.ground.upper))


@every_frame
@every_space
def test_a_suggestion_is_the_first_point_that_is_new(frame, space):
    task, history = filled(frame, space)
    scene = frame.scene(task, history, 9, task.rng(9))
    known = np.vstack([scene.seen.x, scene.seen.failed, scene.seen.running])
    new = scene.ground.snap(scene.ground.sample(np.random.default_rng(5), 1))
    found = suggestion(scene, np.vstack([known, new]), task.rng(9), {"way": "tried"})
    alone = suggestion(scene, new, task.rng(9), {"way": "tried"})
    assert repr(found.params) == repr(alone.params)
    assert found.meta == alone.meta
    assert "instead" not in found.meta
    repeated = suggestion(scene, scene.seen.x[:1], task.rng(9), {}, repeat=True)
    assert "instead" not in repeated.meta
    other = suggestion(scene, known, task.rng(9), {})
    assert other.meta["instead"] in ("scattered", "random")


@every_frame
def test_trials_from_elsewhere_are_counted_by_the_frame_that_knows_them(frame):
    """And do not take the place of its own in the design."""
    space = SPACES["vector"]
    task, history = filled(frame, space, 5)
    stranger = Trial({"x": np.full(12, 0.5)}, 5).completed(1.0, 4)
    with_stranger = History([*history, stranger])
    own = {number: frame.scene(task, history, number, task.rng(number)) for number in (5, 6)}
    scene = frame.scene(task, with_stranger, 6, task.rng(6))
    if isinstance(frame, Growing):
        assert scene.asked == own[5].asked == 5
    if isinstance(frame, Subspaces):
        assert scene.asked == own[6].asked
    assert design(scene, 10).shape[1] == scene.ground.dim


@every_frame
def test_a_gap_in_the_numbers_moves_the_design_on(frame):
    """Somebody else has taken number 5: the next one here is 6, and another point."""
    task, history = filled(frame, SPACES["vector"], 5)
    points = []
    for number in (5, 6):
        scene = frame.scene(task, history, number, task.rng(number))
        points.append(design(scene, 10)[0])
    assert not np.array_equal(*points)
