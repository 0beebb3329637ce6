"""The three ways in which ascents start."""

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from hidim import Optimizer, Space, Vector
from hidim.errors import MethodError
from hidim.methods import METHODS, configured
from hidim.search import Ascent, Search, ascent

SPACE = Space(x=Vector(30, 0, 1))


@dataclass(frozen=True)
class Keeping(Search):
    """Remembers what it was asked."""

    asked: list[tuple] = field(default_factory=list)

    def __call__(self, target, situation, rng):
        self.asked.append((target, situation))
        return Ascent(climb=1)(target, situation, rng)


def asked(method: str):
    """What a search is asked after 70 trials of a sum over 30 columns."""
    keeping = Keeping()
    optimizer = Optimizer(SPACE, replace(METHODS[method], search=keeping), seed=0, noisy=False)
    for params in SPACE.sample(np.random.default_rng(1), 70):
        optimizer.add(params, float(np.sum((params["x"] - 0.4) ** 2)))
    optimizer.ask()
    return keeping.asked[0]


@pytest.fixture(scope="module")
def question():
    return asked("default")


def test_the_three_ways_come_as_often_as_each_other_and_effects_only_where_there_are_some(question):
    def ways(target, situation):
        search = Ascent(starts=6, climb=1)
        return Counter(search(target, situation, np.random.default_rng(seed)).way for seed in range(45))

    three, two = ways(*question), ways(*asked("gp"))
    assert set(three) == {"all", "few", "effects"}
    assert set(two) == {"all", "few"}
    assert min(three.values()) >= 7
    assert min(two.values()) >= 12


def test_only_coordinates_that_a_start_moved_have_climbed_but_in_the_first_way(question, monkeypatch):
    target, situation = question
    climbs, climb = [], ascent.ascend

    def ascend(objective, starts, *box, **limits):
        found = climb(objective, starts, *box, **limits)
        climbs.append((starts, found[0]))
        return found

    monkeypatch.setattr(ascent, "ascend", ascend)
    changed = {}
    for seed in range(12):
        way = Ascent(climb=5)(target, situation, np.random.default_rng(seed)).way
        starts, found = climbs.pop()
        best = situation.ranked[: ascent.BEST]
        # Of the best points, that from which a start was made.
        origin = best[np.argmin((starts[:, None] != best).sum(axis=2), axis=1)]
        still = starts == origin
        changed.setdefault(way, []).append((found != starts)[still])
        assert way == "all" or not changed[way][-1].any()
        assert np.any(found != starts)
    assert set(changed) == {"all", "few", "effects"}
    assert np.concatenate(changed["all"]).any()


def test_suggestions_are_better_than_where_they_started(question):
    target, situation = question
    for seed in range(4):
        points = Ascent()(target, situation, np.random.default_rng(seed)).points
        assert target.scores(points[:1])[0] > target.scores(points[ascent.CLIMBING :]).max()


@pytest.mark.parametrize("wrong", ["starts=2", "climb=0", "starts=many"])
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(MethodError, match=wrong.partition("=")[0]):
        configured(f"default({wrong})")
