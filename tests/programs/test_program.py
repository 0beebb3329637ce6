"""A program as an objective: what it may do to us, and what we make of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hidim import Float, Space
from hidim.errors import MethodError
from hidim.programs import Command, Program, Reading
from hidim.programs.guard import marked
from hidim.run.evaluate import NoValue

SPACE = Space(x=Float(0, 1))


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Makes a program of a text in Python, or of the words of a command."""
    monkeypatch.chdir(tmp_path)
    made = []

    def of(text, *words, reading=None, command=None, **settings):
        (tmp_path / "p.py").write_text(text)
        line = Command.of(command or [sys.executable, "-S", "p.py", "{x}", *words], SPACE, prefix="P_")
        made.append(Program(line, reading or Reading(), SPACE, **settings))
        return made[-1]

    yield of
    for program in made:
        program.close()


def failing(program, x=0.5, number=0):
    with pytest.raises(NoValue) as caught:
        program(number, {"x": x})
    return str(caught.value)


def test_the_last_line_is_the_value(make):
    assert make("import sys; print('hello'); print(sys.argv[1]); print()")(0, {"x": 0.25}) == 0.25


def test_variables_file_and_folder(make):
    text = (
        "import json, os, sys\n"
        "params = json.load(open(sys.argv[2])); assert os.listdir(sys.argv[3]) == []\n"
        "assert os.environ['P_x'] == sys.argv[1] and os.environ['HIDIM_TRIAL'] == '7'\n"
        "json.dump({'a': [{'loss': params['x'] + 1}]}, open(sys.argv[3] + '/out', 'w'))\n"
        "print(sys.argv[2], sys.argv[3], file=open('paths', 'w'))\n"
    )
    reading = Reading(field="a.0.loss", file="{@folder}/out")
    assert make(text, "{@params}", "{@folder}", reading=reading)(7, {"x": 0.5}) == 1.5
    assert not any(os.path.exists(path) for path in Path("paths").read_text().split())  # nothing stays behind


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit('no licence')", "exit code 1: no licence"),
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
        ("", "there is nothing in standard output"),
        ("print('done in 3 s')", "no number: 'done in 3 s'; --regex"),
        ("print('x' * 1000)", "…"),
        ("print(1); print('{')", "no number: '{'"),
    ],
)
def test_a_program_without_a_value_says_why(make, text, words):
    assert words in failing(make(text))


def test_a_program_that_hangs_is_ended(make):
    start = time.monotonic()
    assert failing(make("import time; time.sleep(60)", timeout=0.3, retries=3)) == "timed out after 0.3 s"
    assert time.monotonic() - start < 5  # and it is not tried again


def test_retries(make):
    text = "import os, sys\nif not os.path.exists('once'): open('once', 'w'); sys.exit(1)\nprint(4)"
    assert make(text, retries=1)(0, {"x": 0.5}) == 4.0
    assert "exit code 1 (tried 3 times)" in failing(make("import sys; sys.exit(1)", retries=2))


def test_floods_and_odd_bytes(make):
    assert make("import sys\nfor _ in range(8): print('x' * 10**6)\nprint(sys.argv[1])")(0, {"x": 0.5}) == 0.5
    text = "import sys; sys.stderr.write('y' * 10**7); sys.stdout.buffer.write(b'\\xff\\n0.5')"
    assert make(text)(0, {"x": 0.5}) == 0.5
    assert "let it write its JSON to a file" in failing(
        make("print('[' + '1,' * 10**6 + '1]')", reading=Reading(field="0"))
    )


def test_children_end_with_their_trial(make):
    text = (
        "import subprocess\n"
        "subprocess.Popen(['sleep', '60'])\n"
        "subprocess.Popen(['sleep', '60'], start_new_session=True, stdout=subprocess.DEVNULL)\n"
        "print(1)"
    )
    program = make(text)
    start = time.monotonic()
    assert program(0, {"x": 0.5}) == 1.0
    assert time.monotonic() - start < 5
    assert marked(program._processes.token) == []


