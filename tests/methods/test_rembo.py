"""What is peculiar to REMBO: its embeddings, its interleaved runs, its kernels."""

from __future__ import annotations

import itertools
import json
import logging
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp

from hidim import Choice, Int, Optimizer, Space, TrialState, Vector, minimize
from hidim.bench.problems import problem
from hidim.embed import Gaussian
from hidim.errors import MethodError, NumericalError
from hidim.frame import Ground, Subspaces
from hidim.gp.kernels import Kernel, Overlap, Stationary, Through
from hidim.gp.kernels.lifted import clipped, high_dimensional, isotropic
from hidim.gp.psi import Warped
from hidim.methods import METHODS, RandomSearch, Task, configured
from hidim.optim.cmaes import CMAES
from hidim.optim.direct import Direct
from hidim.serial import read_method, write_method
from hidim.trial import History, same_params
from saved import reloaded
from space.corpus import CORPUS

CUBE = Space(x=Vector(25, -1, 1))
MIXED = CORPUS["mixed"]

#: One run that soon has a model, and is quick about it.
QUICK = configured("rembo", low=2, runs=1, initial=2, evaluations=30)
CLIMBING = configured("rembo", low=2, runs=2, initial=2, search="multistart")


def bowl(params) -> float:
    return float((params["x"][3] - 0.3) ** 2 + (params["x"][11] + 0.2) ** 2)


def told(method, count, space=CUBE, objective=bowl, seed=0, **options) -> Optimizer:
    optimizer = Optimizer(space, method, seed=seed, **options)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, objective(trial.params))
    return optimizer


@cache
def history():
    return told(configured("rembo", low=2, runs=3, initial=2, search="multistart"), 14).history


# -- runs and their embeddings -----------------------------------------------------------------------------


def test_trials_belong_to_the_runs_in_turn():
    assert [t.meta["run"] for t in history()] == [n % 3 for n in range(14)]


def test_every_run_begins_with_random_points_and_has_a_model_then():
    ways = [[t.meta["way"] for t in history() if t.meta["run"] == run] for run in range(3)]
    assert all(way[:2] == ["design"] * 2 and set(way[2:]) == {"maximised"} for way in ways)
    assert all(("fit" in t.meta) == (t.meta["way"] == "maximised") for t in history())


def test_every_run_has_an_embedding_of_its_own_and_every_seed_has_others():
    frame, places = configured("rembo", low=2).frame, np.arange(25)
    tasks = [Task(CUBE, seed=seed) for seed in (0, 1)]
    matrices = [frame.embedding(task, run).rows(places) for task in tasks for run in range(4)]
    assert all(not np.allclose(a, b) for a, b in itertools.combinations(matrices, 2))
    again = frame.embedding(Task(CUBE, seed=1, budget=99, maximize=True), 3).rows(places)
    np.testing.assert_array_equal(again, matrices[-1])


def test_every_trial_is_the_clipped_image_of_its_point():
    frame, task = configured("rembo", low=2, runs=3).frame, Task(CUBE, seed=0)
    clipped = 0
    for trial in history():
        image = frame.embedding(task, trial.meta["run"]).rows(np.arange(25)) @ trial.meta["y"]
        clipped += int(np.sum(np.abs(image) > 1.0))
        np.testing.assert_allclose(trial.params["x"], np.clip(image, -1.0, 1.0), atol=1e-14)
    assert clipped > 10


def test_in_a_mixed_space_the_image_is_decoded():
    task = Task(MIXED, seed=0)
    optimizer = told(QUICK, 8, MIXED, lambda p: p["layers"] + (p["activation"] == "relu"))
    for trial in optimizer.history:
        image = QUICK.frame.embedding(task, 0).rows(np.arange(MIXED.dim)) @ trial.meta["y"]
        assert same_params(trial.params, MIXED.decode(0.5 * (1.0 + np.clip(image, -1.0, 1.0))))


