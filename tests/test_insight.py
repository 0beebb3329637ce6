from __future__ import annotations

import numpy as np
import pytest

from hidim import Choice, Float, HidimError, History, Int, Optimizer, Space, Trial, Vector, minimize
from hidim.insight import Insight
from hidim.insight.fitting import picked
from hidim.insight.units import Units

TREE = Space(
    model=Choice("none", svm=Space(C=Float(1e-3, 1e3, log=True), shrink=Choice(True, False))),
    x=Float(0, 1),
)


def evaluated(space, objective, n, *, seed=0):
    """A history of `n` random trials; an objective that returns a string fails with it as the reason."""
    trials = []
    for number, params in enumerate(space.sample(np.random.default_rng(seed), n)):
        value, trial = objective(params), Trial(params, number)
        done = trial.failed(value, number) if isinstance(value, str) else trial.completed(value, number)
        trials.append(done)
    return History(trials)


def tree_value(p):
    return (0.3 if p["model"] == "none" else np.log10(p["C"]) ** 2) + 0.1 * p["x"]


# -- importance --------------------------------------------------------------------------------------------


def test_an_active_parameter_comes_first_and_idle_ones_have_next_to_nothing():
    space = Space(idle=Float(0, 1), lr=Float(1e-5, 1e-1, log=True), n=Int(1, 9), also_idle=Choice("a", "b"))
    history = evaluated(space, lambda p: np.log10(p["lr"] / 1e-3) ** 2 + 0.3 * p["n"], 60)
    shares = Insight(space, history).importance()
    assert list(shares)[:2] == ["lr", "n"]
    assert shares["idle"] + shares["also_idle"] < 0.02
    assert sum(shares.values()) == pytest.approx(1.0)


def test_the_shares_of_an_additive_function_are_the_shares_of_its_variances():
    space = Space(a=Float(0, 1), b=Float(0, 1), c=Choice("u", "v"))
    history = evaluated(space, lambda p: 2 * p["a"] + p["b"] + (p["c"] == "u"), 80)
    shares = Insight(space, history).importance()
    variances = np.array([4 / 12, 1 / 12, 1 / 4])
    found = [shares["a"], shares["b"], shares["c"]]
    np.testing.assert_allclose(found, variances / variances.sum(), atol=0.05)


def test_of_five_hundred_coordinates_the_two_that_matter_are_found_though_one_has_no_slope_on_average():
    space = Space(w=Vector(500, low=-1, high=1), x=Float(0, 1))
    history = evaluated(space, lambda p: 3 * p["w"][17] ** 2 + p["w"][400], 100)
    shares = Insight(space, history).importance()
    assert set(list(shares.coordinates)[:2]) == {"w[17]", "w[400]"}
    assert shares["w"] > 0.95
    assert shares["w"] == pytest.approx(sum(v for k, v in shares.coordinates.items() if k != "x"))
    assert [entry.name for entry in shares.entries(9)][2:] == ["w (other 498)", "x"]


def test_a_run_of_sixty_parameters_tells_the_eight_that_matter():
    weights = np.array([5.0, 4.0, 3.0, 3.0, 2.0, 2.0, 1.0, 1.0])
    space = Space(x=Vector(60, 0, 1))

    def objective(p):
        away = p["x"][4:60:7] - 0.4
        return float(weights @ np.abs(np.sin(3 * away)))

    told, matter = [], [f"x[{k}]" for k in range(4, 60, 7)]
    for seed in range(3):
        optimizer = Optimizer(space, "auto", seed=seed)
        for _ in range(100):
            trial = optimizer.ask()
            optimizer.tell(trial, objective(trial.params))
        shares = optimizer.result().importance().coordinates
        told.append(sum(shares[name] for name in matter))
        # One run in four has ended before it knew them all.
        assert len(set(list(shares)[:4]) & set(matter)) >= 3
    assert np.mean(told) > 0.85


