from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from hidim import Choice, Float, HidimError, History, Int, Optimizer, Space, Trial, Vector, minimize
from hidim.insight import Insight

RATE = Float(1e-4, 1, log=True, shared=True)
SPACE = Space(
    w=Float(0, 1),
    by=Choice(
        sgd=Space(rate=RATE, momentum=Float(0, 1)),
        adam=Space(rate=RATE),
        tree=Space(n=Int(1, 9), split=Choice("best", random=Space(seeds=Int(1, 5)))),
    ),
)


def value(p):
    """At best 0.5 with sgd, 0.2 with adam, 1 with trees; where there is a rate, it matters most.

    Much momentum fails.
    """
    if p.get("momentum", 0.0) > 0.7:
        return None
    if p["by"] == "tree":
        return 1.0 + 0.1 * (p["n"] - 3) ** 2 + 0.2 * p["w"]
    rate = np.log10(p["rate"] / 1e-2) ** 2
    return rate + 0.2 * p["w"] + (0.2 if p["by"] == "adam" else 0.5 + (p["momentum"] - 0.3) ** 2)


def evaluated(objective, n, space=SPACE):
    trials = []
    for number, params in enumerate(space.sample(np.random.default_rng(0), n)):
        found, trial = objective(params), Trial(params, number)
        trials.append(trial.failed("x", number) if found is None else trial.completed(found, number))
    return History(trials)


def negated(history):
    done = [t if t.value is None else t.completed(-t.value, t.rank) for t in history]
    return History(done)


HISTORY = evaluated(value, 40)


def loaded(name):
    """A script of benchmarks/."""
    path = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def insight():
    return Insight(SPACE, HISTORY)


@pytest.fixture(scope="module")
def known(insight):
    return insight.branches()


def test_every_node_has_an_entry_and_shared_parameters_have_their_own(known):
    assert set(known) == {
        "", "rate", "by=sgd", "by=adam", "by=tree", "by=tree/split=best", "by=tree/split=random",
    }  # fmt: skip
    assert next(iter(known)) == ""


def test_counts_add_up_and_best_values_are_those_of_the_trials(known):
    options = [known[f"by={label}"] for label in ("sgd", "adam", "tree")]
    assert sum(b.complete for b in options) == known[""].complete == len(HISTORY.complete)
    assert sum(b.failed for b in options) == known[""].failed == len(HISTORY) - len(HISTORY.complete) > 0
    assert known["by=sgd"].failed == known[""].failed
    assert known["rate"].complete == known["by=sgd"].complete + known["by=adam"].complete
    deeper = known["by=tree/split=best"].complete + known["by=tree/split=random"].complete
    assert deeper == known["by=tree"].complete
    for label, branch in zip(("sgd", "adam", "tree"), options, strict=True):
        assert branch.best.value == min(t.value for t in HISTORY.complete if t.params["by"] == label)


@pytest.mark.parametrize("maximize", [False, True])
def test_the_best_that_is_expected_of_every_branch_is_near_the_truth(maximize, known):
    sign, history = (-1, negated(HISTORY)) if maximize else (1, HISTORY)
    known = Insight(SPACE, history, maximize=True).branches() if maximize else known
    for title, truth in {"": 0.2, "by=adam": 0.2, "by=sgd": 0.5, "by=tree": 1.0, "rate": 0.2}.items():
        expected = known[title].expected
        assert expected.value == pytest.approx(sign * truth, abs=0.05)
        assert expected.low <= expected.value <= expected.high
        assert 0.0 <= expected.deviation < 0.2
        assert value(expected.params) == pytest.approx(truth, abs=0.05)
    assert known["by=sgd"].expected.params["by"] == "sgd"
    assert known["by=tree"].expected.params["n"] == 3
    best = min(value(t.params) for t in history.complete if t.params["by"] == "sgd")
    assert sign * known["by=sgd"].best.value == best


