"""The objective as a sum over groups: shares, effects, directions, words and a picture."""

from __future__ import annotations

import numpy as np
import pytest

import hidim.plot
from hidim import Choice, Float, Int, Space, Vector, minimize
from hidim.errors import HidimError, MethodError
from hidim.insight import Insight
from hidim.trial import History, Trial

SPACE = Space(
    a=Float(0, 1), b=Float(1e-3, 1, log=True), n=Int(1, 9), c=Choice("u", "v", "w"), x=Vector(3, -1, 1)
)


def value(params) -> float:
    """Parts with known shares: a and c together, b alone, and nothing else."""
    steep = {"u": 1.0, "v": -1.0, "w": 0.0}[params["c"]]
    return float(3.0 * steep * (params["a"] - 0.5) + (np.log10(params["b"]) + 1.5) ** 2)


def history(count: int = 120, f=value, space: Space = SPACE) -> History:
    points = space.sample(np.random.default_rng(0), count)
    return History([Trial(p, i).completed(f(p), rank=i) for i, p in enumerate(points)])


def insight(**settings) -> Insight:
    return Insight(SPACE, history(), **settings)


def test_shares_are_those_of_the_variance():
    known = insight().components([["a", "c"], ["b"]])
    shares = {component.names: component.share for component in known}
    sampled = SPACE.sample(np.random.default_rng(1), 4000)
    first = np.var([3.0 * {"u": 1, "v": -1, "w": 0}[p["c"]] * (p["a"] - 0.5) for p in sampled])
    second = np.var([(np.log10(p["b"]) + 1.5) ** 2 for p in sampled])
    assert shares["a", "c"] == pytest.approx(first / (first + second), abs=0.05)
    assert shares["b",] == pytest.approx(second / (first + second), abs=0.05)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert [c.share for c in known] == sorted((c.share for c in known), reverse=True)
    assert known["a"] is known["a, c"] is next(c for c in known if "a" in c.names)
    assert "a" in known
    assert "B" not in known
    with pytest.raises(KeyError, match="no group has the title 'B': there are"):
        known["B"]
    with pytest.raises(KeyError, match=r"there are 'x\[[012]\]', 'x\[[012]\]', 'x\[[012]\]', "):
        known["x"]
    assert known.quality > 0.9


@pytest.mark.parametrize("maximize", [False, True])
def test_effects_are_changes_against_the_best_trial_in_units_of_the_objective(maximize):
    known = insight(maximize=maximize).components([["a", "c"], ["b"]])
    best = insight(maximize=maximize).best.params
    effects = {effect.name: effect for component in known for effect in component.effects}
    b = effects["b"]
    assert b.log
    assert b.at == pytest.approx(best["b"])
    truth = (np.log10(b.grid) + 1.5) ** 2 - (np.log10(best["b"]) + 1.5) ** 2
    np.testing.assert_allclose(b.mean, truth, atol=0.15)
    assert np.mean((b.low <= truth) & (truth <= b.high)) > 0.9
    slope = {"u": 3.0, "v": -3.0, "w": 0.0}[best["c"]]
    a = effects["a"]
    np.testing.assert_allclose(a.mean, slope * (a.grid - best["a"]), atol=0.3)
    assert effects["c"].grid == ("u", "v", "w")
    assert effects["c"].mean[effects["c"].grid.index(best["c"])] == pytest.approx(0.0, abs=1e-6)
    assert effects["n"].grid.tolist() == list(range(1, 10))


def test_a_group_is_printed_as_a_line():
    first = insight().components([["a", "c"], ["b"]])["a"]
    assert str(first).endswith("%  a, c")
    assert str(first) in str(insight().components([["a", "c"], ["b"]]))
    assert len(repr(first)) < 300


def test_without_learnt_groups_every_parameter_is_one():
    names = [component.names for component in insight().components()]
    assert sorted(names) == [("a",), ("b",), ("c",), ("n",), ("x[0]",), ("x[1]",), ("x[2]",)]


def test_groups_that_the_method_has_learnt_are_taken_over_and_told():
    result = minimize(value, SPACE, 30, method="add-gp(size=2, initial=6)", seed=0)
    learnt = next(t.meta["fit"]["structure"]["groups"] for t in reversed(result.history) if "fit" in t.meta)
    names = SPACE.columns.names
    assert {c.names for c in result.components()} == {tuple(names[i] for i in group) for group in learnt}
    assert "As a sum over the groups of the method's model" in result.explain()
    assert str(result.components()).count("%") == len(learnt)


