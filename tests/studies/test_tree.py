"""Which parameters depend on which choices, as trials show it."""

from __future__ import annotations

import logging
import time

import numpy as np
import optuna
import pytest

from hidim.space import Choice, Float, Int, Space
from hidim.studies import StudyReader, read_study
from hidim.studies.ranges import Ranges

optuna.logging.set_verbosity(optuna.logging.ERROR)


def random_study(objective, n, seed=0, **settings):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed), **settings)
    study.optimize(objective, n_trials=n, catch=(ArithmeticError,))
    return study


def paths(space: Space) -> dict[str, set[tuple]]:
    """Under which options each parameter stands."""
    found: dict[str, set[tuple]] = {}

    def walk(parameters, path):
        for name, parameter in parameters.items():
            found.setdefault(name, set()).add(path)
            if isinstance(parameter, Choice):
                for option in parameter.options:
                    walk(option.space, (*path, (name, option.label)))

    walk(space, ())
    return found


def test_nested_choices():
    def objective(trial):
        trial.suggest_float("always", 0, 1)
        if trial.suggest_categorical("model", ["svm", "forest"]) == "svm":
            if trial.suggest_categorical("kernel", ["rbf", "poly", "linear"]) == "rbf":
                trial.suggest_float("gamma", 1e-3, 1, log=True)
            return trial.suggest_float("C", 1e-2, 1e2, log=True)
        return trial.suggest_int("depth", 1, 30)

    space = read_study(random_study(objective, 30)).space
    assert paths(space) == {
        "always": {()},
        "model": {()},
        "kernel": {(("model", "svm"),)},
        "gamma": {(("model", "svm"), ("kernel", "rbf"))},
        "C": {(("model", "svm"),)},
        "depth": {(("model", "forest"),)},
    }
    assert space["model"].options[1].space["depth"] == Int(1, 30)


def test_a_loop_over_layers_has_one_parameter_for_every_layer():
    def objective(trial):
        trial.suggest_categorical("optimizer", ["adam", "sgd"])
        layers = trial.suggest_int("n_layers", 1, 4)
        return sum(trial.suggest_int(f"units_{i}", 4, 128, log=True) for i in range(layers))

    space = read_study(random_study(objective, 25)).space
    assert isinstance(space["n_layers"], Choice)
    assert space["n_layers"].ordered
    for layer in range(1, 4):
        under = {(("n_layers", n),) for n in range(layer + 1, 5)}
        assert paths(space)[f"units_{layer}"] == under
    assert paths(space)["units_0"] == {()}
    assert space.dim == 2 + 4  # a shared parameter has one column


def test_numbers_of_layers_that_nobody_tried_have_the_layers_below():
    def objective(trial):
        layers = trial.suggest_int("n_layers", 0, 20)
        return sum(trial.suggest_float(f"w_{i}", 0, 1) for i in range(layers))

    study = optuna.create_study()
    for layers in (0, 2, 6):
        study.enqueue_trial({"n_layers": layers})
    study.optimize(objective, n_trials=3)
    found = paths(read_study(study).space)
    assert found["w_1"] == {(("n_layers", n),) for n in range(1, 21)}  # whether 1 has it is not known
    assert found["w_4"] == {(("n_layers", n),) for n in range(3, 21)}


def test_what_depends_on_two_choices_stands_under_one_of_them_and_no_trial_is_lost():
    def objective(trial):
        kind = trial.suggest_categorical("kind", ["a", "b", "c", "d"])
        switch = trial.suggest_categorical("switch", [True, False])
        x = trial.suggest_float("x", 0, 1)
        return x + (trial.suggest_float("both", 0, 1) if kind == "a" and switch else 0)

    reading = read_study(random_study(objective, 40))
    assert paths(reading.space)["both"] == {(("kind", "a"),)}
    assert len(reading.history.complete) == 40


def test_what_depends_on_a_number_stands_at_the_root():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        return x if x < 0.5 else trial.suggest_float("y", 0, 1)

    reading = read_study(random_study(objective, 20))
    assert set(reading.space) == {"x", "y"}
    assert len(reading.history.complete) == 20


def test_failed_trials_do_not_hide_what_they_did_not_come_to():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        trial.suggest_categorical("kind", ["a", "b"])
        if x < 0.3:
            raise ArithmeticError
        return x + trial.suggest_float("late", 0, 1)

    reading = read_study(random_study(objective, 20))
    assert paths(reading.space)["late"] == {()}


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_trials_and_of_reading_does_not_matter(seed):
    def objective(trial):
        for i in range(trial.suggest_int("n", 1, 3)):
            if trial.suggest_categorical(f"kind_{i}", ["a", "b"]) == "a":
                trial.suggest_float(f"p_{i}", 0, 1)
        return 1.0

    trials = random_study(objective, 20, seed).get_trials()
    at_once = StudyReader().read(trials, maximize=False)
    reader = StudyReader()
    for place in np.random.default_rng(seed).permutation(20):
        piecewise = reader.read([*trials[place : place + 1]], maximize=False)
    assert piecewise.fingerprint == at_once.fingerprint
    assert list(piecewise.history) == list(at_once.history)


