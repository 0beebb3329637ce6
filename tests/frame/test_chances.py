"""Options that are not those of the best trial get their chance, and are given up when it brings nothing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Space, minimize
from hidim.acquisition.utility import Bold
from hidim.belief.feasibility import caution
from hidim.errors import MethodError
from hidim.frame.chances import CHANCE, FEW, Standing
from hidim.methods import configured
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


def told(space, objective, count, method="gp", **options) -> Optimizer:
    optimizer = Optimizer(space, method, seed=0, **options)
    for _ in range(count):
        trial = optimizer.ask()
        value = objective(trial.params)
        if np.isnan(value):
            optimizer.fail(trial, "crash")
        else:
            optimizer.tell(trial, value)
    return optimizer


def test_an_option_that_has_to_be_tuned_first_is_found():
    """Without chances this run stays at 0.6, the best of the other option."""
    assert minimize(unequal, UNEQUAL, 60, seed=1).best.value < 0.1


def test_options_get_their_chances_in_turn():
    """Not first the one that happened to be best at once: it may be the last to be tuned."""
    space = Space(kind=Choice({kind: Space({kind: Float(0.0, 1.0)}) for kind in "abcde"}))
    offsets = dict(zip("abcde", (0.0, 2.0, 3.0, 4.0, 5.0), strict=True))

    def value(params) -> float:
        kind = params["kind"]
        return offsets[kind] + 4.0 * abs(params[kind] - 0.35)

    history = told(space, value, 40).history
    given = Counter(t.meta["option"] for t in history if t.meta.get("way") == CHANCE)
    assert len(given) == 4
    assert max(given.values()) <= min(given.values()) + 2


@pytest.mark.parametrize("method", ["mixed", "gp", "addtree"])
def test_chances_are_given_to_options_beside_those_of_the_best_trial(method):
    history = told(NESTED, nested, 45, method).history
    given = [trial for trial in history if trial.meta.get("way") == CHANCE]
    assert len(given) >= 3
    assert len({trial.meta["option"] for trial in given}) >= 2
    for trial in given:
        before = min(history[: trial.number], key=lambda t: t.value)
        name, label = trial.meta["option"].rsplit("/", 1)[-1].split("=")
        if "instead" not in trial.meta:
            assert trial.params[name] == label
        assert before.params.get(name) != label
        assert "model" not in trial.meta  # what it gains is not the model's success


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
    ("losses", "best", "is_open"),
    [
        ([5.0, 4.0, 3.0], 0.0, True),  # few tries
        ([9.0, 7.0, 5.0, 4.0, 3.0, 2.0], 0.0, True),  # 2 after 3 were gained, to be had twice again
        ([9.0, 7.0, 5.0, 4.9, 4.8, 4.7], 0.0, False),
        ([9.0, 7.0, 5.0, 6.0, 6.0, 6.0], 0.0, False),
        ([9.0, 7.0, 5.0, 4.9, 4.8, 4.7], 4.5, True),
        ([5.0] + 9 * [np.inf], 0.0, False),  # all the others have failed
        ([9.0, 8.0, 3.0] + 9 * [np.inf], 0.0, False),
        (9 * [np.inf], 0.0, False),
        (3 * [np.inf] + [9.0, 8.0, 3.0], 0.0, True),
        ([9e307, 7e307, 5e307, 4e307, 3e307, 2e307], -9e307, False),
    ],
)
def test_an_option_is_given_up_when_it_gains_too_little(losses, best, is_open):
    assert FEW == 6
    searched = np.ones(len(losses), dtype=np.bool_)
    assert Standing(np.array(losses), searched, len(losses)).is_open(best) is is_open


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


def test_trials_that_no_search_suggested_are_no_tries():
    """Their order says nothing."""
    history = told(UNEQUAL, unequal, 10).history
    assert all(trial.meta["way"] == "design" for trial in history)
    optimizer = told(UNEQUAL, unequal, 0)
    for trial in history:
        optimizer.add(trial.params, trial.value)
    for _ in range(6):
        optimizer.add({"kind": "rich", **dict.fromkeys(WIDE, 0.1)}, 50.0)
    ways = Counter()
    for _ in range(25):
        trial = optimizer.ask()
        optimizer.tell(trial, unequal(trial.params))
        ways[optimizer.history[trial.number].meta["way"]] += 1
    assert ways[CHANCE] > 0


def test_an_option_that_always_fails_is_given_up():
    def half(params) -> float:
        return float("nan") if params["kind"] == "rich" else unequal(params)

    history = told(UNEQUAL, half, 45).history
    chances = [trial for trial in history if trial.meta.get("way") == CHANCE]
    assert 0 < len(chances) <= FEW
    assert all(trial.state.name == "FAILED" for trial in chances)
    assert caution(History([*history[:10], *chances])) == 0.0  # elsewhere nothing has failed


def test_a_chance_takes_its_option_though_no_trial_of_it_has_a_value():
    """Noisy trials may be repeated, but not those of another option."""
    names = {"on": ("a", "b"), "c1": ("x",), "c2": ("y",)}
    space = Space(kind=Choice({k: Space({n: Float(0.0, 1.0) for n in v}) for k, v in names.items()}))
    rng = np.random.default_rng(0)

    def noisy(params) -> float:
        on = params["kind"] == "on"
        return float((params["a"] - 0.5) ** 2 + 0.1 * rng.standard_normal()) if on else float("nan")

    method = configured("gp", search="sprays", raw=64, fair=1.0)
    history = told(space, noisy, 24, method, noisy=True).history
    chances = [trial for trial in history if trial.meta["way"] == CHANCE]
    assert chances
    assert all(trial.meta["option"] == f"kind={trial.params['kind']}" for trial in chances)


def test_an_option_without_anything_new_gets_no_chance():
    wide, narrow = Space(a=Float(0.0, 1.0), b=Float(0.0, 1.0)), Space(n=Int(0, 1))
    space = Space(kind=Choice(off=Space(), on=wide, few=narrow))
    history = told(space, lambda p: {"off": 1.0, "few": 0.9}.get(p["kind"], p.get("a", 0.0)), 30).history
    counts = Counter(trial.params["kind"] for trial in history)
    assert counts["off"] <= 1
    assert counts["few"] <= 2


def test_several_suggestions_at_once_share_the_chances_of_an_option():
    optimizer = told(UNEQUAL, unequal, 12)
    asked = [optimizer.ask() for _ in range(40)]
    chances = [trial for trial in asked if trial.meta.get("way") == CHANCE]
    assert 0 < len(chances) <= FEW


def test_the_last_tenth_of_a_plan_gives_no_chances():
    history = told(NESTED, nested, 40, budget=40).history
    assert any(trial.meta["way"] == CHANCE for trial in history[:36])
    assert not any(trial.meta["way"] == CHANCE for trial in history[36:])


def test_spaces_without_forks_know_no_chances():
    space = Space(a=Float(0.0, 1.0), c=Choice("x", "y", "z"))
    plain, fair = (
        told(space, lambda p: p["a"] + (p["c"] == "y"), 20, configured("mixed", fair=share)).history
        for share in (0.0, 1.0)
    )
    assert [trial.params for trial in plain] == [trial.params for trial in fair]


def test_a_share_is_at_most_one():
    with pytest.raises(MethodError, match="fair"):
        Bold(fair=1.5)