def test_a_program_leads_a_session_of_its_own(make):
    program = make(
        "import os; print(os.getpgid(0) == os.getpid() == os.getsid(0))", reading=Reading("(True)")
    )
    assert "no number: 'True'" in failing(program)  # the program leads a session of its own


def test_a_file_of_an_earlier_trial_is_no_value(make, tmp_path):
    (tmp_path / "out").write_text("3")
    os.utime(tmp_path / "out", (0, 0))
    assert "older than the trial" in failing(make("", reading=Reading(file="out")))
    with pytest.raises(MethodError, match="same file"):
        make("", reading=Reading(file="out"), workers=2)


def test_values_that_are_too_long_for_a_command_line(make):
    program = make("print(1)", command=[sys.executable, "p.py", "{x}" * 50000])
    assert "by {@params}" in failing(program, x=0.12345678901234567)


def test_logs(make, tmp_path):
    make("import sys; print('out'); print('err', file=sys.stderr); print(3)", logs=tmp_path / "logs")(
        5, {"x": 0.1}
    )
    assert (tmp_path / "logs" / "trial-00005.out").read_text() == "out\n3\n"
    assert (tmp_path / "logs" / "trial-00005.err").read_text() == "err\n"


def test_ending_all_of_them(make):
    program = make("import time; time.sleep(60)")
    found = []

    def work():
        try:
            program(0, {"x": 0.5})
        except NoValue as failure:
            found.append(str(failure))

    thread = threading.Thread(target=work)
    thread.start()
    while not program.running:
        time.sleep(0.01)
    time.sleep(0.2)
    program.close()
    thread.join(5)
    assert found
    assert "SIGTERM" in found[0]
    assert "the run has ended" in failing(program)


def test_programs_end_with_a_driver_that_is_killed(tmp_path):
    code = (
        "import sys\nfrom hidim import Float, Space\nfrom hidim.programs import Command, Program, Reading\n"
        "space = Space(x=Float(0, 1))\n"
        "words = [sys.executable, '-S', '-c', 'import time; time.sleep(60)', '{x}']\n"
        "program = Program(Command.of(words, space), Reading(), space)\n"
        "print(program._processes.token, flush=True)\nprogram(0, {'x': 0.5})\n"
    )
    driver = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    token = driver.stdout.readline().strip()
    while not marked(token):
        time.sleep(0.02)
    driver.kill()
    driver.communicate()
    until = time.monotonic() + 8
    while marked(token) and time.monotonic() < until:
        time.sleep(0.05)
    assert marked(token) == []


@pytest.mark.parametrize(
    ("reading", "text", "value"),
    [
        (Reading(), "1\n 2e-3 \n\n", 2e-3),
        (Reading(), "inf", float("inf")),
        (Reading(pattern=r"loss=(\S+)"), "loss=1 loss=2\n", 2.0),
        (Reading(pattern=r"(?P<unit>ms|s) (?P<value>\d+)"), "s 30", 30.0),
        (Reading(field="a.b"), 'log\n{"a": {"b": "3.5"}}\n', 3.5),
        (Reading(field="1"), json.dumps([1, 2]), 2.0),
    ],
)
def test_where_a_value_may_be(reading, text, value):
    assert reading.value(text) == value


@pytest.mark.parametrize(
    ("reading", "text", "words"),
    [
        (Reading(pattern="x"), "abc", "no match of 'x'; it ends in 'abc'"),
        (Reading(pattern="x"), "x", "what was matched"),
        (Reading(field="a"), "no json", "is no JSON"),
        (Reading(field="a"), '{"b": 1}', "it has 'b'"),
        (Reading(field="a"), '{"a": true}', "and no number"),
        (Reading(field="a"), '{"a": null}', "and no number"),
    ],
)
def test_where_no_value_is(reading, text, words):
    with pytest.raises(NoValue, match=r".") as caught:
        reading.value(text)
    assert words in str(caught.value)


def test_readings_that_make_no_sense():
    with pytest.raises(MethodError, match="leave one of them out"):
        Reading(pattern="a", field="b")
    with pytest.raises(MethodError, match="regular expression"):
        Reading(pattern="(")
