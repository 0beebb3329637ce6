"""Columns that matter are found among many that do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hidim import Choice, Float, Optimizer, Space, Vector
from hidim.belief.inference import Peak, Study
from hidim.belief.inference.apart import are_set_apart, freed, idle_by_ties, without
from hidim.belief.priors import Flat, Mixed
from hidim.bench.problems import problem
from hidim.frame import Cube
from hidim.gp.densities import Improper
from hidim.gp.fit import fit
from hidim.gp.hyperparameter import log_prior
from hidim.methods import Task
from hidim.trial import History, Trial


def ground_of(space: Space):
    task = Task(space)
    return Cube().scene(task, History(()), 0, task.rng(0)).ground


def scales(model, theta):
    level, deviations = model.holds("log_lengthscale"), model.holds("log_lengthscale_deviation")
    return theta[level] + theta[deviations]


# -- ties ----------------------------------------------------------------------------------------------------


def test_columns_in_which_equal_values_differ_do_not_matter():
    x = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.9], [0.5, 0.2, 0.3], [0.5, 0.6, 0.3], [0.7, 0.7, 0.7]])
    assert idle_by_ties(x, np.array([1.0, 1.0, 2.0, 2.0, 9.0])).tolist() == [False, True, True]


def test_ties_of_the_largest_value_say_nothing_because_it_may_stand_for_failures():
    x = np.random.default_rng(0).random((6, 3))
    assert not idle_by_ties(x, np.array([1.0, 2.0, 3.0, 1e6, 1e6, 1e6])).any()


def test_values_without_ties_and_a_single_value_say_nothing():
    x = np.random.default_rng(0).random((4, 3))
    assert not idle_by_ties(x, np.arange(4.0)).any()
    assert not idle_by_ties(x[:1], np.ones(1)).any()


@pytest.mark.parametrize("prior", [Flat(), Mixed()], ids=["flat", "mixed"])
def test_covariances_do_not_see_columns_that_were_left_out(prior):
    space = Space(**{f"x{i}": Float(0, 1) for i in range(6)}, **{f"c{i}": Choice("abc") for i in range(3)})
    ground = ground_of(space)
    model, idle = prior.model(ground), np.arange(ground.dim) % 3 > 0
    theta = np.clip(without(model, ground, idle, {}), *model.bounds)
    rng = np.random.default_rng(0)
    x = ground.snap(rng.random((12, ground.dim)))
    moved = np.where(idle, ground.snap(rng.random(x.shape)), x)
    gram = model.kernel.gram(theta[:-1], x).value
    np.testing.assert_allclose(model.kernel.gram(theta[:-1], moved).value, gram, atol=1e-4)
    others = np.where(idle, x, ground.snap(rng.random(x.shape)))
    assert np.abs(model.kernel.gram(theta[:-1], others).value - gram).max() > 0.1


def test_the_level_is_that_of_the_most_columns():
    ground = ground_of(Space(x=Vector(20, 0, 1)))
    model = Flat().model(ground)
    level = model.holds("log_lengthscale")
    many, few = (without(model, ground, np.arange(20) < count, {}) for count in (17, 3))
    assert many[level] == model.bounds[1][level]
    assert few[level] < 2.0


def test_few_trials_half_of_which_are_tied_say_what_matters():
    rng, space = np.random.default_rng(0), Space(x=Vector(100, 0, 1))
    x = rng.random((23, 100))
    again = np.where(rng.random(x.shape) < 0.3, rng.random(x.shape), x)
    again[:, [3, 17]] = x[:, [3, 17]]

    def value(u):
        return np.sin(6 * u[:, 3]) * np.cos(5 * u[:, 17])

    points = np.vstack([x, again])
    trials = [
        Trial({"x": point}, number).completed(float(loss), number)
        for number, (point, loss) in enumerate(zip(points, value(points), strict=True))
    ]
    task = Task(space)
    case = Study(Mixed(), "Peak", Cube().scene(task, History(trials), len(trials), rng), noisy=False)
    fitted = Peak().fitted(case, rng)
    new = rng.random((200, 100))
    means = case.posterior(fitted, 0).predict(new).mean
    assert np.corrcoef(means, value(new))[0, 1] > 0.8


@pytest.mark.parametrize("prior", [Flat(), Mixed()], ids=["flat", "mixed"])
def test_columns_are_set_apart_where_there_are_numbers_and_no_conditions(prior):
    x, switch = Float(0, 1), Choice(False, True)
    spaces = [
        Space(x=x, y=x),
        Space(x=x, s=switch),
        Space(s=switch, t=switch),
        Space(s=Choice("a", b=Space(x=x))),
    ]
    assert [are_set_apart(prior, ground_of(space)) for space in spaces] == [True, True, False, False]


# -- climbs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [Flat(), Mixed()], ids=["flat", "mixed"])
def test_a_climb_that_nothing_holds_leads_to_the_columns_that_matter(prior):
    ground = ground_of(Space(x=Vector(40, 0, 1)))
    model, held = prior.model(ground), prior.models(ground, 60)[0]
    x = np.random.default_rng(1).random((60, 40))
    y = np.sin(6 * x[:, 3]) * np.cos(5 * x[:, 17])
    y = (y - y.mean()) / y.std()
    start = freed(model, x, y, held, 40)
    assert set(np.argsort(scales(model, start))[:2]) == {3, 17}
    usual, apart = (
        fit(model, x, y, [model.put(theta, held)], held=model.holding(held)).loss
        for theta in (model.start, start)
    )
    assert apart < usual - 20.0


def test_other_priors_are_those_of_the_climb():
    ground = ground_of(Space(x=Vector(3, 0, 1)))
    model = Flat().model(ground)
    x = np.random.default_rng(0).random((9, 3))
    y = x.sum(axis=1) - x.sum(axis=1).mean()
    flat = [replace(parameter, prior=Improper()) for parameter in model.parameters]
    found = fit(model, x, y, [model.start], priors=flat, held=np.ones(model.size, bool))
    alone = model.negative_log_posterior(model.start, x, y)[0] + log_prior(model.parameters, model.start)[0]
    assert found.loss == pytest.approx(alone)


# -- runs ----------------------------------------------------------------------------------------------------


def test_a_run_does_not_stay_in_a_corner_of_the_two_columns_of_a_hundred_that_matter():
    branin = problem("branin-100-shifted")
    optimizer = Optimizer(branin.space(), "auto", seed=8)
    for _ in range(75):
        trial = optimizer.ask()
        optimizer.tell(trial, branin.value(trial.params))
    assert optimizer.best.value - branin.optimum < 1.0