@pytest.mark.parametrize(
    ("box", "side"), [("sqrt", math.sqrt(3)), ("theorem", 3 / 0.1), ("log", 1.5 * math.log(3))]
)
def test_points_stay_in_their_box_and_use_it(box, side):
    method = configured("rembo", low=3, runs=1, initial=2, evaluations=30, box=box)
    points = np.array([t.meta["y"] for t in told(method, 8).history])
    assert points.shape == (8, 3)
    assert 0.5 * side < np.abs(points).max() <= side


def test_without_a_dimension_runs_try_several_in_turn_but_not_more_than_the_space_has():
    for dim, lows in ((25, [4, 8, 2]), (3, [3, 3, 2])):
        task = Task(Space(x=Vector(dim)))
        assert [METHODS["rembo"].frame.embedding(task, run).low for run in range(3)] == lows
        assert METHODS["rembo-paper"].frame.embedding(task, 0).low == lows[0]
    assert configured("rembo", runs=1).frame.embedding(Task(CUBE), 0).low == 4
    with pytest.raises(MethodError, match="set runs=5"):
        configured("rembo", low=(2, 4, 6, 8, 10))
    assert configured("rembo", low=10).frame.embedding(Task(Space(x=Vector(3))), 0).low == 3


@pytest.mark.parametrize("low", [2, 8])
def test_runs_begin_with_points_that_are_hardly_clipped(low):
    """Anywhere in the box of d = 8, five of six coordinates are clipped."""
    found = [
        np.mean([np.abs(t.params["x"]) == 1.0 for t in told(configured(m, low=low, initial=9), 30).history])
        for m in ("rembo", "rembo-paper")
    ]
    assert found[0] < 0.35 < found[1]


def test_runs_may_have_dimensions_of_their_own():
    found = told(configured("rembo", low=(2, 3), runs=2, initial=2), 8).history
    assert [len(trial.meta["y"]) for trial in found] == [2, 3] * 4
    assert found[-1].meta["way"] == "maximised"


def test_the_box_of_the_theorem_holds_an_optimum_as_often_as_is_wanted():
    task = Task(CUBE)
    sides = [Subspaces(low=2, box="theorem", failure=f).embedding(task, 0).radius for f in (0.1, 0.5)]
    assert sides == [20.0, 4.0]


def test_the_paper_s_maximisers_are_used_whatever_the_dimension(monkeypatch):
    used = []
    for kind in (Direct, CMAES):
        call = kind.__call__
        monkeypatch.setattr(
            kind, "__call__", lambda self, *args, call=call: used.append(type(self)) or call(self, *args)
        )
    told(configured("rembo-paper", low=5, runs=1), 5)
    assert set(used) == {Direct, CMAES}


def test_the_first_trial_is_the_centre():
    space = Space(x=Vector(25, -1, 3), n=Int(1, 9))
    first = Optimizer(space, METHODS["rembo"], seed=7).ask()
    assert first.params["x"].tolist() == [1.0] * 25
    assert first.params["n"] == 5
    assert first.meta["y"] == [0.0] * 4


def _suggested_after(value_of_the_centre: float):
    """The second model-based suggestion of run 1, given the value of the centre, which is of run 0."""
    optimizer = Optimizer(CUBE, CLIMBING, seed=0)
    for number in range(5):
        trial = optimizer.ask()
        optimizer.tell(trial, value_of_the_centre if number == 0 else bowl(trial.params))
    return optimizer.ask()


def test_all_runs_know_the_centre():
    low, high = _suggested_after(-5.0), _suggested_after(5.0)
    assert low.meta["run"] == high.meta["run"] == 1
    assert low.meta["way"] == high.meta["way"] == "maximised"
    assert low.meta["y"] != high.meta["y"]


def test_a_run_knows_nothing_else_of_the_others():
    suggestions = []
    for factor in (1.0, -3.0):
        optimizer = Optimizer(CUBE, configured("rembo", low=2, runs=2, initial=2, evaluations=30), seed=0)
        for number in range(7):
            trial = optimizer.ask()
            other = number % 2 == 0 and number > 0
            optimizer.tell(trial, (factor if other else 1.0) * bowl(trial.params))
            if number > 0 and number % 2 == 1:
                suggestions.append(trial.meta["y"])
    half = len(suggestions) // 2
    assert suggestions[:half] == suggestions[half:]