def test_categories_that_are_no_labels_are_told_apart():
    study = random_study(lambda t: float(t.suggest_categorical("kind", [1, True, None, 1.5]) or 0), 5)
    assert read_study(study).space["kind"].labels == ("1", "True", None, 1.5)


def test_ranges_that_were_changed_count_as_they_are_now(caplog):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 10), n_trials=10)
    study.optimize(lambda trial: trial.suggest_float("x", 4, 6), n_trials=3)
    with caplog.at_level(logging.WARNING, "hidim"):
        reading = read_study(study)
    assert reading.space["x"] == Float(4, 6)
    inside = [t.number for t in study.trials if 4 <= t.params["x"] <= 6]
    assert [t.number for t in reading.history] == inside
    assert f"{13 - len(inside)} of 13 finished trials of the study are left out" in caplog.text


def test_ranges_that_change_all_the_time_count_as_a_whole():
    def objective(trial):
        high = trial.suggest_int("high", 2, 30)
        return trial.suggest_int("low", 1, high)

    reading = read_study(random_study(objective, 20))
    assert reading.space["low"].low == 1
    assert reading.space["low"].high > 20
    assert len(reading.history.complete) == 20


def test_steps():
    def objective(trial):
        return trial.suggest_float("x", 0, 1, step=0.1) + trial.suggest_int("n", 2, 20, step=3)

    reading = read_study(random_study(objective, 20))
    assert reading.space["x"] == Float(0, 1, step=0.1)
    assert reading.space["n"] == Float(2, 20, step=3)
    assert len(reading.history.complete) == 20


def chain(depth):
    """Operations one after the other, until one is the last."""

    def objective(trial):
        names = iter(range(depth))
        while (i := next(names, None)) is not None:
            if trial.suggest_categorical(f"op_{i}", ["conv", "pool", "skip", "stop"]) == "stop":
                break
            trial.suggest_float(f"w_{i}", 0, 1)
        return 1.0

    return objective


def test_a_chain_that_goes_on_under_several_options_is_written_down_as_far_as_that_can_be(caplog):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    for depth in range(13):
        for op in ("conv", "pool", "skip"):
            study.enqueue_trial({f"op_{i}": op if i < depth else "stop" for i in range(12)})
    study.optimize(chain(12), n_trials=39)  # 3**12 paths lead to its end
    reading = read_study(study)
    assert set(paths(reading.space)) == {f"{kind}_{i}" for kind in ("op", "w") for i in range(12)}
    assert sum(map(len, paths(reading.space).values())) <= 2_000
    assert paths(reading.space)["w_1"] == {
        (("op_0", a), ("op_1", b)) for a in ("conv", "pool", "skip") for b in ("conv", "pool", "skip")
    }
    assert len(reading.history.complete) == 39
    assert "too large to be written down" in caplog.text


def test_choices_under_choices_without_end_are_no_end_of_the_study():
    def objective(trial):
        i = 0
        while i < 80 and trial.suggest_categorical(f"more_{i}", [True, False]):
            i += 1
        return float(i)

    study = optuna.create_study()
    for depth in range(81):
        study.enqueue_trial({f"more_{i}": i < depth for i in range(80)})
    study.optimize(objective, n_trials=81)
    assert len(read_study(study).history.complete) == 81


def test_integers_without_number_are_no_choices():
    study = random_study(lambda trial: trial.suggest_int("n", 0, 10**30) * 1e-30, 5)
    assert len(read_study(study).history.complete) == 5


def test_trials_with_another_value_of_what_is_fixed_now_are_left_out():
    def objective(trial):
        low, high = (0, 1) if trial.number < 8 else (0.5, 0.5)
        return trial.suggest_float("x", low, high) + trial.suggest_float("y", 0, 1)

    reading = read_study(random_study(objective, 11))
    assert list(reading.space) == ["y"]
    assert [trial.number for trial in reading.history] == [8, 9, 10]


def test_a_range_that_is_new_in_every_trial_is_read_in_no_time():
    distributions = [optuna.distributions.FloatDistribution(0, 1 + i) for i in range(3000)]
    ranges = Ranges()
    began = time.process_time()
    for number, distribution in enumerate(distributions):
        ranges.add(number, distribution)
    assert ranges.whole.high == 3000
    assert time.process_time() - began < 0.5
