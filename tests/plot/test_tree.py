from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hidim import Choice, Float, HidimError, History, Int, Space, Trial, plot
from hidim.insight import Insight

LONG = "the_temperature_of_the_third_reactor_after_the_second_hour"
RATE = Float(1e-4, 1, log=True, shared=True)
SPACE = Space(
    {LONG: Float(0, 1), "kind": Choice({"x": None, f"{LONG}_again": Space(z=Float(0, 1))})},
    by=Choice(sgd=Space(rate=RATE, momentum=Float(0, 1)), adam=Space(rate=RATE), tree=Space(n=Int(1, 9))),
)


def evaluated(space, objective, n):
    trials = []
    for number, params in enumerate(space.sample(np.random.default_rng(0), n)):
        value, trial = objective(params), Trial(params, number)
        trials.append(trial.failed("nan", number) if np.isnan(value) else trial.completed(value, number))
    return History(trials)


def value(p):
    """Fails with nine; a rate of 0.01 is best."""
    if p.get("n") == 9:
        return np.nan
    return p[LONG] + (np.log10(p["rate"]) + 2) ** 2 if "rate" in p else 3.0 + 0.1 * p["n"]


HISTORY = evaluated(SPACE, value, 30)


def binary(depth, prefix=""):
    """A tree of choices with one number in each of its 2^(depth + 1) − 1 nodes."""
    below = {f"c{prefix}": Choice({bit: binary(depth - 1, prefix + bit) for bit in "01"})} if depth else {}
    return Space({f"x{prefix}": Float(0, 1)} | below)


def words(figure):
    return [text for text in figure.axes[-1].texts if text.get_text()]


def overlapping(figure):
    """Pairs of texts that lie over each other."""
    figure.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent().shrunk(0.95, 0.8)) for text in words(figure)]
    return [(a, b) for (a, first), (b, second) in combinations(boxes, 2) if first.overlaps(second)]


def outside(figure):
    """Texts that reach further right than the panel."""
    right = figure.bbox.width
    return [text.get_text() for text in words(figure) if text.get_window_extent().x1 > right]


def test_every_node_is_a_box_with_its_count_best_value_and_what_is_expected(tmp_path):
    figure = plot.tree(SPACE, HISTORY, path=tmp_path / "tree.png")
    axis = figure.axes[0]
    assert axis.get_title(loc="left") == "Branches"
    assert len(axis.patches) == 7
    found = [text.get_text() for text in words(figure)]
    assert {"all", "by=sgd", "by=adam", "by=tree", "kind=x", "rate (shared)"} <= set(found)
    best = min(t.value for t in HISTORY.complete if t.params["by"] == "tree")
    adam = sum(t.params["by"] == "adam" for t in HISTORY.complete)
    assert {f"{best:.4g}", f"{adam} trials"} <= set(found)
    assert sum(" to " in text for text in found) == sum(
        branch.complete >= 5 for branch in Insight(SPACE, HISTORY).branches().values()
    )
    assert sum(" to " in text or text == "–" for text in found) == 7
    assert any(text.startswith("rate: ") and "of 4 branches" in text for text in found)
    assert any("failed" in text for text in found)
    assert "R²" in axis.get_xlabel()
    assert overlapping(figure) == []
    assert outside(figure) == []
    assert (tmp_path / "tree.png").read_bytes()[:4] == b"\x89PNG"


def test_the_branch_of_the_best_trial_stands_out_and_better_boxes_are_darker():
    figure = plot.tree(SPACE, HISTORY, maximize=True)
    best = max(HISTORY.complete, key=lambda t: t.value)
    framed = sum(patch.get_linewidth() > 1 for patch in figure.axes[0].patches)
    assert framed == (4 if "rate" in best.params else 3)
    light = {patch.get_linewidth() > 1: patch.get_facecolor()[0] for patch in figure.axes[0].patches}
    assert light[True] < light[False]


@pytest.mark.parametrize(("depth", "left_out"), [(3, 0), (5, 3)])
def test_large_trees_stay_readable_and_tell_what_they_leave_out(depth, left_out):
    space = binary(depth)
    figure = plot.tree(space, evaluated(space, lambda p: sum(map(float, p.values())), 4))
    axis = figure.axes[0]
    assert len(axis.patches) == min(2 ** (depth + 1) - 1, 60)
    assert (f"Not shown: {left_out} nodes" in axis.get_xlabel()) == (left_out > 0)
    assert overlapping(figure) == []
    assert outside(figure) == []
    assert max(figure.get_size_inches()) < 20


@pytest.mark.parametrize("n", [0, 1])
def test_with_too_few_trials_the_tree_has_counts_and_says_why_no_more(n):
    figure = plot.tree(SPACE, evaluated(SPACE, value, n))
    assert not any(" to " in text.get_text() or "–" in text.get_text() for text in words(figure))
    assert f"at least 5 complete trials, and there are {n}" in figure.axes[0].get_xlabel()


def test_shared_choices_with_branches_of_their_own_can_be_drawn():
    loss = Choice(hinge=Space(margin=Float(0, 1)), log=Space(), shared=True)
    space = Space(by=Choice(a=Space(loss=loss, u=Float(0, 1)), b=Space(loss=loss), c=Space(v=Float(0, 1))))
    figure = plot.tree(space, evaluated(space, lambda p: len(p) + p.get("margin", 0.5), 4))
    assert {"loss=hinge", "loss=log", "by=c"} <= {text.get_text() for text in words(figure)}
    assert overlapping(figure) == []


def test_a_space_without_branches_has_no_tree():
    space = Space(x=Float(0, 1), c=Choice("a", "b"))
    with pytest.raises(HidimError, match="no branches"):
        plot.tree(space, evaluated(space, lambda p: p["x"], 8))