def test_a_parameter_of_an_option_counts_where_it_is_active():
    shares = Insight(TREE, evaluated(TREE, tree_value, 80)).importance()
    # By integration: 3.6 for C, half of its variance, and 3.62 for the model.
    assert shares["model=svm/C"] == pytest.approx(0.5, abs=0.08)
    assert shares["model"] == pytest.approx(0.5, abs=0.08)
    assert shares["model=svm/shrink"] < 0.02


def test_a_parameter_that_no_trial_with_a_value_had_has_no_share():
    forest = Space(depth=Int(1, 9))
    space = Space(model=Choice("none", svm=Space(C=Float(0, 1)), forest=forest), x=Float(0, 1))
    history = evaluated(space, lambda p: "no memory" if "depth" in p else p.get("C", 0.5) + p["x"], 40)
    shares = Insight(space, history).importance()
    assert shares["model=forest/depth"] == 0.0 < shares["model=svm/C"]


def test_what_is_fixed_is_no_parameter_that_matters():
    space = Space(
        tol=1e-3, model=Choice("none", svm=Space(kernel="rbf", C=Float(0, 1))), n=Int(8, 64, step=8), k="a"
    )
    insight = Insight(space, evaluated(space, lambda p: p.get("C", 0.5) + p["n"] / 64, 30))
    assert set(insight.importance()) == {"model", "model=svm/C", "n"}
    assert not {"tol", "kernel", "k"} & set(insight.explain().replace("=", " ").split())
    assert [component.names for component in insight.components()] == [("n",), ("model=svm/C",)]
    assert [s.name for s in insight.slices("n", "C")] == ["n", "model=svm/C"]
    with pytest.raises(HidimError, match="groups: 'tol' has one value"):
        insight.components(groups=[["tol", "n"]])
    with pytest.raises(HidimError, match="no single parameter 'k'"):
        insight.slices("k")
    fixed = Space(tol=1e-3)
    with pytest.raises(HidimError, match="every parameter of the space is fixed"):
        Insight(fixed, History([Trial({"tol": 1e-3}, i).completed(i, i) for i in range(9)])).importance()


def test_labels_alone_are_a_space_too():
    space = Space({f"c{i}": Choice("a", "b", "c") for i in range(5)})
    history = evaluated(space, lambda p: float(p["c3"] == "b"), 40)
    assert next(iter(Insight(space, history).importance())) == "c3"


def test_the_same_history_gives_the_same_shares():
    history = evaluated(TREE, tree_value, 40)
    once, again = (Insight(TREE, history).importance().shares for _ in range(2))
    np.testing.assert_array_equal(once, again)


@pytest.mark.parametrize(
    ("objective", "n", "reason"),
    [
        (lambda p: p["x"], 4, "at least 5 complete trials, and there are 4"),
        (lambda p: "broken", 20, "there are 0"),
        (lambda p: 3.0, 20, "all 20 values are 3"),
    ],
)
def test_where_no_model_is_possible_the_error_says_why(objective, n, reason):
    insight = Insight(TREE, evaluated(TREE, objective, n))
    with pytest.raises(HidimError, match=reason):
        insight.importance()
    assert reason in " ".join(insight.explain().split()) or n == 20


def test_a_space_too_wide_for_the_model_is_told_so():
    space = Space(w=Vector(6000))
    insight = Insight(space, evaluated(space, lambda p: p["w"][0], 10))
    with pytest.raises(HidimError, match="6000 columns"):
        insight.slices()
    assert "6000 columns" in insight.explain()


def test_a_few_penalties_do_not_hide_the_rest():
    space = Space(x=Float(0, 1), y=Float(0, 1))
    history = evaluated(space, lambda p: 1e12 if p["x"] > 0.9 else p["y"], 60)
    assert any(trial.value == 1e12 for trial in history)
    assert Insight(space, history).importance()["y"] > 0.1


