"""The sum of what adds up and of what interacts."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from hidim import Choice, Float, Optimizer, Space, Vector
from hidim.belief.priors import Mixed
from hidim.belief.priors.mixed import ADDITIVE
from hidim.errors import MethodError
from hidim.frame import Ground
from hidim.gp.kernels.algebra import ABSENT
from hidim.gp.posterior import Posterior
from hidim.methods import configured

FLAT = Space(x=Vector(3, 0.0, 1.0))
WIDE = Space(x=Vector(9, 0, 1))
TREE = Space(
    rate=Float(1e-4, 1.0, log=True),
    kind=Choice({"a": Space(width=Float(0.0, 1.0)), "b": Space(depth=Float(0.0, 1.0))}),
)


def run(space, function, count, method="mixed", **settings):
    optimizer = Optimizer(space, method, seed=0, **settings)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, function(trial.params))
    return optimizer


def test_main_effects_wait_until_there_are_two_trials_for_every_parameter_then_are_fitted_from_scratch():
    alone = configured("mixed", twins=False)
    optimizer = run(WIDE, lambda params: float(np.sum((params["x"] - 0.3) ** 2)), 21, alone)
    fits = [t.meta["fit"] for t in optimizer.history if "fit" in t.meta]
    early, late = (
        [fit for fit in fits if (fit["n"] >= 2 * WIDE.dim) == is_late] for is_late in (False, True)
    )
    assert max(_amplitude(WIDE, fit) for fit in early) == ABSENT
    assert _amplitude(WIDE, late[0]) > -5.0
    assert early[-1]["cold"] < late[0]["cold"] == late[0]["n"]


def _amplitude(space, fit):
    """The logarithm of that of the main effects of a space without conditions."""
    model = Mixed().model(Ground(space))
    return np.array(fit["thetas"][0])[model.holds(ADDITIVE)].item()


def test_single_parameters_add_up_beside_the_nodes_of_a_tree_from_then_on():
    ground, prior = Ground(TREE), Mixed()
    early, late = (prior.models(ground, trials) for trials in (2 * TREE.dim - 1, 2 * TREE.dim))
    model = prior.model(ground)
    points = TREE.snap(np.random.default_rng(0).random((20, TREE.dim)))
    values = points[:, 0] ** 2

    def has_effects(held):
        theta = model.put(model.start.copy(), held)
        return Posterior(model, theta, points, values).has_effects

    assert [has_effects(held) for held in early] == [False] * 4
    assert [has_effects(held) for held in late] == [True] + [False] * 4


def test_ripples_along_every_axis_are_seen_through():
    """Ten basins along each of three axes: a thousand in all."""

    def ripples(params):
        u = 10.0 * (params["x"] - 0.37)
        return float(np.sum(u**2 - 10.0 * np.cos(2.0 * np.pi * u) + 10.0))

    assert min(trial.value for trial in run(FLAT, ripples, 100).history) < 0.1


def test_without_gains_the_models_are_drawn_alike():
    optimizer = run(FLAT, lambda params: 1.0 + float(params["x"][0] > 2.0), 40)
    late = [t.meta["model"] for t in optimizer.history if "model" in t.meta and t.number >= 20]
    assert all(late.count(model) >= 3 for model in range(3))


def test_the_part_that_adds_up_and_the_rest_make_the_whole():
    ground = Ground(TREE)
    points = TREE.snap(np.random.default_rng(0).random((30, TREE.dim)))
    model = Mixed().model(ground)
    known = Posterior(model, model.start, points, np.random.default_rng(1).standard_normal(30))
    part = known.additive()
    count = len(part.groups)
    rest = [known.term(count), known.term(count + 1)]  # after those of the groups: product, main effects
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
    assert any(t.meta["way"] == "terms" for t in optimizer.history)


def test_models_go_on_from_where_they_were_when_there_is_one_more():
    space = Space(x=Vector(6, 0, 1), kind=Choice({"a": Space(u=Float(0.0, 1.0)), "b": Space()}))
    optimizer = run(space, lambda params: float(np.sum(np.sin(6.0 * params["x"]))), 24)
    fits = [t.meta["fit"] for t in optimizer.history if "fit" in t.meta]
    before = next(fit for fit, after in pairwise(fits) if len(fit["thetas"]) < len(after["thetas"]))
    after = fits[fits.index(before) + 1]
    assert len(before["thetas"]) == 4
    assert len(after["thetas"]) == 5
    # Nodes and product kernel have moved little since the last fit.
    assert np.abs(np.array(after["thetas"][1]) - before["thetas"][0]).max() < 3.0


def test_bounds_of_groups_want_a_model_that_is_such_a_sum():
    with pytest.raises(MethodError, match="needs a prior that is a sum over groups"):
        configured("mixed", utility="group-bounds")


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


def test_parts_of_the_sum_and_starts_of_its_fits_can_be_left_out():
    assert Mixed(effects=False).models(Ground(FLAT), 1000) == Mixed().models(Ground(FLAT), 0)
    points = FLAT.sample(np.random.default_rng(0), 60)  # more than are fitted to at once
    left = []
    for settings in ({}, {"apart": False}):
        optimizer = Optimizer(FLAT, configured("mixed", **settings), seed=0)
        for params in points:
            optimizer.add(params, float(np.sin(5.0 * params["x"]).sum()))
        left.append(optimizer.ask().meta["fit"]["left"])
    assert left[0] == left[1] + 1


def changed(optimizer, path, edit):
    """The optimiser as if another version had written its fits."""
    for trial in optimizer.history:
        if "fit" in trial.meta:
            trial.meta["fit"]["thetas"] = edit(trial.meta["fit"]["thetas"])
    optimizer.save(path)
    return Optimizer.load(path)


def test_simpler_models_that_another_version_had_are_not_drawn_any_more(tmp_path):
    alone = configured("mixed", twins=False)
    optimizer = run(FLAT, lambda params: float(np.sum((params["x"] - 0.3) ** 2)), 22, alone)
    again = changed(optimizer, tmp_path / "run.jsonl", lambda thetas: thetas * 3)
    assert "model" not in again.ask().meta


def test_the_best_of_noisy_values_is_not_the_luckiest_where_another_version_had_other_parameters(tmp_path):
    rng = np.random.default_rng(2)
    optimizer = run(
        TREE, lambda params: np.log10(params["rate"]) ** 2 + rng.standard_normal(), 25, noisy=True
    )
    again = changed(optimizer, tmp_path / "run.jsonl", lambda thetas: [theta[1:] for theta in thetas])
    luckiest = min(optimizer.history, key=lambda trial: trial.value)
    assert optimizer.best.number != luckiest.number != again.best.number
    assert abs(np.log10(again.best.params["rate"])) < 1.0
