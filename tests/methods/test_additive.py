"""Add-GP-UCB, PP-GP-UCB and RPP-GP-UCB: groups, directions, and the search group by group."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, Vector
from hidim.acquisition.utility import Moment
from hidim.belief.inference import Peak
from hidim.belief.priors import Additive, Lesson
from hidim.errors import MethodError
from hidim.frame import Ground
from hidim.gp.fit import fit
from hidim.gp.kernels.groups import groups_in
from hidim.gp.posterior import Posterior
from hidim.gp.restriction import log_ratio, mixed
from hidim.methods import METHODS, configured
from hidim.search import Paths
from hidim.search.paths import summed_bounds
from hidim.search.settings import Axes, Block
from hidim.space.nodes import tree
from saved import reloaded
from space.corpus import CORPUS

QUICK = {"initial": 5, "settings": 128, "climbs": 10}
NAMED = Space(a=Float(0, 1), b=Float(0, 1), c=Int(1, 9), d=Choice("u", "v", "w"), x=Vector(3))


def quick(name: str, **settings):
    return configured(name, **{**QUICK, **settings})


def run(method, space, objective, count: int, seed: int = 0) -> Optimizer:
    optimizer = Optimizer(space, method, seed=seed)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, float(objective(trial.params)))
    return optimizer


def structures(optimizer: Optimizer) -> list[dict]:
    return [trial.meta["fit"]["structure"] for trial in optimizer.history if "fit" in trial.meta]


def pairs(params) -> float:
    x = params["x"]
    return float(sum((x[i] - 0.4) ** 2 * (1 + x[i + 1]) + (x[i + 1] + 0.2) ** 2 for i in range(0, len(x), 2)))


def turned(params) -> float:
    """A bowl that is narrow across a diagonal."""
    x = params["x"]
    return float(20 * (x[0] + x[1] - 0.5) ** 2 + (x[0] - x[1]) ** 2 + np.sum((x[2:] - 0.3) ** 2))


# -- the methods ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["add-gp", "rpp-gp", "pp-gp", "pp-gp(pursuit=gradient)"])
def test_finds_what_random_points_do_not(name):
    space = Space(x=Vector(8, -1, 1))
    assert (
        run(quick(name, size=2), space, pairs, 50).best.value
        < 0.1 * run("random", space, pairs, 50).best.value
    )


def test_one_method_in_three_strengths():
    """Additive is α = 1, projection pursuit δ = ∞: α = 0, and the restricted one lies between."""
    space = Space(x=Vector(6, -1, 1))
    learnt = {
        name: structures(run(quick(name, size=2), space, turned, 40))[-1]
        for name in METHODS
        if "p-gp" in name
    }
    learnt["add-gp"] = structures(run(quick("add-gp", size=2), space, turned, 40))[-1]
    assert "weights" not in learnt["add-gp"]
    assert learnt["pp-gp"]["alpha"] == 0.0
    assert 0.0 < learnt["rpp-gp"]["alpha"] <= 1.0
    restricted = mixed(np.array(learnt["rpp-gp"]["weights"]), learnt["rpp-gp"]["alpha"])
    assert log_ratio(restricted) <= math.log(1.1) + 1e-12


def test_groups_and_directions_are_learnt_anew_every_cycle_and_kept_in_between():
    optimizer = run(quick("rpp-gp", size=2, cycle=10), Space(x=Vector(6, -1, 1)), pairs, 40)
    fits = [(trial.number, trial.meta["fit"]) for trial in optimizer.history if "fit" in trial.meta]
    learnt = [fit["learnt"] for _, fit in fits]
    assert sorted(set(learnt)) == [5, 15, 25, 35]
    for (_, a), (_, b) in itertools.pairwise(fits):
        assert a["learnt"] != b["learnt"] or a["structure"] == b["structure"]


@pytest.mark.parametrize("name", ["add-gp", "rpp-gp"])
def test_a_run_goes_on_after_a_reload(name):
    optimizer = run(quick(name, size=2, cycle=4), Space(x=Vector(5, -1, 1)), turned, 14)
    assert reloaded(optimizer).ask() == optimizer.ask()


@pytest.mark.parametrize("whole", [{}, {"utility": "log-ei", "search": "ascent"}], ids=["", "whole"])
@pytest.mark.parametrize("name", ["add-gp", "pp-gp"])
@pytest.mark.parametrize("space", ["mixed", "optimizer"])
def test_labels_integers_and_conditions(name, space, whole):
    optimizer = Optimizer(CORPUS[space], configured(quick(name, size=2, cycle=4), **whole), seed=1)
    for _ in range(10):
        trial = optimizer.ask()
        optimizer.tell(trial, float(np.nansum((CORPUS[space].encode(trial.params) - 0.3) ** 2)))
    assert not any("fallback" in trial.meta for trial in optimizer.history)


def test_bounds_are_those_of_the_paper():
    known = METHODS["add-gp"].utility.beta
    belief = Posterior(
        *_model(Additive(size=3), Space(x=Vector(6))),
        np.random.default_rng(0).random((20, 6)),
        np.arange(20.0) / 20,
    )
    assert known.root(belief, belief.widest) == pytest.approx(math.sqrt(0.2 * 3 * math.log(2 * 20)))


def test_every_group_has_the_bound_of_its_own_number_of_columns():
    space = Space(x=Vector(3), a=Choice("u", "v"), b=Choice("u", "v"), z=Float(0, 1))
    belief = _known(Additive(groups=[["x"], ["a", "b"]]), space, labels=True)
    decision = METHODS["add-gp"].utility.decided(Moment(), np.random.default_rng(0))
    widths = np.array([len(columns) for columns in belief.groups])
    assert sorted(widths.tolist()) == [1, 2, 3]
    np.testing.assert_allclose(decision.roots(belief) ** 2, 0.2 * widths * math.log(2 * len(belief.y)))


def test_suggestions_made_of_groups_say_so():
    optimizer = run(quick("rpp-gp"), Space(x=Vector(4)), pairs, 9)
    assert {trial.meta["way"] for trial in optimizer.history} == {"design", "groups"}


def test_too_many_columns_are_refused_before_anything_is_evaluated():
    with pytest.raises(MethodError, match="at most 5000 columns, and the space has 5001: use method='baxus'"):
        Optimizer(Space(x=Vector(5001)), "add-gp").ask()


def test_too_many_directions_are_refused_before_anything_is_evaluated():
    with pytest.raises(MethodError, match=r"at most 500 numbers, and there are 501.*delta=0"):
        Optimizer(Space(x=Vector(501)), "rpp-gp").ask()
    assert Optimizer(Space(x=Vector(501)), "add-gp").ask().number == 0


@pytest.mark.parametrize("delta", [-1.0, "wide", math.nan])
def test_a_restriction_is_a_number(delta):
    with pytest.raises(MethodError, match="delta"):
        Additive(delta=delta)


def test_no_restriction_can_be_said_in_two_ways():
    assert Additive(delta=math.inf) == Additive(delta=None)


# -- groups by name ------------------------------------------------------------------------------------------


def _model(prior: Additive, space: Space, structure=None):
    model = prior.model(Ground(space), structure=structure)
    return model, model.start


def _columns(prior: Additive, space: Space) -> set[frozenset[int]]:
    kernel = groups_in(_model(prior, space)[0].kernel)
    return {frozenset(term.columns.tolist()) for term in kernel.terms}


def test_groups_of_parameters_by_their_names():
    """a, b, c, d, x[0], x[1], x[2]; what no group names is on its own."""
    prior = Additive(groups=[["a", "d"], ["x"]])
    assert _columns(prior, NAMED) == {frozenset({0, 3}), frozenset({4, 5, 6}), frozenset({1}), frozenset({2})}
    single = Additive(groups=[["a", "x[1]"], ["b", "c", "d", "x[0]", "x[2]"]])
    assert _columns(single, NAMED) == {frozenset({0, 5}), frozenset({1, 2, 3, 4, 6})}


def test_groups_may_overlap():
    prior = Additive(groups=[["a", "b"], ["b", "c"], ["d", "x"]])
    assert frozenset({0, 1}) in _columns(prior, NAMED)
    assert frozenset({1, 2}) in _columns(prior, NAMED)


def test_groups_of_parameters_that_do_not_always_exist_together_are_refused():
    inner = Space(C=Float(0, 1), g=Float(0, 1))
    space = Space(lr=Float(0, 1), m=Choice(svm=inner, tree=Space(depth=Int(1, 9)), other=inner))
    for group, pair in (
        (["lr", "C", "g"], "'lr' and 'C'"),
        (["C", "depth"], "'C' and 'depth'"),
        (["m=svm/C", "m=other/g"], "'m=svm/C' and 'm=other/g'"),
    ):
        with pytest.raises(MethodError, match=f"{pair} do not always exist together"):
            _columns(Additive(groups=[group]), space)
    with pytest.raises(MethodError, match="'C' stands for 'm=svm/C', 'm=other/C': name one"):
        _columns(Additive(groups=[["C", "depth"]]), space)
    names = space.columns.names
    found = _columns(Additive(groups=[["C", "g"]]), space)
    assert {frozenset(names[c] for c in group) for group in found if len(group) > 1} == {
        frozenset({"m=svm/C", "m=svm/g"}),
        frozenset({"m=other/C", "m=other/g"}),
    }


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ([["a", "bb"]], "no parameter 'bb': did you mean 'b'"),
        ([["zebra"]], "no parameter 'zebra': it has a, b"),
        (["a", "b"], "lists of names"),
        ([], "lists of names"),
        ([[]], "lists of names"),
        ("ab", "lists of names"),
    ],
)
def test_groups_that_make_no_sense_are_refused_before_anything_is_evaluated(groups, says):
    with pytest.raises(MethodError, match=says):
        Optimizer(NAMED, configured("add-gp", groups=groups)).ask()


def test_a_choice_with_parameters_is_in_no_group():
    space = Space(lr=Float(0, 1), m=Choice(svm=Space(C=Float(0, 1)), tree=Space(depth=Int(1, 9))))
    with pytest.raises(MethodError, match="parameters depend on 'm'"):
        Optimizer(space, configured("add-gp", groups=[["lr", "m"]])).ask()


def test_given_groups_stay_and_are_saved():
    method = quick("add-gp", groups=[["a", "b"], ["c", "d"]], cycle=3)
    optimizer = run(method, NAMED, lambda p: (p["a"] - p["b"]) ** 2 + p["c"], 12)
    assert len({str(structure) for structure in structures(optimizer)}) == 1
    again = reloaded(optimizer)
    assert again.method == method
    assert again.ask() == optimizer.ask()


def test_given_groups_are_used_with_learnt_directions():
    space = Space(x=Vector(4, -1, 1))
    optimizer = run(quick("rpp-gp", groups=[["x[0]", "x[3]"], ["x[1]", "x[2]"]], cycle=5), space, turned, 20)
    assert all(s["groups"] == [[0, 3], [1, 2]] for s in structures(optimizer))
    assert "weights" in structures(optimizer)[-1]


# -- what is learnt ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"spread": 0.3}, {"lengthscales": "grouped"}])
def test_planted_groups_are_learnt_through_the_prior(more):
    rng = np.random.default_rng(0)
    space, x = Space(x=Vector(6)), rng.random((150, 6))
    y = np.sin(4 * x[:, 0]) * np.cos(3 * x[:, 5]) + x[:, 1] * x[:, 3] * 2 + np.exp(x[:, 2] * x[:, 4])
    prior = Additive(size=2, **more)
    learnt = prior.learnt(Lesson(Ground(space), x, (y - y.mean()) / y.std()), rng)
    assert {frozenset(group) for group in learnt["groups"]} == {
        frozenset({0, 5}),
        frozenset({1, 3}),
        frozenset({2, 4}),
    }


@pytest.mark.parametrize("pursuit", ["greedy", "gradient"])
def test_a_planted_direction_is_learnt_through_the_prior(pursuit):
    rng = np.random.default_rng(1)
    space, x, w = Space(x=Vector(6)), rng.random((120, 6)), np.array([1.0, 0.8, 0.0, 0.0, -0.5, 0.0])
    y = np.sin(4 * (x - 0.5) @ (w / np.linalg.norm(w)))
    prior, structure = Additive(size=1, delta=None, pursuit=pursuit), None
    for _ in range(4):  # relearnings go on from where the last one ended
        structure = prior.learnt(Lesson(Ground(space), x, (y - y.mean()) / y.std(), structure=structure), rng)
    columns = np.array(structure["weights"])
    cosines = np.abs(w @ columns) / np.linalg.norm(w) / np.linalg.norm(columns, axis=0)
    assert cosines.max() > 0.97


def test_what_the_gradient_has_found_is_kept():
    """The likelihood of the structure is that of the fit, and far above that of the axes."""
    rng = np.random.default_rng(0)
    space, x = Space(x=Vector(4)), rng.random((80, 4))
    z = (x - 0.5) @ (np.linalg.qr(rng.standard_normal((4, 4)))[0] * [4.0, 3.0, 0.5, 0.2])
    y = np.sin(1.5 * z[:, 0]) + np.sin(1.0 + 1.5 * z[:, 1]) * np.cos(z[:, 2])
    y = (y - y.mean()) / y.std()
    prior = Additive(size=2, delta=None, pursuit="gradient")

    def likelihood(structure):
        model = prior.model(Ground(space), structure=structure)
        theta = fit(model, x, y, [model.start], max_evaluations=200).theta
        return model.log_density(x, y)(theta)

    learnt = prior.learnt(Lesson(Ground(space), x, y), rng)
    axes = likelihood({"groups": learnt["groups"]})
    norms = np.linalg.norm(learnt["weights"], axis=0)
    assert learnt["alpha"] == 0.0
    assert likelihood(learnt) > axes + 100.0
    unit = learnt | {"weights": (np.array(learnt["weights"]) / norms).tolist()}
    assert likelihood(learnt) > likelihood(unit) + 1.0


# -- the search ----------------------------------------------------------------------------------------------


def _known(prior: Additive, space: Space, structure=None, n: int = 25, labels: bool = False) -> Posterior:
    rng = np.random.default_rng(3)
    x = space.snap(rng.random((n, space.dim)))
    last = rng.random(n) if labels else x[:, 3]
    y = np.sin(4 * x[:, 0]) * x[:, 1] + (x[:, 2] - 0.3) ** 2 - last * x[:, 0]
    return Posterior(*_model(prior, space, structure), x, (y - y.mean()) / y.std())


def _grid(dim: int, steps: int) -> np.ndarray:
    return np.array(list(itertools.product(np.linspace(0, 1, steps), repeat=dim)))


def _sum_of_bounds(known: Posterior, kappa: float, u: np.ndarray) -> np.ndarray:
    """Σ (κ σ_v − μ_v) from the posteriors of the terms."""
    total = np.zeros(len(u))
    for place in range(len(groups_in(known.model.kernel).terms)):
        found = known.term(place)(u)
        total += kappa * np.sqrt(found.variance) - found.mean
    return total


@pytest.mark.parametrize(
    "groups",
    [
        [["x[0]", "x[1]"], ["x[2]", "x[3]"]],
        [["x[0]", "x[1]"], ["x[1]", "x[2]"], ["x[0]", "x[3]"]],
        [["x[0]"], ["x[1]"], ["x[0]", "x[1]"], ["x[2]", "x[3]"]],
    ],
)
def test_the_decomposed_maximum_is_that_of_brute_force(groups):
    space = Space(x=Vector(4))
    known = _known(Additive(groups=groups, lengthscales="ard"), space)
    best = np.empty((0, 4))
    axes, rng = Axes(Ground(space)), np.random.default_rng(0)
    search = Paths(settings=2048, lanes=3, climbs=100)
    if len(groups) > 2:  # ascents of all columns together want somewhere to start
        best = rng.random((30, 4))
    found = search.composed(known, axes, tree(space), [2.0], best, rng)[0].points[:1]
    grid = _grid(4, 21)
    assert _sum_of_bounds(known, 2.0, found)[0] >= _sum_of_bounds(known, 2.0, grid).max() - 1e-3


def test_mixed_columns_are_searched_in_the_outer_box():
    space = Space(x=Vector(4))
    w = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))[0]
    structure = {"groups": [[0, 1], [2, 3]], "weights": w.tolist(), "alpha": 0.4}
    known = _known(Additive(delta=None), space, structure)
    unmixed, mixing = known.unmixed()
    axes = Axes(Ground(space), mixing)
    found = (
        Paths(lanes=3, climbs=100)
        .composed(unmixed, axes, tree(space), [2.0], np.empty((0, 4)), np.random.default_rng(0))[0]
        .points[:1]
    )
    lower, upper = axes.box
    assert ((found >= lower) & (found <= upper)).all()
    grid = lower + (upper - lower) * _grid(4, 15)
    assert _sum_of_bounds(unmixed, 2.0, found)[0] >= _sum_of_bounds(unmixed, 2.0, grid).max() - 1e-3
    back = axes.back(found)
    assert ((back >= 0.0) & (back <= 1.0)).all()


def test_what_the_model_sees_of_a_clipped_point_is_its_own_projection():
    optimizer = run(quick("pp-gp", size=2, cycle=5), Space(x=Vector(4, -1, 1)), turned, 25)
    for trial in optimizer.history:
        assert (np.abs(trial.params["x"]) <= 1.0).all()


def test_the_sum_of_bounds_of_overlapping_groups():
    space = Space(x=Vector(4))
    known = _known(Additive(groups=[["x[0]", "x[1]"], ["x[1]", "x[2]"], ["x[3]"]]), space)
    u = np.random.default_rng(5).random((6, 4))
    blocks = [Block(columns, place=place) for place, columns in enumerate(known.groups)]
    np.testing.assert_allclose(
        summed_bounds(known, np.full(3, 1.5), blocks, u).value, _sum_of_bounds(known, 1.5, u), atol=1e-9
    )


def test_overlapping_labels_are_the_best_of_all():
    space = Space({name: Choice(*"uvwz") for name in "abc"})
    known = _known(Additive(groups=[["a", "b"], ["b", "c"]]), space, n=20, labels=True)
    labels = itertools.product("uvwz", repeat=3)
    every = space.encode_all([dict(zip("abc", chosen, strict=True)) for chosen in labels])
    axes, rng = Axes(Ground(space)), np.random.default_rng(0)
    found = Paths().composed(known, axes, tree(space), [1.0], known.x[:3], rng)[0].points[:1]
    assert _sum_of_bounds(known, 1.0, found)[0] >= _sum_of_bounds(known, 1.0, every).max() - 1e-9


def test_what_was_tried_already_is_replaced_by_what_is_next_best():
    """An optimum in a corner, and integers of which there are few."""
    corner = run(quick("add-gp", size=2), Space(x=Vector(4)), lambda p: float(p["x"].sum()), 30)
    few = Space({f"n{i}": Int(0, 3) for i in range(6)})
    counted = run(quick("add-gp", size=2), few, lambda p: float(sum((v - 1) ** 2 for v in p.values())), 40)
    for optimizer in (corner, counted):
        assert sum(trial.meta.get("instead") == "random" for trial in optimizer.history) == 0
    assert counted.best.value == 0.0


def test_directions_are_not_warped():
    with pytest.raises(MethodError, match="use delta=0"):
        Additive(delta=0.1, warped=True)


def test_what_learns_needs_an_inference_that_does():
    with pytest.raises(MethodError, match="inference='relearning'"):
        configured("rpp-gp", inference="map")
    assert configured("add-gp", inference="map", groups=[["a"], ["b"]]).inference == Peak()
