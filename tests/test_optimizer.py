from __future__ import annotations

import math

import numpy as np
import pytest

from hidim import Choice, Float, HidimError, Optimizer, Space, TrialState, Vector
from hidim.errors import TrialError
from hidim.methods import RandomSearch

SPACE = Space(x=Float(0, 1), model=Choice("none", svm=Space(C=Float(0, 1))))


@pytest.fixture
def optimizer() -> Optimizer:
    return Optimizer(SPACE, "random", seed=0)


def test_a_trial_is_numbered_in_the_order_of_asking(optimizer):
    assert [optimizer.ask().number for _ in range(3)] == [0, 1, 2]
    assert [t.number for t in optimizer.ask(2)] == [3, 4]


def test_asking_for_a_batch_is_asking_one_by_one():
    together, single = (Optimizer(SPACE, seed=1) for _ in range(2))
    assert [t.params for t in together.ask(4)] == [single.ask().params for _ in range(4)]


def test_inactive_parameters_are_absent(optimizer):
    for trial in optimizer.ask(20):
        assert ("C" in trial.params) == (trial.params["model"] == "svm")


def test_telling_a_trial_or_its_number(optimizer):
    first, second = optimizer.ask(2)
    optimizer.tell(second.number, 2)
    optimizer.tell(first, np.float32(1.5))
    assert [t.value for t in optimizer.history] == [1.5, 2.0]
    assert all(type(t.value) is float for t in optimizer.history)
    assert [t.rank for t in optimizer.history] == [1, 0]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.nan])
def test_a_value_that_is_not_finite_is_a_failed_trial(optimizer, value):
    trial = optimizer.ask()
    optimizer.tell(trial, value)
    known = optimizer.history[0]
    assert known.state is TrialState.FAILED
    assert known.value is None
    assert str(float(value)) in known.reason


def test_failing_keeps_the_reason(optimizer):
    optimizer.fail(optimizer.ask(), "out of memory")
    assert optimizer.history[0].reason == "out of memory"
    assert optimizer.history[0].state is TrialState.FAILED


def test_the_best_is_the_smallest_and_the_first_of_equals(optimizer):
    for trial, value in zip(optimizer.ask(4), [3.0, 1.0, 1.0, math.nan], strict=True):
        optimizer.tell(trial, value)
    assert optimizer.best.number == 1


def test_the_best_of_a_maximisation_is_the_largest():
    optimizer = Optimizer(SPACE, "random", maximize=True)
    for trial, value in zip(optimizer.ask(3), [-3.0, 0.0, -1.0], strict=True):
        optimizer.tell(trial, value)
    assert optimizer.best.value == 0.0


def test_without_a_complete_trial_there_is_no_best(optimizer):
    optimizer.fail(optimizer.ask())
    with pytest.raises(TrialError, match="no trial is complete yet: tell"):
        _ = optimizer.best


def test_a_history_is_a_snapshot(optimizer):
    trial = optimizer.ask()
    before = optimizer.history
    optimizer.tell(trial, 1.0)
    optimizer.ask()
    assert len(before) == 1
    assert before[0].state is TrialState.RUNNING


def test_changing_the_params_of_a_trial_does_not_change_the_history():
    optimizer = Optimizer(Space(x=Float(0, 1), w=Vector(2)), "random")
    trial = optimizer.ask()
    x, w = trial.params["x"], trial.params["w"].copy()
    trial.params["w"][0] = 7.0
    del trial.params["x"]
    assert optimizer.history[0].params["x"] == x
    np.testing.assert_array_equal(optimizer.history[0].params["w"], w)
    optimizer.tell(trial.number, 1.0)
    assert optimizer.best.params["x"] == x


def test_a_method_may_be_a_configured_object():
    optimizer = Optimizer(SPACE, RandomSearch())
    assert optimizer.method == RandomSearch()
    assert repr(optimizer) == "Optimizer(method='random', seed=0, no trial)"


