"""Runs without a value, odd terminals, files that are none, signals that are to be ignored."""

from __future__ import annotations

import csv
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from hidim.cli import main
from hidim.run.interrupts import heeded

SPACE = '[x]\ntype = "float"\nlow = 0.0\nhigh = 1.0\n'
ECHO = ["--", "echo", "{x}"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SPACE)

    def call(*arguments):
        code = main(list(arguments))
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize("kept", ["journal", "storage"])
def test_a_run_of_failures_is_shown_and_exported(run, kept):
    url = ["--storage", "sqlite:///s.db"] if kept == "storage" else []
    command = ["--", "sh", "-c", "echo no {x} >&2; exit 3"]
    assert run("tune", "s.toml", "--trials", "3", "--method", "random", *url, *command)[0] == 2
    code, out, _ = run("show", *url)
    assert code == 0
    assert "3 trials, 0 with a value, 3 failed" in out
    assert "no value yet" in out
    assert "failed 3 ×: exit code 3: no 0." in out  # reasons that differ in a number are one
    rows = list(csv.DictReader(io.StringIO(run("export", *url)[1])))
    assert [row["state"] for row in rows] == ["failed"] * 3
    for name in ("best", "explain", "report"):
        code, _, err = run(name, *url)
        assert (code, "3 failed" in err, "hidim show" in err) == (2, True, True)


def test_a_table_goes_into_a_folder_that_is_there(run):
    assert run("tune", "s.toml", "--trials", "2", "--method", "random", "--", "echo", "{x}")[0] == 0
    code, _, err = run("export", "-o", "none/here.csv")
    assert code == 2
    assert "none/here.csv cannot be written: there is no folder none" in err
    assert run("export", "-o", "here.csv")[1] == "2 trials in here.csv\n"


def test_a_vector_that_nobody_writes_down(run, tmp_path):
    (tmp_path / "s.toml").write_text('[w]\ntype = "vector"\ndim = 1_000_000_000\nlow = 0\nhigh = 1\n')
    command = ["--", "echo", "{w[999999999]}"]
    assert "columns are not written down" in run("check", "s.toml", *command)[1]
    code, out, _ = run("tune", "s.toml", "--trials", "2", *command)
    assert code == 0
    assert "w = 0." in out
    best = json.loads(run("best", "--json")[1])
    assert best["params"]["w"].endswith("(1000000000 coordinates)")
    assert run("show")[0] == run("export")[0] == 0


def test_a_journal_that_is_no_file_is_refused_at_once(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("pipe", "/dev/full"):
        code, _, err = run("tune", "s.toml", "--journal", path, *ECHO)
        assert code == 2
        assert "no plain file" in err


def test_terminals_that_lack_letters(run, tmp_path):
    (tmp_path / "s.toml").write_text('[c]\ntype = "choice"\noptions = ["größe", "日本"]\n')
    command = ["--", "sh", "-c", "echo 1", "sh", "{c}"]
    assert run("tune", "s.toml", "--trials", "2", "--quiet", *command)[0] == 0
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}

    def said(*words):
        line = [sys.executable, "-m", "hidim", *words]
        return subprocess.run(line, env=environment, capture_output=True, check=True).stdout

    assert b"\\u65e5" in said("check", "s.toml")
    assert json.loads(said("best", "--json").decode("utf-8"))["params"]["c"] in ("größe", "日本")


#: Of each kind of what a terminal obeys or hides, and what rich takes for mark-up.
NASTY = "\x1b[31mred\x07\b\r\x85\x9b\x7f\u202e\u2066\u200e\u200b\u2028\u2029[bold]'"
SHOWN = r"\x1b[31mred\x07\x08\r\x85\x9b\x7f\u202e\u2066\u200e\u200b\u2028\u2029[bold]'"
NASTY_SPACE = {
    "x": {"type": "float", "low": 0.0, "high": 1.0},
    f"n{NASTY}": {"type": "choice", "options": [f"a{NASTY}", f"b{NASTY}"]},
}
NASTY_PROGRAM = f"""
import json, sys
values = json.load(open(sys.argv[1]))
sys.stderr.write({NASTY!r})
print({NASTY!r})
if values["x"] > 0.6: sys.exit(3)
print(values["x"])
"""


@pytest.fixture
def nasty(run, tmp_path, monkeypatch):
    (tmp_path / "s.json").write_text(json.dumps(NASTY_SPACE))
    (tmp_path / "p.py").write_text(NASTY_PROGRAM)
    monkeypatch.setattr(logging.getLogger("hidim"), "handlers", [logging.lastResort])  # as outside pytest
    return ["--", sys.executable, "-S", "p.py", "{@params}", NASTY]


def is_seen(text):
    return all(sign.isprintable() or sign in "\n\t" for sign in text)


