from __future__ import annotations

import importlib.util
import io
import logging
import sys

import pytest

from hidim import Float, Space, minimize
from hidim.run import progress as progress_module
from hidim.run.progress import Lines, RichBar, Silent, Standing, duration, make_progress

SPACE = Space(x=Float(0, 1))


def objective(params):
    if params["x"] > 0.8:
        raise ValueError
    return params["x"]


def run(**options):
    return minimize(objective, SPACE, 10, method="sobol", **options)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def without(monkeypatch):
    """Make packages look as if they were not installed."""

    def hide(*names):
        find = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else find(name))

    return hide


def test_a_standing_in_words():
    assert str(Standing(0, 10)) == "no value yet · own 0 ms, objective 0 ms"
    standing = Standing(5, 10, failed=2, best=0.123456789, own=1.25, objective=7300)
    assert str(standing) == "best 0.123457 · 2 failed · own 1.2 s, objective 2 h 2 min"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"),
        (0.9994, "999 ms"),
        (1, "1.0 s"),
        (59.4, "59.4 s"),
        (60, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (2 * 86400, "48 h 0 min"),
    ],
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize("seconds", [0.99951, 59.96, 3599.6, 3599.5])
def test_durations_are_rounded_up_into_the_next_unit(seconds):
    assert duration(seconds) in ("1.0 s", "1 min 0 s", "1 h 0 min")


def test_silence():
    assert isinstance(make_progress(False, 10), Silent)


@pytest.mark.parametrize("wanted", [None, True])
@pytest.mark.parametrize(("hidden", "kind"), [((), RichBar), (("rich",), Lines)])
def test_at_a_terminal_there_is_a_bar_and_without_rich_there_are_lines(
    monkeypatch, without, wanted, hidden, kind
):
    monkeypatch.setattr(sys, "stderr", Terminal())
    without(*hidden)
    bar = make_progress(wanted, 10)
    bar.close()
    assert type(bar) is kind


@pytest.mark.parametrize("stderr", [io.StringIO(), None])
def test_where_nobody_looks_there_are_lines(monkeypatch, stderr):
    monkeypatch.setattr(sys, "stderr", stderr)
    assert isinstance(make_progress(None, 10), Lines)


def test_the_bar_of_rich_shows_best_failures_and_times(monkeypatch):
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("COLUMNS", "120")
    result = run(progress=True)
    text = stderr.getvalue()
    assert "10/10" in text
    assert f"best {result.best.value:.6g}" in text
    assert f"{10 - len(result.history.complete)} failed" in text
    assert "own" in text
    assert "objective" in text


def shown(monkeypatch, *, always=False):
    """Show a run of 100 trials, of a second each, by lines."""
    now = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    lines = Lines(10.0, always=always)
    for done in range(101):
        now[0] = float(done)
        lines.show(Standing(done, 100, best=0.5))
    lines.close()


def test_without_a_bar_there_is_a_line_every_ten_seconds_wherever_somebody_listens(caplog, monkeypatch):
    caplog.set_level(logging.INFO)
    shown(monkeypatch)
    messages = [r.getMessage() for r in caplog.records]
    assert messages[0].startswith("10/100 trials · best 0.5")
    assert messages[-1].startswith("100/100 trials")
    assert len(messages) == 10


def test_on_a_plain_install_without_logging_lines_go_to_standard_error(monkeypatch, capsys):
    monkeypatch.setattr(logging.getLogger("hidim"), "propagate", False)
    shown(monkeypatch)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("hidim: 100/100 trials · best 0.5")


def test_progress_that_was_asked_for_is_shown_however_short_the_run_is(caplog, capsys):
    caplog.set_level(logging.INFO)
    run()
    assert "10/10 trials" not in caplog.text
    run(progress=True)
    assert "10/10 trials · best" in caplog.text
    assert capsys.readouterr().err == ""


def test_silent_runs_log_failures_only(caplog, capsys):
    caplog.set_level(logging.INFO)
    run(progress=False)
    assert {r.levelno for r in caplog.records} == {logging.WARNING}
    assert capsys.readouterr() == ("", "")


def test_a_run_with_a_bar_inside_a_run_with_a_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    outer = minimize(lambda p: run(progress=True).best.value, SPACE, 2, method="random", progress=True)
    assert len(outer.history.complete) == 2


def test_a_resumed_bar_starts_where_the_run_was(tmp_path, monkeypatch):
    run(journal=tmp_path / "j", progress=False)
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("COLUMNS", "120")
    minimize(objective, SPACE, 10, method="sobol", journal=tmp_path / "j", progress=True)
    assert "10/10" in stderr.getvalue()
