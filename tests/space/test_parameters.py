from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from hidim.errors import SpaceError
from hidim.space import Choice, Float, Int, Space, Vector

REFUSED = [
    (lambda: Float(2, 1), "low=2 and high=1 is empty: low must be less than high"),
    (lambda: Vector(2, 1, 1), "low=1 and high=1 is empty: low must be less than high"),
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
    (lambda: Float(0, 1, step=0.3), r"Float\(0, 1, step=0.3\) does not .* set high=0.9 or high=1.2"),
    (lambda: Float(0.1, 1, step=2), "set high=2.1$"),
    (lambda: Float(0, 1, step=0), "needs step > 0; leave step out"),
    (lambda: Float(0, 1, step=-0.1), "needs step > 0"),
    (lambda: Float(0, 1, step=math.nan), "step must be finite"),
    (lambda: Float(0, 1, step="0.1"), "step must be a number, not '0.1'"),
    (lambda: Float(1, 2, step=1e-12), "too fine to tell neighbours apart; leave step out"),
    (lambda: Float(1, 2, step=0.5, log=True), "equal steps are not equal ratios; drop log=True or step"),
    (lambda: Int(8, 64, step=8, log=True), r"step=8, log=True\): equal steps are not equal ratios; drop log"),
    (lambda: Int(8, 250, step=8), r"Int\(8, 250, step=8\) does not .* set high=248 or high=256$"),
    (lambda: Int(0, 10**7 + 1, step=10**7), "set high=10000000 or high=20000000"),
    (lambda: Int(8, 64, step=0), "needs step > 0; leave step out"),
    (lambda: Int(8, 64, step=0.5), "step must be an integer, not 0.5"),
    (lambda: Vector(3, [0, 0]), "low has 2 entries for 3 coordinates; give one number for all of them, or 3"),
    (lambda: Vector(3, 0, [1, "2", 3]), r"high\[1\] must be a number, not '2'"),
    (lambda: Vector(2, 0, [1, [2, 3]]), r"high\[1\] must be a number, not \[2, 3\]"),
    (lambda: Vector(2, np.zeros((2, 1))), r"low\[0\] must be a number"),
    (lambda: Vector(3, [0, 0, math.inf]), r"low\[2\] must be finite, not inf"),
    (lambda: Vector(3, [0, 2, 0]), "Vector: coordinate 1 with low=2 and high=1 is empty"),
    (lambda: Vector(2, [0, -1.7e308], 1.7e308), "coordinate 1: the range .* overflows"),
    (lambda: Vector(2, log=True), "Vector with low=0 and log=True needs low > 0; raise low or drop log=True"),
    (lambda: Vector(2, [1, 0], 2, log=True), "coordinate 1 with low=0 and log=True needs low > 0"),
    (lambda: Vector(2, 0, 1, log=[False, True]), "coordinate 1 with low=0 and log=True needs low > 0"),
    (lambda: Vector(2, 1, 2, log=[False, 1]), r"log\[1\] must be True or False, not 1"),
    (lambda: Vector(2, 1, 2, log="yes"), "log must be True or False, not 'yes'"),
    (lambda: Vector(10**6 + 1, low=np.zeros(10**6 + 1)), "at most 1000000 can differ; give one for all"),
    (lambda: Vector(3, shared=None), "shared must be True or False"),
    (lambda: Choice(), "has no options; give at least one label"),
    (lambda: Choice({}), "has no options"),
    (lambda: Choice("a", "b", "a"), "labels 'a' and 'a', which are equal"),
    (lambda: Choice(1, True), "labels 1 and True, which are equal"),
    (lambda: Choice("svm", svm=Space()), "labels 'svm' and 'svm'"),
    (lambda: Choice(["a", "b"]), r"unpack it: Choice\(\*labels\)"),
    (lambda: Choice((1, 2)), r"unpack it: Choice\(\*labels\)"),
    (lambda: Choice({"a", "b"}), r"unpack it: Choice\(\*labels\)"),
    (lambda: Choice([64, 64], [128]), r"\[64, 64\] is no label; write it as a tuple: \(64, 64\)"),
    (lambda: Choice((64, [1]), "b"), r"\[1\] is no label; write it as a tuple: \(1,\)"),
    (lambda: Choice((64, math.nan), "b"), "the label nan must be finite"),
    (lambda: Choice((1, 2), (True, 2)), r"labels \(1, 2\) and \(True, 2\), which are equal"),
    (lambda: Choice("a", "b", ordered="yes"), "ordered must be True or False, not 'yes'"),
    (lambda: Choice("a", ordered=Space()), "ordered must be True or False; as a label, write {'ordered': …}"),
    (lambda: Choice(1j), "must be a string, a number, a boolean or None, or a tuple of these"),
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
    assert Choice("only").labels == ("only",)
    ones = (Int(3, 3), Int(3, 3, log=True), Int(3, 3, step=8), Float(0.5, 0.5), Float(2, 2, log=True))
    for parameter in (*ones, Float(2, 2, step=0.1), Choice("only"), Choice("only", ordered=True)):
        assert (parameter.levels, parameter.width) == (1, 0)
    assert Choice(only=Space(x=Int(0, 1))).width == 1  # its option is a branch


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


def test_what_is_rarely_given_is_shown_if_it_is():
    assert repr(Float(0, 1, step=0.5)) == "Float(low=0.0, high=1.0, log=False, shared=False, step=0.5)"
    assert repr(Int(0, 8, step=4)) == "Int(low=0, high=8, log=False, shared=False, step=4)"
    assert Int(0, 8, step=1) == Int(0, 8)
    assert repr(Vector(2)) == "Vector(dim=2, low=0.0, high=1.0, shared=False)"
    bounds = repr(Vector(8, low=np.arange(8), high=9, log=False))
    assert bounds == "Vector(dim=8, low=(0.0, 1.0, 2.0, 3.0, 4.0, …, 7.0), high=9.0, shared=False)"
    assert repr(Choice((1,), (2, "a"), ordered=True)) == "Choice((1,), (2, 'a'), ordered=True)"


def test_bounds_by_coordinate_are_kept_as_tuples():
    vector = Vector(2, low=np.array([0, 1]), high=[2, 3.5], log=np.array([False, True]))
    assert (vector.low, vector.high, vector.log) == ((0.0, 1.0), (2.0, 3.5), (False, True))
    assert vector == Vector(2, low=(0, 1), high=(2, 3.5), log=[False, True])
    assert hash(vector) == hash(Vector(2, low=(0, 1), high=(2, 3.5), log=[False, True]))
    assert vector.coordinate(1) == Float(1, 3.5, log=True)


def test_a_tuple_that_is_a_label_is_a_label_in_plain_python():
    choice = Choice((np.int64(64), ("relu", None)), ())
    assert choice.labels == ((64, ("relu", None)), ())
    assert type(choice.labels[0][0]) is int
    assert Choice((1, 2), "b") != Choice((True, 2), "b")
    assert Choice({(1, 2): Space(x=Int(0, 1))}).labels == ((1, 2),)  # a mapping can only be meant


def test_order_counts_as_a_difference():
    assert Choice("a", "b", ordered=True) != Choice("a", "b")
    assert Choice({"ordered": None, "b": None}).labels == ("ordered", "b")


def test_parameters_are_frozen_and_pickle():
    for parameter in (
        *(
            Float(0, 1),
            Float(0, 1, step=0.1),
            Int(0, 1),
            Int(0, 8, step=4),
            Vector(2),
            Vector(2, low=(0, 0.5), log=False),
        ),
        *(Choice("a", b=Space(x=Int(0, 1))), Choice((1,), "a", ordered=True)),
    ):
        assert pickle.loads(pickle.dumps(parameter)) == parameter
        with pytest.raises(AttributeError):
            parameter.shared = True
