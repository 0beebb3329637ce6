"""hidim as a sampler of Optuna."""

from __future__ import annotations

import json
import logging
import math
import pickle
import sqlite3
import subprocess
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState as State
from optuna.trial import create_trial

import hidim
from hidim import METHODS, Choice, Float, Int, Space
from hidim.errors import HidimError, MethodError, SpaceError
from hidim.integrations.optuna import from_study, to_study, turns
from hidim.integrations.optuna.advice import Advice
from hidim.studies import read_study
from hidim.studies.notes import FIRST

optuna.logging.set_verbosity(optuna.logging.ERROR)

X = {"x": FloatDistribution(0, 1)}


def tree(trial):
    """The best leaf is a/c, with p = 0.2 and r = 0."""
    if trial.suggest_categorical("one", ["a", "b"]) == "a":
        bottom = 0.0 if trial.suggest_categorical("two", ["c", "d"]) == "c" else 0.1
        return bottom + (trial.suggest_float("p", -1, 1) - 0.2) ** 2 + trial.suggest_float("r", 0, 1)
    return 0.3 + trial.suggest_float("q", -1, 1) ** 2 + trial.suggest_int("n", 1, 9) / 10


def journal(path):
    return JournalStorage(JournalFileBackend(str(path)))


def run(objective, n, sampler, **settings):
    study = optuna.create_study(sampler=sampler, **settings)
    study.optimize(objective, n_trials=n, catch=(ArithmeticError,))
    return study


def params(study):
    return [trial.params for trial in study.trials]


def test_a_tree_that_was_never_declared_is_searched_to_its_bottom():
    study = run(tree, 28, hidim.OptunaSampler(seed=0))
    assert study.best_params["one"] == "a"
    assert study.best_value < 1e-4


def test_large_values_can_be_good():
    study = run(
        lambda t: -((t.suggest_float("x", 0, 1) - 0.3) ** 2),
        15,
        hidim.OptunaSampler(seed=0),
        direction="maximize",
    )
    assert study.best_params["x"] == pytest.approx(0.3, abs=0.02)


def test_another_process_goes_on_as_this_one_would_have(tmp_path):
    whole = run(tree, 13, hidim.OptunaSampler(seed=5))
    path = tmp_path / "study"
    optuna.create_study(study_name="tree", storage=journal(path))
    code = (
        "import sys, optuna, hidim; from integrations.test_optuna import journal, tree;"
        "sampler = hidim.OptunaSampler(seed=5);"
        "study = optuna.load_study(study_name='tree', storage=journal(sys.argv[1]), sampler=sampler);"
        "study.optimize(tree, n_trials=2)"
    )
    here = optuna.load_study(study_name="tree", storage=journal(path), sampler=hidim.OptunaSampler(seed=5))
    here.optimize(tree, n_trials=11)
    subprocess.run([sys.executable, "-c", code, path], check=True, cwd=Path(__file__).parents[1])
    assert params(optuna.load_study(study_name="tree", storage=journal(path))) == params(whole)


def test_copies_by_pickle_suggest_the_same():
    study = run(tree, 14, hidim.OptunaSampler(seed=1))
    copied = pickle.loads(pickle.dumps(study))
    study.optimize(tree, n_trials=2)
    copied.optimize(tree, n_trials=2)
    assert params(copied) == params(study)


def test_samplers_without_a_seed_share_that_of_the_study():
    study = run(tree, 12, hidim.OptunaSampler())
    copied = pickle.loads(pickle.dumps(study))
    study.sampler = hidim.OptunaSampler()
    study.optimize(tree, n_trials=1)
    copied.optimize(tree, n_trials=1)
    assert params(copied) == params(study)


def test_a_new_parameter_is_drawn_at_random_and_that_is_said_once(caplog):
    study = run(lambda t: t.suggest_float("x", 0, 1), 12, hidim.OptunaSampler(seed=0))
    with caplog.at_level(logging.WARNING, "hidim"):
        study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_float("late", 0, 1), n_trials=4)
    assert caplog.text.count("trial 12 is the first with late, drawn at random") == 1
    assert caplog.text.count("late") == 1
    assert study.trials[12].params.keys() == {"x", "late"}