def test_a_run_that_has_converged_has_no_penalties():
    """Half of the trials are within 1e-6 of the best: the others are what the objective does elsewhere."""
    space = Space(x=Float(-1, 1), y=Float(-1, 1))
    rng = np.random.default_rng(0)
    points = [*rng.uniform(-1, 1, (20, 2)), *(1e-3 * rng.uniform(-1, 1, (25, 2)))]
    params = [{"x": float(x), "y": float(y)} for x, y in points]
    trials = [Trial(p, i).completed(p["x"] ** 2 + 0.1 * p["y"] ** 2, rank=i) for i, p in enumerate(params)]
    insight = Insight(space, History(trials))
    assert insight.importance()["x"] > 0.9
    assert insight.components()[0].effects[0].mean[0] == pytest.approx(1.0, abs=0.2)


# -- slices ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("maximize", [False, True])
def test_a_slice_brackets_the_truth(maximize):
    space = Space(x=Float(-2, 2), lr=Float(1e-3, 1e3, log=True))
    sign = -1 if maximize else 1

    def objective(p):
        return sign * (np.exp(p["x"]) + np.log10(p["lr"]) ** 2)

    history = evaluated(space, objective, 60)
    x, lr = Insight(space, history, maximize=maximize).slices("x", "lr")
    truth = np.array([objective({"x": value, "lr": lr.at}) for value in x.grid])
    assert np.mean((x.low <= truth) & (truth <= x.high)) > 0.9
    assert np.max(np.abs(x.median - truth)) < 0.5
    assert np.all((x.low <= x.median) & (x.median <= x.high))
    assert lr.log
    assert lr.grid[0] == pytest.approx(1e-3)
    assert lr.grid[-1] == pytest.approx(1e3)


def test_a_slice_along_a_choice_takes_what_an_option_needs_from_its_best_trial():
    insight = Insight(TREE, evaluated(TREE, tree_value, 80))
    model = insight.slices("model")[0]
    assert model.grid == ("none", "svm")
    assert model.at == "svm"
    # Not the value with C in mid-range, but with the best C of all trials.
    np.testing.assert_allclose(model.median, [0.3, 0.0], atol=0.15)


def test_slices_go_through_the_point_that_is_given_and_along_the_names_that_are_given():
    insight = Insight(TREE, evaluated(TREE, tree_value, 40))
    c, x = insight.slices("C", "x", through={"model": "svm", "C": 10.0, "shrink": True, "x": 0.5})
    assert (c.name, c.at) == ("model=svm/C", pytest.approx(10.0))
    assert x.median[0] == pytest.approx(1.0, abs=0.2)
    with pytest.raises(HidimError, match="inactive"):
        insight.slices("C", through={"model": "none", "x": 0.5})
    with pytest.raises(HidimError, match="no single parameter 'modle'; did you mean 'model'"):
        insight.slices("modle")


def test_a_vector_is_sliced_along_a_coordinate():
    space = Space(w=Vector(3))
    insight = Insight(space, evaluated(space, lambda p: p["w"][1], 20))
    assert insight.slices("w[1]")[0].median[-1] > 0.9
    assert insight.slices()[0].name == "w[1]"
    with pytest.raises(HidimError, match=r"'w' is a vector: .*'w\[0\]'"):
        insight.slices("w")


def test_coordinates_with_bounds_of_their_own_are_sliced_along_these():
    space = Space(w=Vector(2, low=(0, 1), high=(1, 1000), log=(False, True)))
    insight = Insight(space, evaluated(space, lambda p: p["w"][0] + (np.log10(p["w"][1]) - 3.0) ** 2, 30))
    plain, log = insight.slices("w[0]", "w[1]")
    assert (plain.grid[0], plain.grid[-1], plain.log) == (0.0, 1.0, False)
    assert (log.grid[0], log.grid[-1], log.log) == (1.0, 1000.0, True)
    assert log.at == insight.best.params["w"][1] == log.grid[np.searchsorted(log.grid, log.at)]
    assert f"best {log.at:.4g}; in the best 3 trials" in insight.explain()


