"""Histories as JSON: what is written comes back the same."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidim import Float, Optimizer, Result, Space, Trial, TrialState, Vector, minimize, serial
from hidim.errors import HistoryError
from hidim.lines import read, renumbered, whole
from hidim.methods import METHODS, configured
from hidim.run.journal import Journal
from hidim.trial import same_params
from space.corpus import CORPUS
from strategies import configurations, quick, spaces

METAS = st.dictionaries(
    st.text(max_size=5), st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
)


@quick
@given(st.data())
def test_trials_come_back_bit_for_bit(data):
    space = data.draw(spaces())
    params = space.validate(data.draw(configurations(space)))
    trial = Trial(params, data.draw(st.integers(0, 999)), meta=data.draw(METAS))
    match data.draw(st.sampled_from(TrialState)):
        case TrialState.COMPLETE:
            trial = trial.completed(data.draw(st.floats(allow_nan=False, allow_infinity=False)), 3)
        case TrialState.FAILED:
            trial = trial.failed(data.draw(st.text()), 4)
    trial = replace(trial, number=0, rank=None if trial.rank is None else 0)
    (back,), _ = renumbered(read("run.jsonl", whole(space, {}, [trial]), space).trials)
    assert same_params(back.params, trial.params)
    assert {k: type(v) for k, v in back.params.items()} == {k: type(v) for k, v in trial.params.items()}
    assert (back.number, back.value, back.state, back.meta, back.reason, back.rank) == (
        trial.number,
        trial.value,
        trial.state,
        trial.meta,
        trial.reason,
        trial.rank,
    )


@pytest.mark.parametrize(
    "method",
    [
        *METHODS.values(),
        configured("gp", initial=3, lengthscales="ard", outcome="identity", climb=9),
    ],
    ids=repr,
)
def test_methods_come_back_with_their_settings(method):
    assert serial.read_method(json.loads(json.dumps(serial.write_method(method)))) == method


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ({"x": 1.0}, {"x": 1.0}, True),
        ({"x": 1.0}, {"x": 1.5}, False),
        ({"x": 1.0}, {"y": 1.0}, False),
        ({"x": 1.0}, {"x": 1.0, "y": 1.0}, False),
        ({"w": np.zeros(2)}, {"w": np.zeros(2)}, True),
        ({"w": np.zeros(2)}, {"w": np.ones(2)}, False),
        ({"w": np.zeros(2)}, {"w": np.zeros(3)}, False),
        ({"c": None}, {"c": None}, True),
        ({"c": ((1, 2), 3)}, {"c": ((1, 2), 3)}, True),
        ({"c": ("1", 2)}, {"c": (1, 2)}, False),
        ({"c": "a"}, {"c": None}, False),
    ],
)
def test_params_are_compared_by_value(left, right, same):
    assert same_params(left, right) is same


def filled() -> Optimizer:
    optimizer = Optimizer(Space(w=Vector(3), x=Float(1e-3, 1, log=True)), seed=5, budget=40, maximize=True)
    for number in range(12):
        trial = optimizer.ask()
        if number == 4:
            optimizer.fail(trial, "crashed")
        elif number != 7:
            optimizer.tell(trial, float(np.sum(trial.params["w"])))
    return optimizer


def test_an_optimizer_comes_back_whole(tmp_path):
    optimizer = filled()
    optimizer.save(tmp_path / "run.json")
    loaded = Optimizer.load(str(tmp_path / "run.json"))
    assert list(loaded.history) == list(optimizer.history)
    assert loaded.settings() == optimizer.settings()
    assert loaded.space == optimizer.space
    assert loaded.method == optimizer.method
    assert repr(loaded) == repr(optimizer)
    assert loaded.best.value == optimizer.best.value
    assert same_params(loaded.ask().params, optimizer.ask().params)


def test_the_file_is_strict_json_and_replaced_in_one_step(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("old")
    filled().save(path)
    strict = {"parse_constant": lambda c: pytest.fail(f"{c} is not JSON")}
    run, *events = (json.loads(line, **strict) for line in path.read_text().splitlines())
    assert run["format"] == serial.FORMAT
    assert [event["event"] for event in events].count("ask") == 12
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_a_saved_optimizer_is_a_journal_and_a_journal_can_be_loaded(tmp_path):
    def value(params) -> float:
        return float(np.sum(params["w"]))

    optimizer, path = filled(), tmp_path / "run.jsonl"
    optimizer.save(path)
    found = minimize(value, optimizer.space, 15, seed=5, maximize=True, journal=path).history
    assert [t for t in found[:12] if t.number != 7] == [t for t in optimizer.history if t.number != 7]
    assert found[7].value == value(optimizer.history[7].params)  # pending when it was saved
    loaded = Optimizer.load(path)
    assert list(loaded.history) == list(found)
    assert Result.from_journal(path).best == loaded.best


def test_the_journal_of_a_run_that_goes_on_is_not_overwritten(tmp_path):
    optimizer, path = filled(), tmp_path / "run.jsonl"
    with Journal(path, optimizer.space, optimizer.settings()) as journal:
        journal.ask(optimizer.history[0])
        before = path.read_bytes()
        with pytest.raises(HistoryError, match="a run that goes on: give another path"):
            optimizer.save(path)
        assert path.read_bytes() == before
    optimizer.save(path)
    assert len(Optimizer.load(path).history) == 12


def test_a_loaded_optimizer_goes_on_where_it_stopped(tmp_path):
    optimizer = filled()
    optimizer.save(tmp_path / "run.json")
    loaded = Optimizer.load(tmp_path / "run.json")
    loaded.tell(optimizer.history[7], 1.0)  # pending when it was saved
    assert loaded.history[7].rank == 11
    assert loaded.ask().number == 12


def test_a_run_over_every_kind_of_parameter_goes_on_from_its_journal_and_its_file(tmp_path):
    space, path = CORPUS["sizes"], tmp_path / "run.jsonl"

    def objective(params):
        assert space.validate(params).keys() == params.keys()
        return float(np.nansum(space.encode(params)))

    first = minimize(objective, space, 8, seed=1, journal=path, progress=False)
    again = minimize(objective, space, 14, seed=1, journal=path, progress=False)
    straight = minimize(objective, space, 14, seed=1, progress=False)
    assert [t.params.keys() for t in again.history[:8]] == [t.params.keys() for t in first.history]
    assert all(map(same_params, (t.params for t in again.history), (t.params for t in straight.history)))
    assert any(isinstance(t.params["layers"], tuple) for t in again.history)
    loaded = Optimizer.load(path)
    assert loaded.space == space
    assert all(map(same_params, (t.params for t in loaded.history), (t.params for t in again.history)))
