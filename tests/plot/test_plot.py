from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from hidim import Choice, Float, HidimError, History, Int, Optimizer, Space, Trial, Vector, plot

LONG = "the_temperature_of_the_third_reactor_after_the_second_hour"
MIXED = Space(
    {LONG: Float(1e-4, 1, log=True)},
    model=Choice("none", svm=Space(C=Float(0, 1))),
    n=Int(1, 5),
)


def evaluated(space, objective, n):
    trials = []
    for number, params in enumerate(space.sample(np.random.default_rng(0), n)):
        value, trial = objective(params), Trial(params, number)
        trials.append(trial.failed("nan", number) if np.isnan(value) else trial.completed(value, number))
    return History(trials)


def mixed_value(p):
    if p["n"] == 5:
        return np.nan
    return 0.5 * np.log10(p[LONG]) + 3 * (p.get("C", 0.9) - 0.2) ** 2 + 0.2 * p["n"]


MIXED_HISTORY = evaluated(MIXED, mixed_value, 50)


def headings(figure):
    return [axis.get_title(loc="left") for axis in figure.axes]


def texts(axis):
    return [label.get_text() for label in axis.get_yticklabels()]


def overlapping(figure):
    """Pairs of tick labels, titles and axis labels that lie over each other."""
    figure.draw_without_rendering()
    seen = []
    for axis in figure.axes:
        parts = [axis.title, axis._left_title, axis._right_title, axis.xaxis.label, axis.yaxis.label]
        parts += [tick.label1 for tick in (*axis.xaxis._update_ticks(), *axis.yaxis._update_ticks())]
        legend = axis.get_legend()
        parts += legend.get_texts() if legend else []
        shown = [part for part in parts if part.get_text() and part.get_visible()]
        seen += [part.get_window_extent() for part in shown if part.get_rotation() in (0, 90)]
    boxes = [box.shrunk(0.9, 0.9) for box in seen if box.width > 1]
    return [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]


def test_the_overview_has_convergence_importance_a_slice_per_parameter_and_the_tree(tmp_path):
    path = tmp_path / "run.png"
    figure = plot.overview(MIXED, MIXED_HISTORY, path=path)
    assert headings(figure)[:3] == ["Convergence", "Importance", "Slices through the best"]
    assert headings(figure)[-1] == "Branches"
    assert 5 <= len(figure.axes) <= 7
    assert path.read_bytes()[:4] == b"\x89PNG"
    assert all(axis.get_xlabel() for axis in figure.axes)
    assert overlapping(figure) == []


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_a_path_decides_the_format(tmp_path, ending):
    plot.convergence(MIXED, MIXED_HISTORY, path=tmp_path / f"run.{ending}")
    assert (tmp_path / f"run.{ending}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("path", "words"), [("run.xyz", r"ends in .*\.png"), ("none/run.png", "no folder none")]
)
def test_a_path_that_no_picture_can_have(path, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HidimError, match=words):
        plot.convergence(MIXED, MIXED_HISTORY, path=path)


def test_convergence_shows_values_best_so_far_and_failures():
    axis = plot.convergence(MIXED, MIXED_HISTORY).axes[0]
    dots = axis.collections[0].get_offsets()
    assert len(dots) == len(MIXED_HISTORY.complete)
    best = axis.lines[0].get_ydata()
    assert np.all(np.diff(best) <= 0)
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert f"{len(MIXED_HISTORY) - len(MIXED_HISTORY.complete)} failed" in labels


def test_the_value_axis_is_logarithmic_if_positive_values_span_two_decades():
    space = Space(x=Float(0, 1))
    wide = evaluated(space, lambda p: 10 ** (4 * p["x"]), 30)
    narrow = evaluated(space, lambda p: 1 + p["x"], 30)
    assert plot.convergence(space, wide).axes[0].get_yscale() == "log"
    assert plot.convergence(space, narrow).axes[0].get_yscale() == "linear"


def test_a_few_penalties_do_not_flatten_the_rest():
    space = Space(x=Float(-1, 1))
    history = evaluated(space, lambda p: 1e9 if p["x"] > 0.95 else p["x"], 60)
    axis = plot.convergence(space, history).axes[0]
    assert axis.get_ylim()[1] < 10
    assert any("off the scale" in text.get_text() for text in axis.get_legend().get_texts())


def test_maximising_turns_the_curve_round():
    space = Space(x=Float(-1, 1))
    axis = plot.convergence(space, evaluated(space, lambda p: p["x"], 20), maximize=True).axes[0]
    assert np.all(np.diff(axis.lines[0].get_ydata()) >= 0)
    assert "large is good" in axis.get_ylabel()