def test_the_first_trial_says_nothing(caplog):
    run(tree, 1, hidim.OptunaSampler(seed=0))
    assert not caplog.records


def test_values_out_of_a_narrower_range_become_the_nearest(caplog):
    sampler = hidim.OptunaSampler(seed=0, space=Space(x=Float(5, 10), n=Int(1, 9)))
    study = optuna.create_study(sampler=sampler)
    trial = study.ask()
    assert trial.suggest_float("x", 0, 2) == 2.0
    assert "'x' has another range now" in caplog.text


def test_a_given_space_is_used_from_the_first_trial_on():
    space = Space(
        layers=Choice({1: None, 2: Space(units=Int(4, 64, log=True))}, ordered=True),
        x=Float(0, 1),
        on=Choice(True, False),
    )

    def objective(trial):
        layers = trial.suggest_int("layers", 1, 2)
        size = trial.suggest_int("units", 4, 64, log=True) if layers == 2 else 8
        return (
            layers
            + math.log(size)
            + trial.suggest_float("x", 0, 1)
            + trial.suggest_categorical("on", [True, False])
        )

    study = run(objective, 14, hidim.OptunaSampler(space=space, seed=0, budget=14))
    alone = hidim.Optimizer(space, seed=0, budget=14)
    for trial in study.trials:
        asked = alone.ask()
        assert asked.params == trial.params
        alone.tell(asked, trial.value)


def test_labels_that_the_objective_does_not_have_are_named():
    study = optuna.create_study(sampler=hidim.OptunaSampler(space=Space(kind=Choice("a", "b")), seed=0))
    with pytest.raises(SpaceError, match="one of \\('x', 'y'\\): give both the same labels"):
        study.ask().suggest_categorical("kind", ["x", "y"])


def test_numbers_and_labels_are_not_taken_for_each_other():
    study = optuna.create_study(sampler=hidim.OptunaSampler(space=Space(kind=Choice("a", "b")), seed=0))
    with pytest.raises(SpaceError, match=r"a number from 0\.0 to 1\.0: give both the same kind"):
        study.ask().suggest_float("kind", 0, 1)


def test_a_number_in_the_place_of_the_method_is_taken_for_a_seed_that_lost_its_name():
    with pytest.raises(MethodError, match=r"OptunaSampler\(seed=42\)"):
        hidim.OptunaSampler(42)


def test_explain_says_how_many_trials_were_pruned():
    study = optuna.create_study()
    for value in (1.0, 2.0):
        study.add_trial(optuna.create_trial(value=value))
    study.add_trial(optuna.create_trial(state=optuna.trial.TrialState.PRUNED, intermediate_values={1: 3.0}))
    study.add_trial(optuna.create_trial(state=optuna.trial.TrialState.PRUNED))
    insight = pickle.loads(pickle.dumps(hidim.Insight.from_study(study)))
    assert "4 trials (3 complete, 1 failed)" in insight.explain()
    assert "Pruned: 1 of the complete ones" in insight.explain()


def test_a_given_space_that_is_wider_than_the_objective_is_said(caplog):
    run(lambda t: t.suggest_float("x", 0, 1), 4, hidim.OptunaSampler(space=Space(x=Float(-9, 9)), seed=0))
    assert caplog.text.count("'x' has another range now") == 1


def test_what_is_drawn_at_random_is_said_as_it_is(caplog):
    run(lambda t: t.suggest_float("x", 0, 1), 2, hidim.OptunaSampler(space=Space(lr=Float(0, 1)), seed=0))
    assert caplog.text.count("'x' is not in the given space") == 1
    caplog.clear()
    study = run(tree, 20, optuna.samplers.RandomSampler(seed=0))
    study.sampler = hidim.OptunaSampler(seed=0)
    study.ask().suggest_categorical("one", ["a", "b"])
    for one, name in (("a", "p"), ("b", "q")):  # whichever the sampler would choose
        study.enqueue_trial({"one": one})
        study.ask().suggest_float(name, -1, 1)
    assert caplog.text.count("was not expected in trial") == 1
    assert "no finished trial had" not in caplog.text