def test_the_longest_scale_is_that_of_the_paper_whatever_the_dimension():
    for dim in (25, 10**4, 10**9):
        trial = told(QUICK, 3, Space(x=Vector(dim, -1, 1))).history[-1]
        assert trial.meta["fit"]["upper"] == [math.log(50.0)]


def test_scales_of_a_run_follow_the_schedule():
    method = configured("rembo", low=1, runs=1, initial=6, evaluations=10, patience=2, threshold=10.0)
    found = told(method, 12, objective=lambda p: float(np.sin(p["x"][3]))).history
    metas = [t.meta["fit"] for t in found[6:]]
    assert [m["calm"] for m in metas] == [1, 2, 1, 2, 1, 2]
    uppers = [m["upper"][0] for m in metas]
    assert uppers[0] == uppers[1] > uppers[2] == uppers[3] > uppers[4] == uppers[5]
    assert uppers[2] == pytest.approx(math.log(0.9) + metas[1]["scales"][0])


# -- how well it searches ----------------------------------------------------------------------------------


def test_branin_in_25_dimensions_is_found_better_than_by_random_search():
    task = problem("branin-25")
    method = configured("rembo", low=2, runs=2, search="multistart")
    gaps = [
        told(m, 60, task.space(), task.value, seed=5).best.value - task.optimum
        for m in (method, RandomSearch())
    ]
    assert gaps[0] < 0.5 * gaps[1]


def test_a_billion_dimensions_are_searched_as_well_as_25():
    def two(params):
        return float(np.sum((params["x"][[5, 17]] - 0.3) ** 2))

    method = configured("rembo", low=2, runs=1, search="multistart")
    best = {dim: told(method, 20, Space(x=Vector(dim, -1, 1)), two).best.value for dim in (25, 10**9)}
    assert max(best.values()) < 0.01


def test_a_half_of_the_space_that_fails_is_left_alone():
    def failing(params):
        return bowl(params) if params["x"][3] < 0.4 else math.nan

    runs = [
        told(configured("rembo", low=2, runs=1, search="multistart"), 24, objective=failing, seed=s)
        for s in range(2)
    ]
    late = [t for run in runs for t in run.history[10:]]
    assert np.mean([t.state is TrialState.FAILED for t in late]) < 0.2
    assert min(run.best.value for run in runs) < 0.1
    assert not any("fallback" in t.meta for run in runs for t in run.history)


def test_of_noisy_values_the_model_makes_better_ones_and_names_the_best():
    rng = np.random.default_rng(0)
    optimizer = told(
        CLIMBING,
        24,
        CUBE,
        lambda p: bowl(p) + 0.2 * rng.standard_normal(),
        noisy=True,
    )
    complete = optimizer.history.complete
    means = optimizer.method.means(Task(CUBE, seed=0, noisy=True), optimizer.history)
    truth, values = (np.array(v) for v in zip(*((bowl(t.params), t.value) for t in complete), strict=True))
    assert np.mean((means - truth) ** 2) < 0.9 * np.mean((values - truth) ** 2)
    assert optimizer.result().by_model
    assert optimizer.best.number == complete[int(np.argmin(means))].number


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_noisy_values_may_be_of_any_size(unit):
    optimizer = told(QUICK, 8, objective=lambda p: unit * bowl(p), noisy=True)
    assert optimizer.result().by_model
    assert optimizer.best.value < unit * np.median([bowl(t.params) for t in optimizer.history])
    assert not any("fallback" in t.meta for t in optimizer.history)


@pytest.mark.parametrize("outcome", ["identity", "auto"])
def test_losses_are_transformed_as_the_evidence_says_unless_that_is_unwanted(outcome):
    method = configured("rembo", low=2, runs=1, initial=15, search="multistart", outcome=outcome)
    found = told(method, 17, objective=lambda p: math.exp(20.0 * bowl(p))).history
    outcomes = [t.meta["fit"]["outcome"] for t in found if "fit" in t.meta]
    assert (set(outcomes) == {"identity"}) == (outcome == "identity")


