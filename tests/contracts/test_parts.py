"""What every part in `PARTS` must do, and that parts combine."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
from pathlib import Path

import numpy as np
import pytest

from contracts.newcomer import NEWCOMER
from hidim import Optimizer, Space, Vector, serial
from hidim.acquisition.beta import Fixed
from hidim.acquisition.utility import UTILITIES
from hidim.belief.priors import PRIORS, Prior
from hidim.errors import MethodError
from hidim.frame import Scene, Subspaces
from hidim.methods import METHODS, PARTS, RandomSearch, Recipe, configured, make_method, register
from hidim.search import SEARCHES, Situation
from hidim.trial import History
from saved import reloaded
from space.corpus import CORPUS

EVERY = [(kind, name) for kind, known in PARTS.items() for name in known]
every_part = pytest.mark.parametrize(("kind", "name"), EVERY, ids=[f"{k.__name__}-{n}" for k, n in EVERY])

#: The recipes whose parts are exchanged one by one, quick about it.
BASES = {
    "gp": configured("gp", initial=4),
    "addtree": configured("addtree", initial=4),
    "rembo": configured("rembo", low=2, runs=1, initial=2, evaluations=15),
    "baxus": configured("baxus", low=2, patience=0.0, least=3, initial=3),
    "bock": configured("bock-map", initial=3, raw=64, max_calls=5),
    "rpp": configured("rpp-gp", initial=4, size=2, cycle=3, settings=64),
}
#: How many trials they take before there is a model.
BEGINNINGS = {"gp": 4, "addtree": 4, "rembo": 2, "baxus": 3, "bock": 3, "rpp": 4}
FIELDS = {kind.__name__.lower(): known for kind, known in PARTS.items() if kind.__name__ != "Beta"}
#: Each for one of another class: what a recipe is anyway is tried in the contract of methods.
SWAPS = [
    (base, field, name)
    for base, recipe in BASES.items()
    for field, known in FIELDS.items()
    for name, part in known.items()
    if type(part) is not type(getattr(recipe, field))
]

#: Priors that learn a structure.
LEARNING = ("additive", "pursuit", "restricted")

#: What makes no sense: bounds of groups without a search that goes group by group, and the other way round,
#: additive searches without an additive prior, kernels of an embedding without one, trees seen through one, a
#: schedule for models with more than length-scales, and what is learnt without a prior that learns.
OTHERS = tuple(base for base in BASES if base != "rpp")
REFUSED = {
    *((base, "utility", "group-bounds") for base in OTHERS),
    *((base, "search", "paths") for base in OTHERS),
    *(("rpp", "utility", name) for name in UTILITIES if name != "group-bounds"),
    *(("rpp", "search", name) for name in SEARCHES if name != "paths"),
    *(("rpp", "prior", name) for name in PRIORS if name not in LEARNING),
    *(("rpp", "inference", name) for name in ("adaptive", "given", "map", "schedule", "slice")),
    *(("rpp", "frame", name) for name in ("growing", "subspaces")),
    *(("rembo", "prior", name) for name in PRIORS if name != "embedded"),
    *(("rembo", "frame", name) for name in ("aside", "cube", "growing")),
    ("rembo", "inference", "relearning"),
    *(
        (base, field, name)
        for base in ("gp", "addtree", "baxus", "bock")
        for field, names in (("prior", ("embedded", *LEARNING)), ("inference", ("schedule", "relearning")))
        for name in names
    ),
    *(("baxus", "prior", name) for name in ("leaves", "tree")),
    *((base, "frame", "subspaces") for base in ("addtree", "baxus")),
    ("addtree", "frame", "growing"),
}


@every_part
def test_a_part_is_a_frozen_dataclass_that_is_saved_with_its_settings(kind, name):
    part = PARTS[kind][name]
    assert isinstance(part, kind)
    assert dataclasses.is_dataclass(part)
    assert type(part).__dataclass_params__.frozen
    assert hash(part) == hash(dataclasses.replace(part))
    if kind.__name__ != "Beta":
        field = kind.__name__.lower()
        base = next(base for base in BASES if (base, field, name) not in REFUSED)
        method = dataclasses.replace(BASES[base], **{field: part})
        assert serial.read_method(json.loads(json.dumps(serial.write_method(method)))) == method


@every_part
def test_a_part_overrides_no_concrete_method(kind, name):
    """Abstract or final: what a part defines is abstract above it."""
    part = type(PARTS[kind][name])
    for base in part.__mro__[1:]:
        for attribute, value in vars(base).items():
            if inspect.isfunction(value) and base is not object and attribute in vars(part):
                generated = attribute.startswith("__") and attribute != "__call__"
                assert generated or getattr(value, "__isabstractmethod__", False), f"{part}.{attribute}"


def told(method, count: int, space: Space) -> Optimizer:
    optimizer = Optimizer(space, method, seed=2)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, float(np.nansum((space.encode(trial.params) - 0.3) ** 2)))
    return optimizer


@pytest.mark.parametrize(("base", "field", "name"), SWAPS, ids=["-".join(swap) for swap in SWAPS])
def test_parts_are_exchanged_one_by_one_or_refused_at_once(base, field, name):
    swapped = {field: FIELDS[field][name]}
    if (base, field, name) in REFUSED:
        with pytest.raises(MethodError, match=r"use |needs |goes with "):
            dataclasses.replace(BASES[base], **swapped)
        return
    few = {
        "slice": {"draws": 2, "growth": 0.5},
        "subspaces": {"runs": 1},
        "sprays": {"raw": 64},
        "elastic": {"lanes": 6, "near": 2, "evaluations": 150},
    }
    quick = few.get(name, {})
    method = configured(dataclasses.replace(BASES[base], **swapped), **quick)
    optimizer = told(
        method, BEGINNINGS[base] + 1, CORPUS["mixed" if field in ("frame", "search") else "classifier"]
    )
    assert not any("fallback" in trial.meta for trial in optimizer.history)
    assert any("fit" in trial.meta for trial in optimizer.history)
    again = reloaded(optimizer)
    assert again.method == method
    assert again.ask() == optimizer.ask()


def test_parts_that_do_not_go_together_are_refused_before_anything_is_evaluated():
    for settings, mend in (
        ({"inference": "schedule"}, "inference='map'"),
        ({"prior": "embedded"}, "frame='subspaces'"),
        ({"search": "paths"}, "prior='tree'"),
    ):
        with pytest.raises(MethodError, match=mend):
            configured("gp", **settings)


# -- a search may ask for other length-scales ----------------------------------------------------------------


@pytest.mark.parametrize("base", BASES)
def test_the_utility_can_be_had_under_other_length_scales(base, monkeypatch):
    """Under longer ones it is another function; under the same, the same."""
    method, space, seen = BASES[base], Space(x=Vector(6, -1, 1)), []
    search = type(method.search)
    original = search.__call__

    def spying(self, target, situation, rng):
        points = situation.scene.ground.snap(situation.scene.ground.sample(np.random.default_rng(0), 20))
        seen.append([t.scores(points) for t in (target, target.stretched(1.0), target.stretched(50.0))])
        assert isinstance(situation, Situation)
        assert isinstance(situation.scene, Scene)
        return original(self, target, situation, rng)

    monkeypatch.setattr(search, "__call__", spying)
    told(method, 8, space)
    for plain, same, longer in seen:
        np.testing.assert_allclose(same, plain, rtol=1e-5, atol=1e-6)
        assert not np.allclose(longer, plain, rtol=1e-3)
    assert seen


# -- a new method --------------------------------------------------------------------------------------------


def test_a_new_method_takes_less_than_forty_lines():
    path = Path(inspect.getfile(inspect.getmodule(type(NEWCOMER.prior))))
    assert len(path.read_text().splitlines()) < 40
    imports = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
    assert all("._" not in (node.module or "") for node in imports)  # nothing private


def test_a_new_method_finds_a_ridge_better_than_random_points():
    space = Space(x=Vector(12, -1, 1))
    w = np.random.default_rng(4).standard_normal(12)

    def best(method) -> float:
        optimizer = Optimizer(space, method, seed=0)
        for _ in range(40):
            trial = optimizer.ask()
            optimizer.tell(trial, float((trial.params["x"] @ w - 3.0) ** 2))
        return optimizer.best.value

    assert best(NEWCOMER) < 0.1 * best("random")


def test_a_method_that_is_not_registered_is_not_saved(tmp_path):
    with pytest.raises(MethodError, match=r"Pursuit is not registered.*register\('a-name', Pursuit"):
        Optimizer(Space(x=Vector(3)), NEWCOMER).save(tmp_path / "run.jsonl")


def test_what_is_registered_can_be_named_saved_and_loaded():
    register("newcomer", NEWCOMER)
    register("newcomer", NEWCOMER.prior)
    try:
        optimizer = told("newcomer(initial=3)", 5, Space(x=Vector(3)))
        assert reloaded(optimizer).ask() == optimizer.ask()
        assert configured("gp", prior="newcomer").prior == NEWCOMER.prior
    finally:
        del METHODS["newcomer"], PARTS[Prior]["newcomer"]


def test_a_class_of_a_name_that_is_taken_is_not_registered():
    another = dataclasses.make_dataclass("Cube", [], bases=(RandomSearch,), frozen=True)
    with pytest.raises(MethodError, match=r"another class Cube is registered, from hidim\.frame\.cube"):
        register("mine", another())


def test_settings_that_are_tuples_survive_a_file():
    grouped = dataclasses.make_dataclass(
        "Grouped", [("groups", tuple, ((0, 1), (2,)))], bases=(type(NEWCOMER.prior),), frozen=True
    )
    register("grouped", grouped())
    try:
        optimizer = told(configured("gp", prior="grouped", initial=3), 5, Space(x=Vector(3)))
        again = reloaded(optimizer)
        assert again.method.prior.groups == ((0, 1), (2,))
        assert again.ask() == optimizer.ask()
    finally:
        del PARTS[Prior]["grouped"]


@pytest.mark.parametrize("entry", [3, Prior, RandomSearch])
def test_only_parts_and_methods_are_registered(entry):
    with pytest.raises(MethodError, match="cannot be registered"):
        register("odd", entry)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gp(draws=5)", "it is one of inference='slice'"),
        ("gp(inference=slice, keep=7)", "search='paths'"),
        ("gp(colour=2)", "it has .*lengthscales"),
        ("gp(name=mine)", "no setting 'name'"),
        ("gp(lengthscale=isotropic)", "did you mean 'lengthscales'"),
        ("add-gp(growth=1e999)", "a finite number"),
        ("rembo(shortest=abc)", "shortest"),
        ("gp(climb={[1]:2})", "climb"),
        ("gp(lengthscalse=ard)", "did you mean 'lengthscales'"),
        ("auto(initial=3)", "it has none; .*default"),
        ("gp(initial=3, initial=4)", "'initial' twice"),
        ("addtree-paper(by=paths)", "by='nodes'"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_the_mend(text, says):
    with pytest.raises(MethodError, match=says):
        make_method(text)


def test_parts_may_be_named_like_settings_and_nest():
    assert make_method("baxus(utility=ucb, beta=fixed)").utility.beta == Fixed()
    assert make_method("baxus(utility=ucb, beta=2.5)").utility.beta == Fixed(2.5)
    assert make_method("add-gp(beta=2)").utility.beta == Fixed(2)
    assert make_method("addtree(warped=false)") == configured("addtree", warped=False)


def test_interleaved_runs_are_told_apart_in_caches():
    """Several scenes, one memo: each keeps its model and its posterior."""
    method = configured("rembo", low=2, runs=3, initial=2, prior="flat", inference="map", search="multistart")
    space = Space(x=Vector(9, -1, 1))
    optimizer = told(method, 14, space)
    assert isinstance(method, Recipe)
    assert isinstance(method.frame, Subspaces)
    history, fresh = optimizer.history, Optimizer(space, method, seed=2)
    fresh._restore(list(history))
    assert fresh.ask() == optimizer.ask()
    assert {trial.meta["run"] for trial in history} == {0, 1, 2}
    assert method.means(optimizer._task, History()) is None


def test_every_registered_method_is_made_of_registered_parts():
    for method in METHODS.values():
        serial.check_method(method)
