"""What every method in `METHODS`, and every setting of the default one, must do."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.newcomer import NEWCOMER
from hidim import Choice, Float, History, Int, Optimizer, Space, TrialState, Vector, minimize
from hidim._threads import single_threaded
from hidim.methods import METHODS, Method, Task, configured
from registered import BASELINES, DISTINCT
from space.corpus import CORPUS
from strategies import spaces

#: The default method begins with 10 points of a design; the rest of a run is model-based.
LENGTH, BEGINNING = 13, 11

SPACES = {
    "vector": Space(w=Vector(4, -2, 3)),
    "single": Space(x=Float(1e-4, 1e2, log=True)),
    "mixed": CORPUS["mixed"],
    "conditional": CORPUS["classifier"],
    "labels": Space(a=Choice(*range(5)), b=Choice((64, 64), (128,), ()), c=Choice(True, False)),
    "one level": Space(
        x=Vector(2, low=(0, 1), high=9, log=(False, True)), n=Int(3, 3), m=Int(8, 64, step=8), c=0.5
    ),
    "tiny": Space(n=Float(0.1, 0.3, step=0.1), a=Choice("x", y=Space(b=Choice("p", "q")), ordered=True)),
}


VARIANTS: dict[str, Method] = {
    **BASELINES,
    "newcomer": NEWCOMER,
    "gp isotropic": configured("gp", lengthscales="isotropic"),
    "gp ard": configured("gp", lengthscales="ard"),
    "gp slice": configured("gp", inference="slice", draws=2),
    "gp identity": configured("gp", outcome="identity"),
    # One run with two random points: all but the beginning is model-based.
    "rembo high": configured("rembo", low=3, runs=1, initial=2, evaluations=15, kernel="high"),
    "rembo warped ei": configured(
        "rembo", low=2, runs=1, initial=2, evaluations=15, kernel="warped", utility="ei"
    ),
    "rembo multistart": configured("rembo", low=3, runs=1, initial=2, search="multistart"),
    # Two trials that bring nothing, and it grows.
    "baxus eager": configured("baxus", low=2, patience=0.0, least=2, initial=3),
}
ALL: dict[str, Method] = {**DISTINCT, **VARIANTS}

every_method = pytest.mark.parametrize("name", ALL)
every_registered = pytest.mark.parametrize("name", DISTINCT)
every_pair = pytest.mark.parametrize(
    ("name", "where"),
    [
        *((name, where) for name in DISTINCT for where in SPACES),
        *((name, where) for name in VARIANTS for where in ("vector", "conditional")),
    ],
)
every_space = pytest.mark.parametrize("where", SPACES)


def bowl(space: Space, params) -> float:
    return float(np.nansum((space.encode(params) - 0.3) ** 2))


@single_threaded  # as the optimizer computes
def suggested(method: Method, task: Task, history: History):
    return method.suggest(task, history, len(history))


def told(optimizer: Optimizer, count: int, objective=None) -> Optimizer:
    """Ask and tell `count` times, one after the other; the objective takes a space and a configuration."""
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, (objective or bowl)(optimizer.space, trial.params))
    return optimizer


@cache
def _begun(name: str, where: str) -> bytes:
    return pickle.dumps(told(Optimizer(SPACES[where], ALL[name], seed=3), BEGINNING))


def begun(name: str, where: str) -> Optimizer:
    """The first trials of a run, to go on from; made once."""
    return pickle.loads(_begun(name, where))


@cache
def run(name: str, where: str) -> History:
    return told(begun(name, where), LENGTH - BEGINNING).history


def encoded(space: Space, trials) -> np.ndarray:
    return np.nan_to_num(space.encode_all([t.params for t in trials]), nan=-1.0)


def doubles(space: Space, trials) -> int:
    points = encoded(space, trials)
    return len(points) - len(np.unique(points.round(10), axis=0))


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_a_frozen_configuration_with_a_registered_name(name):
    method = METHODS[name]
    assert method.name in METHODS
    assert METHODS[name] == method
    field = next(iter(dataclasses.fields(method)), None)
    if field is not None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(method, field.name, None)


@pytest.mark.parametrize("where", ["vector", "conditional"])
def test_the_variants_are_past_their_beginnings(where):
    for name in (name for name in VARIANTS if name.startswith("rembo")):
        assert [t.meta["way"] for t in run(name, where)[2:]] == ["maximised"] * (LENGTH - 2)
    assert len({t.meta["doublings"] for t in run("baxus eager", where)}) > 1


@pytest.mark.parametrize("name", BASELINES | DISTINCT)
def test_a_space_in_which_all_is_fixed_is_tried_once(name):
    space = Space(tol=1e-3, n=Int(3, 3), x=Float(0.5, 0.5))
    optimizer = told(Optimizer(space, ALL[name]), 3)
    assert {tuple(trial.params.values()) for trial in optimizer.history} == {(1e-3, 3, 0.5)}
    assert ["instead" in trial.meta for trial in optimizer.history] == [False, True, True]
    assert len(minimize(lambda p: p["tol"], space, 9, method=ALL[name]).history) == 1


@every_pair
def test_every_suggestion_fits_the_space_and_its_meta_is_plain_json(name, where):
    space = SPACES[where]
    for trial in run(name, where):
        assert list(space.validate(trial.params)) == list(trial.params)
        assert json.loads(json.dumps(trial.meta, allow_nan=False)) == trial.meta
        assert "fallback" not in trial.meta


@every_method
@pytest.mark.parametrize("where", ["conditional"])  # in other spaces runs are repeated by other tests
def test_the_same_seed_gives_the_same_run(name, where):
    again = told(Optimizer(SPACES[where], ALL[name], seed=3), LENGTH).history
    np.testing.assert_array_equal(
        encoded(SPACES[where], again), encoded(SPACES[where], run(name, where)), strict=True
    )


@every_registered
def test_another_seed_gives_another_run(name):
    space = SPACES["vector"]
    other = told(Optimizer(space, ALL[name], seed=4), 5).history
    assert not np.array_equal(encoded(space, other), encoded(space, run(name, "vector")[:5]))


@every_pair
def test_a_suggestion_depends_on_nothing_but_the_history(name, where):
    """Replayed from each prefix of the history without any cache, every bit is the same."""
    history = run(name, where)
    for number in {3, BEGINNING - 1, LENGTH - 1}:
        task = Task(SPACES[where], seed=3)
        suggestion = suggested(ALL[name], task, history[:number])
        assert suggestion.meta == history[number].meta
        np.testing.assert_array_equal(
            SPACES[where].encode(suggestion.params), SPACES[where].encode(history[number].params), strict=True
        )


@pytest.mark.parametrize(
    ("name", "noisy"),
    [
        *((name, False) for name in (*DISTINCT, "gp slice", "rembo high")),
        *((name, True) for name in ("default", "rembo", "gp slice")),
    ],
)
def test_caches_may_vanish_between_any_two_suggestions(name, noisy):
    """With a failed trial, one that is always running, and values that may be noisy."""
    space = SPACES["vector" if noisy else "conditional"]
    method = configured(ALL[name], **({"initial": 5} if hasattr(ALL[name], "initial") else {}))
    kept, emptied = (Optimizer(space, method, seed=3, noisy=noisy) for _ in range(2))
    waiting = [kept.ask(), emptied.ask()]
    for number in range(10):
        emptied._task.memo.clear()
        expected, found = kept.ask(), emptied.ask()
        assert found == expected
        value = math.nan if number == 6 else bowl(space, waiting[0].params)
        for optimizer, trial in zip((kept, emptied), waiting, strict=True):
            optimizer.tell(trial, value)
        waiting = [expected, found]
    emptied._task.memo.clear()
    assert kept.best == emptied.best


@every_registered
def test_the_number_of_a_suggestion_is_what_it_is_told(name):
    """Two drivers of one study, who do not know of each other's latest trial, suggest different things."""
    space, method = SPACES["vector"], ALL[name]
    history = run(name, "vector")
    first, second = (method.suggest(Task(space, seed=3), history[:3], number) for number in (3, 4))
    assert not np.array_equal(first.params["w"], second.params["w"])


