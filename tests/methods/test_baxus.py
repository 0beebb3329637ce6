"""What is peculiar to the growing embedding, and when the default looks through it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, Vector, minimize
from hidim.embed import Bins, CountSketch
from hidim.errors import MethodError
from hidim.frame import growing
from hidim.frame.embedded import configuration
from hidim.methods import METHODS, Auto, Task, configured
from hidim.trial import History, same_params
from saved import reloaded
from space.corpus import CORPUS

CUBE = Space(x=Vector(40, -1, 1))

#: Grows after three trials that bring nothing.
EAGER = configured("baxus", low=2, patience=0.0, least=3, initial=3)


def bowl(params) -> float:
    return float(np.sum((params["x"][[3, 11]] - 0.3) ** 2))


def told(method, count, objective=bowl, space=CUBE, seed=0, **options) -> Optimizer:
    optimizer = Optimizer(space, method, seed=seed, **options)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, objective(trial.params))
    return optimizer


def levels(history) -> list[int]:
    return [t.meta["doublings"] for t in history]


def after(values, method=EAGER, **options) -> Optimizer:
    """An optimizer that was told these values in turn, of which NaN makes a failed trial."""
    values = [float(value) for value in values]
    rest = iter(values)
    return told(method, len(values), lambda p: next(rest), **options)


def bins(optimizer: Optimizer) -> int:
    """With how many bins the next suggestion is made."""
    return len(optimizer.ask().meta["y"])


# -- growth ------------------------------------------------------------------------------------------------


def test_it_grows_by_doubling_when_nothing_better_is_found():
    found = after([0] * 13).history
    assert levels(found) == [0] * 4 + [1] * 3 + [2] * 3 + [3] * 3  # the first one was the best
    assert [len(t.meta["y"]) for t in found] == [2 * 2**level for level in levels(found)]


def test_it_does_not_grow_as_long_as_it_gets_better():
    assert levels(after(range(0, -12, -1)).history) == [0] * 12


@pytest.mark.parametrize(
    ("values", "low"),
    [
        ([3, 1, 2, 2], 2),
        ([3, 1, 2, 2, 2], 4),
        ([3, 1, 2, 2, 0.5, 2, 2], 2),
        ([3, 1, 2, 2, 0.5, 2, 2, 0.5], 4),  # no better than before
        ([3, 1, 2, 2, 2, 2, 0.5, 2, 2], 4),
        ([3, 1, 2, 2, 2, 2, 0.5, 2, 2, 2], 8),
    ],
    ids=str,
)
def test_after_something_better_it_has_patience_again(values, low):
    assert bins(after(values)) == low


def test_when_maximising_large_values_are_better():
    assert bins(after([3, 4, 5, 6, 7], maximize=True)) == 2
    assert bins(after([3, 4, 5, 6, 7])) == 4


def test_failed_trials_are_not_better():
    assert bins(after([1, math.nan, math.nan])) == 2
    assert bins(after([1, math.nan, math.nan, math.nan])) == 4


def test_running_trials_do_not_count():
    optimizer = after([1, 2, 2])
    assert {len(trial.meta["y"]) for trial in optimizer.ask(4)} == {2}


def test_patience_grows_with_the_number_of_bins():
    method = configured("baxus", low=4, patience=2.0, least=3)
    assert bins(after([1] * 8, method)) == 4
    assert bins(after([1] * 9, method)) == 8


@pytest.mark.parametrize(
    ("method", "dim", "largest"),
    [
        (configured("baxus", low=2, patience=0.0, least=1, most=6), 40, 4),
        (configured("baxus", low=2, patience=0.0, least=1, most=8), 40, 8),
        (configured("baxus", low=4, patience=0.0, least=1), 10, 10),
        (configured("baxus", low=4, patience=0.0, least=1), 3, 3),
        (configured("baxus", low=1, patience=0.0, least=1), 1, 1),
    ],
)
def test_it_grows_neither_beyond_its_limit_nor_beyond_the_space(method, dim, largest):
    found = told(method, 10, lambda p: 0.0, Space(x=Vector(dim, -1, 1))).history
    assert max(len(t.meta["y"]) for t in found) == largest


def test_every_old_trial_has_an_exact_copy_after_growth():
    space, method = Space(a=Float(0, 1), x=Vector(30, -2, 5), n=Int(1, 9), c=Choice("p", "q")), EAGER
    optimizer = told(method, 14, lambda p: 0.0, space)
    task, found = Task(space, seed=0), optimizer.history
    assert max(levels(found)) >= 3
    sketches = {len(t.meta["y"]): method.frame.sketch(task, found[: t.number]) for t in found}
    for trial in found:
        sketch, y = sketches[len(trial.meta["y"])], np.array([trial.meta["y"]])
        while sketch.low < max(sketches):
            y, sketch = sketch.grown().carry(y), sketch.grown()
            assert same_params(configuration(space, sketch, y[0]), trial.params)
        assert sketch == sketches[max(sketches)]


def test_the_levels_are_refinements_of_one_sketch():
    task, history = Task(CUBE, seed=5), after([0] * 13, seed=5).history
    sketches = [EAGER.frame.sketch(task, history[:count]) for count in (2, 5, 8, 11)]
    for coarse, fine in pairwise(sketches):
        assert coarse.grown() == fine
    assert EAGER.frame.sketch(Task(CUBE, seed=6), History()).seed != sketches[0].seed


def test_all_that_was_told_is_known_after_growth():
    optimizer = after([5, 3, 4, 7, 6, 8, 9])
    task, told_before = Task(CUBE, seed=0), optimizer.history[:6]
    scene = EAGER.frame.scene(task, told_before, 6, task.rng(6))
    assert optimizer.history[-1].meta["doublings"] == 1
    assert scene.seen.y.tolist() == [5.0, 3.0, 4.0, 7.0, 6.0, 8.0]
    assert scene.seen.x.shape == (6, 4)
    for trial, point in zip(told_before[:5], 2.0 * scene.seen.x - 1.0, strict=False):
        np.testing.assert_allclose(point[::2], trial.meta["y"])
        np.testing.assert_array_equal(point[::2], point[1::2])
    assert optimizer.history[-1].meta["way"] != "design"


def test_the_values_told_before_growth_matter_after_it():
    high, low = (after([1, value, 2, 3, 4]).ask().meta for value in (5, 6))
    assert high["doublings"] == low["doublings"] == 1
    assert high["y"] != low["y"]


def test_all_parameters_of_a_bin_move_together():
    found = told(configured("baxus", low=3), 5).history
    for trial in found:
        assert len(np.unique(np.abs(trial.params["x"]).round(12))) <= 3


# -- searching ---------------------------------------------------------------------------------------------


def test_two_of_many_parameters_are_found():
    optimizer = told(
        configured("baxus", low=2, patience=0.0, least=4), 32, space=Space(x=Vector(10**9, -1, 1))
    )
    assert optimizer.best.value < 0.05


def test_every_point_can_be_reached():
    """Twenty parameters, each of which wants another value."""
    wanted = np.linspace(-0.9, 0.9, 20)
    method = configured("baxus", low=2, patience=0.0, least=4)
    found = told(method, 90, lambda p: float(np.sum((p["x"] - wanted) ** 2)), Space(x=Vector(20, -1, 1)))
    assert len(found.history[-1].meta["y"]) == 20
    assert found.best.value < 0.1


def test_the_same_seed_gives_the_same_run_and_a_reload_goes_on_alike():
    first, second = (told(EAGER, 12, lambda p: max(bowl(p), 0.2)) for _ in range(2))
    assert list(first.history) == list(second.history)
    assert max(levels(first.history)) > 0
    assert reloaded(first).ask() == second.ask()


@pytest.mark.parametrize("where", ["mixed", "classifier", "pipeline", "deep sharing"])
def test_it_grows_in_mixed_and_conditional_spaces(where):
    space = CORPUS[where]
    found = told(EAGER, 18, lambda p: float(len(p)), space).history
    assert max(levels(found)) == math.ceil(math.log2(space.dim / 2))
    assert not any("fallback" in t.meta for t in found)
    for trial in found:
        space.validate(trial.params)


def test_trials_from_elsewhere_are_kept_and_do_not_disturb():
    optimizer = Optimizer(CUBE, EAGER, seed=0)
    optimizer.add({"x": np.full(40, 0.25)}, -50.0)
    for _ in range(6):
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(trial.params))
    assert optimizer.best.number == 0
    assert optimizer.history[1].params["x"].tolist() == [0.0] * 40
    assert len(optimizer.history) == 7


def test_a_probe_for_noise_stands_next_to_the_trial_that_it_names():
    optimizer = Optimizer(Space(x=Vector(3, -1, 1)), configured("baxus", low=2, least=99, initial=3))
    for value in (5.0, 7.0, 9.0):
        optimizer.add({"x": np.full(3, 0.1 * value)}, value)
    probes = []
    while not probes:
        trial = optimizer.ask()
        optimizer.tell(trial, float(np.sin(1e5 * trial.params["x"] @ [1, 2, 3])))
        probes = [t for t in optimizer.history if "probe" in t.meta]
        assert trial.number < 80
    (twin,) = (t for t in optimizer.history if t.value == probes[0].meta["probe"])
    np.testing.assert_allclose(twin.params["x"], probes[0].params["x"], atol=1e-6)


@pytest.mark.parametrize("low", [3, 4, 6])
def test_a_run_of_another_method_can_be_continued(tmp_path, low):
    path = tmp_path / "run.jsonl"
    before = minimize(bowl, CUBE, 6, method=configured("rembo", low=low, runs=6), journal=path)
    after = minimize(bowl, CUBE, 12, method="baxus", journal=path)
    assert list(after.history[:6]) == list(before.history)
    assert levels(after.history[6:]) == [0] * 6


@pytest.mark.parametrize("kind", [Bins, CountSketch])
def test_a_run_that_began_with_eight_bins_goes_on_with_them(kind, monkeypatch):
    """As all did once."""
    with monkeypatch.context() as once:
        once.setattr(growing, "Bins", kind)
        history = told(configured("baxus", low=8), 12).history
    later = METHODS["baxus"].suggest(Task(CUBE, seed=0), history, 12)
    assert later.meta["embedding"] == history[0].meta["embedding"]
    assert len(later.meta["y"]) == 8
    assert len(METHODS["baxus"].suggest(Task(CUBE, seed=0), History(), 0).meta["y"]) == 16


def test_points_of_another_sketch_are_not_taken_for_own_ones(tmp_path):
    """A journal may be continued with another seed; only the centre is a point of all sketches."""
    path = tmp_path / "run.jsonl"
    minimize(bowl, CUBE, 6, method=EAGER, seed=1, journal=path)
    found = minimize(bowl, CUBE, 11, method=EAGER, seed=0, journal=path).history
    forgetful = History(
        [replace(t, meta={}) if t.number < 6 and any(t.meta.get("y", [])) else t for t in found]
    )
    known, forgotten = (
        EAGER.suggest(task, history, 11)
        for task, history in ((Task(CUBE, seed=0), found), (Task(CUBE, seed=0), forgetful))
    )
    assert known.meta == forgotten.meta


def test_of_noisy_values_the_model_names_the_best():
    rng = np.random.default_rng(0)
    optimizer = told(EAGER, 12, lambda p: bowl(p) + 0.3 * rng.standard_normal(), noisy=True)
    assert optimizer.result().by_model
    means = EAGER.means(Task(CUBE, seed=0, noisy=True), optimizer.history)
    assert optimizer.best.number == optimizer.history.complete[int(np.argmin(means))].number


@pytest.mark.parametrize(
    "settings",
    [{"low": 0}, {"low": 2.5}, {"patience": -1.0}, {"least": 0}, {"most": 3}, {"most": "all"}],
    ids=str,
)
def test_bad_settings_are_named(settings):
    (name,) = settings
    with pytest.raises(MethodError, match=f"{name}="):
        configured("baxus", **settings)


# -- the default -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dim", "chosen"), [(1, "default"), (5000, "default"), (5001, "baxus"), (10**9, "baxus")]
)
def test_the_default_is_a_sum_up_to_5000_columns_and_baxus_beyond(dim, chosen):
    space = Space(x=Vector(dim, -1, 1))
    assert Auto().chosen(Task(space)) == METHODS[chosen]
    default, named = (Optimizer(space, method, seed=2) for method in ("auto", chosen))
    for _ in range(3):
        trial, same = default.ask(), named.ask()
        assert trial == same
        default.tell(trial, float(trial.params["x"][0]))
        named.tell(same, float(trial.params["x"][0]))
