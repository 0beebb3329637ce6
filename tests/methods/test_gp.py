"""What is peculiar to the default method: its design, its refits, its fallback."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, Vector
from hidim.belief.inference import Inference
from hidim.belief.priors import Flat
from hidim.bench import problems as bench
from hidim.errors import NumericalError
from hidim.frame import Ground
from hidim.methods import METHODS, Method, configured

SPACE = Space(w=Vector(3, -1, 1), n=Int(1, 9))


def told(method: Method, count: int, space: Space = SPACE) -> Optimizer:
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
    history = told(configured("gp", initial=4), 8).history
    assert [t.meta["way"] == "design" for t in history] == [True] * 4 + [False] * 4
    assert {t.meta["way"] for t in history[4:]} <= {"all", "few"}


def test_hyperparameters_are_remembered_with_the_trial_that_fitted_them():
    history = told(METHODS["gp"], 30).history
    fits = {t.number: t.meta["fit"] for t in history if "fit" in t.meta}
    assert min(fits) == 10
    assert all(fit["n"] == number for number, fit in fits.items())
    assert 2 < len(fits) < 20  # on a schedule, and not with every suggestion


def test_an_outlier_between_two_fits_makes_a_fit_due():
    optimizer = told(METHODS["gp"], 60)
    optimizer.ask()
    optimizer.add({"w": [1, 1, 1], "n": 9}, 1e9)
    assert "fit" in optimizer.ask().meta


@pytest.mark.parametrize("utility", ["ei", "log-ei", "ucb"])
@pytest.mark.parametrize("inference", ["map", "slice", "slice(warm)"])
def test_other_utilities_find_the_bottom_of_a_bowl(utility, inference):
    slices = {"draws": 2} | ({"warm": True, "burn_in": 10, "growth": 0.0} if "warm" in inference else {})
    settings = {"inference": inference[:5], **slices} if "slice" in inference else {"inference": inference}
    method = configured("gp", initial=5, lengthscales="isotropic", utility=utility, **settings)
    assert told(method, 25, Space(w=Vector(2, -1, 1))).best.value < 0.01


def test_a_model_that_fails_is_replaced_by_the_design_and_says_so(caplog):
    @dataclass(frozen=True)
    class Broken(Inference):
        def fitted(self, study, rng):
            raise NumericalError("no factor")

        known = posteriors = memory = fitted

    with caplog.at_level(logging.WARNING, logger="hidim"):
        history = told(configured("gp", initial=3, inference=Broken()), 6).history
    assert [t.meta.get("fallback") for t in history] == [None] * 3 + ["no factor"] * 3
    assert "no factor" in caplog.text
    points = SPACE.encode_all([t.params for t in history])
    assert len(np.unique(points, axis=0)) == 6


def test_numbers_that_are_inactive_count_as_mid_range_and_labels_as_missing():
    space = Space(a=Choice("x", y=Space(c=Choice("p", "q"), z=Float(0, 1))))
    points = space.encode_all([{"a": "x"}, {"a": "y", "c": "q", "z": 0.1}])
    inputs = Flat().inputs(Ground(space), points)
    np.testing.assert_allclose(inputs, [[0.25, np.nan, 0.5], [0.75, 0.75, 0.1]])


def test_running_trials_are_not_nearly_the_same():
    optimizer = Optimizer(Space(x=Vector(6, 0, 1)), seed=0)
    for _ in range(50):  # until the search has settled
        trial = optimizer.ask()
        optimizer.tell(trial, float(((trial.params["x"] - 0.3) ** 2).sum()))
    batch = optimizer.ask(16)
    for place, late in enumerate(batch):  # in a window, in its coordinates
        width = min(2.0 * late.meta.get("window", 0.5), 1.0)
        for early in batch[:place]:
            assert np.abs(late.params["x"] - early.params["x"]).max() >= 1e-3 * width


def test_on_a_plateau_fewer_suggestions_change_what_does_not_matter(monkeypatch):
    """All settings of the idle labels tie with the best value so far."""
    problem = bench.problem("discrete-47")

    def ties(seed: int) -> int:
        optimizer, found, best = Optimizer(problem.space(), "gp", seed=seed), 0, np.inf
        for _ in range(50):
            trial = optimizer.ask()
            value = problem.value(trial.params)
            found, best = found + (value == best), min(best, value)
            optimizer.tell(trial, value)
        return found

    aware = sum(map(ties, range(4)))
    monkeypatch.setattr("hidim.methods.recipe.plateau", lambda scene: 0)
    assert aware < 0.85 * sum(
        map(ties, range(4))
    )  # three quarters on average, of single runs up to nine tenths


def test_a_plateau_about_the_best_point_is_left():
    """All about the centre is equally good, everything farther away equally bad."""
    for seed in range(2):
        optimizer = Optimizer(Space(x=Vector(12, 0.0, 1.0)), "gp", seed=seed)
        for _ in range(28):
            trial = optimizer.ask()
            optimizer.tell(trial, 1.0 if np.linalg.norm(trial.params["x"] - 0.5) < 0.5 else 2.0)
        suggested = [trial.value for trial in optimizer.history[10:]]
        first = suggested.index(1.0)
        assert 2.0 in suggested[first : first + 14]