def test_steps_and_ordered_labels_are_looked_at_one_by_one():
    sizes = ("s", "m", (64, 64), "xl")
    space = Space(x=Float(0.1, 0.5, step=0.1), size=Choice(*sizes, ordered=True))
    objective = {"s": 3.0, "m": 1.0, (64, 64): 0.0, "xl": 1.0}
    insight = Insight(space, evaluated(space, lambda p: 4.0 * p["x"] + objective[p["size"]], 30))
    x, size = insight.slices("x", "size")
    assert x.grid.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert (x.whole, size.whole, size.grid, size.at) == (True, True, sizes, (64, 64))
    assert np.argmin(size.median) == 2
    told = insight.explain()
    assert "best (64, 64); in the best 3 trials (64, 64) to xl" in told
    assert "size: (64, 64) 0.4 (" in told
    assert "! x = 0.1 lies at its lower bound: widen x (low < 0.1)" in told


def test_an_ordered_choice_is_learnt_from_its_neighbours():
    """Of twelve sizes three are tried; a model that knows the order can tell what lies between them."""
    labels = [f"size {n}" for n in range(12)]
    tried = [Trial({"size": labels[n], "x": x}, 0) for n in (0, 6, 11) for x in (0.1, 0.5, 0.9)]

    def spread(ordered):
        space = Space(size=Choice(*labels, ordered=ordered), x=Float(0, 1))
        history = History(
            Trial(t.params, i).completed(float(labels.index(t.params["size"])), i)
            for i, t in enumerate(tried)
        )
        (piece,) = Insight(space, history).slices("size")
        return piece.median[1:6]

    assert np.all(np.diff(spread(True)) > 0.1)
    assert np.ptp(spread(False)) < 1e-6


def test_integers_are_looked_at_one_by_one():
    space = Space(n=Int(2, 6), m=Int(1, 10**6, log=True))
    n, m = Insight(space, evaluated(space, lambda p: p["n"] + np.log(p["m"]), 30)).slices("n", "m")
    assert n.grid.tolist() == [2, 3, 4, 5, 6]
    assert np.all(m.grid == np.rint(m.grid))


def test_values_across_many_magnitudes_come_back_in_their_own_units():
    space = Space(x=Float(0, 1), y=Float(0, 1))
    history = evaluated(space, lambda p: float(np.exp(12 * p["x"]) * (1 + p["y"])), 60)
    x = Insight(space, history).slices("x")[0]
    assert x.median[-1] > 1e4 * abs(x.median[0])
    assert np.all(np.diff(x.median) > -0.05 * x.median.max())


def test_units_are_monotone_through_every_pair_and_bounded_beyond():
    rng = np.random.default_rng(0)
    y = np.sort(rng.exponential(size=50)) ** 3
    t = np.log(y)
    units = Units(t, y)
    np.testing.assert_allclose(units(t), y)
    far = units(np.linspace(-100, 100, 4001))
    assert np.all(np.diff(far) >= 0)
    assert far[0] >= y[0] - np.ptp(y)
    assert far[-1] <= y[-1] + np.ptp(y)


def test_columns_are_picked_though_all_of_them_follow_the_losses():
    # As in an optimisation: everything drifts while the losses fall.
    rng = np.random.default_rng(0)
    drift = np.linspace(0.0, 0.3, 120)[:, None]
    x = np.clip(0.3 + drift + 0.15 * rng.standard_normal((120, 200)), 0, 1)
    y = 4 * (x[:, 3] - 0.5) ** 2 + x[:, 7]
    assert {3, 7} <= set(picked(x, y).tolist())


# -- penalties ---------------------------------------------------------------------------------------------


