"""The command line of a trial: values reach the program to the letter."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from hidim import Choice, Float, Int, Space, Vector
from hidim.errors import MethodError
from hidim.programs import Command
from hidim.programs.command import as_json, as_text

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
    assert command(prefix="P_").environment({"x": 0.1, "model": "svm"}) == {"P_x": "0.1", "P_model": "svm"}
    odd = Space(c=Choice("$(touch pwned)", "a'b"))
    line = Command.of(["echo {c}"], odd, shell=True)
    assert line.argv({"c": "a'b"}) == ["/bin/sh", "-c", "echo 'a'\"'\"'b'"]
    assert line.argv({"c": "$(touch pwned)"})[-1] == "echo '$(touch pwned)'"


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
