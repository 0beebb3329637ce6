"""Elastic GP as a method, and its search as a part of others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, Vector, minimize
from hidim.belief.priors import Flat
from hidim.errors import MethodError
from hidim.gp import posterior as gp_posterior
from hidim.gp.kernels import Polynomial, Scaled
from hidim.gp.maps import Direction
from hidim.gp.model import Model
from hidim.insight import Insight
from hidim.methods import METHODS, configured
from hidim.trial import History, Trial

SPACE = Space(x=Vector(12, -1, 1))
QUICK = {"lanes": 6, "evaluations": 300}


def bowl(params) -> float:
    return float(((params["x"] - 0.3) ** 2).sum())


def told(method, count: int, space: Space = SPACE, value=bowl, seed: int = 0) -> Optimizer:
    optimizer = Optimizer(space, method, seed=seed)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, value(trial.params))
    return optimizer


def test_the_method_has_the_papers_settings():
    """SE with one length-scale of 0.1, EI, and d + 1 points that do not begin at the centre."""
    method = METHODS["elastic"]
    optimizer = told(configured(method, **QUICK), 14)
    ways = [trial.meta["way"] for trial in optimizer.history]
    assert ways == ["design"] * 13 + ["elastic"]
    assert not any(np.allclose(trial.params["x"], 0.0) for trial in optimizer.history)
    fit = optimizer.history[-1].meta["fit"]
    assert fit["outcome"] == "identity"
    assert fit["thetas"][0][1] == pytest.approx(math.log(0.1))  # after the amplitude
    assert not method.utility.logarithm
    assert method.prior.form == "se"


def test_on_flat_ground_it_finds_what_a_plain_search_does_not():
    """One and the same acquisition function: most walks begin on flat ground, and end at a better point."""
    space = Space(x=Vector(25, -1, 1))
    elastic, plain = (
        told(configured("elastic", longest=longest, evaluations=300), 50, space).best.value
        for longest in (100.0, 1.0)
    )
    assert elastic < plain


def test_what_was_found_out_is_in_the_meta_and_explained():
    optimizer = told(configured("elastic", **QUICK), 20)
    walk = optimizer.history[-1].meta["elastic"]
    assert walk["flat"] > 0.5
    assert walk["path"][-1] == 1.0
    assert max(walk["path"]) > 1.5
    assert 0 < walk["evaluations"] <= 300
    text = Insight(SPACE, optimizer.history).explain()
    assert "of the starts were on flat ground; the best walks came down from" in " ".join(text.split())
    sloping = told(configured("gp", search="elastic", **QUICK), 16)
    assert "a plain search would do" in " ".join(Insight(SPACE, sloping.history).explain().split())


def test_a_factor_is_computed_once_for_a_length_scale_and_then_extended(monkeypatch):
    made = []
    original = gp_posterior.factorise

    def counting(model, theta, x, variances=None):
        made.append((float(theta[0]), float(theta[1]), len(x)))
        return original(model, theta, x, variances)

    monkeypatch.setattr(gp_posterior, "factorise", counting)
    optimizer = told(configured("elastic", growth=10.0, **QUICK), 14)
    assert len(made) == len(set(made)) > 1
    first = {entry[:2] for entry in made}
    made.clear()
    for _ in range(5):
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(trial.params))
    assert not first & {
        entry[:2] for entry in made
    }  # of what was known already, nothing was factorised again


def test_forgotten_factors_change_nothing():
    optimizer, again = (told(configured("elastic", **QUICK), 18) for _ in range(2))
    again._task.memo.clear()
    assert optimizer.ask() == again.ask()


MIXED = Space(
    x=Vector(3, -1, 1),
    k=Int(1, 9),
    model=Choice("plain", deep=Space(rate=Float(1e-4, 1, log=True), width=Int(1, 64))),
)


def value_of(params) -> float:
    extra = 1.0 if params["model"] == "plain" else abs(math.log10(params["rate"]) + 2)
    return float(((params["x"] - 0.3) ** 2).sum()) + extra + 0.1 * abs(params["k"] - 4)


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("gp", {"search": "elastic"}),
        ("bock-map", {"search": "elastic"}),
        ("addtree", {"search": "elastic"}),
        ("addtree-paper", {"elastic": True}),
        ("add-gp", {"elastic": True, "cycle": 5}),
        ("rpp-gp", {"elastic": True, "cycle": 5}),
    ],
)
def test_the_search_is_a_part_of_other_methods(method, more):
    """In mixed and conditional spaces, with a failure, and a trial that is running."""
    quick = QUICK if "search" in more else {}
    space, function = (SPACE, bowl) if method == "rpp-gp" else (MIXED, value_of)
    optimizer = told(configured(method, initial=5, **more, **quick), 6, space, function)
    optimizer.fail(optimizer.ask(), "crash")
    optimizer.ask()
    last = optimizer.ask()
    assert set(last.meta["elastic"]) == {"flat", "path", "evaluations"}
    space.validate(last.params)


@pytest.mark.parametrize("count", [1, 3])
def test_bounds_of_groups_that_walk_are_at_least_as_high_as_those_that_climb(count):
    """Of the same belief, from the same starts: every group ends at a top, not the best alone."""
    each = 12 // count
    groups = tuple(tuple(f"x[{k}]" for k in range(a, a + each)) for a in range(0, 12, each))
    optimizer = told(configured("add-gp", groups=groups), 20)
    task, history = optimizer._task, optimizer.history
    found = {}
    for elastic in (False, True):
        method = configured("add-gp", groups=groups, elastic=elastic, climbs=20)
        search, seen = type(method.search), []
        original = search.composed

        def spying(self, *args, original=original, seen=seen):
            seen.append(original(self, *args))
            return seen[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search, "composed", spying)
            method.suggest(task, history, len(history))
        found[elastic] = seen[0][0].routes[0].bound
    assert found[True] >= found[False] - 1e-6


def test_a_design_that_is_scattered_costs_no_more_in_many_dimensions():
    """One point at random, and no Latin hypercube of d + 1; a centre that is given still comes first."""
    large = Optimizer(Space(x=Vector(3000, -1, 1)), "elastic", seed=0)
    first, second = large.ask(), large.ask()
    assert not np.array_equal(first.params["x"], second.params["x"])
    assert abs(float(first.params["x"].mean())) < 0.05
    given = configured("elastic", center={"x": [0.25] * 12}, **QUICK)
    np.testing.assert_allclose(Optimizer(SPACE, given).ask().params["x"], 0.25)


def test_what_is_given_is_in_force_at_once():
    """A history of other settings is taken over, its hyperparameters are not."""
    optimizer = told(configured("elastic", **QUICK), 16)
    other = Optimizer(SPACE, configured("elastic", lengthscale=0.5, noise=0.01, **QUICK), seed=0)
    other._restore(list(optimizer.history))
    assert other.ask().meta["fit"]["thetas"][0][1] == pytest.approx(math.log(0.5))


def test_variances_that_are_given_are_counted_at_every_length_scale():
    optimizer = Optimizer(SPACE, configured("gp", search="elastic", initial=4, **QUICK), seed=0)
    for k in range(10):
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(trial.params), variance=0.01 * (1 + k % 3))
    optimizer.ask()
    assert "elastic" in optimizer.ask().meta


def test_a_search_for_whole_configurations_is_refused_for_bounds_of_groups():
    with pytest.raises(MethodError, match=r"goes with search='paths', with elastic=True"):
        configured("add-gp", search="elastic")


@dataclass(frozen=True)
class Angles(Flat):
    """Compares directions alone, and so has no length-scales."""

    def model(self, ground, *, noisy=False, structure=None) -> Model:
        return Model(Scaled(Polynomial(Direction(np.full(ground.dim, 0.5)), 3, ground.dim)))


def test_a_model_without_length_scales_is_refused_before_anything_is_evaluated():
    evaluated = []
    method = configured("gp", prior=Angles(), search="elastic")
    with pytest.raises(MethodError, match="no length-scales to walk down: use another search"):
        minimize(evaluated.append, SPACE, n_trials=3, method=method, progress=False)
    assert not evaluated


@pytest.mark.parametrize("method", ["elastic", "gp(search=elastic)", "addtree-paper(elastic=True)"])
def test_without_numbers_nothing_is_climbed_and_nothing_is_flat(method):
    space = Space(a=Choice(*"abcd"), b=Choice(*"xyz"))
    optimizer = told(method, 12, space, lambda p: "abcd".index(p["a"]) + "zyx".index(p["b"]))
    assert optimizer.best.value == 0.0
    assert all(trial.meta["elastic"]["flat"] == 0.0 for trial in optimizer.history if "elastic" in trial.meta)


def test_given_length_scales_are_those_of_every_prior_and_never_fitted():
    for prior in ("flat", "tree", "cylinder"):
        optimizer = told(configured("gp", prior=prior, inference="given", lengthscale=0.3, initial=4), 12)
        fits = [trial.meta["fit"]["thetas"] for trial in optimizer.history if "fit" in trial.meta]
        assert all(fit == fits[0] for fit in fits)
        assert any(entry == pytest.approx(math.log(0.3)) for entry in fits[0][0])


@pytest.mark.parametrize("wrong", [{"lengthscale": 0.0}, {"noise": -1.0}, {"outcome": "auto"}])
def test_what_cannot_be_given_is_refused(wrong):
    with pytest.raises(MethodError, match=next(iter(wrong))):
        configured("elastic", **wrong)


def test_a_given_noise_is_no_suspicion():
    """It is not the model that calls it noise: no trial is spent on finding out."""
    optimizer = told(configured("elastic", noise=0.05, initial=4, **QUICK), 24)
    assert not any("probe" in trial.meta for trial in optimizer.history)


def test_nothing_is_said_of_walks_that_were_not_taken():
    trials = [Trial({"x": np.zeros(12)}, 0).completed(1.0, rank=0)]
    assert "Elastic" not in Insight(SPACE, History(trials)).explain()


def test_a_run_that_is_all_design_says_so(caplog):
    """As many random points as dimensions and one more come first, as in the paper."""
    result = minimize(lambda p: float((p["x"] ** 2).sum()), SPACE, n_trials=12, method="elastic", seed=0)
    assert any("no model will be asked" in record.message for record in caplog.records)
    assert "no model has been asked" in result.explain()
    caplog.clear()
    minimize(lambda p: float((p["x"] ** 2).sum()), SPACE, n_trials=14, method="elastic", seed=0)
    assert not any("no model" in record.message for record in caplog.records)
