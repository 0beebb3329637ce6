"""Failures: the model learns where they are, and which of them mean nothing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.differences import assert_gradient

from hidim import Optimizer, Space, TrialState, Vector
from hidim.belief.feasibility import caution, has_place, learn_feasibility
from hidim.belief.priors import Flat
from hidim.frame import Ground, observe
from hidim.gp.fit import fit
from hidim.optim.base import Score

SPACE = Space(x=Vector(4, 0, 1))


def run(objective, trials: int, seed: int = 0) -> Optimizer:
    optimizer = Optimizer(SPACE, seed=seed, budget=trials)
    for _ in range(trials):
        trial = optimizer.ask()
        value = objective(trial.params["x"])
        optimizer.tell(trial, value) if value is not None else optimizer.fail(trial, "crashed")
    return optimizer


def learnt(points, failed):
    optimizer = Optimizer(SPACE)
    for point in points:
        if failed(point):
            optimizer.fail(_told(optimizer, point), "crashed")
        else:
            optimizer.add({"x": point}, float(point.sum()))
    seen = observe(optimizer._task, optimizer.history)
    return learn_feasibility(Flat().model(Ground(SPACE)), "flat", optimizer.history, seen, {})


def _told(optimizer, point):
    return optimizer._enter({"x": point}, {})


def chance(feasibility, point) -> float:
    return float(np.exp(feasibility.log_chance(np.atleast_2d(point)).value[0]))


def test_a_crashing_half_space_is_left_alone():
    optimizer = run(lambda x: None if x[0] > 0.7 else float(((x - 0.5) ** 2).sum()), 45)
    late = optimizer.history[22:]
    assert sum(trial.state is TrialState.FAILED for trial in late) <= 2
    assert optimizer.best.value < 1e-3


def test_an_optimum_at_the_edge_of_the_failures_is_found():
    optimizer = run(
        lambda x: None if x[0] > 0.7 else float((x[0] - 0.8) ** 2 + ((x[1:] - 0.5) ** 2).sum()), 40
    )
    assert optimizer.best.params["x"][0] == pytest.approx(0.7, abs=0.02)


def test_failures_by_chance_do_not_keep_the_search_from_the_optimum():
    rng = np.random.default_rng(0)
    optimizer = run(lambda x: None if rng.random() < 0.2 else float(((x - 0.4) ** 2).sum()), 45)
    assert optimizer.best.value < 1e-3


def test_the_chance_of_success_is_high_among_successes_and_low_among_failures():
    points = np.random.default_rng(0).random((80, 4))
    feasibility = learnt(points, lambda x: x[0] > 0.6)
    assert chance(feasibility, [0.2, 0.5, 0.5, 0.5]) > 0.9
    assert chance(feasibility, [0.9, 0.5, 0.5, 0.5]) < 0.1
    assert feasibility.hopeless.mean() > 0.8


def test_a_lone_failure_among_successes_is_an_accident():
    points = np.full((30, 4), 0.5) + 0.05 * np.random.default_rng(0).standard_normal((30, 4))
    feasibility = learnt(points, lambda x: np.array_equal(x, points[12]))
    assert not feasibility.hopeless.any()
    assert chance(feasibility, points[12]) > 0.5


def test_without_failures_there_is_nothing_to_learn():
    assert learnt(np.random.default_rng(0).random((10, 4)), lambda x: False) is None


@pytest.mark.parametrize("caution", [0.0, 0.7])
@pytest.mark.parametrize("positive", [True, False])
def test_the_weighted_score_has_the_gradient_of_its_value(positive, caution):
    feasibility = learnt(np.random.default_rng(0).random((40, 4)), lambda x: x[0] + x[1] > 1.2)

    def plain(u):
        return Score((u**2).sum(axis=1), lambda g: 2 * u * g[:, None])

    objective = feasibility._replace(caution=caution).weighted(plain, positive=positive)
    u = np.random.default_rng(1).random((5, 4))
    weights = np.arange(1.0, 6.0)
    assert_gradient(objective(u).to_inputs(weights), lambda v: float(weights @ objective(v).value), u)


def test_caution_thinks_less_of_what_is_not_known():
    feasibility = learnt(np.random.default_rng(0).random((40, 4)), lambda x: x[0] > 0.6)
    u = np.random.default_rng(1).random((50, 4))
    plain, careful = (feasibility._replace(caution=c).log_chance(u).value for c in (0.0, 1.0))
    likely = plain > np.log(0.5)
    assert np.all(careful[likely] < plain[likely])


def test_caution_grows_with_the_failures_among_the_last_suggestions():
    optimizer = run(lambda x: float(x.sum()), 20)
    levels = [caution(optimizer.history)]
    for _ in range(5):
        optimizer.fail(optimizer.ask(), "crashed")
        levels.append(caution(optimizer.history))
    assert levels[0] == 0.0
    assert levels == sorted(levels)
    assert levels[-1] == 1.0


def test_failures_have_a_place_or_not():
    points = np.random.default_rng(0).random((80, 4))
    chances = dict(zip(map(bytes, points), np.random.default_rng(1).random(80), strict=True))
    assert has_place(learnt(points, lambda x: x[0] > 0.6).posterior)
    assert not has_place(learnt(points, lambda x: chances[bytes(x)] < 0.2).posterior)


def test_labels_of_a_long_history_are_fitted_by_a_part_and_all_count(monkeypatch):
    fitted = []

    def spied(model, x, labels, *rest, **more):
        fitted.append(labels)
        return fit(model, x, labels, *rest, **more)

    monkeypatch.setattr("hidim.belief.feasibility.fit", spied)
    monkeypatch.setattr("hidim.belief.feasibility.PART", 20)
    points = np.random.default_rng(0).random((60, SPACE.dim))
    feasibility = learnt(points, lambda point: point[0] > 0.5)
    share = np.mean(points[:, 0] > 0.5)
    assert [len(labels) for labels in fitted] == [20]
    assert np.mean(fitted[0] < 0.0) == pytest.approx(share, abs=0.06)
    assert len(feasibility.posterior.y) == 60
