from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from hidim.errors import SpaceError
from hidim.space import Choice, Float, Int, Space, Vector

REFUSED = [
    (lambda: Float(1, 1), "low=1 and high=1 is empty: low must be less than high"),
    (lambda: Float(2, 1), "low must be less than high"),
    (lambda: Float(0, 1, log=True), r"Float\(0, 1, log=True\) needs low > 0; raise low or drop log=True"),
    (lambda: Float(0, math.inf), "high must be finite, not inf"),
    (lambda: Float(math.nan, 1), "low must be finite, not nan"),
    (lambda: Float(0, 10**400), "high must be finite"),
    (lambda: Float("0", 1), "low must be a number, not '0'"),
    (lambda: Float(False, 1), "low must be a number, not False"),
    (lambda: Float(-1.7e308, 1.7e308), "overflows; narrow the bounds"),
    (lambda: Float(0.1, 1, log="false"), "log must be True or False, not 'false'"),
    (lambda: Int(2, 1), r"Int\(2, 1\) is empty: low must not exceed high; swap the bounds"),
    (lambda: Int(0, 9, log=True), "needs low >= 1"),
    (lambda: Int(0.5, 9), "low must be an integer, not 0.5"),
    (lambda: Int(0, None), "high must be a number, not None"),
    (lambda: Int(0, 2**60), "use Float and round"),
    (lambda: Int(0, 1, shared=1), "shared must be True or False"),
    (lambda: Vector(0), r"Vector\(dim=0\) has no coordinates; dim must be at least 1"),
    (lambda: Vector(2.5), "dim must be an integer"),
    (lambda: Vector(3, 1, 0), "Vector with low=1 and high=0 is empty"),
    (lambda: Vector(3, [0, 0, 0]), "low must be a number"),
    (lambda: Vector(3, shared=None), "shared must be True or False"),
    (lambda: Choice(), "has no options; give at least one label"),
    (lambda: Choice({}), "has no options"),
    (lambda: Choice("a", "b", "a"), "labels 'a' and 'a', which are equal"),
    (lambda: Choice(1, True), "labels 1 and True, which are equal"),
    (lambda: Choice("svm", svm=Space()), "labels 'svm' and 'svm'"),
    (lambda: Choice(["a", "b"]), r"unpack it: Choice\(\*labels\)"),
    (lambda: Choice(1j), "must be a string, a number, a boolean or None"),
    (lambda: Choice(math.inf), "must be finite; write it as a string"),
    (
        lambda: Choice(svm=Float(0, 1)),
        r"'svm' must hold a Space or None, not Float.* wrap parameters in Space",
    ),
    (lambda: Choice("a", shared="yes"), "shared must be True or False"),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_refused(build, message):
    with pytest.raises(SpaceError, match=message):
        build()


def test_bounds_become_plain_python():
    assert repr(Float(np.float32(0), 1)) == "Float(low=0.0, high=1.0, log=False, shared=False)"
    assert repr(Int(np.int64(1), 2.0)) == "Int(low=1, high=2, log=False, shared=False)"
    assert type(Choice(np.int64(3)).labels[0]) is int


def test_one_level_is_allowed():
    assert Int(3, 3).levels == 1
    assert Int(3, 3, log=True).levels == 1
    assert Choice("only").labels == ("only",)


def test_three_ways_to_write_a_choice():
    inner = Space(C=Float(0, 1))
    mixed = Choice("none", svm=inner)
    assert mixed == Choice({"none": None, "svm": inner})
    assert mixed == Choice(none=None, svm=inner)
    assert mixed == Choice(none=Space(), svm=inner)
    assert mixed.labels == ("none", "svm")


def test_a_mapping_can_say_what_keywords_cannot():
    assert Choice({"shared": None, 1: None, "with space": None}).labels == ("shared", 1, "with space")


def test_equality_minds_types_of_labels_and_order():
    assert Choice(0, 1) != Choice(False, True)
    assert Choice("a", "b") != Choice("b", "a")
    assert hash(Choice("a", s=Space(x=Int(0, 1)))) == hash(Choice("a", s=Space(x=Int(0, 1))))
    assert Float(0, 1) != Vector(1)


def test_choice_reads_well():
    assert repr(Choice("a", 1, b=Space(x=Int(0, 1)), shared=True)) == "Choice('a', 1, 'b'(x), shared=True)"


def test_parameters_are_frozen_and_pickle():
    for parameter in (Float(0, 1), Int(0, 1), Vector(2), Choice("a", b=Space(x=Int(0, 1)))):
        assert pickle.loads(pickle.dumps(parameter)) == parameter
        with pytest.raises(AttributeError):
            parameter.shared = True