@pytest.mark.filterwarnings("ignore:Choices for a categorical")
def test_tuples_are_suggested_from_any_storage(tmp_path):
    """Storages give lists for them, which Optuna does not take for the same."""
    sizes = [(64, 32), (8,)]

    def objective(trial):
        return sizes.index(trial.suggest_categorical("sizes", sizes)) + trial.suggest_float("x", 0, 1)

    for space in (None, Space(sizes=Choice(*sizes), x=Float(0, 1))):
        study = run(
            objective,
            4,
            hidim.OptunaSampler(space=space, seed=0),
            storage=journal(tmp_path / f"{space is None}"),
        )
        assert len(study.get_trials(states=[optuna.trial.TrialState.COMPLETE])) == 4


def test_a_study_that_was_deleted_is_forgotten(tmp_path):
    """SQLite gives its number to the next one."""
    storage, sampler = optuna.storages.get_storage(f"sqlite:///{tmp_path}/s.db"), hidim.OptunaSampler()
    first = optuna.create_study(storage=storage, sampler=sampler)
    first.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=2)
    optuna.delete_study(study_name=first.study_name, storage=storage)
    second = optuna.create_study(storage=storage, sampler=sampler, direction="maximize")
    assert second._study_id == first._study_id
    second.optimize(lambda t: t.suggest_float("y", 0, 1), n_trials=3)
    copied = optuna.load_study(
        study_name=second.study_name, storage=f"sqlite:///{tmp_path}/s.db", sampler=hidim.OptunaSampler()
    )
    for study in (second, copied):
        study.ask({"y": FloatDistribution(0, 1)})
        assert set(study.sampler._advice(study)._reader.names) == {"y"}
    assert storage.get_study_system_attrs(second._study_id)["hidim:seed"] == sampler._advice(second)._seed


def test_damaged_attributes_are_no_end_of_a_study(tmp_path):
    study = run(
        lambda t: t.suggest_float("x", 0, 1), 2, hidim.OptunaSampler(), storage=journal(tmp_path / "s")
    )
    lost = study.ask()
    study._storage.set_trial_system_attr(lost._trial_id, turns.TURN, "next")
    study._storage.set_study_system_attr(study._study_id, "hidim:seed", "none")
    study.sampler = hidim.OptunaSampler()
    study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)
    assert study.trials[-1].state.name == "COMPLETE"


LOG, N = FloatDistribution(1e-3, 1, log=True), IntDistribution(0, 9)
AB, BC = CategoricalDistribution(("a", "b")), CategoricalDistribution(("b", "c"))


@pytest.mark.parametrize(
    ("trials", "now", "known"),
    [
        ([(LOG, 0.5), (X["x"], 0.0), (LOG, 0.25)], LOG, [0.5, 0.25]),
        ([(X["x"], 0.0), (LOG, 0.5)], X["x"], [0.0, 0.5]),
        ([(FloatDistribution(0, 9), 0.5), (N, 3), (FloatDistribution(0, 9), 4.0)], N, [3, 4]),
        ([(AB, "a"), (BC, "b"), (AB, "b")], BC, ["b", "b"]),
        ([(AB, "a"), (X["x"], 0.5)], AB, ["a"]),
        ([(X["x"], 0.25), (FloatDistribution(0, math.inf), 0.5)], X["x"], [0.25, 0.5]),
    ],
)
def test_a_parameter_is_of_the_kind_that_it_is_now(trials, now, known, caplog):
    """What fits of trials in which it was another one is known: Optuna lets these be added."""
    study = optuna.create_study(sampler=hidim.OptunaSampler(seed=0))
    for distribution, value in trials:
        study.add_trial(create_trial(params={"x": value}, distributions={"x": distribution}, value=1.0))
    for _ in range(4):
        study.tell(study.ask({"x": now}), 2.0)
    endless = sum(getattr(distribution, "high", 0) == math.inf for distribution, _ in trials)
    assert caplog.text.count("the range of 'x' in trial 1 is passed over") == endless
    assert [t.params["x"] for t in read_study(study).history if t.value == 1.0] == known