def penalised(penalty):
    """Near 1 where x is small, and a penalty elsewhere."""

    def objective(p):
        return penalty(p) if p["x"] >= 0.5 else 1.0 + (p["x"] - 0.3) ** 2 + 0.1 * p["y"]

    return objective


PLANE = Space(x=Float(0, 1), y=Float(0, 1))


@pytest.mark.parametrize(("share", "maximize"), [(0.5, False), (0.2, True)])
@pytest.mark.parametrize(
    "penalty", [lambda p: 1e3, lambda p: 1e6, lambda p: 5.0, lambda p: 1e3 * (1 + p["y"])], ids="abcd"
)
def test_slices_do_not_contradict_penalties_that_were_seen(penalty, share, maximize):
    sign = -1 if maximize else 1
    found = evaluated(PLANE, penalised(penalty), 60)
    high, low = ([t for t in found if (t.params["x"] >= 0.5) is side] for side in (True, False))
    kept = [*low, *high[: int(share / (1 - share) * len(low))]]
    history = History([t.completed(sign * t.value, i) for i, t in enumerate(kept)])
    insight = Insight(PLANE, history, maximize=maximize)
    for trial in history:
        x = insight.slices("x", through=trial.params)[0]
        at = int(np.argmin(np.abs(x.grid - trial.params["x"])))
        room = 0.03 * abs(trial.value)
        assert x.low[at] - room <= trial.value <= x.high[at] + room
        assert abs(x.median[at] - trial.value) < 0.2 * abs(trial.value)


@pytest.mark.parametrize("penalty", [1e3, 1e6])
def test_slices_of_a_run_that_avoids_penalties_know_them(penalty):
    result = minimize(penalised(lambda p: penalty), PLANE, 25, method="gp", seed=0)
    seen = [t.params["x"] for t in result.history if t.value == penalty]
    x = Insight(PLANE, result.history).slices("x")[0]
    at = [int(np.argmin(np.abs(x.grid - place))) for place in seen if place > 0.6]
    assert len(at) > 1
    assert np.all(x.high[at] >= penalty)
    assert np.all(x.median[x.grid < 0.4] < 2.0)
    text = " ".join(result.explain().split())
    assert f"Penalties: {len(seen)} values from {penalty:.4g} on" in text
    assert result.importance()["x"] > 0.5


def test_penalties_of_large_values_lie_below():
    history = evaluated(PLANE, lambda p: -1e3 if p["x"] > 0.7 else p["x"] + p["y"], 40)
    text = " ".join(Insight(PLANE, history, maximize=True).explain().split())
    assert "values from -1000 downwards, out of proportion" in text


def test_the_edge_of_a_step_without_penalties_is_seen():
    history = evaluated(PLANE, lambda p: (2.0 if p["x"] > 0.5 else 1.0) + 0.3 * p["y"], 60)
    insight = Insight(PLANE, history)
    x = insight.slices("x")[0]
    assert insight.learned.cut is None
    assert x.median[x.grid < 0.4].max() < 1.2 < 1.8 < x.median[x.grid > 0.6].min()


def test_effects_of_a_sum_are_told_in_units_of_penalties():
    found = evaluated(PLANE, penalised(lambda p: 1e3), 60)
    few = History([*(t for t in found if t.value < 1e3), *[t for t in found if t.value == 1e3][:10]])
    effect = Insight(PLANE, few).components()[0].effects[0]
    assert effect.name == "x"
    assert np.median(effect.mean[np.asarray(effect.grid) > 0.6]) == pytest.approx(1e3, rel=0.15)


def test_a_run_that_has_converged_is_not_cut():
    result = minimize(
        lambda p: float(np.sum(p["w"] ** 2)), Space(w=Vector(3, -1, 1)), 30, method="gp", seed=0
    )
    insight = Insight(result.space, result.history)
    piece = insight.slices("w[0]")[0]
    assert insight.learned.cut is None
    assert piece.median[[0, -1]] == pytest.approx([1.0, 1.0], abs=0.3)