@every_registered
def test_a_task_that_has_served_another_history_suggests_the_same(name):
    """The cache must not confuse two histories of one task."""
    space = SPACES["vector"]
    task, fresh = Task(space, seed=3), Task(space, seed=3)
    method, history = ALL[name], run(name, "vector")
    other = told(Optimizer(space, ALL[name], seed=9), LENGTH, lambda s, p: -bowl(s, p)).history
    suggested(method, task, other)
    suggestions = [suggested(method, t, history) for t in (task, fresh)]
    np.testing.assert_array_equal(suggestions[0].params["w"], suggestions[1].params["w"])


@every_registered
@every_space
def test_a_suggestion_leaves_the_history_alone(name, where):
    history = run(name, where)
    before = [(repr(t.params), json.dumps(t.meta), t.value) for t in history]
    task = Task(SPACES[where], seed=3)
    suggested(ALL[name], task, history)
    assert [(repr(t.params), json.dumps(t.meta), t.value) for t in history] == before


@every_registered
def test_maximising_is_minimising_the_negative(name):
    space = SPACES["mixed"]
    up = told(Optimizer(space, ALL[name], seed=3, maximize=True), LENGTH, lambda s, p: -bowl(s, p))
    np.testing.assert_array_equal(encoded(space, up.history), encoded(space, run(name, "mixed")))