def test_attributes_and_notes_that_make_no_sense_are_passed_over_and_that_is_said_once(caplog):
    def objective(trial):
        return trial.suggest_float("x", 0, 1) + trial.suggest_float("y", 0, 1)

    study = run(objective, 4, hidim.OptunaSampler("baxus", seed=0))
    known = json.loads(study.trials[-1].system_attrs[FIRST]["text"])
    for change in ({"doublings": 10**30}, {"y": "abc"}, {"y": []}):
        text = json.dumps(known | {"meta": known["meta"] | change})
        note = {"pieces": 1, "crc": zlib.crc32(text.encode()), "text": text}
        study.add_trial(create_trial(state=State.RUNNING, system_attrs={FIRST: note, "fixed_params": None}))
    retried = {"retry_history": None}
    study.add_trial(create_trial(params={"x": 0.5}, distributions=X, value=1.0, system_attrs=retried))
    study.optimize(objective, n_trials=4)
    for said in (
        "noted with trial 4 is damaged",
        "fixed_params of trial 4 is passed over",
        "retry_history of trial 7 is passed over",
    ):
        assert caplog.text.count(said) == 1
    assert "trial 5" not in caplog.text


def test_rows_that_are_gone_are_no_end_of_a_study(tmp_path, caplog):
    url, sampler = f"sqlite:///{tmp_path}/s.db", hidim.OptunaSampler("random", seed=0)
    run(tree, 5, sampler, storage=url, study_name="s")
    with closing(sqlite3.connect(tmp_path / "s.db")) as tables, tables:
        tables.execute("DELETE FROM trial_values WHERE trial_id = 2")
        tables.execute("DELETE FROM trial_params WHERE trial_id = 3")
        tables.execute("UPDATE trials SET datetime_complete = NULL WHERE trial_id = 4")
    study = optuna.load_study(study_name="s", storage=url, sampler=sampler)
    study.optimize(tree, n_trials=2)
    about = "3 of 5 finished trials of the study are left out: 2 without a value or the time of their end"
    assert caplog.text.count(about) == 1
    assert [trial.number for trial in read_study(study).history] == [0, 4, 5, 6]


def test_baxus_suggests_while_others_are_enqueued():
    study = optuna.create_study(sampler=hidim.OptunaSampler("baxus", seed=0))
    space = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}
    study.tell(study.ask(space), 1.0)
    for place in range(5):
        study.enqueue_trial({"x": place / 5} | ({"y": 0.5} if place else {}))
    assert study.ask(space).params["x"] == 0.0
    assert len(study.trials[1].params) == 2


def test_failures_are_learnt_from():
    def objective(trial):
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        if x > 0.5:
            raise ArithmeticError("too large")
        return (x - 0.45) ** 2 + (y - 0.5) ** 2

    study = run(objective, 30, hidim.OptunaSampler(seed=2))
    late = [trial.state.name for trial in study.trials[15:]]
    assert late.count("FAIL") <= 3  # of 15, half of which random ones would be
    assert study.best_value < 1e-3


def test_trials_whose_worker_died_are_no_failures_of_the_objective():
    study = optuna.create_study(sampler=hidim.OptunaSampler(seed=0))
    first = study.ask()  # before anything is known
    study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=3)
    lost, failed = study.ask(), study.ask()
    for trial in (first, lost, failed):
        trial.suggest_float("x", 0, 1)
    for trial in (first, lost):
        study._storage.set_trial_state_values(
            trial._trial_id, optuna.trial.TrialState.FAIL
        )  # as heartbeats do
    study.tell(failed, state=optuna.trial.TrialState.FAIL)
    assert [trial.number for trial in read_study(study).history.failed] == [failed.number]


