"""`hidim tune` and what looks at its runs, as somebody types them."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hidim import Float, Int, Result
from hidim.cli import main

SPACE = """
[x]
type = "float"
low = 0.0
high = 1.0

[kind]
type = "choice"
options.plain = {}
options.deep.depth = {type = "int", low = 1, high = 9}
"""
PROGRAM = """
import sys
values = dict(word.split("=") for word in sys.argv[1:])
x, depth = float(values["x"]), int(values.get("depth", 5))
if x > 0.9: sys.exit("too hot")
print((x - 0.3) ** 2 + (depth - 4) ** 2)
"""
COMMAND = ["--", sys.executable, "-S", "p.py", "x={x}", "kind={kind}", "depth={depth}"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "p.py").write_text(PROGRAM)
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    def call(*arguments):
        code = main(list(arguments))
        return code, *capsys.readouterr()

    return call


def history(folder, name="space.hidim.jsonl"):
    return Result.from_journal(folder / name).history


def test_a_run_from_nothing_to_its_best(run, folder):
    code, out, _ = run("tune", "space.toml", "--trials", "14", "--seed", "1", *COMMAND)
    assert code == 0
    trials = history(folder)
    assert len(trials) == 14
    best = json.loads(run("best", "--json")[1])
    assert best["value"] == min(trial.value for trial in trials.complete) == trials[best["number"]].value
    assert best["params"] == dict(trials[best["number"]].params)
    assert f"best {best['value']!r} (trial {best['number']})" in out
    assert "x=" + repr(best["params"]["x"]) in out  # the line to type
    shown = run("show")[1]
    assert "14 trials" in shown
    assert "method auto (default), seed 1" in shown
    rows = list(csv.DictReader(io.StringIO(run("export", "--csv")[1])))
    assert [float(row["x"]) for row in rows] == [trial.params["x"] for trial in trials]
    assert [row["depth"] for row in rows] == [str(trial.params.get("depth", "")) for trial in trials]
    lines = [json.loads(line) for line in run("export", "--json")[1].splitlines()]
    assert [line["value"] for line in lines] == [trial.value for trial in trials]


def test_the_same_line_again_finishes_what_is_missing(run, folder):
    whole = folder / "whole"
    whole.mkdir()
    for name in ("space.toml", "p.py"):
        (whole / name).write_text((folder / name).read_text())
    run("tune", "space.toml", "--trials", "6", "--method", "sobol", "--quiet", *COMMAND)
    run("tune", "space.toml", "--trials", "9", "--method", "sobol", "--quiet", *COMMAND)
    os.chdir(whole)
    run("tune", "space.toml", "--trials", "9", "--method", "sobol", "--quiet", *COMMAND)
    parts, at_once = history(folder), history(whole)
    assert [dict(t.params) for t in parts] == [dict(t.params) for t in at_once]
    before = (whole / "space.hidim.jsonl").read_bytes()
    code, out, _ = run("tune", "space.toml", "--trials", "9", "--method", "sobol", *COMMAND)
    assert code == 0
    assert "best" in out
    assert "no trial was run: 9 are done already; --trials with more than 9 goes on" in out
    assert (whole / "space.hidim.jsonl").read_bytes() == before  # nothing was left to do


def test_what_to_type_next_says_which_run_where_others_would_not_find_it(run, folder):
    (folder / "sub").mkdir()
    (folder / "sub/other.toml").write_text(SPACE)
    _, alone, _ = run("tune", "space.toml", "--trials", "2", *COMMAND)
    _, elsewhere, _ = run("tune", "sub/other.toml", "--trials", "2", *COMMAND)
    assert "next: hidim report, hidim explain" in alone
    assert f"next: hidim report {Path('sub/other.hidim.jsonl')}" in elsewhere


def test_start_with_maximize_and_time(run, folder):
    first = {"x": 0.25, "kind": "deep", "depth": 4}
    (folder / "good.json").write_text(json.dumps({"params": first, "value": 3}))
    options = [
        "--start-with",
        "good.json",
        "--maximize",
        "--time",
        "0.5s",
        "--workers",
        "2",
        "--method",
        "random",
    ]
    assert run("tune", "space.toml", *options, *COMMAND)[0] == 0
    result = Result.from_journal(folder / "space.hidim.jsonl")
    assert dict(result.history[0].params) == first
    assert result.maximize
    assert result.best.value == max(trial.value for trial in result.history.complete)


def test_a_program_that_always_fails_ends_the_run_and_can_be_tried_again(run, folder):
    (folder / "p.py").write_text("raise SystemExit('no licence')")
    code, _, err = run("tune", "space.toml", "--trials", "50", "--fail-fast", "1", *COMMAND)
    assert code == 2
    assert "exit code 1: no licence (10 times)" in err
    assert "--retry-failed" in err
    assert "--fail-fast never" in err
    assert len(history_of_failures(folder)) == 10
    (folder / "p.py").write_text(PROGRAM.replace("if x > 0.9", "if False"))
    assert run("tune", "space.toml", "--trials", "11", "--retry-failed", *COMMAND)[0] == 0
    assert len(history(folder).complete) == 11


def test_reasons_that_differ_in_a_number_are_one(run, folder):
    (folder / "p.py").write_text("import sys; print('score', sys.argv[1][2:])")
    err = run("tune", "space.toml", "--fail-fast", "1", "--method", "random", *COMMAND)[2]
    assert "says where the value is (10 times)" in err


def history_of_failures(folder):
    return [line for line in (folder / "space.hidim.jsonl").read_text().splitlines() if '"fail"' in line]


def test_failures_are_counted_with_their_reasons(run, folder):
    (folder / "p.py").write_text("import sys\nx = float(sys.argv[1][2:])\nprint(x if x < 0.5 else 'nan')")
    _, out, _ = run("tune", "space.toml", "--trials", "8", "--method", "sobol", *COMMAND)
    failed = len(history(folder).failed)
    assert failed == 4
    assert f"8 trials, {8 - failed} with a value, {failed} failed" in out
    assert f"{failed} × the value is nan" in out
    assert f"failed {failed} ×: the value is nan" in run("show")[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tune", "space.toml"], "no command"),
        (["tune", "none.toml", *COMMAND], "hidim init"),
        (["tune", "space.toml", "--method", "rembro", *COMMAND], "did you mean 'rembo'"),
        (["tune", "space.toml", "--", "true", "{y}"], "is no parameter"),
        (["tune", "space.toml", "--start-with", "space.toml", *COMMAND], "space.toml, configuration 1"),
        (["tune", "space.toml", "--regex", "(", *COMMAND], "regular expression"),
        (["best"], "there is no run here"),
        (["best", "space.toml"], "has not been tuned yet"),
        (["show", "nothing.jsonl"], "there is no file nothing.jsonl"),
        (["check", "space.toml", "--"], "no command after --"),
        (["init", "space.toml"], "--force"),
    ],
)
def test_what_cannot_be_done_is_one_line_with_its_mend(run, arguments, words):
    code, out, err = run(*arguments)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert not out


@pytest.mark.parametrize("text", ["2 hours", "-3", "0", "1h30"])
def test_durations_that_are_none(run, capsys, text):
    with pytest.raises(SystemExit):
        run("tune", "space.toml", f"--time={text}", *COMMAND)
    assert "--time" in capsys.readouterr().err


def test_a_changed_space_is_refused_and_a_changed_command_is_said(run, folder, caplog):
    run("tune", "space.toml", "--trials", "2", "--quiet", *COMMAND)
    run("tune", "space.toml", "--trials", "3", "--quiet", *COMMAND, "more")
    assert "2 trials of another objective (the command changed)" in caplog.text
    (folder / "p.py").write_text((folder / "p.py").read_text() + "# mended\n")
    run("tune", "space.toml", "--trials", "3", "--quiet", *COMMAND, "more")
    assert "p.py changed)" in caplog.text.splitlines()[-2]
    assert "3 of 3 trials from space.hidim.jsonl, none evaluated" in caplog.text
    (folder / "space.toml").write_text(SPACE.replace("1.0", "2.0"))
    assert "another space" in run("tune", "space.toml", "--trials", "4", *COMMAND)[2]


def test_init_and_check(run, folder):
    assert run("init", "new.toml")[0] == 0
    code, out, _ = run("check", "new.toml")
    assert code == 0
    assert "learning_rate" in out
    (folder / "q.py").write_text(
        "import argparse\np = argparse.ArgumentParser()\n"
        "p.add_argument('--lr', default=0.001, help='step size (default: %(default)s)')\n"
        "p.add_argument('--opt', choices=['adam', 'sgd'])\n"
        "p.add_argument('--epochs', type=int, help='passes [1, 50] (default 10)')\n"
        "p.add_argument('--width', type=int, help='of layers')\n"
        "p.add_argument('--out-file')\np.parse_args()\n"
    )
    code, out, _ = run("init", "help.toml", "--", sys.executable, "q.py")
    assert code == 0
    assert "3 parameters" in out
    from hidim.programs import read_space

    space = read_space("help.toml")
    assert set(space) == {"lr", "opt", "epochs"}
    assert space["lr"].log
    assert space["lr"].low < 0.001 < space["lr"].high
    assert space["opt"].labels == ("adam", "sgd")
    assert (space["epochs"].low, space["epochs"].high) == (1, 50)
    assert "# [width]" in Path("help.toml").read_text()
    line = out.splitlines()[-1].split()
    assert "--lr {lr} --opt {opt} --epochs {epochs}" in " ".join(line)
    code, out, _ = run("check", "help.toml", "--", *line[line.index("--") + 1 :])
    assert code == 0
    assert out.count("--opt") == 3


HELP = """\
Options:
  --lr FLOAT                Learning rate.  [default: 0.001]
  --layers INTEGER RANGE    Layers.  [default: 2; 1<=x<=8]
  --drop FLOAT RANGE        Dropout  [0<=x<=1]
  --mode <MODE>             Mode [default: fast] [possible values: fast, slow]
  --decay D                 between 0.1 and 5 (default 0.5)
  --mixing M                between 0 and 1
  --depth INT               between 0 and 1
  --steps S                 from 1 to 40
  --checkpoint[=NUMBER]     how often (default 10)
  --batch-size N, -b N      of a batch (default: 64)
  --sizes SIZES [SIZES ...] of layers (default: [64, 32])
  --wait TIME               how long (default 10s)
  --prune <date>            older ones (default is 2 weeks ago)
  --save FILE               (default: 3)
