from __future__ import annotations

import json
import math
import tomllib

import pytest
from hypothesis import given

from hidim.errors import SpaceError
from hidim.space import Choice, Float, Int, Space, Vector
from space.corpus import CORPUS
from strategies import quick, spaces


@quick
@given(spaces())
def test_round_trip(space):
    assert Space.from_dict(space.to_dict()) == space
    assert Space.from_json(space.to_json()) == space


@pytest.mark.parametrize("name", CORPUS)
def test_round_trip_of_the_corpus(name):
    assert Space.from_json(CORPUS[name].to_json(indent=None)) == CORPUS[name]


def test_the_format():
    space = Space(
        lr=Float(1e-5, 0.1, log=True),
        n=Int(1, 4, shared=True),
        w=Vector(10**9),
        model=Choice("none", svm=Space(C=Float(0, 1))),
    )
    assert space.to_dict() == {
        "lr": {"type": "float", "low": 1e-5, "high": 0.1, "log": True},
        "n": {"type": "int", "low": 1, "high": 4, "shared": True},
        "w": {"type": "vector", "dim": 10**9},
        "model": {
            "type": "choice",
            "options": [
                {"label": "none"},
                {"label": "svm", "space": {"C": {"type": "float", "low": 0, "high": 1}}},
            ],
        },
    }


def test_the_format_of_steps_order_tuples_and_bounds():
    space = Space(
        x=Float(0, 1, step=0.5),
        n=Int(8, 64, step=8),
        c=Choice((1, ("a", None)), "b", ordered=True),
        w=Vector(2, low=(0.5, 1), high=2, log=(False, True)),
    )
    data = {
        "x": {"type": "float", "low": 0.0, "high": 1.0, "step": 0.5},
        "n": {"type": "int", "low": 8, "high": 64, "step": 8},
        "c": {"type": "choice", "options": [{"label": [1, ["a", None]]}, {"label": "b"}], "ordered": True},
        "w": {"type": "vector", "dim": 2, "low": [0.5, 1.0], "high": 2.0, "log": [False, True]},
    }
    assert space.to_dict() == data == json.loads(json.dumps(data))
    assert Space.from_dict(data) == space
    bare = {"c": {"type": "choice", "options": [[64, 64], [128]]}}
    assert Space.from_dict(bare) == Space(c=Choice((64, 64), (128,)))


def test_a_value_that_is_fixed_is_written_as_a_choice_and_read_as_it_stands():
    space = Space(tol=1e-3, kind="a", flag=True, none=None, x=Float(0.5, 0.5))
    assert space.to_dict()["tol"] == {"type": "choice", "options": [{"label": 1e-3}]}
    assert Space.from_json(space.to_json()) == space
    assert Space.from_json(json.dumps({"tol": 1e-3, "kind": "a"})) == Space(tol=1e-3, kind="a")


def test_a_toml_file():
    text = """
        lr = {type = "float", low = 1e-5, high = 0.1, log = true}
        activation = {type = "choice", options = ["relu", "tanh"]}
        [model]
        type = "choice"
        [[model.options]]
        label = "svm"
        space.C = {type = "float", low = 0.0, high = 1.0}
        [[model.options]]
        label = "none"
    """
    assert Space.from_dict(tomllib.loads(text)) == Space(
        lr=Float(1e-5, 0.1, log=True),
        activation=Choice("relu", "tanh"),
        model=Choice({"svm": Space(C=Float(0, 1)), "none": None}),
    )


def nested(entry):
    return {"m": {"type": "choice", "options": [{"label": "svm", "space": {"C": entry}}]}}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "at the top: a space is a table from name to parameter, not []"),
        ({"x": [0, 1]}, "at x: a parameter is a table with a type"),
        ({"low": 3}, "at low: a parameter is a table with a type"),
        (nested(math.inf), "at m=svm/C: Choice: the label inf must be finite"),
        ({"x": {"low": 0}}, "at x: a parameter is a table with a type"),
        ({"x": {"type": "real"}}, "at x: the type 'real' is unknown; use float, int, vector or choice"),
        ({"x": {"type": ["float"]}}, "at x: the type ['float'] is unknown"),
        (
            nested({"type": "float"}),
            "at m=svm/C: 'high' is missing and 'low' is missing; the fields are high, lo",
        ),
        (nested({"type": "float", "low": 0, "high": 1, "base": 2}), "at m=svm/C: 'base' is unknown"),
        (nested({"type": "int", "low": 2, "high": 1}), "at m=svm/C: Int(2, 1) is empty"),
        (nested({"type": "choice", "options": "abc"}), "at m=svm/C: options is a list"),
        (nested({"type": "choice", "options": []}), "at m=svm/C: Choice() has no options"),
        (
            nested({"type": "choice", "options": [{"name": "a"}]}),
            "at an option of m=svm/C: 'label' is missing",
        ),
        (
            nested({"type": "choice", "options": [{"label": {"a": 1}}]}),
            "at m=svm/C: the label {'a': 1} must be a string",
        ),
        (nested({"type": "choice", "options": ["a"], "shared": "no"}), "shared must be True or False"),
        (
            {"m": {"type": "choice", "options": [{"label": "svm", "space": 3}]}},
            "at m=svm: a space is a table",
        ),
    ],
)
def test_refused(data, message):
    with pytest.raises(SpaceError) as caught:
        Space.from_json(json.dumps(data))
    assert message in str(caught.value)


def test_no_json():
    with pytest.raises(SpaceError, match="this is not JSON"):
        Space.from_json("{")
