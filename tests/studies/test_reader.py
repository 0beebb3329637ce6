"""What becomes of the trials of a study."""

from __future__ import annotations

import json
import math

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution, json_to_distribution
from optuna.trial import TrialState as State

from hidim.errors import MethodError, SpaceError
from hidim.space import Float, Space, Vector
from hidim.studies import read_study
from hidim.studies.coders import hull
from hidim.studies.notes import PIECE, Note
from hidim.trial import TrialState

optuna.logging.set_verbosity(optuna.logging.ERROR)
X = {"x": FloatDistribution(0, 1)}


def added(study, x, value=None, state=State.COMPLETE, **more):
    study.add_trial(optuna.create_trial(params={"x": x}, distributions=X, value=value, state=state, **more))


def test_a_pruned_trial_has_its_last_value_but_is_never_better_than_the_median():
    study = optuna.create_study()
    for x, value in ((0.1, 1.0), (0.2, 2.0), (0.3, 3.0)):
        added(study, x, value)
    added(study, 0.4, state=State.PRUNED, intermediate_values={1: 9.0, 2: 5.0})
    added(study, 0.5, state=State.PRUNED, intermediate_values={1: 0.5})
    history = read_study(study).history
    assert [trial.value for trial in history] == [1.0, 2.0, 3.0, 5.0, 2.0]


def test_of_large_values_a_pruned_trial_is_never_taken_for_a_better_one_either():
    study = optuna.create_study(direction="maximize")
    for x, value in ((0.1, 1.0), (0.2, 2.0), (0.3, 3.0)):
        added(study, x, value)
    added(study, 0.4, state=State.PRUNED, intermediate_values={1: 7.0})
    history = read_study(study).history
    assert history.maximize
    assert history[3].value == 2.0


def test_a_trial_that_was_pruned_before_any_value_has_failed():
    study = optuna.create_study()
    added(study, 0.1, 1.0)
    added(study, 0.2, state=State.PRUNED)
    failed = read_study(study).history[1]
    assert failed.state is TrialState.FAILED
    assert failed.reason == "pruned before any value"


def test_infinite_values_are_failures():
    study = optuna.create_study()
    added(study, 0.1, math.inf)
    assert read_study(study).history[0].reason == "the value is inf"


def test_trials_rank_in_the_order_of_finishing():
    study = optuna.create_study()
    first, second = study.ask(X), study.ask(X)
    study.tell(second, 2.0)
    study.tell(first, 1.0)
    history = read_study(study).history
    assert [trial.rank for trial in history] == [1, 0]


def test_running_and_waiting_trials_are_pending():
    study = optuna.create_study()
    added(study, 0.1, 1.0)
    running = study.ask(X)
    study.enqueue_trial({"x": 0.7})
    pending = read_study(study).history.running
    assert [trial.params["x"] for trial in pending] == [running.params["x"], 0.7]


def test_failures_that_were_tried_again_do_not_count():
    study = optuna.create_study()
    added(study, 0.1, state=State.FAIL)
    added(study, 0.2, 1.0)
    assert [t.number for t in read_study(study).history] == [0, 1]
    added(study, 0.1, 3.0, system_attrs={"failed_trial": 0, "retry_history": [0]})
    assert [t.number for t in read_study(study).history] == [1, 2]


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "maximize"])
    with pytest.raises(MethodError, match=r"2 objectives.*NSGAIISampler"):
        read_study(study)


def test_a_given_space_is_that_of_the_reading():
    study = optuna.create_study()
    added(study, 0.1, 1.0)
    added(study, 0.9, 2.0)
    reading = read_study(study, Space(x=Float(0, 0.5)))
    assert reading.space == Space(x=Float(0, 0.5))
    assert [t.params["x"] for t in reading.history] == [0.1]