def test_of_few_noisy_values_the_best_is_that_with_the_best_value():
    optimizer = told(configured("rembo", low=2), 6, noisy=True)
    assert not optimizer.result().by_model
    assert optimizer.best.value == min(t.value for t in optimizer.history)


def test_a_model_that_fails_is_replaced_by_random_points_and_says_so(monkeypatch, caplog):
    def broken(*_):
        raise NumericalError("no factor")

    monkeypatch.setattr("hidim.belief.inference.base.Posterior", broken)
    with caplog.at_level(logging.WARNING, logger="hidim"):
        found = told(QUICK, 5).history
    assert [t.meta.get("fallback") for t in found] == [None] * 2 + ["no factor"] * 3
    assert "no factor" in caplog.text


# -- trials from elsewhere ---------------------------------------------------------------------------------


def test_trials_from_elsewhere_are_kept_and_do_not_disturb():
    optimizer = Optimizer(CUBE, CLIMBING, seed=0)
    optimizer.add({"x": np.full(25, 0.25)}, -50.0)
    for number in range(12):
        trial = optimizer.ask()
        assert trial.meta["run"] == trial.number % 2
        optimizer.tell(trial, bowl(trial.params))
        if number == 6:
            optimizer.add({"x": np.zeros(25)})
    assert optimizer.best.number == 0
    assert optimizer.best.value == -50.0
    assert len(optimizer.history) == 14
    assert not any("fallback" in t.meta for t in optimizer.history)
    back = reloaded(optimizer)
    assert list(back.history) == list(optimizer.history)
    assert back.ask().meta == optimizer.ask().meta


@pytest.mark.parametrize("maximize", [False, True])
def test_a_bad_trial_from_elsewhere_is_not_the_best_of_noisy_ones(maximize):
    sign = -1.0 if maximize else 1.0
    optimizer = Optimizer(CUBE, QUICK, maximize=maximize, noisy=True)
    optimizer.add({"x": np.ones(25)}, sign * 100.0)
    for _ in range(7):
        trial = optimizer.ask()
        optimizer.tell(trial, sign * bowl(trial.params))
    assert optimizer.result().by_model
    assert optimizer.best.number > 0


@pytest.mark.parametrize("maximize", [False, True])
def test_a_good_trial_from_elsewhere_is_the_best_of_noisy_ones(maximize):
    sign = -1.0 if maximize else 1.0
    optimizer = Optimizer(CUBE, QUICK, maximize=maximize, noisy=True)
    optimizer.add({"x": np.ones(25)}, sign * -100.0)
    for _ in range(7):
        trial = optimizer.ask()
        optimizer.tell(trial, sign * bowl(trial.params))
    assert optimizer.best.number == 0


@pytest.mark.parametrize(
    ("before", "seed"),
    [(QUICK, 1), (configured("baxus", low=2), 0), (configured("rembo", low=3, runs=1, initial=9), 0)],
    ids=["another seed", "baxus", "another dimension"],
)
def test_points_of_another_embedding_are_not_taken_for_own_ones(tmp_path, before, seed):
    """A journal may be continued with another seed or method; only the centre is a point of all."""
    path = tmp_path / "run.jsonl"
    minimize(bowl, CUBE, 5, method=before, seed=seed, journal=path)
    found = minimize(bowl, CUBE, 9, method=QUICK, seed=0, journal=path).history
    forgetful = History(
        [replace(t, meta={}) if t.number < 5 and any(t.meta.get("y", [])) else t for t in found]
    )
    task = Task(CUBE, seed=0)
    known, forgotten = (QUICK.suggest(task, history, 9) for history in (found, forgetful))
    assert known.meta == forgotten.meta


# -- kernels -----------------------------------------------------------------------------------------------