def test_the_branch_of_the_best_trial_is_known(known):
    assert {title for title, branch in known.items() if branch.leads} == {"", "by=adam", "rate"}
    chosen = next(t for t in HISTORY if t.params["by"] == "sgd")
    again = Insight(SPACE, HISTORY, best=chosen).branches()
    assert {title for title, branch in again.items() if branch.leads} == {"", "by=sgd", "rate"}
    assert [b.expected.value for b in again.values()] == [b.expected.value for b in known.values()]


def test_what_branches_share_and_how_much_it_explains(known):
    # By integration, where there is a rate: its variance is 1.42, that of all others together 0.04.
    assert known["rate"].share == pytest.approx(0.96, abs=0.05)
    assert known[""].share < 0.05
    assert (known["rate"].paths, known["rate"].ways) == (2, 2)
    assert (known[""].paths, known[""].ways) == (4, 4)
    assert (known["by=tree"].paths, known["by=tree"].ways) == (2, 2)
    assert known["by=tree"].share > 0.9
    assert known["by=sgd"].share is None  # its momentum is nobody else's
    assert known["by=sgd"].ways == 1


def test_with_forks_beside_each_other_every_option_serves_all_options_of_the_other():
    space = Space(a=Choice("no", yes=Space(x=Float(0, 1))), b=Choice("u", "v", w=Space(y=Float(0, 1))))
    known = Insight(space, evaluated(lambda p: p.get("x", 0.5) + p.get("y", 0.5) / 2, 40, space)).branches()
    assert (known["a=yes"].ways, known["b=w"].ways, known[""].ways) == (3, 2, 6)
    assert known["b=w"].share < known["a=yes"].share
    assert known[""].expected.value == pytest.approx(0.0, abs=0.05)
    assert known["b=u"].expected.value == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize("kept", [0, 4, 5])
def test_of_a_branch_with_few_trials_nothing_is_expected(kept):
    few = [t for t in HISTORY.complete if t.params["by"] == "sgd"][:kept]
    history = History([t for t in HISTORY.complete if t.params["by"] != "sgd"] + few)
    insight = Insight(SPACE, history)
    known = insight.branches()
    assert known["by=sgd"].complete == kept
    assert (known["by=sgd"].expected is None) == (kept < 5)
    line = next(x for x in insight.explain().splitlines() if x.startswith("  by=sgd "))
    assert ("–; " in line) == (kept < 5)
    if kept == 5:  # the rate is known from elsewhere
        assert known["by=sgd"].expected.params["rate"] == pytest.approx(1e-2, rel=0.5)
        assert known["by=sgd"].expected.deviation > 5 * known["by=adam"].expected.deviation


def test_intervals_hold_the_best_value_that_can_be_attained():
    """Four of the hundred trees of the benchmark, random designs of 20 to 60 trials."""
    benchmark = loaded("branch_calibration")
    entries = []
    for seed in range(1, 17, 4):
        tree = benchmark.random_tree(seed)
        entries += benchmark.told(tree, benchmark.random_history(tree, seed), seed)
    shown = [entry for entry in entries if entry.shown]
    assert all(entry.shown == (entry.trials >= 5) for entry in entries)
    assert np.mean([entry.holds for entry in shown]) >= 0.9
    assert np.median([entry.width for entry in shown]) < 1.5
    assert all(e.low <= e.value <= e.high for e in shown)


def test_what_can_be_attained_is_not_worse_than_what_was_seen_or_than_in_a_part(known):
    told = {title: branch.expected for title, branch in known.items() if branch.expected}
    assert all(expected.high <= known[title].best.value + 0.02 for title, expected in told.items())
    assert {"", "by=sgd", "by=tree/split=best"} <= set(told)
    for title, expected in told.items():
        for whole in {"", title.partition("/")[0]} & set(told):
            assert told[whole].low <= expected.low
            assert told[whole].value <= expected.value
            assert told[whole].high <= expected.high