def test_of_many_parameters_twelve_have_bars_and_one_bar_holds_the_rest():
    space = Space({f"{LONG}_{i}": Float(0, 1) for i in range(40)})
    history = evaluated(space, lambda p: sum((1 + i % 7) * v for i, v in enumerate(p.values())), 60)
    figure = plot.importance(space, history)
    axis = figure.axes[0]
    assert len(axis.patches) == 13
    assert texts(axis)[-1] == "the other 28"
    assert sum(bar.get_width() for bar in axis.patches) == pytest.approx(1.0)
    assert all(len(name) <= 30 for name in texts(axis))
    assert len(set(texts(axis))) == 13
    assert overlapping(figure) == []


def test_coordinates_that_dominate_stand_singly_and_the_others_together():
    space = Space(w=Vector(200, low=-1, high=1), x=Float(0, 1))
    history = evaluated(space, lambda p: p["w"][5] + 0.6 * p["x"], 60)
    figure = plot.overview(space, history)
    assert texts(figure.axes[1]) == ["w[5]", "x", "w (other 199)"]
    assert [axis.get_xlabel() for axis in figure.axes[2:]] == ["w[5]", "x"]


def test_slices_have_a_log_axis_for_log_parameters_and_points_for_labels():
    space = Space(
        lr=Float(1e-5, 1, log=True), c=Choice("a", "b", (64, 64)), n=Int(1, 4), s=Float(0, 0.3, step=0.1)
    )
    history = evaluated(space, lambda p: np.log10(p["lr"]) + (p["c"] == "b") + 0.3 * p["n"] + p["s"], 40)
    lr, c, n, s = plot.slices(space, history, "lr", "c", "n", "s").axes
    assert lr.get_xscale() == "log"
    assert [text.get_text() for text in c.get_xticklabels()] == ["a", "b", "(64, 64)"]
    assert [text.get_text() for text in s.get_xticklabels()] == ["0", "0.1", "0.2", "0.3"]
    assert [text.get_text() for text in n.get_xticklabels()] == ["1", "2", "3", "4"]
    assert lr.get_shared_y_axes().joined(lr, n)


@pytest.mark.parametrize(
    ("objective", "n", "reason"),
    [(lambda p: p["n"], 3, "at least 5 complete trials"), (lambda p: 1.0, 20, "all 20 values are 1"),
     (lambda p: np.nan, 4, "there are 0"), (lambda p: 1.0, 0, "there are 0")],
)  # fmt: skip
def test_without_a_model_the_overview_says_why_and_shows_convergence(objective, n, reason, tmp_path):
    history = evaluated(MIXED, objective, n)
    figure = plot.overview(MIXED, history, path=tmp_path / "run.png")
    assert headings(figure) == ["Convergence", ""]
    assert reason in figure.axes[1].texts[0].get_text()
    with pytest.raises(HidimError, match=reason):
        plot.importance(MIXED, history)


@pytest.mark.parametrize("space", [Space(x=Float(0, 1)), Space(c=Choice("a", "b")), Space(w=Vector(30))])
def test_small_and_plain_spaces_can_be_drawn(space):
    rng = np.random.default_rng(0)
    figure = plot.overview(space, evaluated(space, lambda p: rng.random(), 8))
    assert headings(figure)[0] == "Convergence"
    assert overlapping(figure) == []


def test_a_notebook_shows_the_figure():
    assert plot.convergence(MIXED, MIXED_HISTORY)._repr_png_()[:4] == b"\x89PNG"


def test_no_backend_is_chosen_and_pyplot_is_left_alone():
    code = (
        "import sys\n"
        "from hidim import Float, History, Space, Trial, plot\n"
        "trials = [Trial({'x': i / 9}, i).completed(i * 0.1, i) for i in range(9)]\n"
        "plot.convergence(Space(x=Float(0, 1)), History(trials))\n"
        "print('matplotlib.pyplot' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "False", done.stderr


def test_names_are_no_formulas(tmp_path):
    inner = Space({"in$\\$": Float(0, 1), "a\x00\x07": Choice("$x_{$", "b\x00")})
    space = Space({"$\\frac$": Float(0, 1), "$_{$ m": Choice({"$\\frac{": inner})})
    optimizer = Optimizer(space, "random")
    for value in range(9):
        optimizer.tell(optimizer.ask(), float(value))
    figure = plot.overview(space, optimizer.history, path=tmp_path / "a.svg")
    labels = {axis.get_xlabel() for axis in figure.axes}
    assert r"\$\frac\$" in labels
    assert any(r"a\x00\x07" in label for label in labels)


def test_a_result_is_no_insight_and_the_error_says_how_to_have_one():
    optimizer = Optimizer(Space(x=Float(0, 1)), "random")
    optimizer.tell(optimizer.ask(), 1.0)
    with pytest.raises(HidimError, match=r"as result\.insight\(\)"):
        plot.overview(optimizer.result())
