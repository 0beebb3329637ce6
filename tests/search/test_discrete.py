from __future__ import annotations

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, Vector
from hidim.frame import Ground
from hidim.search.discrete import jumped, neighbours, smooth


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("value", [1, 2, 5, 900, 1000])
def test_neighbours_of_an_integer_are_one_step_away(value, log):
    space = Space(n=Int(1, 1000, log=log))
    found = neighbours(Ground(space), space.encode({"n": value}), np.random.default_rng(0))
    assert {space.decode(u)["n"] for u in found} == {v for v in (value - 1, value + 1) if 1 <= v <= 1000}


def test_neighbours_in_an_order_are_one_step_away():
    space = Space(x=Float(0, 0.5, step=0.1), c=Choice("s", "m", "l", xl=Space(y=Float(0, 1)), ordered=True))
    found = neighbours(Ground(space), space.encode({"x": 0.3, "c": "l"}), np.random.default_rng(0))
    assert sorted((p["x"], p["c"]) for p in map(space.decode, found)) == [
        *((0.2, "l"), (0.3, "m"), (0.3, "xl"), (0.4, "l"))
    ]
    ends = neighbours(Ground(space), space.encode({"x": 0.0, "c": "s"}), np.random.default_rng(0))
    assert sorted((p["x"], p["c"]) for p in map(space.decode, ends)) == [(0.0, "m"), (0.1, "s")]


def test_neighbours_of_a_label_are_all_others_and_open_their_branches():
    space = Space(x=Float(0, 1), c=Choice("a", "b", d=Space(y=Float(0, 1))))
    found = neighbours(Ground(space), space.encode({"x": 0.2, "c": "a"}), np.random.default_rng(0))
    assert [space.decode(u) for u in found] == [{"x": 0.2, "c": "b"}, {"x": 0.2, "c": "d", "y": 0.5}]


def test_moved_labels_and_integers_reach_every_level_and_the_rest_stays():
    space = Space(x=Float(0, 1), n=Int(1, 16, log=True), c=Choice("a", "b", "d"))
    points = np.tile(space.encode({"x": 0.2, "n": 1, "c": "a"}), (500, 1))
    moved = np.tile([False, True, True], (500, 1))
    found = [space.decode(u) for u in jumped(Ground(space), points, moved, np.random.default_rng(0))]
    assert {p["c"] for p in found} == {"a", "b", "d"}
    assert len({p["n"] for p in found}) == 16
    assert {p["x"] for p in found} == {0.2}


def test_only_real_numbers_and_fine_integers_are_refined():
    space = Space(x=Float(0, 1), fine=Int(1, 100), coarse=Int(1, 5), c=Choice("a", "b"))
    assert smooth(Ground(space)).tolist() == [True, True, False, False]


@pytest.mark.parametrize("seed", range(3))
def test_a_large_inactive_branch_does_not_stop_the_search_in_the_other(seed):
    """The best points lie in a branch of two parameters beside one of two hundred."""
    space = Space(c=Choice(small=Space(x=Float(0, 1), y=Float(0, 1)), large=Space(w=Vector(200, 0, 1))))
    optimizer = Optimizer(space, seed=seed)
    for _ in range(28):
        trial = optimizer.ask()
        p = trial.params
        small = p["c"] == "small"
        optimizer.tell(trial, (p["x"] - 0.3) ** 2 + (p["y"] - 0.6) ** 2 if small else 1 + p["w"].mean())
    assert optimizer.best.value < 1e-3
    assert not any(t.meta.get("instead") for t in optimizer.history)
