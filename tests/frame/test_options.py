"""Options that are not those of the best trial are looked at, and given up when that brings nothing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, Vector
from hidim.belief.feasibility import caution
from hidim.frame.options import FEW, gains
from hidim.space.nodes import beside, tree
from hidim.trial import History

WIDE = {f"x{i}": Float(0.0, 1.0) for i in range(10)}

#: What hangs on "rich" has to be tuned before it is any good.
UNEQUAL = Space(kind=Choice(plain=Space(level=Float(0.0, 1.0)), rich=Space(WIDE)))

#: Two choices at the root and one under an option.
NESTED = Space(
    rate=Float(0.0, 1.0),
    model=Choice(
        tree=Space(depth=Float(0.0, 1.0)),
        net=Space(layers=Choice(one=Space(a=Float(0.0, 1.0)), two=Space(b=Float(0.0, 1.0)))),
    ),
    scaler=Choice(none=Space(), robust=Space(share=Float(0.0, 1.0))),
)


def unequal(params) -> float:
    if params["kind"] == "plain":
        return float(0.6 + (params["level"] - 0.3) ** 2)
    return float(sum(4.0 * (params[name] - 0.85) ** 2 for name in WIDE))


def nested(params) -> float:
    numbers = [value for value in params.values() if isinstance(value, float)]
    return float(sum((value - 0.4) ** 2 for value in numbers)) + 0.5 * (params["model"] == "net")


def told(space, objective, count, method="gp") -> Optimizer:
    optimizer = Optimizer(space, method, seed=0)
    for _ in range(count):
        trial = optimizer.ask()
        value = objective(trial.params)
        if np.isnan(value):
            optimizer.fail(trial, "crash")
        else:
            optimizer.tell(trial, value)
    return optimizer


def looks(history) -> list:
    return [trial for trial in history if "option" in trial.meta]


def tries(history) -> Counter:
    own = (trial for trial in history if trial.meta["way"] != "design" or "option" in trial.meta)
    return Counter(trial.params["kind"] for trial in own)


def test_options_are_looked_at_in_turn():
    """Not first the one that happened to be best at once: it may be the last to be tuned."""
    space = Space(kind=Choice({kind: Space({kind: Float(0.0, 1.0)}) for kind in "abcde"}))
    offsets = dict(zip("abcde", (0.0, 2.0, 3.0, 4.0, 5.0), strict=True))
    history = told(space, lambda p: offsets[p["kind"]] + 4.0 * abs(p[p["kind"]] - 0.35), 40).history
    assert looks(history)
    assert min(tries(history)[kind] for kind in "bcde") >= 2


def test_options_are_looked_at_by_how_many_parameters_they_have():
    space = Space(
        kind=Choice({kind: Space(x=Vector(size, 0.0, 1.0)) for kind, size in (("a", 4), ("b", 1), ("c", 15))})
    )
    offset = {"a": 0.0, "b": 3.0, "c": 3.0}
    history = told(space, lambda p: offset[p["kind"]] + 4.0 * np.abs(p["x"] - 0.3).mean(), 60).history
    assert tries(history)["c"] > 2 * tries(history)["b"]


def test_options_are_those_beside_the_best_trial():
    history = told(NESTED, nested, 45).history
    assert len({trial.meta["option"] for trial in looks(history)}) >= 2
    for trial in looks(history):
        before = min(history[: trial.number], key=lambda t: t.value)
        name, label = trial.meta["option"].rsplit("/", 1)[-1].split("=")
        if "instead" not in trial.meta:
            assert trial.params[name] == label
        assert before.params.get(name) != label


def test_the_options_beside_a_point_are_those_of_the_choices_that_it_meets():
    root, columns = tree(NESTED), NESTED.columns
    params = {"rate": 0.5, "model": "net", "layers": "two", "b": 0.5, "scaler": "none"}
    point = NESTED.encode(params)
    found = {branch.title: branch for branch in beside(root, columns, point)}
    assert {title.rsplit("/", 1)[-1] for title in found} == {"model=tree", "layers=one", "scaler=robust"}
    for title, branch in found.items():
        entered = NESTED.decode(NESTED.snap(branch.entered(np.full((1, NESTED.dim), 0.3)))[0])
        name, label = title.rsplit("/", 1)[-1].split("=")
        assert entered[name] == label
        assert branch.holds(NESTED.encode(entered)[None]).all()
        assert not branch.holds(point[None]).any()


@pytest.mark.parametrize(
    ("losses", "best", "may_win"),
    [
        ([9.0, 7.0, 5.0, 4.0, 3.0, 2.0], 0.0, True),  # 2 after 3 were gained, to be had twice again
        ([9.0, 7.0, 5.0, 4.9, 4.8, 4.7], 0.0, False),
        ([9.0, 7.0, 5.0, 6.0, 6.0, 6.0], 0.0, False),
        ([9.0, 7.0, 5.0, 4.9, 4.8, 4.7], 4.5, True),
        ([5.0] + 9 * [np.inf], 0.0, False),  # all the others have failed
        (9 * [np.inf], 0.0, False),
        (3 * [np.inf] + [9.0, 8.0, 3.0], 0.0, True),
        ([9e307, 7e307, 5e307, 4e307, 3e307, 2e307], -9e307, False),
    ],
)
def test_an_option_is_given_up_when_it_gains_too_little(losses, best, may_win):
    assert gains(np.array(losses), np.ones(len(losses), dtype=np.bool_), best) is may_win


def test_an_option_has_the_trials_that_took_all_choices_above_it_too():
    """A choice that several options share leads to other branches in each of them."""
    shared = Choice(u=Space(p=Float(0.0, 1.0)), v=Space(q=Float(0.0, 1.0)), shared=True)
    space = Space(
        model=Choice(a=Space(opt=shared, x=Float(0.0, 1.0)), b=Space(opt=shared, y=Float(0.0, 1.0)))
    )
    best = space.encode({"model": "a", "opt": "u", "p": 0.5, "x": 0.5})
    other = space.encode({"model": "b", "opt": "v", "q": 0.5, "y": 0.5})
    untried = [b for b in beside(tree(space), space.columns, best) if not b.holds(other[None]).any()]
    assert len(untried) == 1
    entered = space.decode(space.snap(untried[0].entered(np.full((1, space.dim), 0.3)))[0])
    assert (entered["model"], entered["opt"]) == ("a", "v")


def test_an_option_that_always_fails_is_given_up():
    def half(params) -> float:
        return float("nan") if params["kind"] == "rich" else unequal(params)

    history = told(UNEQUAL, half, 45).history
    failed = looks(history)
    assert 0 < len(failed) <= FEW
    assert all(trial.state.name == "FAILED" for trial in failed)
    assert caution(History([*history[:10], *failed])) == 0.0  # elsewhere nothing has failed


def test_an_option_without_anything_new_is_not_looked_at():
    wide, narrow = Space(a=Float(0.0, 1.0), b=Float(0.0, 1.0)), Space(n=Int(0, 1))
    space = Space(kind=Choice(off=Space(), on=wide, few=narrow))
    history = told(space, lambda p: {"off": 1.0, "few": 0.9}.get(p["kind"], p.get("a", 0.0)), 30).history
    counts = Counter(trial.params["kind"] for trial in history)
    assert counts["off"] <= 1
    assert counts["few"] <= 2


def test_several_suggestions_at_once_share_the_looks_at_an_option():
    optimizer = told(UNEQUAL, unequal, 12)
    asked = [optimizer.ask() for _ in range(60)]
    assert 0 < len(looks(asked)) <= 10  # as many as it has parameters
