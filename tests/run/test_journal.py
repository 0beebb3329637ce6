"""The journal: what was acknowledged is never lost, and what is damaged is never believed."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidim import Choice, Float, Int, Measured, Optimizer, Result, Space, TrialState, Vector, minimize
from hidim.errors import HistoryError, MethodError
from hidim.lines import run_event, seal, unseal
from hidim.methods import RandomSearch
from hidim.run import journal as journal_module
from hidim.run.journal import Journal

SPACE = Space(x=Float(0, 1), n=Int(1, 9), model=Choice("none", svm=Space(C=Float(0.1, 10, log=True))))
SETTINGS = {"maximize": False}


def objective(params):
    if params["n"] == 5:
        raise ValueError("five")
    return params["x"] + params.get("C", 0.0)


def run(path, n_trials=12, method="random", function=objective, space=SPACE, **options):
    return minimize(function, space, n_trials, method=method, journal=path, **options)


def lines(path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def numbered(trials) -> list:
    return [(t.params, t.value, t.reason, t.state) for t in trials]


def uncalled(params):
    raise AssertionError("evaluated")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


# -- what is in it -----------------------------------------------------------------------------------------


def test_every_event_is_a_line_of_json_with_a_checksum(path):
    result = run(path)
    events = [json.loads(line) for line in lines(path)]
    assert [e["event"] for e in events[:3]] == ["run", "ask", events[2]["event"]]
    assert len(events) == 1 + 2 * 12
    assert {e["event"] for e in events} == {"run", "ask", "tell", "fail"}
    assert events[0]["format"] == 2
    assert Space.from_dict(events[0]["space"]) == SPACE
    asked = [e["params"] for e in events if e["event"] == "ask"]
    assert asked == [t.params for t in result.history]
    for line, event in zip(lines(path), events, strict=True):
        crc = event.pop("crc")
        assert unseal(line) == event
        assert seal(event) == line
        assert crc in line.decode()


def test_every_event_is_on_the_disk_before_the_run_goes_on(path, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(path.read_bytes()) or fsync(handle))

    def look(params):
        assert synced[-1] == path.read_bytes()
        assert unseal(lines(path)[-1])["params"] == params
        return params["x"]

    def told(trial, history):
        assert synced[-1] == path.read_bytes()
        assert unseal(lines(path)[-1])["value"] == trial.value

    run(path, function=look, callbacks=told)


def test_vectors_variances_reasons_and_seconds_come_back(path):
    space = Space(w=Vector(3), s=Choice(2, 2.5, None, True, "ä"))

    def noisy(params):
        if params["s"] is None:
            raise ValueError("ä\n\udcff\x00")
        return Measured(float(params["w"].sum()), 0.25)

    first = run(path, 10, function=noisy, space=space, seed=3)
    second = run(path, 10, function=uncalled, space=space, seed=3)
    assert list(first.history) == list(second.history)
    assert [t.seconds for t in first.history] == [t.seconds for t in second.history]
    assert {t.variance for t in second.history.complete} == {0.25}
    assert any(t.state is TrialState.FAILED for t in second.history)
    assert second.noisy


def test_values_come_back_to_the_last_bit(path):
    values = iter([0.1 + 0.2, 5e-324, -1.7976931348623157e308, 1 / 3, -0.0])
    first = run(path, 5, function=lambda p: next(values))
    second = run(path, 5, function=uncalled)
    assert [np.float64(t.value).tobytes() for t in first.history] == [
        np.float64(t.value).tobytes() for t in second.history
    ]


# -- resuming ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interrupted_at", [1, 4, 11, 13])
def test_a_resumed_run_has_the_trials_of_one_that_was_never_interrupted(path, interrupted_at):
    whole = minimize(objective, SPACE, 14, method="gp", seed=5)
    calls = []

    def interrupting(params):
        calls.append(params)
        if len(calls) == interrupted_at:
            raise SystemError
        return objective(params)

    # An interrupt in the very first trial leaves no result, and the journal all the same.
    def hard(params):
        try:
            return interrupting(params)
        except SystemError:
            raise KeyboardInterrupt from None

    try:
        run(path, 14, "gp", hard, seed=5)
    except KeyboardInterrupt:
        assert interrupted_at == 1
    resumed = run(path, 14, "gp", hard, seed=5)
    assert list(resumed.history) == list(whole.history)
    assert len(calls) == 15, "the trial that was running is evaluated again, and no other"


def test_a_run_that_is_killed_anywhere_is_resumed_to_the_same_trials(path, tmp_path):
    whole = run(path, 13, "gp", seed=5)
    data = path.read_bytes()
    for cut in np.linspace(0, len(data) - 1, 9).astype(int):
        piece = tmp_path / f"cut at {cut}"
        piece.write_bytes(data[:cut])
        assert list(run(piece, 13, "gp", seed=5).history) == list(whole.history)


def test_a_finished_journal_evaluates_nothing(path):
    first = run(path)
    before = path.read_bytes()
    second = run(path, function=uncalled)
    assert list(first.history) == list(second.history)
    assert second.best == first.best
    assert second.stopped == "all 12 trials were done already"
    run(path, seed=7, function=uncalled)  # no trial is made with that seed
    assert path.read_bytes() == before


def test_more_trials_can_be_wanted_later(path):
    first = run(path, 8)
    second = run(path, 12)
    assert list(second.history)[:8] == list(first.history)
    assert len(second.history) == 12
    assert list(second.history) == list(minimize(objective, SPACE, 12, method="random").history)


def test_fewer_trials_can_be_wanted_later(path):
    run(path, 8)
    assert len(run(path, 5, function=uncalled).history) == 8


def test_seed_and_method_may_change_and_the_journal_says_so(path):
    run(path, 4)
    run(path, 6, "sobol", seed=7)
    settings = [event for line in lines(path) if (event := unseal(line))["event"] == "run"]
    assert [(s["method"]["name"], s["seed"], s["budget"]) for s in settings] == [
        ("random", 0, 4),
        ("sobol", 7, 6),
    ]


def test_trials_that_were_running_are_evaluated_first_and_with_the_same_parameters(path):
    with Journal(path, SPACE, SETTINGS) as journal:
        asked = Optimizer(SPACE, method="random").ask(5)
        for trial in asked:
            journal.ask(trial)
        journal.finish(asked[3].completed(1.5, 0))
    calls = []
    result = run(path, 7, function=lambda p: calls.append(p) or 1.0)
    assert calls[:4] == [asked[i].params for i in (0, 1, 2, 4)]
    assert len(calls) == 6
    assert result.history[3].value == 1.5


def test_a_parallel_run_can_be_resumed(path):
    calls = []

    def slow(params):
        calls.append(params)
        if len(calls) == 9:
            raise KeyboardInterrupt
        time.sleep(0.002)
        return params["x"]

    first = run(path, 20, function=slow, workers=3)
    assert first.stopped == "interrupted"
    second = run(path, 20, function=slow, workers=3)
    assert len(second.history.complete) == 20
    known = {t.number: t.value for t in first.history.complete}
    assert known.items() <= {t.number: t.value for t in second.history}.items()


def test_a_failed_trial_is_not_evaluated_again(path):
    first = run(path)
    failed = [t.number for t in first.history if t.state is TrialState.FAILED]
    assert failed
    second = run(path, function=uncalled)
    assert [t.number for t in second.history if t.state is TrialState.FAILED] == failed
    assert {second.history[n].reason for n in failed} == {"ValueError: five"}


def test_a_method_of_ones_own_can_keep_a_journal(path):
    class Own(RandomSearch):
        pass

    first = run(path, 6, method=Own())
    assert numbered(run(path, 12, method=Own()).history[:6]) == numbered(first.history)
    assert Result.from_journal(path).best.value == min(t.value for t in run(path, 12).history.complete)


def test_a_run_can_be_looked_at_while_it_is_going(path):
    seen = []
    run(
        path, callbacks=lambda trial, history: seen.append(Result.from_journal(path)) if trial.value else None
    )
    assert [len(result.history.finished) for result in seen][-1] == 12
    assert seen[-1].best.value == min(t.value for t in seen[-1].history.complete)
    assert seen[-1].space == SPACE


def test_a_result_is_not_read_from_another_kind_of_file(path):
    path.write_text("x,y\n1,2\n")
    with pytest.raises(HistoryError, match="is not a saved history of hidim"):
        Result.from_journal(path)


# -- damage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["run", "ask", "tell", "fail"])
def test_a_last_line_that_is_torn_anywhere_is_dropped_and_reported(path, tmp_path, kind, monkeypatch):
    run(path)
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # hundreds of them take seconds
    whole = lines(path)
    last = max(i for i, line in enumerate(whole) if unseal(line)["event"] == kind)
    before, line = whole[:last], whole[last]
    cut_path, settings = tmp_path / "cut.jsonl", Optimizer(SPACE, method="random", budget=12).settings()
    expected = None
    for cut in range(len(line) - 1):  # without its newline alone, it is whole
        cut_path.write_bytes(b"".join(before) + line[:cut])
        with Journal(cut_path, SPACE, settings) as journal:
            trials = numbered(journal.trials)
            assert journal.damage == (
                [f"the last line was torn by a crash and is dropped ({cut} bytes)"] if cut else []
            )
        expected = trials if expected is None else expected
        assert trials == expected
        assert cut_path.read_bytes().startswith(b"".join(before))
        assert all(unseal(kept) for kept in lines(cut_path))
    assert len(expected) == sum(unseal(kept)["event"] == "ask" for kept in before)


def test_a_run_over_a_torn_line_is_reported_and_goes_on(path, caplog):
    whole = run(path)
    path.write_bytes(path.read_bytes()[:-7])
    assert numbered(run(path).history) == numbered(whole.history)
    assert "the last line was torn by a crash and is dropped" in caplog.text
    assert str(path) in caplog.text
    caplog.clear()
    run(path)
    assert [r.getMessage() for r in caplog.records] == ["12 of 12 trials from run.jsonl, none evaluated"]


def damaged(path, line: int, offset: int = 20) -> None:
    whole = lines(path)
    body = bytearray(whole[line])
    body[offset] ^= 0x15
    whole[line] = bytes(body)
    path.write_bytes(b"".join(whole))


def test_a_damaged_tell_is_reported_and_its_trial_evaluated_again(path, caplog):
    first = run(path)
    damaged(path, 6)  # the header, three pairs of ask and tell: the tell of trial 2
    calls = []
    second = run(path, function=lambda p: calls.append(p) or objective(p))
    assert calls == [first.history[2].params]
    assert numbered(first.history) == numbered(second.history)
    assert "line 7 is damaged and is passed over" in caplog.text


def test_a_damaged_ask_is_reported_and_its_trial_replaced_by_another(path, caplog):
    first = run(path)
    damaged(path, 5)
    calls = []
    second = run(path, function=lambda p: calls.append(p) or objective(p))
    assert len(calls) == 1
    assert len(second.history) == 12
    kept = [t.params for t in first.history if t.number != 2]
    assert [t.params for t in second.history][:11] == kept
    assert "line 6 is damaged and is passed over" in caplog.text
    assert "line 7 tells of trial 2, whose ask is lost: it is passed over" in caplog.text
    third = run(path, function=uncalled)
    assert numbered(third.history) == numbered(second.history)


def test_a_damaged_header_is_reported_and_written_anew(path, caplog):
    first = run(path)
    damaged(path, 0)
    second = run(path, function=uncalled)
    assert list(first.history) == list(second.history)
    assert "line 1 is damaged and is passed over" in caplog.text
    assert unseal(lines(path)[-1])["event"] == "run"


def test_a_value_told_twice_counts_once_and_is_reported(path, caplog):
    first = run(path)
    whole = lines(path)
    tell = next(line for line in whole if unseal(line)["event"] == "tell")
    again = seal(unseal(tell) | {"value": -99.0})
    path.write_bytes(b"".join([*whole, tell, again]))
    second = run(path, function=uncalled)
    assert list(first.history) == list(second.history)
    assert f"line 26 tells of trial {unseal(tell)['id']} again: it is passed over" in caplog.text
    assert "line 27 tells" in caplog.text


def test_model_based_runs_go_on_over_lost_trials(path):
    run(path, 24, "gp", seed=5)
    whole = lines(path)
    for line in (2, 3, 9, 20, 31, 40, 43):
        damaged(path, line)
    result = run(path, 28, "gp", seed=5)
    assert len(result.history.finished) == 28
    assert len(lines(path)) > len(whole)


def test_what_a_method_remembers_is_kept_where_numbers_have_moved(path):
    with Journal(path, SPACE, SETTINGS) as journal:
        for trial in Optimizer(SPACE, method="random").ask(6):
            meta = {"way": "probe", "probe": 4.0} if trial.number == 5 else {"way": "random"}
            journal.ask(replace(trial, meta=meta))
            journal.finish(trial.completed(1.0 + trial.number, trial.number))
    for line in (3, 5):  # the asks of trials 1 and 2
        damaged(path, line)
    with Journal(path, SPACE, SETTINGS) as journal:
        assert [t.meta["way"] for t in journal.trials] == ["random"] * 3 + ["probe"]
        assert journal.trials[3].meta["probe"] == 4.0
    assert len(run(path, 8, "gp").history) == 8


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("written") / "run.jsonl"
    return path, numbered(run(path, 6).history), path.read_bytes()


@given(data=st.data())
def test_no_damaged_byte_is_ever_believed(written, data):
    path, truth, sound = written
    place = data.draw(st.integers(0, len(sound) - 1))
    body = bytearray(sound)
    body[place] = data.draw(st.integers(0, 255).filter(lambda b: b != sound[place]))
    path.write_bytes(bytes(body))
    with Journal(path, SPACE, SETTINGS) as journal:
        assert journal.damage
        for found in numbered(journal.trials):
            assert found in truth or found[3] is TrialState.RUNNING


@given(data=st.data())
def test_arbitrary_damage_is_refused_or_reported_and_nothing_else(written, data):
    path, truth, sound = written
    start = data.draw(st.integers(0, len(sound)))
    stop = data.draw(st.integers(start, len(sound)))
    body = sound[:start] + data.draw(st.binary(max_size=40)) + sound[stop:]
    path.write_bytes(body)
    try:
        journal = Journal(path, SPACE, SETTINGS)
    except HistoryError:
        assert path.read_bytes() == body
    else:
        journal.close()
        for found in numbered(journal.trials):
            assert found in truth or found[3] is TrialState.RUNNING


# -- what is refused ---------------------------------------------------------------------------------------


FOREIGN = {
    "text": b"dear diary\n",
    "text without a line": b"dear diary",
    "json": b'{"format": 1, "trials": []}\n',
    "another journal": b'{"event": "start", "id": 3}\n',
    "binary": bytes(range(256)) * 9,
    "newlines": b"\n\n\n",
    "a header without a checksum": b'{"event": "run", "format": 1}\n',
}


@pytest.mark.parametrize("case", FOREIGN)
def test_a_foreign_file_is_refused_and_left_as_it_is(path, case):
    path.write_bytes(FOREIGN[case])
    with pytest.raises(HistoryError, match=r"run\.jsonl is not a journal of hidim.*: give another path"):
        run(path, function=uncalled)
    assert path.read_bytes() == FOREIGN[case]


def test_an_empty_file_becomes_a_journal(path):
    path.touch()
    assert len(run(path).history) == 12
    assert unseal(lines(path)[0])["event"] == "run"


OTHER_SPACES = {
    "another bound": (
        dict(SPACE) | {"x": Float(0, 2)},
        r"it has x = Float\(low=0.0, high=1.0.*, this run has x = Float\(low=0.0, high=2.0",
    ),
    "a further parameter": (dict(SPACE) | {"y": Float(0, 1)}, r"it has no y, this run has y = Float"),
    "another option": (
        dict(SPACE) | {"model": Choice("none", "svm")},
        r"it has model = Choice\(.*C.*this run has model = Choice\(",
    ),
    "a parameter of an option": (
        dict(SPACE) | {"model": Choice("none", svm=Space(C=Float(0.1, 9, log=True)))},
        r"it has model=svm/C = Float\(low=0.1, high=10.0, log=True",
    ),
}


@pytest.mark.parametrize("case", OTHER_SPACES)
def test_a_journal_of_another_space_is_refused_and_the_difference_named(path, case):
    mapping, difference = OTHER_SPACES[case]
    run(path)
    before = path.read_bytes()
    with pytest.raises(
        HistoryError, match=rf"the journal of another space \(.*{difference}.*give another.*start_from"
    ):
        run(path, space=Space(mapping), function=uncalled)
    assert path.read_bytes() == before


def test_another_order_of_the_parameters_is_another_space(path):
    run(path)
    with pytest.raises(HistoryError, match=r"another space .its parameters are in another order"):
        run(path, space=Space({name: SPACE[name] for name in reversed(list(SPACE))}), function=uncalled)


def test_a_journal_of_the_other_direction_is_refused(path):
    run(path)
    with pytest.raises(HistoryError, match="the journal of a run in the other direction: give another path"):
        run(path, maximize=True, function=uncalled)


@pytest.mark.parametrize("found", [1, 3, 99, "1", None])
def test_another_format_is_refused(path, found):
    run(path)
    whole = lines(path)
    header = unseal(whole[0]) | {"format": found, "hidim": "9.8.7"}
    path.write_bytes(b"".join([seal(header), *whole[1:]]))
    with pytest.raises(HistoryError, match=rf"by hidim 9\.8\.7 in format {found}.*reads 2: upgrade hidim"):
        run(path, function=uncalled)


def test_without_a_header_trials_that_do_not_fit_are_refused(path):
    run(path)
    damaged(path, 0)
    with pytest.raises(HistoryError, match="trial 0 of the journal does not fit the space"):
        run(path, space=Space(x=Float(0, 1)), function=uncalled)


# -- disks -------------------------------------------------------------------------------------------------


def test_a_missing_folder_is_said(path):
    with pytest.raises(HistoryError, match="cannot be opened: No such file or directory"):
        run(path.parent / "missing" / "run.jsonl", function=uncalled)


def test_a_folder_is_no_journal(tmp_path):
    with pytest.raises(HistoryError, match="cannot be opened: Is a directory"):
        run(tmp_path, function=uncalled)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everything")
def test_a_file_that_must_not_be_written_is_said(path):
    path.touch(mode=0o444)
    with pytest.raises(HistoryError, match="cannot be opened: Permission denied"):
        run(path, function=uncalled)


def test_a_full_disk_is_said_and_the_run_can_be_resumed(path, monkeypatch):
    fsync, calls = os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) == 9:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(journal_module.os, "fsync", full)
        with pytest.raises(HistoryError, match=r"cannot be written: No space left.*can be resumed") as raised:
            run(path)
    assert isinstance(raised.value.__cause__, OSError)
    assert numbered(run(path).history) == numbered(minimize(objective, SPACE, 12, method="random").history)


FULL = """
import resource, sys
from hidim import Float, Space, minimize
from hidim.errors import HistoryError
resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900))
try:
    minimize(lambda p: p["x"], Space(x=Float(0, 1)), 50, method="random", journal=sys.argv[1])
