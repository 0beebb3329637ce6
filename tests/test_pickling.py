"""What a user holds can be pickled at any time, and goes on as if nothing had happened."""

from __future__ import annotations

import pickle

import pytest

from hidim import Choice, Float, Optimizer, Space, minimize
from hidim.insight import Insight
from registered import DISTINCT

SPACE = Space(x=Float(-1, 1), y=Float(-1, 1), kind=Choice("a", "b"))
NUMBERS = Space(x=Float(-1, 1), y=Float(-1, 1), z=Float(-1, 1))


def value(params) -> float:
    return (params["x"] - 0.3) ** 2 + (params["y"] + 0.2) ** 2


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("method", DISTINCT)
def test_an_optimizer_with_a_model_suggests_the_same(method):
    optimizer = Optimizer(NUMBERS, DISTINCT[method], seed=3)
    for _ in range(13):
        trial = optimizer.ask()
        optimizer.tell(trial, value(trial.params))
    twin = pickled(optimizer)
    for _ in range(2):
        one, other = optimizer.ask(), twin.ask()
        assert one.params == other.params
        optimizer.tell(one, value(one.params))
        twin.tell(other.number, value(other.params))


def test_a_result_that_was_explained():
    result = minimize(value, SPACE, n_trials=14, seed=0)
    text = result.explain()
    again = pickled(result)
    assert again.best == result.best
    assert again.explain() == text
    insight = Insight(SPACE, result.history)
    assert pickled(insight).explain() == insight.explain()