# -- pending trials ----------------------------------------------------------------------------------------


@every_registered
@pytest.mark.parametrize("where", ["conditional", "labels", "tiny"])
def test_a_batch_has_no_doubles(name, where):
    space, optimizer = SPACES[where], begun(name, where)
    batch = optimizer.ask(8)
    assert [t.number for t in batch] == list(range(BEGINNING, BEGINNING + 8))
    left = space.size - BEGINNING
    if left >= 8:
        assert doubles(space, optimizer.history) == 0
    else:
        assert {t.meta.get("instead") for t in batch[max(0, int(left)) :]} == {"repetition"}


@pytest.mark.parametrize(
    ("name", "told_first"),
    [*((name, 0) for name in ALL), *((name, 2) for name in DISTINCT)],
)
def test_points_of_a_batch_are_no_near_copies(name, told_first):
    space, optimizer = SPACES["vector"], told(begun(name, "vector"), told_first)
    points = encoded(space, optimizer.ask(8))
    assert min(np.linalg.norm(a - b) for a, b in combinations(points, 2)) > 1e-3


@every_registered
def test_the_first_batch_needs_no_values(name):
    optimizer = Optimizer(SPACES["vector"], ALL[name], seed=1)
    optimizer.ask(25)  # more than any design
    assert doubles(SPACES["vector"], optimizer.history) == 0


@every_registered
@pytest.mark.parametrize("where", ["mixed", "conditional"])
def test_a_suggestion_with_pending_trials_depends_on_nothing_but_the_history(name, where):
    optimizer = begun(name, where)
    pending = optimizer.ask(4)
    optimizer.tell(pending[2], 0.7)
    optimizer.fail(pending[1])
    history, asked = optimizer.history, optimizer.ask()
    task = Task(SPACES[where], seed=3)
    suggestion = suggested(ALL[name], task, history)
    np.testing.assert_array_equal(SPACES[where].encode(suggestion.params), SPACES[where].encode(asked.params))
    assert suggestion.meta == asked.meta


@every_registered
def test_trials_may_be_told_in_any_order(name):
    space = SPACES["mixed"]
    optimizer = Optimizer(space, ALL[name], seed=2)
    rng = np.random.default_rng(0)
    for _ in range(3):
        batch = optimizer.ask(5)
        for index in rng.permutation(5):
            optimizer.tell(batch[index], bowl(space, batch[index].params))
    assert [t.value for t in optimizer.history] == [bowl(space, t.params) for t in optimizer.history]
    assert [t.rank for t in optimizer.history.finished] == list(range(15))
    assert doubles(space, optimizer.history) == 0


# -- failures and odd values -------------------------------------------------------------------------------


@every_registered
@every_space
def test_a_run_in_which_all_trials_fail_goes_on(name, where):
    space = SPACES[where]
    optimizer = told(Optimizer(space, ALL[name], seed=1), LENGTH, lambda s, p: math.nan)
    assert {t.state for t in optimizer.history} == {TrialState.FAILED}
    assert LENGTH - doubles(space, optimizer.history) == min(LENGTH, space.size)


@every_registered
def test_a_run_in_which_every_other_trial_fails_goes_on(name):
    optimizer = Optimizer(SPACES["conditional"], ALL[name], seed=1)
    for number in range(14):
        trial = optimizer.ask()
        optimizer.tell(trial, math.inf if number % 2 else bowl(optimizer.space, trial.params))
    assert len(optimizer.history.complete) == 7
    assert doubles(optimizer.space, optimizer.history) == 0
    assert not any("fallback" in t.meta for t in optimizer.history)


def test_the_default_learns_where_trials_fail():
    space = Space(x=Float(0, 1), y=Float(0, 1))
    optimizer = Optimizer(space, seed=0)
    for _ in range(40):
        trial = optimizer.ask()
        inside = trial.params["x"] + trial.params["y"] > 0.8
        optimizer.tell(trial, (trial.params["x"] - 0.6) ** 2 + trial.params["y"] if inside else math.nan)
    late = optimizer.history[20:]
    failed = sum(t.state is TrialState.FAILED for t in late)
    assert failed < 10  # a third of the square fails: blind search near the minimum at its edge does worse