# -- words -------------------------------------------------------------------------------------------------


def test_explain_names_best_failures_importance_and_the_bound():
    space = Space(x=Float(0, 1), idle=Float(0, 1), n=Int(1, 5))

    def objective(p):
        return "ValueError: no licence" if p["idle"] > 0.9 else 2 * p["x"] + 0.01 * p["n"]

    history = evaluated(space, objective, 60)
    text = Insight(space, history).explain()
    best = min(history.complete, key=lambda t: t.value)
    failed = len(history) - len(history.complete)
    assert f"Best value {best.value:.6g} (smallest is best): trial {best.number} of 60 trials" in text
    assert f"Failed: {failed} × ValueError: no licence." in text
    assert "! x = " in text
    assert "lower bound: widen x (low < 0)" in text
    assert "the other 2 together" in text
    assert "widen idle" not in text
    assert len(text.splitlines()) <= 25


def test_explain_says_where_the_shares_are_that_it_does_not_list():
    space = Space(w=Vector(12, 0.0, 1.0))
    text = Insight(space, evaluated(space, lambda p: float(np.sum(p["w"])), 60)).explain()
    assert "one by one in result.importance().coordinates" in text


def test_explain_ranks_the_options_with_counts():
    text = Insight(TREE, evaluated(TREE, tree_value, 60)).explain()
    assert "Options, by their best values:" in text
    line = next(line for line in text.splitlines() if line.startswith("  model: "))
    assert line.index("svm") < line.index("none")
    assert line.count("trials)") == 2


def test_explain_keeps_labels_that_are_numbers_apart_from_values():
    space = Space(n=Choice(1, 2, "all"))
    told = ((2, 0.5), (1, 0.75), ("all", 1.0))
    trials = [Trial({"n": label}, i).completed(value, rank=i) for i, (label, value) in enumerate(told)]
    text = Insight(space, History(trials)).explain()
    assert "n: 2 has 0.5 (1 trial), 1 has 0.75 (1 trial), all 1 (1 trial)" in text


def test_explain_says_of_options_without_a_value_that_nothing_is_known_of_them():
    """Neither that they were not tried, if they failed, nor that the choice does not matter at all."""
    space = Space(x=Float(0, 1), kind=Choice("a", "b", "breaks", "rare"))

    def objective(p):
        return None if p["kind"] == "breaks" else p["x"]

    points = space.sample(np.random.default_rng(0), 60)
    points = [p for p in points if p["kind"] != "rare"]
    trials = [Trial(p, number) for number, p in enumerate(points)]
    told = [(trial, objective(trial.params)) for trial in trials]
    done = [t.failed("x", t.number) if v is None else t.completed(v, t.number) for t, v in told]
    text = Insight(space, History(done)).explain()
    failed = sum(trial.params["kind"] == "breaks" for trial in done)
    line = next(line for line in text.splitlines() if line.startswith("  kind: "))
    assert line.endswith(f"breaks no value ({failed} failed), 1 untried")
    assert "kind (as far as its options had values)" in text


def test_explain_names_a_single_parameter_that_is_left():
    space = Space(a=Float(0, 1), b=Float(0, 1), c=Float(0, 1))
    text = Insight(space, evaluated(space, lambda p: p["a"] + p["b"], 30)).explain()
    assert "the other" not in text
    assert any(line.startswith("  c ") for line in text.splitlines())


@pytest.mark.parametrize(
    ("bad", "line"),
    [
        (Space(z=Float(0, 1)), "  m=bad/z     0 %  no trial that has it has a value"),
        (Space(z=Float(0, 1), n=Int(1, 9)), "  the other 2 together: <1 %"),
    ],
)
def test_explain_does_not_judge_parameters_that_never_had_a_value(bad, line):
    space = Space(x=Float(0, 1), m=Choice(good=Space(a=Float(0, 1)), bad=bad))
    trials = []
    for number, p in enumerate(space.sample(np.random.default_rng(0), 40)):
        trial = Trial(p, number)
        done = trial.failed("x", number) if p["m"] == "bad" else trial.completed(p["x"] + p["a"], number)
        trials.append(done)
    insight = Insight(space, History(trials))
    text = insight.explain()
    assert not any("m=bad" in name for name in insight.interactions().idle)
    assert line in text.splitlines()