@pytest.mark.parametrize(
    ("objective", "n", "reason"),
    [
        (lambda p: 1.0, 1, "at least 5 complete trials"),
        (lambda p: 1.0, 0, "there are 0"),
        (lambda p: None, 9, "there are 0"),
        (lambda p: 3.0, 9, "all 9 values are 3"),
    ],
)
def test_without_a_model_there_are_counts_and_the_reason(objective, n, reason):
    insight = Insight(SPACE, evaluated(objective, n))
    known = insight.branches()
    assert reason in known.unknown
    assert known[""].complete + known[""].failed == n
    assert all(branch.expected is None and branch.share is None for branch in known.values())
    assert sum(branch.leads for branch in known.values()) == (0 if not insight.history.complete else 3)
    assert "Branches" not in insight.explain()


@pytest.mark.parametrize("space", [Space(x=Float(0, 1)), Space(c=Choice("a", "b"), w=Vector(3))])
def test_a_space_without_branches_says_so(space):
    insight = Insight(space, evaluated(lambda p: 1.0 + len(p), 6, space))
    with pytest.raises(HidimError, match="no branches: no option of any choice has parameters"):
        insight.branches()
    assert "Branches" not in insight.explain()


def test_explain_ranks_branches_by_what_is_expected_and_names_what_they_share(insight):
    lines = insight.explain().splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("Branches,"))
    assert [line.split()[0] for line in lines[first + 1 : first + 3]] == ["by=adam", "by=sgd"]
    assert " (95 %: 0.1" in lines[first + 1]
    assert "learnt in both branches" in next(line for line in lines[first:] if line.startswith("  rate "))


def test_a_branch_that_is_not_there_is_told_with_those_that_are(known):
    with pytest.raises(KeyError, match=r"no branch has the title 'by=ada': there are .*'by=adam'"):
        known["by=ada"]
    assert "by=ada" not in known


def test_printed_they_are_a_table(known):
    lines = str(known).splitlines()
    assert len(lines) == len(known)
    assert lines[0].startswith("all ")
    assert f"best {known['by=adam'].best.value:.4g} of" in next(
        line for line in lines if line.startswith("by=adam")
    )


def test_results_tell_of_their_branches():
    result = minimize(value, SPACE, 4, method="random", seed=0)
    assert result.branches()[""].complete == 4


def test_a_shared_choice_is_counted_where_it_exists():
    shared = Choice("off", on=Space(z=Float(0, 1)), shared=True)
    space = Space(m=Choice(a=Space(x=Float(0, 1), s=shared), b=Space(s=shared), c=Space(w=Float(0, 1))))
    optimizer = Optimizer(space, method="random", seed=0)
    for _ in range(30):
        trial = optimizer.ask()
        optimizer.tell(trial, float(trial.number))
    having = sum("s" in trial.params for trial in optimizer.history)
    found = Insight(space, optimizer.history).branches()
    assert found["s"].complete == having < 30
    assert not found["m=a"].is_leaf


def test_what_is_expected_under_an_ordered_choice_lies_in_that_branch():
    """Options with an order are numbers to a model, and candidates must not move along them."""
    layers = Choice({1: None, 2: Space(b=Float(0, 1)), 3: Space(c=Float(0, 1))}, ordered=True)
    space = Space(a=Float(0, 1), layers=layers)

    def objective(p):
        return 0.3 * abs(p["layers"] - 2) + sum((p[name] - 0.4) ** 2 for name in p if name != "layers")

    found = Insight(space, evaluated(objective, 60, space)).branches()
    for count in (1, 3):
        expected = found[f"layers={count}"].expected
        assert expected.params["layers"] == count
        assert expected.low <= 0.3 <= expected.high + 0.01


def test_a_value_that_was_seen_without_noise_lies_in_the_interval():
    """However wrinkled: what a model calls noise is none of the objective."""

    def wrinkled(p):
        found = value(p)
        return None if found is None else found + 0.03 * np.sin(500.0 * p["w"])

    known = Insight(SPACE, evaluated(wrinkled, 80)).branches()
    told = [branch for branch in known.all if branch.expected is not None]
    assert len(told) >= 4
    for branch in told:
        assert branch.expected.high <= branch.best.value + 1e-9