def test_nothing_that_is_shown_commands_the_terminal(run, nasty, tmp_path, monkeypatch):
    _, out, err = run("tune", "s.json", "--trials", "6", "--method", "sobol", *nasty)
    assert is_seen(out + err)
    assert SHOWN in out
    assert "failed: exit code 3: " + SHOWN in err
    about = run("best", "--json")[1]
    lines = [
        ["check", "s.json", "--env", *nasty],
        ["show"],
        ["best"],
        ["explain"],
        ["report", "--out", f"{NASTY}.html"],
        ["export", "--out", f"{NASTY}.csv"],
        ["init", f"{NASTY}.toml"],
        ["check", f"{NASTY}.toml"],
    ]
    for line in lines:
        code, out, err = run(*line)
        assert code == 0
        assert is_seen(out + err), line
        assert r"\x1b[31mred" in out or line[0] == "check", line
    for line in (["best", f"no {NASTY}"], ["tune", "s.json", "--method", f"sobol{NASTY}", *nasty]):
        code, _, err = run(*line)
        assert (code, is_seen(err), r"\x1b[31mred" in err) == (2, True, True)
    with pytest.raises(SystemExit):
        run("show", f"--{NASTY}")
    # Data stay what they are, but on a terminal.
    assert f"n{NASTY}" in json.loads(about)["params"]
    exact = run("export")[1]
    assert exact.encode() == (tmp_path / f"{NASTY}.csv").read_bytes()
    assert f"n{NASTY}" in exact
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = run("export")[1]
    assert is_seen(out)
    assert f"n{SHOWN}" in out
    assert is_seen(about + run("export", "--json")[1])


def test_the_live_display_is_obeyed_and_nothing_in_it(run, nasty, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for columns in ("60", "120"):
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        journal = ["--journal", f"{columns}.jsonl"]
        assert run("tune", "s.json", "--trials", "4", "--method", "sobol", *journal, *nasty)[0] == 0
        assert sys.stderr is terminal
        text = terminal.getvalue()
        assert "\x1b[2K" in text  # rich draws again
        assert "\x1b[31m" not in text
        assert is_seen(re.sub(r"\x1b\[[?\d;]*[A-Za-z]|\r", "", text))
        assert r"exit code 3: \x1b[31mred" in " ".join(text.split())


def test_a_signal_that_was_to_be_ignored_still_is(run):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with heeded(signal.SIGHUP) as signals:
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.01)
        assert signals.came is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_storages_that_will_not_do(run):
    tune = ["tune", "s.toml", "--trials", "1"]
    assert "keeps nothing" in run(*tune, "--storage", "sqlite:///", *ECHO)[2]
    import optuna

    optuna.create_study(storage="sqlite:///two.db", study_name="s", directions=["minimize", "maximize"])
    assert "2 objectives" in run(*tune, "--storage", "sqlite:///two.db", *ECHO)[2]


def test_drivers_that_make_the_same_storage_at_once(monkeypatch):
    from hidim.programs import shared

    monkeypatch.setattr(shared.random, "uniform", lambda *_: 0.0)
    faults = [
        ValueError("UNIQUE constraint failed: alembic_version"),
        ValueError("table exists already exists"),
    ]

    def made():
        if faults:
            raise faults.pop()
        return "storage"

    assert shared._insisting(made) == "storage"
    faults.append(ValueError("no such driver"))
    with pytest.raises(ValueError, match="no such driver"):
        shared._insisting(made)


def test_no_trial_is_taken_twice(tmp_path):
    from hidim.programs.shared import _study

    url = f"sqlite:///{tmp_path}/s.db"
    studies = [_study(url, "s", None, maximize=False) for _ in range(3)]
    for k in range(12):
        studies[0].enqueue_trial({"x": k / 12})
    taken = []

    def work(study):
        taken.extend(study._pop_waiting_trial_id() for _ in range(4))

    threads = [threading.Thread(target=work, args=(study,)) for study in studies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == len(taken) == 12


def test_a_space_that_is_missing_and_no_toml(run):
    assert "`hidim init space.toml`" in run("check", "s.yaml")[2]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["tune", "s.toml", "--trils", "5"], "there is no option --trils: did you mean --trials?"),
        (
            ["tune", "s.toml", "./simulate", "--x"],
            "write -- before the command",
        ),
        (["shwo"], "there is no 'shwo': did you mean show?"),
        (["show", "a", "b"], "'b' is one word too many"),
    ],
)
def test_a_mistyped_line_is_told_what_was_meant(line, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(line)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_looking_into_a_storage_that_is_not_there_makes_none(run, tmp_path):
    assert "there is no file" in run("show", "--storage", f"sqlite:///{tmp_path}/typo.db")[2]
    assert not (tmp_path / "typo.db").exists()