def test_what_others_are_about_to_evaluate_is_not_suggested_again(tmp_path):
    """Their trial has no parameters yet, as long as its objective has not asked for any."""
    storage = journal(tmp_path / "study")
    space = {"n": IntDistribution(0, 3), "m": IntDistribution(0, 3)}
    one = optuna.create_study(study_name="s", storage=storage, sampler=hidim.OptunaSampler(seed=0))
    for _ in range(3):
        trial = one.ask(space)
        one.tell(trial, float(trial.params["n"] + trial.params["m"]))
    suggested = []
    for _ in range(8):
        worker = optuna.load_study(study_name="s", storage=storage, sampler=hidim.OptunaSampler(seed=0))
        trial = worker.ask()
        worker.sampler.infer_relative_search_space(worker, trial._cached_frozen_trial)
        found = worker.sampler.sample_relative(worker, trial._cached_frozen_trial, space)
        suggested.append(tuple(found.values()))
    assert len(set(suggested)) == 8


def test_who_asks_at_the_same_time_waits_for_the_others(tmp_path, monkeypatch):
    storage = journal(tmp_path / "study")
    study = optuna.create_study(
        study_name="s", storage=storage, sampler=hidim.OptunaSampler("random", seed=0)
    )
    space = {"n": IntDistribution(0, 9), "m": IntDistribution(0, 9)}
    study.tell(study.ask(space), 1.0)
    # All of them draw the same, unless they see that somebody else has.
    made = Advice._suggestion
    monkeypatch.setattr(Advice, "_suggestion", lambda self, reading, number: made(self, reading, 99))
    start = threading.Barrier(4)

    def worker(_):
        own = optuna.load_study(
            study_name="s", storage=storage, sampler=hidim.OptunaSampler("random", seed=0)
        )
        start.wait()
        return tuple(own.ask(space).params.values())

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(worker, range(4)))) == 4