def test_a_warm_start_counts_as_complete_trials(optimizer):
    added = optimizer.add({"x": 0.5, "model": "none"}, 3)
    assert (added.value, added.state, added.number) == (3.0, TrialState.COMPLETE, 0)
    assert optimizer.best == added
    lost = optimizer.add({"x": 0.1, "model": "svm", "C": 1}, math.nan)
    assert lost.state is TrialState.FAILED
    assert optimizer.ask().number == 2


def test_a_warm_start_guides_the_default_method():
    """Twenty trials from elsewhere replace the design: the first suggestions are near the best of them."""
    space = Space(w=Vector(2))
    optimizer = Optimizer(space, seed=0)
    for w in np.random.default_rng(0).random((20, 2)):
        optimizer.add({"w": w}, float(np.sum((w - 0.3) ** 2)))
    trials = optimizer.ask(3)
    assert min(np.linalg.norm(t.params["w"] - 0.3) for t in trials) < 0.15


def test_params_from_elsewhere_are_copied_and_normalised():
    optimizer = Optimizer(Space(w=Vector(2), x=Float(0, 1)), "random")
    given = {"x": 1, "w": np.array([0.1, 0.2])}
    optimizer.add(given, 0.0)
    given["w"][0] = 0.9
    assert optimizer.history[0].params["w"].tolist() == [0.1, 0.2]
    assert list(optimizer.history[0].params) == ["w", "x"]
    assert type(optimizer.history[0].params["x"]) is float


# -- seeds, methods, results -------------------------------------------------------------------------------


def test_a_seed_that_is_not_given_is_drawn_and_recorded(tmp_path):
    seeds = {Optimizer(SPACE, "random", seed=None).seed for _ in range(5)}
    assert len(seeds) == 5
    drawn = Optimizer(SPACE, "random", seed=None)
    same = Optimizer(SPACE, "random", seed=drawn.seed)
    assert drawn.ask().params == same.ask().params
    drawn.save(tmp_path / "saved")
    assert Optimizer.load(tmp_path / "saved").seed == drawn.seed


def test_which_method_auto_has_chosen_is_said():
    assert Optimizer(SPACE).chosen.name == "default"
    assert "'auto' → 'default'" in repr(Optimizer(SPACE))
    assert Optimizer(Space(w=Vector(10**6))).chosen.name == "baxus"
    assert Optimizer(SPACE, "gp").chosen.name == "gp"


def test_an_optimizer_gives_the_result_that_minimize_gives():
    optimizer = Optimizer(SPACE, "random", seed=3)
    with pytest.raises(TrialError, match="no trial is complete yet"):
        optimizer.result()
    for trial in optimizer.ask(6):
        optimizer.tell(trial, trial.params["x"])
    result = optimizer.result()
    assert (result.best, result.seed, result.method) == (optimizer.best, 3, "random")
    assert "x" in result.explain()


def test_attributes_survive_saving(tmp_path):
    optimizer = Optimizer(SPACE, "random")
    first, second = optimizer.ask(2)
    optimizer.tell(first, 1.0, attributes={"accuracy": np.float64(0.9), "epochs": [1, 2], "nan": math.nan})
    optimizer.fail(second, "diverged", attributes={"at": (3, "late")})
    optimizer.add(first.params, 2.0, attributes={"by": "hand"})
    optimizer.save(tmp_path / "saved")
    kept = [trial.attributes for trial in Optimizer.load(tmp_path / "saved").history]
    assert kept[0] == {"accuracy": 0.9, "epochs": [1, 2], "nan": "nan"}
    assert kept[1:] == [{"at": [3, "late"]}, {"by": "hand"}]
    assert optimizer.history.to_pandas()["attributes.accuracy"][0] == 0.9


@pytest.mark.parametrize("method", ["gp", "default", "bock", "leaves", "sobol", "add-gp"])
def test_a_method_that_cannot_serve_a_space_refuses_at_once(method):
    huge = Space(w=Vector(10**8))
    deep = Space({f"c{i}": Choice({0: Space({f"x{i}": Float(0, 1)}), 1: None}) for i in range(11)})
    with pytest.raises(HidimError, match=r"at most|more than"):
        Optimizer(deep if method == "leaves" else huge, method)
