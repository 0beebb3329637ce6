"""The command line of a trial: values reach the program to the letter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from hidim import Choice, Float, Int, Space, Vector
from hidim.errors import MethodError
from hidim.programs import Command
from hidim.programs.command import as_json, as_text
from hidim.programs.shells import quoted

SPACE = Space(
    x=Float(0, 1),
    w=Vector(3, low=0, high=1),
    model=Choice({"svm": Space(C=Float(0, 1)), "forest": Space(depth=Int(1, 9))}),
)
SVM = {"x": 0.1, "w": np.array([0.5, 1.0, 0.25]), "model": "svm", "C": 0.3}


def command(*words, **settings):
    settings.setdefault("prefix", "")
    return Command.of([sys.executable, *words], SPACE, **settings)


def test_values_go_where_their_names_stand():
    line = command("--x", "{x}", "--model={model}", "{w}", "{w[2]}", "{w*}", "{@trial}").argv(
        {**SVM, "@trial": 7}
    )
    assert line[1:] == ["--x", "0.1", "--model=svm", "0.5,1.0,0.25", "0.25", "0.5", "1.0", "0.25", "7"]


def test_a_parameter_that_a_trial_does_not_have_is_left_out_with_its_option():
    words = command("run", "--depth", "{depth}", "--C={C}", "-v", "--last", "{C}").argv
    assert words(SVM)[1:] == ["run", "--C=0.3", "-v", "--last", "0.3"]
    assert words({"x": 0.1, "model": "forest", "depth": 4})[1:] == ["run", "--depth", "4", "-v"]


def test_flags_are_there_or_not():
    space = Space(fast=Choice(True, False), mode=Choice("quick", "slow"))
    words = Command.of([sys.executable, "{fast?--amp}", "a{mode=quick?-q}", "{mode=slow?-s}"], space)
    assert words.argv({"fast": True, "mode": "quick"})[1:] == ["--amp", "a-q"]
    assert words.argv({"fast": False, "mode": "slow"})[1:] == ["a", "-s"]
    line = Command.of(["ls {fast?-l} {mode}"], space, shell=True)
    assert line.line({"fast": True, "mode": "slow"}) == "ls -l slow"
    for word, said in (("{mode?-m}", "never true"), ("{fats?-f}", "did you mean {fast}")):
        with pytest.raises(MethodError) as caught:
            Command.of([sys.executable, word], space, prefix="")
        assert said in str(caught.value)


def test_braces_that_are_no_placeholders_stay():
    words = command("{print $1}", "{}", '{"a": 1}', "{{x}}", "a{x}b{x}").argv(SVM)
    assert words[1:] == ["{print $1}", "{}", '{"a": 1}', "{x}", "a0.1b0.1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{xx}"], "did you mean {x}"),
        (["{alpha}"], "the space has"),
        (["{w[3]}"], "coordinates 0 to 2"),
        (["{@parms}"], "did you mean {@params}"),
    ],
)
def test_a_placeholder_with_a_typo_is_refused(words, said):
    with pytest.raises(MethodError) as caught:
        command(*words)
    assert said in str(caught.value)


def test_a_parameter_that_never_reaches_the_program_is_refused():
    with pytest.raises(MethodError, match="does not use w, model, C, depth"):
        command("{x}", prefix=None)
    assert command("{@params}", prefix=None).named == {"@params"}


def test_a_program_that_is_not_there_is_refused():
    with pytest.raises(MethodError, match="no program 'no-such'"):
        Command.of(["no-such", "{x}"], SPACE, prefix="")
    with pytest.raises(MethodError, match="words of their own"):
        Command.of(["ls -l", "{x}"], SPACE, prefix="")
    with pytest.raises(MethodError, match="no command"):
        Command.of([], SPACE)


def test_environment_and_shell():
    assert command(prefix="P_").variables({"x": 0.1, "model": "svm"}) == {"P_x": "0.1", "P_model": "svm"}
    line = Command.of(["echo {c}"], ODD, shell=True, prefix="P_")
    assert line.line({"c": "a'b"}) == "echo 'a'\"'\"'b'"
    assert "touch" not in line.argv({"c": "$(touch pwned)"})[-1]


ODD = Space(c=Choice("$(touch pwned)", "`touch pwned`", 'a\'b "c"', ""), w=Vector(2, low=0, high=1))


@pytest.mark.parametrize(
    "text",
    ["printf %s {c}", 'printf %s "$(printf %s {c})"', "f() { printf %s {c}; }; f 1", "printf %s ''{c}"],
)
def test_a_shell_hands_values_on_to_the_letter(text, tmp_path):
    line = Command.of([text], ODD, shell=True, prefix="P_")
    for label in ODD["c"].labels:
        values = {"c": label, "w": np.array([0.5, 1.0])}
        environment = {**os.environ, **line.environment(values, values)}
        done = subprocess.run(
            line.argv(values), env=environment, cwd=tmp_path, capture_output=True, check=True
        )
        assert done.stdout.decode() == label
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["echo '{c}'", 'echo "{c}"', "echo \"a 'b' {c}\"", "echo \"$(f '{c}')\""])
def test_a_placeholder_in_quotes_is_refused(text):
    with pytest.raises(MethodError, match="leave the quotes off"):
        Command.of([text], ODD, shell=True, prefix="P_")


def test_a_script_with_a_label_in_it_is_refused():
    for words in (["sh", "-c", "echo {c}"], ["/bin/bash", "-e", "-uc", "{c}"]):
        with pytest.raises(MethodError, match="for a part of its script"):
            Command.of(words, ODD, prefix="P_")
    assert Command.of(["sh", "-c", 'echo "$1"', "sh", "{c}"], ODD, prefix="P_")
    assert Command.of(["sh", "-c", "echo {x}"], SPACE, prefix="P_")  # a number is no command


def test_a_shell_line_in_one_word_must_be_there_in_every_trial():
    with pytest.raises(MethodError, match="write the line as words"):
        Command.of(["prog --depth {depth}"], SPACE, shell=True, prefix="P_")
    words = Command.of(["prog", "--depth", "{depth}", "|", "tail", "-n1"], SPACE, shell=True, prefix="P_")
    assert words.argv(SVM)[-1] == "prog | tail -n1"


@pytest.mark.parametrize(
    ("name", "words"),
    [("a=b", "equal sign"), ("TRIAL", "hidim's own"), ("RUN", "hidim's own")],
)
def test_names_that_cannot_be_variables(name, words):
    with pytest.raises(MethodError, match=words):
        Command.of(["true"], Space({name: Float(0, 1)}), prefix="HIDIM_")


def test_names_with_braces():
    space = Space({"a{b}": Float(0, 1)})
    with pytest.raises(MethodError, match="has braces"):
        Command.of(["true", "{a{b}}"], space)
    assert Command.of(["true", "{@params}"], space)


@pytest.mark.parametrize("words", [["{w}"], ["{w*}"], ["{@params}"], ["--env"]])
def test_a_vector_that_is_too_long_is_handed_over_by_single_coordinates(words):
    space = Space(w=Vector(10**9, low=0, high=1))
    with pytest.raises(MethodError, match="1000000000 coordinates, too many"):
        Command.of(["true", *words], space, prefix="P_" if words == ["--env"] else None)
    assert Command.of(["true", "{w[999999999]}"], space)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.30000000000000004"),
        (1e-7, "1e-07"),
        (3, "3"),
        (True, "true"),
        (None, "null"),
        ("", ""),
        ("--rm -rf", "--rm -rf"),
        ((64, "relu"), '[64, "relu"]'),
        (np.float64(0.5), "0.5"),
    ],
)
def test_values_as_text(value, text):
    assert as_text(value) == text


def test_values_as_a_file():
    assert as_json({"x": 0.1, "w": np.array([0.5]), "c": (1, "a")}).split() == (
        ["{", '"x":', "0.1,", '"w":', "[", "0.5", "],", '"c":', "[", "1,", '"a"', "]", "}"]
    )


def test_a_file_that_cannot_be_run_by_its_name_comes_with_the_mend(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sim.py").write_text("#!/usr/bin/env python")
    with pytest.raises(MethodError, match="chmod"):
        Command.of(["./sim.py", "{x}"], SPACE, prefix="")
    (tmp_path / "sim.py").chmod(0o755)
    with pytest.raises(MethodError, match=r"write \./sim.py"):
        Command.of(["sim.py", "{x}"], SPACE, prefix="")


@pytest.mark.skipif(shutil.which("bash") is None, reason="other shells may lack $'…'")
def test_a_line_that_is_copied_means_what_was_run():
    words = ["a\x1b[31m", "'\b'\\ $x", "ü\u202e", "\x85\x7f\u2028", "a path\udcff", "two\nlines", "", "\r1"]
    line = quoted(*words)
    assert line.replace("\n", "").isprintable()
    said = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True).stdout
    assert said.split(b"\0")[:-1] == [os.fsencode(word) for word in words]