def kernel_of(kind: str, space: Space, matrix: np.ndarray) -> Kernel:
    low = matrix.shape[1]
    match kind:
        case "low":
            return isotropic(low)
        case "warped":
            return Through(Warped(matrix), isotropic(low))
        case _:
            return high_dimensional(space, clipped(matrix), as_labels=kind == "categorical", squared=False)


SPACES = {
    "cube": Space(x=Vector(9, -1, 1)),
    "mixed": MIXED,
    "conditional": CORPUS["classifier"],
    "pipeline": CORPUS["pipeline"],
    "integers": Space({f"n{i}": Int(1, 2 + i, log=i % 2 == 1) for i in range(6)}),
    "labels": Space({f"c{i}": Choice(*range(2 + i)) for i in range(5)}),
    "one level": Space(c=Choice("only"), n=Int(3, 3), d=Choice("a", "b")),
}


@pytest.mark.parametrize("where", SPACES)
@pytest.mark.parametrize("kind", ["low", "high", "categorical", "warped"])
@settings(max_examples=5)
@given(data=st.data())
def test_every_kernel_is_positive_semidefinite(kind, where, data):
    space = SPACES[where]
    low = data.draw(st.integers(1, min(3, space.dim)))
    seed = data.draw(st.integers(0, 999))
    kernel = kernel_of(kind, space, np.random.default_rng(seed).standard_normal((space.dim, low)))
    coordinate = st.one_of(st.floats(-4, 4), st.sampled_from([-2.0, 0.0, 2.0]))
    y = data.draw(stnp.arrays(np.float64, (10, low), elements=coordinate))
    scales = stnp.arrays(np.float64, kernel.size, elements=st.floats(math.log(0.01), math.log(50)))
    value = kernel.gram(data.draw(scales), y).value
    np.testing.assert_allclose(value, value.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.diag(value), 1.0)
    assert np.linalg.eigvalsh(0.5 * (value + value.T)).min() >= -1e-9


def test_the_printed_kernel_for_labels_is_indefinite_and_the_default_is_not():
    corners = np.array(list(itertools.product([0.25, 0.75], repeat=3)))
    for squared in (False, True):
        kernel = Overlap([0, 1, 2], [2, 2, 2], squared=squared)
        smallest = [
            np.linalg.eigvalsh(kernel.gram(np.log([scale]), corners).value)[0]
            for scale in (0.5, 1 / math.sqrt(0.2), 5.0)
        ]
        if squared:
            assert smallest[1] == pytest.approx(-0.17, abs=0.01)
        else:
            assert min(smallest) > 0.0


def test_the_printed_kernel_is_to_be_had_and_warns():
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        method = configured("rembo", low=2, runs=1, initial=2, evaluations=10, squared_hamming=True)
    found = told(method, 8, SPACES["labels"], lambda p: p["c4"] + p["c3"]).history
    assert len(found.complete) == 8
    assert read_method(json.loads(json.dumps(write_method(QUICK)))) == QUICK


def covariance(kind: str, space: Space, first, second) -> float:
    """The covariance of two configurations, by an embedding that reaches every point."""
    kernel = kernel_of(kind, space, np.eye(space.dim))
    points = np.nan_to_num(space.encode_all([first, second]), nan=0.5)
    return kernel.gram(np.zeros(kernel.size), 2.0 * points - 1.0).value[0, 1]


def test_numbers_are_compared_by_distance_and_labels_by_whether_they_differ():
    space = Space(x=Vector(2, -1, 1), n=Int(1, 9), c=Choice("a", "b", "d"))

    def k(kind, **changed):
        params = {"x": np.array([0.5, -0.5]), "n": 4, "c": "a"}
        return covariance(kind, space, params, params | changed)

    for kind in ("high", "categorical"):
        assert k(kind) == pytest.approx(1.0)
        assert k(kind, x=np.array([0.5, 0.0])) == pytest.approx(math.exp(-0.125))
        assert k(kind, c="b") == pytest.approx(k(kind, c="d")) == pytest.approx(math.exp(-1.0))
    assert k("high", n=5) > k("high", n=9) > 0.0
    assert k("categorical", n=5) == pytest.approx(k("categorical", n=9)) == pytest.approx(math.exp(-1.0))
    assert k("categorical", n=5, c="d") == pytest.approx(math.exp(-2.0))


