"""The sum of what adds up and of what interacts."""

from dataclasses import fields, is_dataclass
from itertools import combinations

import numpy as np
import pytest

from hidim import Choice, Float, Optimizer, Space, Vector
from hidim.belief.priors import MainEffects
from hidim.errors import MethodError
from hidim.frame import Ground
from hidim.gp.posterior import Posterior
from hidim.methods import configured
from hidim.methods.default import DEFAULT

FLAT = Space(x=Vector(3, 0.0, 1.0))
TREE = Space(
    rate=Float(1e-4, 1.0, log=True),
    kind=Choice({"a": Space(width=Float(0.0, 1.0)), "b": Space(depth=Float(0.0, 1.0))}),
)


def settings(part):
    """The names of all fields of a part and of its parts."""
    own = [field.name for field in fields(part) if field.name != "name"] if is_dataclass(part) else []
    return own + [name for field in own for name in settings(getattr(part, field))]


def test_the_default_has_twelve_settings_at_the_most():
    assert {"frame", "prior", "outcome", "starts", "climb", "initial"} <= set(settings(DEFAULT))
    assert len(settings(DEFAULT)) <= 12


def run(space, function, count, method="default", **settings):
    optimizer = Optimizer(space, method, seed=0, **settings)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, function(trial.params))
    return optimizer


def test_single_parameters_add_up_beside_the_nodes_of_a_tree_from_two_trials_for_each_on():
    ground, prior = Ground(TREE), MainEffects()
    model = prior.model(ground)
    points = TREE.snap(np.random.default_rng(0).random((20, TREE.dim)))
    for trials, has_effects in ((2 * TREE.dim - 1, False), (2 * TREE.dim, True)):
        theta = model.put(model.start, prior.held(ground, trials))
        assert Posterior(model, theta, points, points[:, 0] ** 2).has_effects == has_effects


def test_ripples_along_every_axis_are_seen_through():
    """Ten basins along each of three axes: a thousand in all."""

    def ripples(params):
        u = 10.0 * (params["x"] - 0.37)
        return float(np.sum(u**2 - 10.0 * np.cos(2.0 * np.pi * u) + 10.0))

    assert min(trial.value for trial in run(FLAT, ripples, 100).history) < 0.1


def test_the_part_that_adds_up_and_the_rest_make_the_whole():
    ground = Ground(TREE)
    points = TREE.snap(np.random.default_rng(0).random((30, TREE.dim)))
    model = MainEffects().model(ground)
    known = Posterior(model, model.start, points, np.random.default_rng(1).standard_normal(30))
    part = known.additive()
    count = len(part.groups)
    rest = [known.term(0), known.term(count + 1)]  # main effects before the groups, the product after them
    u = TREE.snap(np.random.default_rng(2).random((9, TREE.dim)))
    total = known.mean + part.predict(u).mean + sum(term(u).mean for term in rest)
    np.testing.assert_allclose(total, known.predict(u).mean, atol=1e-9)


def test_rates_that_depend_on_the_branch_are_found():
    def loss(params):
        away = np.log10(params["rate"])
        if params["kind"] == "a":
            return float((away + 1.0 + 2.0 * params["width"]) ** 2 + (params["width"] - 0.8) ** 2)
        return float(0.3 + (away + 3.0) ** 2 + params["depth"])

    assert run(TREE, loss, 40).best.value < 1e-3


def test_labels_alone_are_enough():
    space = Space({f"c{i}": Choice("a", "b", "c") for i in range(4)})
    wanted = {"c0": "b", "c1": "a", "c2": "c", "c3": "b"}
    optimizer = run(space, lambda params: float(sum(params[key] != wanted[key] for key in wanted)), 40)
    assert optimizer.best.params == wanted
    assert any(t.meta["way"] == "effects" for t in optimizer.history)


def test_bounds_of_groups_want_a_model_that_is_such_a_sum():
    with pytest.raises(MethodError, match="needs a prior that is a sum over groups"):
        configured("default", utility="group-bounds")


def test_batches_where_one_small_choice_is_beside_many_parameters_do_not_wander():
    numbers = {f"x{i}": Float(0.0, 1.0) for i in range(24)}
    kind = Choice({"a": Space(u=Float(0.0, 1.0)), "b": Space(v=Float(0.0, 1.0), w=Float(0.0, 1.0))})
    optimizer = Optimizer(Space(numbers | {"kind": kind}), seed=0)  # the default
    centre = np.random.default_rng(3).uniform(0.2, 0.8, 24)

    def away(params):
        return np.array([params[name] for name in numbers]) - centre

    def value(params):
        below = (params["u"] - 0.3) ** 2 if params["kind"] == "a" else 0.2 + (params["v"] - 0.6) ** 2
        return float(away(params) @ away(params)) + below

    values = []
    for _ in range(15):
        batch = optimizer.ask(4)
        for one, other in combinations(batch, 2):
            alike = one.params["kind"] == other.params["kind"]
            assert not alike or np.abs(away(one.params) - away(other.params)).max() > 0.01
        values += [value(trial.params) for trial in batch]
        for trial, found in zip(batch, values[-4:], strict=True):
            optimizer.tell(trial, found)
    assert np.median(values[-20:]) < 0.1 * np.median(values[:10])


def changed(optimizer, path, edit):
    """The optimiser as if another version had written its fits."""
    for trial in optimizer.history:
        if "fit" in trial.meta:
            trial.meta["fit"]["thetas"] = edit(trial.meta["fit"]["thetas"])
    optimizer.save(path)
    return Optimizer.load(path)


def test_the_best_of_noisy_values_is_not_the_luckiest_where_another_version_had_other_parameters(tmp_path):
    rng = np.random.default_rng(2)
    optimizer = run(
        TREE, lambda params: np.log10(params["rate"]) ** 2 + rng.standard_normal(), 25, noisy=True
    )
    again = changed(optimizer, tmp_path / "run.jsonl", lambda thetas: [theta[1:] for theta in thetas])
    luckiest = min(optimizer.history, key=lambda trial: trial.value)
    assert optimizer.best.number != luckiest.number != again.best.number
    assert abs(np.log10(again.best.params["rate"])) < 1.0