def test_a_parameter_that_is_not_there_is_told_with_those_that_are():
    shares = Insight(PLANE, evaluated(PLANE, lambda p: p["x"], 12)).importance()
    with pytest.raises(KeyError, match=r"no parameter has the title 'z': there are .*'y'"):
        shares["z"]


def test_an_insight_says_of_what_it_is():
    assert repr(Insight(PLANE, evaluated(PLANE, lambda p: p["x"], 3))) == "Insight(2 columns, 3 complete)"


def test_explain_of_no_trials():
    assert Insight(PLANE, History([])).explain() == "Nothing found yet: no trials."


def test_explain_tells_of_noise_in_units_and_of_luck():
    space = Space(x=Float(0, 1))
    rng = np.random.default_rng(1)
    history = evaluated(space, lambda p: 10 * p["x"] + rng.standard_normal(), 80)
    text = " ".join(Insight(space, history, maximize=True).explain().split())
    assert "(largest is best)" in text
    deviation = float(text.partition("standard deviation of about ")[2].partition(",")[0])
    assert 0.6 < deviation < 1.6


def test_explain_without_noise_says_nothing_of_it():
    assert "Noise" not in Insight(TREE, evaluated(TREE, tree_value, 60)).explain()


def test_explain_says_whether_it_still_improves():
    space = Space(x=Float(0, 1))

    def text(values):
        trials = [Trial({"x": i / 40}, i).completed(v, i) for i, v in enumerate(values)]
        return Insight(space, History(trials)).explain()

    assert "Still improving" in text(np.linspace(1, 0, 40).tolist())
    assert "No new best value in the last 30 of 40" in text(
        [*np.linspace(1, 0.1, 10), *np.linspace(0.2, 1, 30)]
    )
    assert "Too few trials" in text([3.0, 2.0])


def test_explain_before_anything_is_complete():
    running = Trial({"x": 0.5}, 0)
    assert (
        Insight(Space(x=Float(0, 1)), History([running])).explain()
        == "Nothing found yet: 1 trial (1 running)."
    )
    failing = History([running.failed("out of memory", 0)])
    assert "1 × out of memory" in Insight(Space(x=Float(0, 1)), failing).explain()
    with pytest.raises(HidimError, match="no trial is complete"):
        _ = Insight(Space(x=Float(0, 1)), failing).best


def test_explain_speaks_of_the_trial_that_is_called_the_best():
    history = evaluated(TREE, tree_value, 30)
    chosen = sorted(history.complete, key=lambda t: t.value)[2]
    text = Insight(TREE, history, best=chosen).explain()
    assert f"trial {chosen.number} of 30" in text
    assert "the smallest single value is" in text


def test_values_that_differ_by_rounding_alone_are_equal():
    trials = [Trial({"x": i / 20}, i).completed(0.3 if i % 2 else 0.1 + 0.2, rank=i) for i in range(15)]
    insight = Insight(Space(x=Float(0, 1)), History(trials))
    assert "nothing tells one parameter from another" in insight.explain()
    with pytest.raises(HidimError, match="nothing tells"):
        insight.importance()


def test_where_all_parameters_matter_alike_a_short_run_names_no_few_of_them():
    """A model of few columns may predict a run that goes straight to its end as well as one of all."""
    result = minimize(lambda p: float(np.sum((p["w"] - 0.3) ** 2)), Space(w=Vector(24)), 30, seed=0)
    assert max(result.importance().coordinates.values()) < 0.4
    assert "Next to no effect" not in result.explain()