def test_learnt_directions_are_told_by_their_largest_weights():
    space = Space(x=Vector(6, -1, 1))

    def ridge(params) -> float:
        return float(np.sin(1.5 * (params["x"][0] + params["x"][1])) + 0.1 * params["x"][4])

    result = minimize(ridge, space, 81, method="pp-gp(size=1, initial=80)", seed=1)
    strongest = result.components()[0].effects[0]
    assert {"x[0]", "x[1]"} == set(list(strongest.weights)[:2])
    assert "x[0]" in strongest.name
    assert strongest.weights["x[0]"] == pytest.approx(strongest.weights["x[1]"], abs=0.2)
    assert "As a sum over the directions of the method's model" in result.explain()


def test_conditional_spaces_have_effects_where_parameters_exist():
    space = Space(m=Choice(one=Space(a=Float(0, 1), b=Float(0, 1)), two=Space(c=Float(0, 1))), d=Float(0, 1))

    def branching(params) -> float:
        own = params["a"] ** 2 + params["b"] if params["m"] == "one" else 1.5 * params["c"]
        return float(own + params["d"])

    known = Insight(space, history(80, branching, space)).components()
    effects = {effect.name: effect for component in known for effect in component.effects}
    assert set(effects) == {"m=one/a", "m=one/b", "m=two/c", "d"}
    best = Insight(space, history(80, branching, space)).best.params
    inactive = "m=two/c" if best["m"] == "one" else "m=one/a"
    assert effects[inactive].at is None
    assert effects["d"].mean[-1] - effects["d"].mean[0] == pytest.approx(1.0, abs=0.2)
    assert "What m decides is told by branches()." in str(known)
    with pytest.raises(KeyError, match=r"'m' is in no group.*branches\(\)"):
        known["m"]


def test_parts_of_nested_groups_add_up():
    """Main effects and an interaction: what the three terms say is what the model says."""
    space = Space(a=Float(0, 1), b=Float(0, 1))

    def both(params) -> float:
        return float(2 * params["a"] + np.sin(4 * params["a"] * params["b"]))

    known = Insight(space, history(60, both, space)).components([["a"], ["b"], ["a", "b"]])
    best = Insight(space, history(60, both, space)).best.params
    along = [effect for component in known for effect in component.effects if effect.name == "a"]
    assert len(along) == 2
    total = sum(effect.mean for effect in along)
    truth = [both({"a": a, "b": best["b"]}) - both(best) for a in along[0].grid]
    np.testing.assert_allclose(total, truth, atol=0.15)


@pytest.mark.parametrize("groups", [["a", "b"], [[]], "ab"])
def test_groups_are_lists_of_names(groups):
    with pytest.raises(MethodError, match="lists of names"):
        insight().components(groups)


def test_unknown_names_and_too_few_trials_are_refused():
    with pytest.raises(MethodError, match="no parameter 'lr'"):
        insight().components([["lr"]])
    with pytest.raises(HidimError, match="at least 5 complete trials"):
        Insight(SPACE, history(3)).components()


def test_a_picture_has_a_panel_for_every_effect_that_matters(tmp_path):
    figure = hidim.plot.components(
        SPACE, history(), groups=[["a", "c"], ["b"]], path=tmp_path / "effects.png"
    )
    labels = [axis.get_xlabel() for axis in figure.axes]
    assert labels[:3] in (["b", "a", "c"], ["a", "c", "b"])
    assert (tmp_path / "effects.png").stat().st_size > 10_000
    limits = {axis.get_ylim() for axis in figure.axes}
    assert len(limits) == 1  # heights compare


def test_trials_that_follow_each_other_do_not_single_out_a_few_parameters():
    """All twenty act alike, and the trials of `add-gp` move all of them together.

    A model in which two or three count may have the higher density, but predicts worse, and is sure of itself
    where it is wrong.
    """
    space = Space(w=Vector(20, -1, 1))
    settings = {"n_trials": 40, "method": "add-gp", "seed": 0, "progress": False}
    result = minimize(lambda p: float(((p["w"] - 0.1) ** 2).sum()), space, **settings)
    found = result.components()
    assert max(component.share for component in found) < 0.45
    effects = [effect for component in found for effect in component.effects]
    inside = [e.low[0] <= 1.1**2 - (e.at - 0.1) ** 2 <= e.high[0] for e in effects]
    assert np.mean(inside) > 0.8


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_shares_are_the_same_for_values_of_any_size(size):
    groups = [["a", "c"], ["b"]]
    plain = {c.names: c.share for c in Insight(SPACE, history()).components(groups)}
    scaled = Insight(SPACE, history(f=lambda p: size * value(p))).components(groups)
    assert {c.names: c.share for c in scaled} == pytest.approx(plain, abs=1e-3)