def test_long_notes_are_kept_in_pieces_and_damaged_ones_are_ignored(caplog):
    kept: dict = {}
    space = Space(x=Float(0, 1))
    note = Note("mark", {"way": "x" * 2 * PIECE}, space.encode({"x": 0.25}))
    note.write(kept.__setitem__)
    assert len(kept) == 3
    assert max(len(text) for key, text in kept.items() if key != "hidim:0") <= PIECE
    back = Note.read(kept, 0)
    assert back.meta == note.meta
    assert back.point.tolist() == [0.25]
    mixed = {**kept, "hidim:1": kept["hidim:1"][:-1] + "y"}  # half of it is of another note
    assert Note.read(mixed, 5) is None
    del kept["hidim:1"]
    assert Note.read(kept, 7) is None
    assert "trial 7 is damaged" in caplog.text
    assert Note.read({"hidim:0": 3}, 0) is None
    for meta, point in (
        ({"fit": 3}, [0.5]),
        ({"way": [[]] * 2}, [0.5]),
        ({}, [math.inf]),
        ({"a": nested(500)}, [0.5]),
    ):
        Note("mark", meta, np.array(point)).write(kept.__setitem__)
        assert Note.read(kept, 0) is None


def nested(depth):
    return json.loads("[" * depth + "]" * depth)


@pytest.mark.filterwarnings("ignore:UniformDistribution")
def test_ranges_of_studies_of_years_ago_can_be_one():
    old = '{{"name": "UniformDistribution", "attributes": {{"low": 0, "high": {}}}}}'
    assert hull([json_to_distribution(old.format(high)) for high in (1, 3)]) == FloatDistribution(0, 3)


def test_a_single_value_of_the_objective_is_what_it_is_in_a_given_space():
    study = optuna.create_study()
    study.optimize(
        lambda trial: trial.suggest_float("x", 0.3, 0.3) + trial.suggest_float("y", 0, 1), n_trials=2
    )
    history = read_study(study, Space(x=Float(0, 1), y=Float(0, 1))).history
    assert [trial.params["x"] for trial in history] == [0.3, 0.3]


def test_what_a_given_space_has_and_nobody_asks_for_is_said_once(caplog):
    study = optuna.create_study()
    added(study, 0.1, 1.0)
    added(study, 0.2, 1.0)
    read_study(study, Space(x=Float(0, 1), lr=Float(0, 1)))
    assert caplog.text.count("did not ask for lr of the given space") == 1


@pytest.mark.parametrize("odd", [None, [1], math.inf, "three"])
def test_enqueued_nonsense_is_nothing_to_wait_for(odd):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda t: t.suggest_int("n", 1, 9) + t.suggest_float("s", 0, 1, step=0.5), n_trials=2)
    study.enqueue_trial({"n": odd, "s": 0.5})
    study.enqueue_trial({"n": 3, "s": odd})
    assert not read_study(study).history.running


@pytest.mark.filterwarnings("ignore:Choices for a categorical")
def test_categories_are_the_same_before_and_after_a_storage_made_lists_of_tuples(tmp_path):
    def objective(trial):
        return float(len(trial.suggest_categorical("sizes", [(64, 32), (8,), None]) or ()))

    stored = optuna.create_study(storage=f"sqlite:///{tmp_path}/s.db")
    stored.optimize(objective, n_trials=1)
    kept = optuna.create_study()
    kept.optimize(objective, n_trials=1)
    assert read_study(stored).space == read_study(kept).space


def test_what_is_no_study_of_this_kind_is_refused():
    with pytest.raises(MethodError, match="a study is wanted"):
        read_study("name")
    with pytest.raises(SpaceError, match="no vectors"):
        read_study(optuna.create_study(), Space(w=Vector(3)))


def test_a_given_space_that_is_narrower_than_what_is_asked_for_is_said_once(caplog):
    study = optuna.create_study()
    added(study, 0.1, 1.0)
    added(study, 0.2, 1.0)
    read_study(study, Space(x=Float(0, 0.5)))
    assert caplog.text.count("trial 0 asks for x in [0, 1], the given space has [0, 0.5]") == 1


def test_it_is_said_why_trials_are_left_out(caplog):
    study = optuna.create_study()
    study.add_trial(optuna.create_trial(value=1.0))
    wider = {"x": FloatDistribution(0, 9)}
    for x in (5.0, 8.0):
        study.add_trial(optuna.create_trial(params={"x": x}, distributions=wider, value=1.0))
    for x in (0.1, 0.2):
        added(study, x, 1.0)
    read_study(study)
    assert "3 of 5 finished trials of the study are left out" in caplog.text
    assert "2 that do not fit what its parameters are now, 1 without parameters" in caplog.text
    assert "a worker that died" not in caplog.text
