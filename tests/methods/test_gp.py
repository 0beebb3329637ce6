"""What is peculiar to the default method: its design, its refits, its fallback."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, Vector
from hidim.bench import problems as bench
from hidim.errors import NumericalError
from hidim.methods import GaussianProcess, Task, make_method
from hidim.methods.credit import WAYS, box_length, choose_way, outcomes
from hidim.methods.gp import is_plateau
from hidim.methods.surrogate import Surrogate, blanked
from hidim.trial import History, Trial

SPACE = Space(w=Vector(3, -1, 1), n=Int(1, 9))


def told(method: GaussianProcess, count: int, space: Space = SPACE) -> Optimizer:
    optimizer = Optimizer(space, method, seed=0)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, float(np.nansum((space.encode(trial.params) - 0.3) ** 2)))
    return optimizer


def test_the_first_point_is_the_centre():
    first = Optimizer(SPACE).ask()
    assert first.params["w"].tolist() == [0.0, 0.0, 0.0]
    assert first.params["n"] == 5


def test_the_design_has_as_many_points_as_it_was_told():
    history = told(GaussianProcess(initial=4), 8).history
    assert [t.meta["way"] == "design" for t in history] == [True] * 4 + [False] * 4
    assert {t.meta["way"] for t in history[4:]} <= set(WAYS)


def test_hyperparameters_are_remembered_with_the_trial_that_fitted_them():
    history = told(GaussianProcess(), 30).history
    fits = {t.number: t.meta["fit"] for t in history if "fit" in t.meta}
    assert min(fits) == 10
    assert all(fit["n"] == number for number, fit in fits.items())
    assert 2 < len(fits) < 20  # on a schedule, and not with every suggestion


def test_the_isotropic_twin_shares_one_length_scale_and_nothing_else_is_stored():
    history = told(GaussianProcess(), 14, Space(w=Vector(3, -1, 1))).history
    free, twin = next(t.meta["fit"]["thetas"] for t in reversed(history) if "fit" in t.meta)
    assert twin[2:5] == [0.0, 0.0, 0.0]  # amplitude, level, three deviations, noise
    assert len(free) == len(twin) == 6


def test_some_suggestions_are_bold():
    shares = {
        bold: np.mean([t.meta["bold"] for t in told(GaussianProcess(initial=3, bold=bold), 20).history[3:]])
        for bold in (0.0, 0.5, 1.0)
    }
    assert shares[0.0] == 0.0
    assert 0.1 < shares[0.5] < 0.9
    assert shares[1.0] == 1.0


def test_an_outlier_between_two_fits_makes_a_fit_due():
    optimizer = told(GaussianProcess(), 60)
    optimizer.ask()
    optimizer.add({"w": [1, 1, 1], "n": 9}, 1e9)
    assert "fit" in optimizer.ask().meta


@pytest.mark.parametrize("acquisition", ["ei", "ucb", "thompson"])
@pytest.mark.parametrize("inference", ["map", "slice"])
def test_other_acquisitions_find_the_bottom_of_a_bowl(acquisition, inference):
    surrogate = Surrogate(lengthscales="isotropic", inference=inference, draws=2)
    method = GaussianProcess(initial=5, surrogate=surrogate, acquisition=acquisition)
    assert told(method, 25, Space(w=Vector(2, -1, 1))).best.value < 0.01


def test_a_model_that_fails_is_replaced_by_the_design_and_says_so(caplog):
    @dataclass(frozen=True)
    class Broken(Surrogate):
        def posteriors(self, task, history, seen, noisy, rng, *, gentle=False):
            raise NumericalError("no factor")

    with caplog.at_level(logging.WARNING, logger="hidim"):
        history = told(GaussianProcess(initial=3, surrogate=Broken()), 6).history
    assert [t.meta.get("fallback") for t in history] == [None] * 3 + ["no factor"] * 3
    assert "no factor" in caplog.text
    points = SPACE.encode_all([t.params for t in history])
    assert len(np.unique(points, axis=0)) == 6


def test_inactive_columns_are_blanked_for_the_kernel():
    space = Space(a=Choice("x", y=Space(c=Choice("p", "q"), z=Float(0, 1))))
    points = blanked(space, space.encode_all([{"a": "x"}, {"a": "y", "c": "q", "z": 0.1}]))
    np.testing.assert_allclose(points, [[0.25, -1.0, 0.5], [0.75, 0.75, 0.1]])


def complete(values, way):
    return [Trial({}, i, meta={"way": way}).completed(v, i) for i, v in enumerate(values)]


def past(values, way, **kwargs):
    return outcomes(History(complete(values, way)), maximize=kwargs.get("maximize", False))


def test_the_box_shrinks_without_success_and_grows_with_it():
    start = box_length([])
    assert box_length(past([0.0] * 40, "box")) < start
    assert box_length(past(range(0, -40, -1), "box")) > start
    assert box_length(past(range(40), "box", maximize=True)) > start
    assert box_length(past([0.0] * 40, "few")) == start


def test_a_failed_trial_is_a_trial_without_success():
    failed = History([Trial({}, n, meta={"way": "box"}).failed("crash", n) for n in range(30)])
    assert outcomes(failed, maximize=False) == [("box", False)] * 30
    assert box_length(outcomes(failed, maximize=False)) < box_length([])


def test_a_way_that_brings_improvements_is_chosen_more_often_and_no_way_is_given_up():
    rng = np.random.default_rng(0)
    drawn = [choose_way(past(range(0, -30, -1), WAYS[1]), rng) for _ in range(600)]
    counts = [drawn.count(way) for way in WAYS]
    assert counts[1] == max(counts)
    assert min(counts) > 0
    even = [choose_way([], rng) for _ in range(600)]
    # Three equal shares: 200 each with a standard deviation of 11.5.
    assert all(abs(even.count(way) - 200) < 60 for way in WAYS)


def test_the_default_is_the_gaussian_process():
    task = Task(Space(x=Vector(20)))
    assert make_method("gp") == make_method("auto").chosen(task) == GaussianProcess()


def test_running_trials_are_not_nearly_the_same():
    optimizer = Optimizer(Space(x=Vector(6, 0, 1)), seed=0)
    for _ in range(60):  # until the search has settled
        trial = optimizer.ask()
        optimizer.tell(trial, float(((trial.params["x"] - 0.3) ** 2).sum()))
    batch = np.array([trial.params["x"] for trial in optimizer.ask(16)])
    distances = np.abs(batch[:, None] - batch[None]).max(axis=2)
    assert distances[np.triu_indices(16, k=1)].min() >= 1e-3


@pytest.mark.parametrize(
    ("values", "plateau"),
    [
        ([], False),
        ([1.0], False),
        ([3.0, 1.0, 2.0], False),
        ([3.0, 1.0, 1.0], False),
        ([3.0, 1.0, 1.0, 1.0], True),
        ([1.0, 1.0, 1.0, 0.5], False),
        ([1.0, 1.0, 1.0, *range(2, 11)], False),
        ([2.0, 2.0, 2.0, 1.0, 1.0], False),
    ],
)
def test_a_plateau_is_several_late_ties_with_the_best_value(values, plateau):
    for sign in (1.0, -1.0):
        trials = [Trial({}, number=i).completed(sign * v, rank=i) for i, v in enumerate(values)]
        assert is_plateau(History(trials), maximize=sign < 0) is plateau


def test_on_a_plateau_fewer_suggestions_change_what_does_not_matter(monkeypatch):
    """All settings of the idle labels tie with the best value so far."""
    problem = bench.problem("discrete-47")

    def ties() -> int:
        optimizer = Optimizer(problem.space(), "gp", seed=2)
        for _ in range(70):
            trial = optimizer.ask()
            optimizer.tell(trial, problem.value(trial.params))
        return sum(trial.value == optimizer.best.value for trial in optimizer.history)

    aware = ties()
    monkeypatch.setattr("hidim.methods.gp.is_plateau", lambda history, *, maximize: False)
    assert aware < 0.6 * ties()