def test_nobody_waits_long_for_a_worker_that_died_while_it_thought(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(turns, "PATIENCE", 0.2)
    storage = journal(tmp_path / "study")
    study = optuna.create_study(study_name="s", storage=storage, sampler=hidim.OptunaSampler(seed=0))
    study.tell(study.ask(X), 1.0)
    dead = study.ask()
    study._storage.set_trial_system_attr(dead._trial_id, turns.TURN, 0)
    for _ in range(2):
        study.ask(X)
    assert caplog.text.count("no longer waits for the suggestion of trial 1") == 1


def test_a_refusal_ends_the_turn(tmp_path, monkeypatch):
    study = optuna.create_study(storage=journal(tmp_path / "study"), sampler=hidim.OptunaSampler(seed=0))
    study.tell(study.ask(X), 1.0)

    def refuse(*_):
        raise MethodError("no")

    monkeypatch.setattr(Advice, "_suggestion", refuse)
    with pytest.raises(MethodError):
        study.ask(X)
    assert study.trials[-1].system_attrs[turns.TURN] == turns.NONE


def test_fixed_parameters_of_enqueued_trials_stay():
    study = optuna.create_study(sampler=hidim.OptunaSampler(seed=0))
    study.enqueue_trial({"one": "b", "q": 0.5})
    study.optimize(tree, n_trials=12)
    assert study.trials[0].params["q"] == 0.5
    study.enqueue_trial({"one": "b", "q": 0.25})
    study.optimize(tree, n_trials=1)
    assert study.trials[-1].params["q"] == 0.25


def test_a_study_that_began_with_another_sampler_goes_on():
    study = run(tree, 30, optuna.samplers.RandomSampler(seed=0))
    study.sampler = hidim.OptunaSampler(seed=0)
    study.optimize(tree, n_trials=12)
    assert study.best_trial.number >= 30
    assert study.best_value < 1e-2


def test_pruned_trials_are_learnt_from():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        for step in range(5):
            trial.report((x - 0.7) ** 2 + 1 / (step + 1), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return (x - 0.7) ** 2 + 0.2

    study = run(
        objective, 30, hidim.OptunaSampler(seed=0), pruner=optuna.pruners.MedianPruner(n_startup_trials=3)
    )
    pruned = [t for t in study.trials if t.state.name == "PRUNED"]
    assert pruned
    assert {t.number for t in pruned} <= {t.number for t in read_study(study).history.complete}
    assert study.best_params["x"] == pytest.approx(0.7, abs=0.05)


def test_threads_share_a_sampler():
    study = optuna.create_study(sampler=hidim.OptunaSampler(seed=0))
    study.optimize(tree, n_trials=16, n_jobs=4)
    assert len(study.trials) == 16
    assert all(trial.state.name == "COMPLETE" for trial in study.trials)


def test_constraints_are_refused_with_what_to_do_instead():
    with pytest.raises(MethodError, match=r"raise optuna\.TrialPruned where one is broken"):
        hidim.OptunaSampler(constraints_func=lambda trial: [0.0])
    study = optuna.create_study(sampler=hidim.OptunaSampler())
    study.add_trial(optuna.create_trial(value=1.0, system_attrs={"constraints": [0.5]}))
    with pytest.raises(MethodError, match="the study has constraints"):
        study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)


@pytest.mark.parametrize(
    ("settings", "about"),
    [
        ({"method": "no-such"}, "no-such"),
        ({"seed": -1}, "seed must be"),
        ({"budget": 0}, "budget"),
        ({"space": Space(w=hidim.Vector(3))}, "no vectors: replace 'w'"),
        ({"space": {"x": 1}}, r"must be a hidim\.Space"),
        ({"noisy": "yes"}, "noisy"),
    ],
)
def test_what_does_not_go_together_is_refused_at_once(settings, about):
    with pytest.raises(HidimError, match=about):
        hidim.OptunaSampler(**settings)


# Those that sample hyperparameters take seconds, and remember nothing that others do not.
@pytest.mark.parametrize("method", sorted(METHODS.keys() - {"bock", "matern-slice"}))
def test_every_method_reads_in_a_storage_what_it_has_remembered(method, tmp_path):
    distributions = {f"x{k}": FloatDistribution(-1, 1) for k in range(3)}

    def ask():
        sampler = hidim.OptunaSampler(method, seed=0)
        study = optuna.load_study(study_name="s", storage=journal(tmp_path / "study"), sampler=sampler)
        return study, study.ask(distributions)

    optuna.create_study(study_name="s", storage=journal(tmp_path / "study"))
    alone = hidim.Optimizer(Space({name: Float(-1, 1) for name in distributions}), method, seed=0)
    for place in range(13 if method in ("auto", "baxus", "rembo", "rpp-gp") else 4):
        study, trial = ask()
        asked = alone.ask().params if place else alone.add(trial.params).params
        assert trial.params == asked
        value = sum(v**2 for v in asked.values())
        study.tell(trial, value)
        alone.tell(place, value)


# -- there and back ----------------------------------------------------------------------------------------


def optimizer_of_a_tree(n=14):
    space = Space(
        kind=Choice(a=Space(p=Float(-1, 1)), b=Space(n=Int(1, 9))),
        x=Float(1e-3, 1, log=True),
        s=Float(0, 1, step=0.25),
    )
    optimizer = hidim.Optimizer(space, seed=3)
    for _ in range(n):
        trial = optimizer.ask()
        values = trial.params
        if values["kind"] == "b" and values["n"] == 9:
            optimizer.fail(trial, "nine")
        else:
            optimizer.tell(trial, values["x"] + values.get("p", 1) ** 2, attributes={"fold": 1})
    return optimizer


def test_a_run_becomes_a_study_in_which_the_sampler_goes_on_with_it(tmp_path):
    optimizer = optimizer_of_a_tree()
    study = to_study(optimizer, storage=f"sqlite:///{tmp_path}/study.db", study_name="moved")
    assert [trial.params for trial in study.trials] == [trial.params for trial in optimizer.history]
    assert study.best_value == optimizer.best.value
    assert study.trials[0].user_attrs == {"fold": 1}
    study.sampler = hidim.OptunaSampler(space=optimizer.space, seed=3)
    distributions = {**study.trials[0].distributions}
    trial = study.ask()
    asked = optimizer.ask().params
    for trial_before in study.trials[:-1]:
        distributions |= trial_before.distributions
    found = {name: trial._suggest(name, distributions[name]) for name in asked}
    assert found == asked


def test_a_study_becomes_an_optimizer_and_a_journal(tmp_path):
    study = run(tree, 20, optuna.samplers.RandomSampler(seed=0))
    optimizer = from_study(study, seed=1)
    assert optimizer.best.value == study.best_value
    assert len(optimizer.history) == 20
    optimizer.save(tmp_path / "run.jsonl")
    back = to_study(tmp_path / "run.jsonl")
    assert params(back) == params(study)
    assert [t.value for t in back.trials] == [t.value for t in study.trials]


def test_vectors_become_floats_and_running_trials_are_enqueued():
    optimizer = hidim.Optimizer(Space(w=hidim.Vector(3, -1, 1), size=Choice((1, 2), "small")), maximize=True)
    optimizer.add({"w": [0.0, 0.5, 1.0], "size": (1, 2)}, 3.0)
    waiting = optimizer.ask()
    study = to_study(optimizer)
    assert study.direction.name == "MAXIMIZE"
    assert study.best_params == {"w[0]": 0.0, "w[1]": 0.5, "w[2]": 1.0, "size": "(1, 2)"}
    assert study.trials[1].state.name == "WAITING"
    assert study.ask().suggest_float("w[2]", -1, 1) == waiting.params["w"][2]


def test_tuples_come_back_to_a_space_that_has_them():
    optimizer = hidim.Optimizer(Space(size=Choice((1, 2), "small"), x=Float(0, 1)), seed=0)
    for value in range(4):
        optimizer.tell(optimizer.ask(), float(value))
    back = from_study(to_study(optimizer), optimizer.space)
    assert [dict(trial.params) for trial in back.history] == [
        dict(trial.params) for trial in optimizer.history
    ]


def test_studies_that_cannot_take_a_run_say_why():
    optimizer = hidim.Optimizer(Space(x=Float(0, 1)))
    with pytest.raises(MethodError, match="wants to minimize"):
        to_study(optimizer, optuna.create_study(direction="maximize"))
    with pytest.raises(MethodError, match="storage would be for a new one"):
        to_study(optimizer, optuna.create_study(), storage="sqlite://")
    with pytest.raises(MethodError, match="leave direction out"):
        to_study(optimizer, direction="minimize")
    with pytest.raises(SpaceError, match="at most 1000"):
        to_study(hidim.Optimizer(Space(w=hidim.Vector(10**6))))
    with pytest.raises(SpaceError, match="no trial of the study has finished"):
        from_study(optuna.create_study())


def test_insight_of_a_study():
    study = run(tree, 30, optuna.samplers.RandomSampler(seed=0))
    insight = hidim.Insight.from_study(study)
    assert insight.best.value == study.best_value
    assert "one" in insight.importance()
    assert insight.branches()["one=a"].complete == sum(t.params["one"] == "a" for t in study.trials)
    figure = (
        hidim.plot.slices(insight, "r")
        if insight.best.params["one"] == "a"
        else hidim.plot.slices(insight, "q")
    )
    assert len(figure.axes) == 1
    assert [a.get_title(loc="left") for a in hidim.plot.overview(insight).axes][:2] == [
        "Convergence",
        "Importance",
    ]


def test_ranges_of_distributions_that_only_optuna_has(tmp_path):
    study = optuna.create_study(sampler=hidim.OptunaSampler(seed=0))
    for _ in range(12):
        trial = study.ask({"huge": IntDistribution(0, 2**50), "fine": FloatDistribution(0, 1, step=1e-15)})
        assert isinstance(trial.params["huge"], int)
        study.tell(trial, trial.params["huge"] * 1e-15 + trial.params["fine"])
    assert np.isfinite(study.best_value)