ODD = {
    "huge": lambda i, v: 1e300 * v,
    "largest": lambda i, v: 1.7e308 * (-1) ** i,
    "tiny": lambda i, v: 1e-300 * v,
    "all equal": lambda i, v: 0.1,
    "all zero": lambda i, v: 0.0,
    "one outlier": lambda i, v: 1e30 if i == 4 else v,
    "one huge outlier": lambda i, v: -1e300 if i == 4 else v,
    "far from zero": lambda i, v: 1e12 + v,
    "two values": lambda i, v: float(i % 2),
    "equal but one": lambda i, v: float(i == 5),
    "integers": lambda i, v: round(10 * v),
}


#: Those that have broken something before.
TELLING = ("largest", "all zero", "one huge outlier", "far from zero")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *((name, values) for name in ("default", "rembo") for values in ODD),
        *((name, values) for name in DISTINCT if name not in ("default", "rembo") for values in TELLING),
        *((name, "one huge outlier") for name in VARIANTS),
    ],
)
def test_odd_values_do_no_harm(name, values):
    space = SPACES["vector"]
    optimizer = Optimizer(space, ALL[name], seed=1)
    for number in range(LENGTH - 1):
        trial = optimizer.ask()
        optimizer.tell(trial, ODD[values](number, bowl(space, trial.params)))
    assert doubles(space, optimizer.history) == 0
    assert not any("fallback" in t.meta for t in optimizer.history)


@pytest.mark.parametrize("unit", [1e-300, 1e-6, 1e6, 1e300])
def test_the_default_does_not_mind_the_unit_of_the_values(unit):
    """Values in other units are as easy to learn from: the bowl is found all the same."""
    space = SPACES["vector"]
    optimizer = told(Optimizer(space, "gp", seed=0), 25, lambda s, p: unit * bowl(s, p))
    assert bowl(space, optimizer.best.params) < 0.02


# -- finite spaces -----------------------------------------------------------------------------------------


@every_registered
def test_a_finite_space_is_used_up_before_anything_is_repeated_and_repeats_are_marked(name, caplog):
    space = SPACES["tiny"]
    assert space.size == 9
    history = told(Optimizer(space, ALL[name], seed=5), 12).history
    assert [r.message for r in caplog.records if "nothing new left" in r.message] == [
        "trial 9 repeats another one: there is nothing new left to try"
    ]
    assert doubles(space, history[:9]) == 0
    assert not any(t.meta.get("instead") == "repetition" for t in history[:9])
    assert all(t.meta["instead"] == "repetition" for t in history[9:])


@every_registered
def test_pending_and_failed_trials_are_not_repeated_either(name):
    space = SPACES["tiny"]
    optimizer = Optimizer(space, ALL[name], seed=5)
    batch = optimizer.ask(4)
    optimizer.fail(batch[0])
    optimizer.tell(batch[1], 1.0)
    optimizer.ask(5)
    assert doubles(space, optimizer.history) == 0
    assert optimizer.ask().meta["instead"] == "repetition"


@every_registered
def test_trials_from_elsewhere_are_not_repeated(name):
    space = SPACES["tiny"]
    optimizer = Optimizer(space, ALL[name], seed=5)
    for params in list(space.enumerate())[:8]:
        optimizer.add(params, bowl(space, params))
    optimizer.ask()
    assert doubles(space, optimizer.history) == 0


@every_registered
@settings(max_examples=6)
@given(data=st.data())
def test_any_small_finite_space_is_used_up(name, data):
    space = data.draw(spaces(depth=2, finite=True).filter(lambda s: s.size <= 14))
    size = int(space.size)
    history = told(Optimizer(space, ALL[name], seed=0), size + 1).history
    assert doubles(space, history[:size]) == 0
    assert history[size].meta["instead"] == "repetition"


@every_registered
def test_integers_and_labels_are_never_doubled(name):
    space = Space(n=Int(0, 9), m=Int(1, 4), a=Choice("x", "y"))
    history = told(Optimizer(space, ALL[name], seed=0), 16).history
    assert doubles(space, history) == 0


def test_the_default_beats_sobol_points_on_a_bowl():
    for where in ("vector", "mixed"):
        space = SPACES[where]
        best = {method: told(Optimizer(space, method, seed=0), 30).best.value for method in ("gp", "sobol")}
        assert best["gp"] < 0.5 * best["sobol"]