except HistoryError as error:
    print(error)
"""


def test_a_line_for_which_the_disk_has_half_the_space_is_dropped_on_resuming(path, caplog):
    out = subprocess.run(
        [sys.executable, "-c", FULL, path], capture_output=True, text=True, check=True
    ).stdout
    assert "cannot be written: File too large" in out
    assert path.stat().st_size == 900
    space = Space(x=Float(0, 1))
    result = run(path, 50, function=lambda p: p["x"], space=space)
    assert "torn by a crash and is dropped" in caplog.text
    assert list(result.history) == list(minimize(lambda p: p["x"], space, 50, method="random").history)


def test_short_writes_are_continued(path):
    class Short:
        """A file that takes seven bytes at a time."""

        def __init__(self, file):
            self.file = file

        def write(self, data):
            return self.file.write(data[:7])

        def __getattr__(self, name):
            return getattr(self.file, name)

    with Journal(path, SPACE, SETTINGS) as journal:
        journal._file = Short(journal._file)
        for trial in Optimizer(SPACE, method="random").ask(3):
            journal.ask(trial)
    with Journal(path, SPACE, SETTINGS) as journal:
        assert len(journal.trials) == 3
        assert journal.damage == []


def test_another_method_or_seed_is_said(path, caplog):
    run(path, 3, "random", function=lambda p: 1.0)
    run(path, 4, "sobol", seed=2, function=lambda p: 1.0)
    assert "was written with method random, and goes on with method sobol" in caplog.text
    assert "was written with seed 0, and goes on with seed 2" in caplog.text


def test_a_method_that_nobody_can_make_again_is_said(path, caplog):
    class Mine(RandomSearch):
        pass

    run(path, 3, Mine(), function=lambda p: 1.0)
    assert "cannot say how to make the method Mine again" in caplog.text


def test_long_journals_are_read_in_no_time(path):
    space = Space(x=Float(0, 1))
    optimizer = Optimizer(space, method="random")
    rows = [seal(run_event(space, optimizer.settings()))]
    for i in range(8000):
        rows.append(seal({"event": "ask", "id": i, "params": {"x": i / 8000}, "meta": {}}))
        rows.append(seal({"event": "tell", "id": i, "value": 1.0 * i, "variance": None, "seconds": 0.1}))
    path.write_bytes(b"".join(rows))
    start = time.process_time()
    with Journal(path, space, optimizer.settings()) as journal:
        assert len(journal.trials) == 8000
    assert time.process_time() - start < 3


def test_nothing_is_logged_about_a_sound_journal(path, caplog):
    caplog.set_level(logging.WARNING)
    run(path, 3, function=lambda p: 1.0)
    result = run(path, 5, function=lambda p: 1.0)
    assert [record.getMessage() for record in caplog.records] == ["3 of 5 trials from run.jsonl"]
    assert result.resumed == 3


def test_a_journal_of_another_objective_is_told_or_refused(path, caplog):
    def scaled(factor):
        return lambda p: factor * p["x"]

    run(path, 3, function=scaled(1.0))
    result = run(path, 3, function=scaled(2.0))
    assert "run.jsonl has 3 trials of another objective (factor changed)" in caplog.text
    assert "3 of 3 trials from run.jsonl, none evaluated" in caplog.text
    assert (result.resumed, result.stopped) == (3, "all 3 trials were done already")
    with pytest.raises(HistoryError, match="another objective"):
        run(path, 5, function=scaled(2.0), on_change="error")
    with pytest.raises(MethodError, match="on_change must be"):
        run(path, function=scaled(1.0), on_change="ask")
    run(path, 5, function=scaled(2.0))  # which goes on with it
    with pytest.raises(HistoryError, match="has 3 trials of another objective"):
        run(path, 5, function=scaled(2.0), on_change="error")
    with pytest.raises(HistoryError, match="has 2 trials of another objective"):
        run(path, 5, function=scaled(1.0), on_change="error")


def test_an_objective_that_goes_to_another_folder_does_not_lose_the_journal(monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)

    def leaves(params):
        os.chdir(tmp_path / "elsewhere")
        return params["x"]

    run("here.jsonl", 4, function=leaves)
    assert len(Result.from_journal(tmp_path / "here.jsonl").history.complete) == 4
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_settings_in_which_a_method_differs_are_told(path, caplog):
    run(path, 2, "gp(starts=100)", function=lambda p: 1.0)
    run(path, 3, "gp(starts=200)", function=lambda p: 1.0)
    assert "with method gp (starts=100), and goes on with method gp (starts=200)" in caplog.text


# -- lines that are whole ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["run", "ask", "tell", "fail"])
def test_a_last_line_without_its_newline_is_kept_and_the_run_goes_on_behind_it(path, kind, caplog):
    whole = run(path)
    rows = lines(path)
    last = max(i for i, line in enumerate(rows) if unseal(line)["event"] == kind)
    path.write_bytes(b"".join(rows[: last + 1])[:-1])
    caplog.clear()
    assert numbered(run(path).history) == numbered(whole.history)
    assert "torn" not in caplog.text
    assert "damaged" not in caplog.text
    assert [unseal(line) is not None for line in lines(path)] == [True] * len(rows)


def event(**changes):
    """The lines of a sound journal with one field of the event of this kind changed, or left out."""
    kind, field, value = changes.pop("kind"), *next(iter(changes.items()))

    def change(rows):
        known = [unseal(row) for row in rows]
        place = next(i for i, e in enumerate(known) if e["event"] == kind)
        known[place] = {k: v for k, v in (known[place] | {field: value}).items() if v is not ...}
        return b"".join(map(seal, known)), place + 1

    return change


def sealed(text: bytes):
    """The same with another line in the place of the second."""

    def change(rows):
        body = text[:-1]
        crc = f', "crc": "{zlib.crc32(body):08x}"}}\n'.encode()
        return b"".join([rows[0], body, crc, *rows[2:]]), 2

    return change


WRONG = {
    "no event": (event(kind="ask", event=...), "'event'"),
    "event of a wrong type": (event(kind="ask", event=["ask"]), "'event'"),
    "no id": (event(kind="ask", id=...), "'id' is missing"),
    "id of a wrong type": (event(kind="tell", id=[0]), "'id' must be an integer of at least 0"),
    "negative id": (event(kind="ask", id=-3), "'id' must be"),
    "id of another ask": (event(kind="ask", id=1), "'id'"),
    "params of a wrong type": (event(kind="ask", params=[1]), "'params' must be a table"),
    "no params": (event(kind="ask", params=...), "'params' is missing"),
    "an unknown embedding": (
        event(kind="ask", params={"x": {"embedding": [3]}, "model": "none"}),
        "embedding",
    ),
    "meta of a wrong type": (event(kind="ask", meta=[1]), "'meta' must be a table"),
    "a way of a wrong type": (event(kind="ask", meta={"way": {}}), "'way' must be a text"),
    "a fit of a wrong type": (event(kind="ask", meta={"fit": 3}), "'fit' must be a table"),
    "no value": (event(kind="tell", value=...), "'value' is missing"),
    "value beyond all floats": (event(kind="tell", value=10**400), "'value' must be a finite number"),
    "value of a wrong type": (event(kind="tell", value=True), "'value' must be a finite number"),
    "negative variance": (
        event(kind="tell", variance=-1.0),
        "'variance' must be a finite number of at least",
    ),
    "variance of a wrong type": (event(kind="tell", variance="0"), "'variance' must be"),
    "no variance": (event(kind="tell", variance=...), "'variance' is missing"),
    "seconds of a wrong type": (event(kind="tell", seconds="1"), "'seconds' must be a finite number or null"),
    "no reason": (event(kind="fail", reason=...), "'reason' is missing"),
    "reason of a wrong type": (event(kind="fail", reason=None), "'reason' must be a text"),
    "space of a wrong type": (event(kind="run", space=[1]), "'space' must be a table"),
    "seed of a wrong type": (event(kind="run", seed=0.5), "'seed' must be an integer"),
    "direction of a wrong type": (event(kind="run", maximize="no"), "'maximize' must be true or false"),
    "no UTF-8": (sealed(b'{"event": "ask\xff"}'), "not JSON"),
    "no JSON": (sealed(b'{"event": "ask", }'), "not JSON"),
    "a number of too many digits": (sealed(b'{"event": "ask", "id": ' + b"9" * 5000 + b"}"), "not JSON"),
    "nested too deeply to be read": (sealed(b'{"event": ' + b"[" * 9999 + b"]" * 9999 + b"}"), "nested too"),
    "nested too deeply": (sealed(b'{"event": "ask", "id": ' + b"[" * 450 + b"]" * 450 + b"}"), "nested too"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_whole_line_that_says_what_it_must_not_is_refused_with_line_and_field(path, case):
    run(path)
    change, fault = WRONG[case]
    body, line = change(lines(path))
    path.write_bytes(body)
    for read in (lambda p: run(p, function=uncalled), Optimizer.load, Result.from_journal):
        with pytest.raises(HistoryError, match=rf"run\.jsonl, line \d+.*{fault}") as raised:
            read(path)
        assert f"line {line}" in str(raised.value) or case == "id of another ask"
    assert path.read_bytes() == body


def test_a_method_that_cannot_be_made_is_refused_or_judged_by_another(path, caplog):
    run(path, method="gp", n_trials=3)
    rows = lines(path)
    header = unseal(rows[0])
    header["method"]["prior"] = {"part": ["Cube"]}
    path.write_bytes(b"".join([seal(header), *rows[1:]]))
    with pytest.raises(HistoryError, match=r"run\.jsonl: .*not registered here"):
        Optimizer.load(path)
    assert len(Result.from_journal(path).history) == 3
    assert "judged by the default method" in caplog.text


# -- files that somebody else touches ----------------------------------------------------------------------


def after_four(path, change):
    """A callback that does something to the journal when there are four values."""

    def act(trial, history):
        if len(history.finished) == 4:
            change(path)

    return act


def test_a_journal_that_is_deleted_while_the_run_goes_on_is_written_anew(path, caplog):
    whole = run(path, callbacks=after_four(path, lambda p: p.unlink()))
    assert f"the journal {path} was deleted while the run went on, and is written anew" in caplog.text
    assert list(run(path, function=uncalled).history) == list(whole.history)
    with Journal(path, SPACE, SETTINGS) as journal:
        assert journal.damage == []


def replace_by_another(path):
    path.rename(path.with_name("moved"))
    path.write_text("something else\n")


DISTURBED = {
    "replaced by another file": replace_by_another,
    "cut by somebody": lambda path: os.truncate(path, 30),
    "written to by somebody": lambda path: path.write_bytes(path.read_bytes() + b"hello\n"),
    "No such file": lambda path: path.parent.rename(path.parent.with_name("gone")),
}


@pytest.mark.parametrize("fault", DISTURBED)
def test_a_journal_that_is_disturbed_is_noticed_and_nothing_told_is_lost(tmp_path, fault, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "runs").mkdir()
    path, told = tmp_path / "runs" / "run.jsonl", []
    callbacks = [lambda trial, history: told.append(trial), after_four(path, DISTURBED[fault])]
    with pytest.raises(HistoryError, match=f"run.jsonl .*{fault}.*All 5 trials are in .*rescued") as raised:
        run(path, callbacks=callbacks)
    rescued = re.search(r"are in (\S+\.jsonl),", str(raised.value)).group(1)
    assert Result.from_journal(rescued).history.finished == told
    assert len(run(rescued).history) == 12


def test_a_pipe_a_device_and_a_name_too_long_are_refused_at_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    made = Optimizer(SPACE)
    uses = (lambda p: run(p, function=uncalled), made.save, Optimizer.load, Result.from_journal)
    for use in uses:
        for place, fault in (
            (pipe, "is a pipe or a device"),
            ("/dev/full", "is a pipe or a device"),
            (tmp_path, "Is a directory"),
            (tmp_path / ("n" * 300), "File name too long"),
            ("a\0b", "null"),
            (3, "must be a path, not 3"),
        ):
            with pytest.raises(HistoryError, match=fault):
                use(place)
    for use in uses[2:]:
        with pytest.raises(FileNotFoundError, match="missing"):
            use(tmp_path / "missing")


def test_saving_that_fails_leaves_nothing_behind(path, monkeypatch):
    made = Optimizer(SPACE)
    made.save(path)
    before = path.read_bytes()

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HistoryError, match=r"run\.jsonl cannot be written: No space left.*another path"):
        made.save(path)
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == before
    with pytest.raises(HistoryError, match="cannot be written: No such file or directory"):
        made.save(path.parent / "missing" / "run.jsonl")
