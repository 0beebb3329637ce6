"""What is handed out is the user's: whatever they do to it, the history stays as it was."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from hidim import Choice, Float, Optimizer, Result, Space, Vector, minimize
from hidim.errors import TrialError
from hidim.insight import Insight
from hidim.trial import Frozen

SPACE = Space(x=Float(0, 1), c=Choice("a", "b"), w=Vector(3))


def objective(params):
    return params["x"] + params["w"].sum()


def damage(trial):
    trial.params["x"] = 99.0
    trial.params["w"][:] = 7.0
    trial.meta["way"] = "nonsense"
    trial.attributes["more"] = 1
    trial.params.clear()


@pytest.fixture
def optimizer():
    optimizer = Optimizer(SPACE, "random", seed=1)
    for trial in optimizer.ask(4):
        optimizer.tell(trial, objective(trial.params), attributes={"kept": True})
    return optimizer


HANDED_OUT = {
    "best": lambda o: o.best,
    "asked": lambda o: o.ask(),
    "entered": lambda o: o.add({"x": 0.5, "c": "a", "w": [0.1, 0.2, 0.3]}),
    "added": lambda o: o.add({"x": 0.5, "c": "a", "w": [0.1, 0.2, 0.3]}, 1.0),
    "result": lambda o: o.result().best,
}


@pytest.mark.parametrize("what", HANDED_OUT)
def test_a_trial_may_be_taken_apart(optimizer, what, tmp_path):
    trial = HANDED_OUT[what](optimizer)
    before = copy.deepcopy(list(optimizer.history))
    damage(trial)
    assert list(optimizer.history) == before
    optimizer.save(tmp_path / "saved")
    assert list(Optimizer.load(tmp_path / "saved").history) == before


@pytest.mark.parametrize("of", [lambda o: o.history, lambda o: o.result().history])
def test_what_is_in_a_history_stays_as_it_is(optimizer, of):
    trial = of(optimizer)[0]
    for table in (trial.params, trial.meta, trial.attributes):
        for change in (
            lambda t: t.update(x=1),
            lambda t: t.clear(),
            lambda t: t.pop("x", None),
            lambda t: t.setdefault("x", 1),
            lambda t: t.popitem(),
            lambda t: t.__setitem__("x", 1),
            lambda t: t.__delitem__("x"),
            lambda t: t.__ior__({"x": 1}),
        ):
            with pytest.raises(TypeError, match="change a copy"):
                change(table)
    with pytest.raises(ValueError, match="read-only"):
        trial.params["w"][0] = 3.0


def test_frozen_params_are_a_dict_like_any_other(optimizer):
    params = optimizer.history[0].params
    assert isinstance(params, dict)
    assert list(dict(params)) == list({**params}) == ["x", "c", "w"]
    again = pickle.loads(pickle.dumps(params))
    assert isinstance(again, Frozen)
    np.testing.assert_array_equal(again["w"], params["w"])


def test_callbacks_may_do_what_they_like(tmp_path):
    def vandal(trial, history):
        damage(trial)
        history[0].params.clear()

    def run(**options):
        return minimize(objective, SPACE, 14, progress=False, **options)

    assert list(run(callbacks=vandal, journal=tmp_path / "j").history) == list(run().history)
    assert Result.from_journal(tmp_path / "j").best == run().best


def test_the_direction_belongs_to_the_history():
    optimizer = Optimizer(SPACE, "random", maximize=True)
    for trial in optimizer.ask(8):
        optimizer.tell(trial, objective(trial.params))
    assert Insight(SPACE, optimizer.history).best == optimizer.best
    assert Insight(SPACE, optimizer.history[:8]).best == optimizer.best
    assert Insight(SPACE, optimizer.history, maximize=False).best != optimizer.best
    assert optimizer.result().insight().maximize


def test_copies_of_frozen_params_can_be_changed(optimizer):
    params = optimizer.history[0].params
    for changed in (copy.copy(params), copy.deepcopy(params), dict(params)):
        changed["x"] = 7.0
    assert params["x"] <= 1.0


def test_what_was_loaded_is_frozen_too(optimizer, tmp_path):
    optimizer.save(tmp_path / "saved")
    for history in (
        Optimizer.load(tmp_path / "saved").history,
        Result.from_journal(tmp_path / "saved").history,
    ):
        with pytest.raises(ValueError, match="read-only"):
            history[0].params["w"][0] = 3.0


def test_attributes_that_cannot_be_written_are_texts_and_none_is_lost(optimizer, tmp_path):
    deep: list[object] = []
    for _ in range(500):
        deep = [deep]
    optimizer.tell(optimizer.ask(), 1.0, attributes={"huge": 10**5000, "deep": deep})
    optimizer.save(tmp_path / "saved")
    assert Optimizer.load(tmp_path / "saved").history[4].attributes["huge"].startswith("0x")
    with pytest.raises(TrialError, match="attributes must be a dict"):
        optimizer.add(optimizer.best.params, 1.0, attributes=5)
    assert len(optimizer.history) == 5