"""


def test_what_init_makes_of_a_help(run, folder):
    from hidim.programs import read_space

    (folder / "prog").write_text(f"#!/bin/sh\ncat <<'END'\n{HELP}END\n")
    (folder / "prog").chmod(0o755)
    code, out, _ = run("init", "h.toml", "--", "./prog")
    assert code == 0
    space = read_space("h.toml")
    assert list(space) == [
        "lr",
        "layers",
        "drop",
        "mode",
        "decay",
        "mixing",
        "depth",
        "steps",
        "checkpoint",
        "batch_size",
    ]
    assert (space["layers"].low, space["layers"].high) == (1, 8)
    assert isinstance(space["drop"], Float)
    assert space["mode"].labels == ("fast", "slow")
    assert (space["decay"].low, space["decay"].high) == (0.1, 5.0)
    assert isinstance(space["mixing"], Float)
    assert isinstance(space["depth"], Int)
    assert isinstance(space["steps"], Int)
    assert "--checkpoint={checkpoint} --batch-size {batch_size}" in out
    text = Path("h.toml").read_text()
    assert "# of a batch" in text
    assert "# [sizes]" in text
    assert '# options = ["10s"]' in text


def test_init_of_a_help_without_any_values(run, folder):
    (folder / "prog").write_text("#!/bin/sh\necho '  --alpha A   something'\n")
    (folder / "prog").chmod(0o755)
    out = run("init", "h.toml", "--", "./prog")[1]
    assert "all as comments" in out
    assert "hidim tune" not in out


def test_methods_and_completion(run):
    from hidim import METHODS
    from hidim.cli.about import ABOUT

    assert set(METHODS) <= set(ABOUT)
    out = run("methods")[1]
    assert all(f"{name} " in out for name in METHODS)
    assert "runs = 3" in run("methods", "rembo")[1]
    assert "runs = 5" in run("methods", "rembo(runs=5)")[1]
    for shell in ("bash", "zsh"):
        assert "--retry-failed" in run("completion", shell)[1]


def test_one_study_by_two_calls(run, folder):
    url = ["--storage", f"sqlite:///{folder}/study.db"]
    assert run("tune", "space.toml", "--trials", "5", "--method", "random", *url, *COMMAND)[0] == 0
    assert (
        run("tune", "space.toml", "--trials", "8", "--method", "random", "--workers", "2", *url, *COMMAND)[0]
        == 0
    )
    assert not (folder / "space.hidim.jsonl").exists()
    rows = [json.loads(line) for line in run("export", "--json", *url)[1].splitlines()]
    assert len(rows) == 8
    again = run("tune", "space.toml", "--trials", "8", "--method", "random", *url, *COMMAND)[1]
    assert "no trial was run: 8 are done already" in again
    best = json.loads(run("best", "--json", *url)[1])
    assert best["value"] == min(row["value"] for row in rows if row["value"] is not None)
    assert "p.py" in run("show", *url)[1]
    (folder / "space.toml").write_text(SPACE.replace("1.0", "2.0"))
    assert "another space" in run("tune", "space.toml", "--trials", "9", *url, *COMMAND)[2]
    assert "other direction" in run("tune", "space.toml", "--maximize", *url, *COMMAND)[2]


def test_vectors_in_a_study(run, folder):
    (folder / "w.toml").write_text('[w]\ntype = "vector"\ndim = 3\nlow = 0\nhigh = 1\n')
    url = ["--storage", f"sqlite:///{folder}/study.db"]
    code = "import sys; print(sum(map(float, sys.argv[1].split(','))) + float(sys.argv[2]))"
    line = ["--", sys.executable, "-S", "-c", code, "{w}", "{w[2]}"]
    code, out, _ = run("tune", "w.toml", "--trials", "3", "--method", "random", *url, *line)
    assert code == 0
    best = json.loads(run("best", "--json", *url)[1])
    w = [best["params"][f"w[{k}]"] for k in range(3)]
    assert best["value"] == pytest.approx(sum(w) + w[2])
    assert f" {w[0]!r},{w[1]!r},{w[2]!r} {w[2]!r}\n" in out  # the line to type


def line_of(*options):
    return [
        sys.executable,
        "-m",
        "hidim",
        "tune",
        "space.toml",
        "--trials",
        "6",
        "--workers",
        "2",
        *options,
        *COMMAND,
    ]


@pytest.mark.parametrize("kept", ["journal", "storage"])
def test_signals_end_a_run_and_its_programs_and_the_same_line_goes_on(folder, kept, run):
    (folder / "p.py").write_text(
        "import time\ntime.sleep(60 if __import__('os').path.exists('slow') else 0)\nprint(1)"
    )
    url = ["--storage", f"sqlite:///{folder}/study.db"] if kept == "storage" else []
    (folder / "slow").write_text("")
    line = [*line_of("--method", "random", "--logs", "logs", *url)]
    process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (folder / "logs").exists() or len(list((folder / "logs").iterdir())) < 4:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 143, (out, err)
    left = subprocess.run(["pgrep", "-f", f"{folder}"], capture_output=True, text=True, check=False)
    assert left.stdout == ""
    (folder / "slow").unlink()
    assert main(line[3:]) == 0
    rows = [json.loads(row) for row in run("export", "--json", *url)[1].splitlines() if row.startswith("{")]
    assert [row["state"] for row in rows].count("complete") == 6
    assert len(rows) == 6
