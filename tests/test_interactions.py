"""What adds up, what interacts and what does not matter, as a model of the trials sees it."""

import math

import numpy as np
import pytest

from hidim import Choice, Float, Space, Vector
from hidim.errors import HidimError
from hidim.insight import Insight
from hidim.trial import History, Trial

SPACE = Space(a=Float(0, 1), b=Float(0, 1), idle=Float(0, 1))


def insight(objective, space=SPACE, count=60):
    points = space.sample(np.random.default_rng(0), count)
    trials = [Trial(params, i).completed(objective(params), rank=i) for i, params in enumerate(points)]
    return Insight(space, History(trials))


def test_a_sum_adds_up_and_no_pair_interacts():
    known = insight(lambda p: math.sin(5 * p["a"]) + 2 * (p["b"] - 0.4) ** 2).interactions()
    assert known.additive > 0.97
    assert known.pairs == ()
    assert known.idle == ("idle",)


def test_shares_of_a_sum_and_a_product_are_those_of_their_variances():
    """a has the variance 1/12, and so has √12 (a − ½)(b − ½): half of the whole."""
    known = insight(lambda p: p["a"] + math.sqrt(12.0) * (p["a"] - 0.5) * (p["b"] - 0.5)).interactions()
    assert known.additive == pytest.approx(0.5, abs=0.06)
    (pair,) = known.pairs
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.share == pytest.approx(0.5, abs=0.1)


def test_labels_interact_with_numbers():
    space = Space(kind=Choice("up", "down"), x=Float(0, 1), other=Choice("one", "two"))
    found = insight(lambda p: p["x"] if p["kind"] == "up" else -p["x"], space).interactions()
    (pair,) = found.pairs
    assert (pair.first, pair.second) == ("kind", "x")
    # kind explains E x² = (½)² of a variance of 1/3, and the rest, (1/12), is due to both
    assert found.additive == pytest.approx(0.75, abs=0.05)
    assert pair.share == pytest.approx(0.25, abs=0.06)
    assert found.idle == ("other",)


def test_parameters_of_a_branch_interact_with_those_of_the_root():
    space = Space(x=Float(0, 1), opt=Choice(sgd=Space(m=Float(0, 1)), adam=Space(b=Float(0, 1))))
    known = insight(
        lambda p: 4 * (p["x"] - p["m"]) ** 2 if p["opt"] == "sgd" else p["x"], space, 120
    ).interactions()
    pairs = [{pair.first, pair.second} for pair in known.pairs]
    assert {"x", "opt=sgd/m"} in pairs
    assert {"opt", "opt=sgd/m"} not in pairs


def test_wide_spaces_are_told_of_by_their_strongest_columns():
    space = Space(w=Vector(100, -1, 1))
    known = insight(lambda p: float((p["w"][3] + 0.5) * (p["w"][70] + 0.5)), space, 200).interactions()
    assert (known.pairs[0].first, known.pairs[0].second) == ("w[3]", "w[70]")
    assert known.additive == pytest.approx(0.6, abs=0.1)


def test_a_sum_over_hundreds_of_parameters_adds_up():
    weights = np.random.default_rng(1).choice([-1.0, 1.0], 100)
    known = insight(lambda p: float(weights @ p["w"]), Space(w=Vector(100, 0, 1)), 140).interactions()
    assert known.additive > 0.9
    assert known.pairs == ()
    assert known.idle == ()


def test_wiggles_of_a_single_parameter_add_up():
    known = insight(lambda p: math.sin(20 * p["a"]) + math.sin(20 * p["b"]), count=200).interactions()
    assert known.additive > 0.9


def test_a_parameter_of_an_option_counts_as_single():
    space = Space(opt=Choice(sgd=Space(m=Float(0, 1)), adam=Space(b=Float(0, 1))))
    known = insight(lambda p: p["m"] if p["opt"] == "sgd" else p["b"], space, 80).interactions()
    assert known.additive > 0.95
    assert known.pairs == ()


def test_it_is_told_in_words_and_as_a_table():
    known = insight(lambda p: p["a"] * p["b"])
    assert "a × b" in str(known.interactions())
    text = known.explain()
    assert "adds up over single parameters" in text
    assert "Interacting: a × b" in text
    assert "Next to no effect over the whole space: idle." in text


def test_too_few_trials_are_refused():
    with pytest.raises(HidimError, match="at least 5 complete trials"):
        insight(lambda p: p["a"], count=3).interactions()
