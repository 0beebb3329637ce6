"""Runs that start from an earlier one, whose space may have been another."""

from __future__ import annotations

import logging

import pytest

from hidim import Choice, Float, History, Int, Optimizer, Space, Vector, minimize
from hidim.errors import MethodError

OLD = Space(x=Float(0, 1), gone=Float(0, 1), kind=Choice("a", b=Space(depth=Int(1, 9))))
NEW = Space(x=Float(0, 0.5), momentum=Float(0, 1), kind=Choice("a", "c", b=Space(depth=Int(1, 9))))


def old(params):
    if params["gone"] > 0.9:
        raise ValueError("too much")
    return params["x"] + params.get("depth", 0)


def new(params):
    return params["x"] + params["momentum"]


def run(objective, space, n_trials=6, **options):
    return minimize(objective, space, n_trials, method="random", progress=False, **options)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    journal = tmp_path_factory.mktemp("earlier") / "old.jsonl"
    return journal, run(old, OLD, 30, journal=journal)


SOURCES = {
    "journal": lambda journal, result: journal,
    "result": lambda journal, result: result,
    "history": lambda journal, result: result.history,
    "optimizer": lambda journal, result: Optimizer.load(journal),
    "trials": lambda journal, result: list(result.history),
}


@pytest.mark.parametrize("source", SOURCES)
def test_what_fits_is_taken_over_and_the_rest_is_counted(earlier, source, caplog):
    fitting = [t for t in earlier[1].history if t.params["x"] <= 0.5]
    result = run(new, NEW, start_from=SOURCES[source](*earlier), assume={"momentum": 0.9})
    taken = [t for t in result.history if t.meta.get("earlier")]
    assert [t.value for t in taken] == [t.value for t in sorted(fitting, key=lambda t: t.rank)]
    assert {t.params["momentum"] for t in taken} == {0.9}
    assert all("gone" not in t.params for t in taken)
    assert len(result.history) == len(taken) + 6
    assert (
        f"{len(fitting)} of 30 trials of the earlier run are taken over; {30 - len(fitting)} left out"
        in caplog.text
    )
    assert "'x'" in caplog.text


def test_failures_come_along(earlier):
    result = run(new, NEW, start_from=earlier[1], assume={"momentum": 0.9})
    failed = [t for t in earlier[1].history.failed if t.params["x"] <= 0.5]
    assert [t.reason for t in result.history.failed] == [t.reason for t in failed]


def test_without_a_value_for_a_new_parameter_nothing_fits(earlier, caplog):
    result = run(new, NEW, start_from=earlier[1])
    assert len(result.history) == 6
    assert "parameter 'momentum' is missing" in caplog.text


def test_all_that_fits_is_told_quietly(earlier, caplog):
    caplog.set_level(logging.INFO)
    result = run(old, OLD, start_from=earlier[1])
    assert len(result.history) == 36
    assert [r.levelno for r in caplog.records if "taken over" in r.message] == [logging.INFO]


def test_a_resumed_run_does_not_take_them_over_twice(earlier, tmp_path):
    options = {"start_from": earlier[0], "assume": {"momentum": 0.9}, "journal": tmp_path / "new"}
    first = run(new, NEW, 4, **options)
    second = run(new, NEW, 6, **options)
    assert len(second.history) == len(first.history) + 2
    assert list(second.history)[: len(first.history)] == list(first.history)
    assert list(Optimizer.load(tmp_path / "new").history) == list(second.history)


def test_the_other_direction_is_refused(earlier):
    with pytest.raises(MethodError, match="the earlier run minimised"):
        run(old, OLD, start_from=earlier[1], maximize=True)
    best = minimize(old, OLD, 5, method="random", maximize=True, progress=False)
    assert run(old, OLD, start_from=best, maximize=True).best.value >= best.best.value


@pytest.mark.parametrize(
    ("source", "said"),
    [(3, "start_from must be"), ([1, 2], "start_from must be"), ("gone", "gone cannot be read")],
)
def test_what_is_no_run_is_refused(source, said):
    with pytest.raises(MethodError, match=said):
        run(old, OLD, start_from=source)


def test_a_vector_of_another_length_does_not_fit(caplog):
    before = minimize(lambda p: p["w"].sum(), Space(w=Vector(3)), 4, method="random", progress=False)
    after = minimize(lambda p: p["w"].sum(), Space(w=Vector(4)), 4, start_from=before, progress=False)
    assert len(after.history) == 4
    assert "4 left out" in caplog.text


def test_an_empty_history_is_no_start():
    assert len(run(old, OLD, start_from=History()).history) == 6


def test_a_crash_while_trials_are_taken_over_loses_none_of_them(earlier, tmp_path):
    options = {"start_from": earlier[1], "journal": tmp_path / "new"}
    whole = run(old, OLD, 3, **options)
    lines = (tmp_path / "new").read_bytes().splitlines(keepends=True)
    (tmp_path / "new").write_bytes(b"".join(lines[:8]))  # a run, three trials, and the ask of a fourth
    again = run(old, OLD, 3, **options)
    assert sorted(t.value or 0 for t in again.history[:30]) == sorted(
        t.value or 0 for t in whole.history[:30]
    )
    assert len(again.history) == 33


def test_names_that_nobody_knows_are_refused(earlier):
    with pytest.raises(MethodError, match="assume: the space has no parameter 'momentun'"):
        run(new, NEW, start_from=earlier[1], assume={"momentun": 0.9})
    with pytest.raises(MethodError, match="it goes with start_from"):
        run(new, NEW, assume={"momentum": 0.9})


def test_a_journal_is_not_its_own_start(earlier):
    with pytest.raises(MethodError, match="the earlier run is the journal itself"):
        run(old, OLD, start_from=earlier[0], journal=earlier[0])


def test_what_the_earlier_run_knew_is_measured_anew_if_it_is_given(earlier):
    known = earlier[1].best.params
    result = run(old, OLD, start_from=earlier[1], start_with=[known])
    assert result.history[30].params == known
    assert result.objective_seconds < 1.0
