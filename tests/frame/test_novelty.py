"""What counts as seen, and that it is not looked at again for every suggestion."""

from __future__ import annotations

import numpy as np
import pytest

from hidim import Optimizer, Space, Vector
from hidim.frame.novelty import NEARLY, Seen
from hidim.frame.observe import observe
from hidim.trial import History
from space.corpus import CORPUS


@pytest.mark.parametrize("name", ["mixed", "pipeline"])
def test_what_is_kept_of_a_history_is_what_a_look_at_all_of_it_sees(name):
    space = CORPUS[name]
    optimizer, rng = Optimizer(space, "random", seed=0), np.random.default_rng(0)
    for number in range(30):
        trial = optimizer.ask()
        if number % 5 == 1:
            optimizer.fail(trial)
        elif number % 5 == 2:
            optimizer._withdraw(trial)
        elif number % 5 != 3:
            optimizer.tell(trial, float(number))
        if number % 7 == 6:  # the oldest of those that run
            optimizer.tell(next(iter(optimizer.history.running), optimizer.ask()), 0.0)
        task, history = optimizer._task, optimizer.history
        kept, anew = Seen.in_all(task, history), Seen.of(observe(task, history))
        known = space.encode_all([t.params for t in history])
        points = np.vstack([known, known + 0.5 * NEARLY, space.snap(rng.random((5, space.dim)))])
        for point in points:
            assert kept.first_new(point[None]) == anew.first_new(point[None])


def test_another_history_of_the_same_task_is_another_one():
    space = Space(x=Vector(2, 0, 1))
    ours, others = Optimizer(space, "random", seed=0), Optimizer(space, "random", seed=1)
    for optimizer in (ours, others):
        for _ in range(6):
            optimizer.tell(optimizer.ask(), 0.0)
    task = ours._task
    mine, theirs = (space.encode_all([t.params for t in o.history]) for o in (ours, others))
    for history, old, new in [(ours.history, mine, theirs), (others.history, theirs, mine)] * 2:
        seen = Seen.in_all(task, history)
        assert seen.first_new(old) is None
        assert seen.first_new(new) == 0
    assert Seen.in_all(task, History(ours.history[:3])).first_new(mine) == 3


@pytest.mark.parametrize("method", ["random", "sobol"])
def test_a_suggestion_without_a_model_encodes_what_is_new_and_not_the_whole_history(method, monkeypatch):
    counted, original = [], Space.encode_all

    def counting(self, configurations):
        counted.append(len(configurations))
        return original(self, configurations)

    monkeypatch.setattr(Space, "encode_all", counting)
    monkeypatch.setattr(History, "complete", property(lambda self: pytest.fail("all trials were looked at")))
    optimizer = Optimizer(Space(x=Vector(3, 0, 1)), method, seed=0)
    for _ in range(40):
        optimizer.tell(optimizer.ask(), 1.0)
    assert max(counted) == 1
    assert len(counted) < 80