def test_points_with_the_same_configuration_are_one_point():
    space = SPACES["labels"]
    matrix = np.random.default_rng(0).standard_normal((space.dim, 2))
    y = np.array([[0.5, 0.5], [0.5, 0.5 + 1e-9], [30.0, 40.0], [60.0, 80.0]])
    value = kernel_of("high", space, matrix).gram(np.zeros(1), y).value
    assert value[0, 1] == value[2, 3] == 1.0
    assert value[0, 2] < 1.0


@pytest.mark.parametrize("log", [False, True])
def test_integers_that_count_as_labels_are_told_apart(log):
    space = Space(n=Int(1, 16, log=log))
    kernel = kernel_of("categorical", space, np.ones((1, 1)))
    points = space.encode_all([{"n": n} for n in range(1, 17)])
    value = kernel.gram(np.zeros(1), 2.0 * points - 1.0).value
    np.testing.assert_allclose(value[~np.eye(16, dtype=bool)], math.exp(-1.0))


def test_an_inactive_integer_that_counts_as_a_label_is_a_level_of_its_own():
    space = Space(c=Choice("off", on=Space(n=Int(1, 3))))
    off, on = {"c": "off"}, [{"c": "on", "n": n} for n in (1, 2, 3)]
    assert len({round(covariance("categorical", space, off, other), 12) for other in on}) == 1


def test_integers_of_any_range_may_count_as_labels():
    space = Space(n=Int(0, 2**42), c=Choice("a", "b"))
    method = configured("rembo", low=2, runs=1, initial=2, evaluations=10, kernel="categorical")
    assert len(told(method, 5, space, lambda p: p["n"] / 2**42).history.complete) == 5


def test_by_default_configurations_are_compared_unless_all_are_real_numbers():
    for space, size in ((CUBE, 1), (MIXED, 2), (SPACES["labels"], 1)):
        trial = told(QUICK, 3, space, lambda p: float(len(p))).history[-1]
        assert len(trial.meta["fit"]["scales"]) == size
    label = Space(c=Choice("a", "b"), x=Vector(200_000))
    trial = told(QUICK, 3, label, lambda p: float(p["c"] == "a")).history[-1]
    assert len(trial.meta["fit"]["scales"]) == 1


def test_points_are_compared_by_where_they_leave_the_cube_from_three_dimensions_on():
    kinds = [type(METHODS["rembo"].prior.model(Ground(CUBE, Gaussian(25, low, 0))).kernel) for low in (2, 3)]
    assert kinds == [Stationary, Through]
    assert isinstance(METHODS["rembo-paper"].prior.model(Ground(CUBE, Gaussian(25, 4, 0))).kernel, Stationary)
    huge = told(configured("rembo", low=3, runs=1, initial=2), 4, Space(x=Vector(10**9)), lambda p: p["x"][7])
    assert huge.history[-1].meta["way"] == "maximised"


@pytest.mark.parametrize("kernel", ["high", "categorical"])
def test_kernels_that_look_at_all_columns_refuse_too_many(kernel):
    """Before anything is evaluated."""
    method = configured("rembo", low=2, runs=1, initial=2, kernel=kernel)
    with pytest.raises(MethodError, match="use kernel='low'"):
        Optimizer(Space(x=Vector(10**9, -1, 1)), method).ask()


@pytest.mark.parametrize(
    "settings",
    [
        {"low": 0},
        {"low": 2.5},
        {"low": True},
        {"runs": 0},
        {"initial": 0},
        {"evaluations": 5},
        {"kernel": "cubic"},
        {"box": "round"},
        {"maximiser": "grid"},
        {"outcome": "cube"},
    ],
    ids=str,
)
def test_bad_settings_are_named(settings):
    (name,) = settings
    with pytest.raises(MethodError, match=f"{name}="):
        configured("rembo", **settings)
