from __future__ import annotations

import copy
import math
import pickle
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hidim.space
from hidim.errors import ParameterError, SpaceError
from hidim.space import Choice, Float, Int, Space, Vector
from hidim.space.columns import Kind
from hidim.space.nodes import is_fork
from space.corpus import CORPUS
from strategies import quick, spaces

X = Float(0, 1)


def test_public_names():
    assert hidim.space.__all__ == ["Choice", "Float", "Int", "Space", "Vector"]


def test_a_space_is_a_mapping():
    space = Space({"not an identifier": X}, n=Int(1, 2))
    assert len(space) == 2
    assert list(space) == ["not an identifier", "n"]
    assert space["n"] == Int(1, 2)
    assert "n" in space
    assert "m" not in space
    assert len(Space()) == 0


def test_names_that_are_python_words():
    assert list(Space(mapping=X, self=X)) == ["mapping", "self"]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Space({"": X}), "name '' must be a non-empty string"),
        (lambda: Space({3: X}), "name 3 must be a non-empty string"),
        (lambda: Space({"x": X}, x=X), "'x' is given twice, in the mapping and as a keyword"),
        (
            lambda: Space(x=(0, 1)),
            r"'x' must be .*not \(0, 1\): write Int\(0, 1\) for a range, or Choice\(0, 1\)",
        ),
        (
            lambda: Space(x=[1e3, 1e-3]),
            r"write Float\(0.001, 1000, log=True\) for a range, or Choice\(0.001, 10",
        ),
        (
            lambda: Space(x=(0, True)),
            r"'x' must be Float, Int, Vector or Choice, or its only value, not [^:]*$",
        ),
        (lambda: Space(x=math.nan), "at x: Choice: the label nan must be finite"),
        (lambda: Space(x=Space()), "'x' is a Space; put it into an option of a Choice"),
        (lambda: Space([X]), "takes a mapping from name to parameter"),
    ],
)
def test_refused(build, message):
    with pytest.raises(SpaceError, match=message):
        build()


def test_equality_hash_and_copies():
    space = CORPUS["pipeline"]
    twin = Space.from_dict(space.to_dict())
    assert space == twin
    assert hash(space) == hash(twin)
    assert space != Space(x=X)
    assert Space(x=X, y=X) != Space(y=X, x=X)
    assert space != dict(space)
    assert pickle.loads(pickle.dumps(space)) == space
    assert copy.deepcopy(space) == space


def test_huge_spaces_are_cheap():
    tracemalloc.start()
    space = Space(w=Vector(10**9), model=Choice("a", b=Space(v=Vector(10**9))))
    assert space.dim == 2 * 10**9 + 1
    assert space.size == math.inf
    assert "× 1000000000" in repr(space)
    assert Space.from_json(space.to_json()) == space
    assert hash(space) == hash(space)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
    with pytest.raises(SpaceError, match="2000000001 columns"):
        _ = space.columns


def test_columns():
    space = Space(lr=X, w=Vector(2), n=Int(1, 9), model=Choice("none", "lda", svm=Space(C=X)))
    columns = space.columns
    assert columns.kind.tolist() == [Kind.CONTINUOUS] * 3 + [Kind.INTEGER, Kind.LABEL, Kind.CONTINUOUS]
    assert columns.levels.tolist() == [math.inf] * 3 + [9, 3, math.inf]
    assert columns.conditional.tolist() == [False] * 5 + [True]
    assert columns.names == ("lr", "w[0]", "w[1]", "n", "model", "model=svm/C")
    assert space.columns is columns
    with pytest.raises(ValueError, match="read-only"):
        columns.levels[0] = 1


@quick
@given(spaces())
def test_columns_fit_the_cube(space):
    columns = space.columns
    assert len(columns.names) == len(columns.kind) == space.dim
    assert columns.conditional.any() == space.is_conditional


@quick
@given(spaces(), st.integers(0, 9))
def test_conditional_columns_are_those_that_go_missing(space, seed):
    U = space.snap(np.random.default_rng(seed).random((50, space.dim)))
    assert not np.isnan(U[:, ~space.columns.conditional]).any()


def test_options_stand_where_they_are_encoded():
    space = Space(x=Float(0, 1), c=Choice("a", "b", "c"), only=Choice(d=Space(y=Float(0, 1))))
    for position, label in enumerate(space["c"].labels):
        params = {"x": 0, "c": label, "only": "d", "y": 0}
        assert space.columns.place(1, position) == space.encode(params)[1]
    assert space.columns.place(2, 0) == 0.5


def test_a_value_that_is_fixed_stands_in_every_configuration_and_has_no_column():
    svm = Space(kernel="rbf", C=Float(0, 1), probability=False)
    space = Space(tol=np.float64(1e-3), n=Int(3, 3), model=Choice("none", svm=svm), y=Float(0.5, 0.5), z=X)
    assert space.columns.names == ("model", "model=svm/C", "z")
    assert [v.name for v in space.vertices] == ["tol", "n", "model", "kernel", "C", "probability", "y", "z"]
    params = {"tol": 1e-3, "n": 3, "model": "svm", "kernel": "rbf", "C": 0.25, "probability": False, "y": 0.5}
    short = {"model": "svm", "C": 0.25, "z": 1.0}
    assert space.validate(short) == space.decode([0.75, 0.25, 1.0]) == params | {"z": 1.0}
    assert space.encode(short).tolist() == space.encode(space.validate(short)).tolist() == [0.75, 0.25, 1.0]
    assert space.validate({"model": "none", "z": 1}).keys() == {"tol", "n", "model", "y", "z"}
    for wrong in ({"tol": 0.1}, {"n": 4}, {"kernel": "poly"}, {"probability": 0}, {"y": 0.6}, {"y": "a"}):
        with pytest.raises(ParameterError, match=r"is not what it is fixed at; give .*, or leave it out"):
            space.validate(short | wrong)
    with pytest.raises(ParameterError, match=r"'tol' = 0.1 is not what it is fixed at; give 0.001, or"):
        space.encode(short | {"tol": 0.1})
    assert repr(Space(tol=1e-3, n=Int(3, 3), x=Float(0.5, 0.5), c=Choice("a", shared=True))).splitlines() == [
        "Space: 0 columns",
        "├── tol  fixed   0.001",
        "├── n    fixed   3",
        "├── x    fixed   0.5",
        "└── c    fixed   'a'  shared",
    ]
    assert list(Space(tol=1e-3, n=Int(3, 3), x=Float(1, 1)).enumerate()) == [{"tol": 1e-3, "n": 3, "x": 1.0}]
    only = Space(x=X, model=Choice("none", svm=Space(kernel="rbf")))
    assert (only.dim, only.is_conditional, is_fork(only.vertices[1])) == (2, False, False)


def test_sampling_is_ancestral():
    space = Space(a=Choice("few", many=Space(n=Int(1, 100), b=Choice(*range(10)))))
    drawn = space.sample(np.random.default_rng(0), 4000)
    counts = Counter(params["a"] for params in drawn)
    assert abs(counts["few"] - 2000) < 150  # not 4 of 4000, its share of all configurations
    levels = Counter(params["b"] for params in drawn if params["a"] == "many")
    assert min(levels.values()) > 130


def test_log_integers_are_log_uniform():
    drawn = Space(n=Int(1, 10**6, log=True)).sample(np.random.default_rng(0), 2000)
    assert abs(sum(params["n"] < 1000 for params in drawn) - 1000) < 120


def test_sampling_one_by_one_or_together():
    space = CORPUS["optimizer"]
    one = np.random.default_rng(1)
    together = space.sample(np.random.default_rng(1), 3)
    for params in together:
        np.testing.assert_array_equal(space.encode(space.sample(one)), space.encode(params))


def test_size():
    assert Space().size == 1
    assert Space(n=Int(1, 3), a=Choice("x", "y")).size == 6
    assert Space(n=Int(1, 3), a=Choice("x", y=Space(m=Int(1, 4), k=Int(1, 2)))).size == 3 * (1 + 8)
    assert Space(a=Choice("x", y=Space(w=Vector(3)))).size == math.inf


@quick
@given(spaces(depth=2, finite=True).filter(lambda space: space.size <= 2000))
def test_enumeration_is_complete_and_free_of_doubles(space):
    found = list(space.enumerate())
    assert len(found) == space.size
    U = space.encode_all(found)
    assert len(np.unique(U, axis=0, equal_nan=True)) == len(found)
    np.testing.assert_array_equal(space.snap(U), U)


def test_enumeration_is_lazy_and_refuses_the_infinite():
    assert next(Space(n=Int(0, 10**12), m=Int(0, 10**12)).enumerate()) == {"n": 0, "m": 0}
    with pytest.raises(SpaceError, match="infinite, for 'a=y/x' is continuous"):
        Space(a=Choice("x", y=Space(x=X))).enumerate()


def test_repr():
    space = Space(
        lr=Float(1e-5, 0.1, log=True),
        weights=Vector(500, -1, 1),
        model=Choice("none", svm=Space(C=Float(0, 1, shared=True), kernel=Choice("rbf", "linear"))),
        n=Int(1, 1234567),
        m=Int(8, 256, step=8),
        drop=Float(0, 0.5, step=0.1),
        size=Choice("s", "m", (64, 64), ordered=True),
        box=Vector(2, low=(0.5, -1), high=(1, 2), log=(True, False)),
    )
    assert repr(space).splitlines() == [
        "Space: 510 columns, conditional",
        "├── lr       float   [1e-05, 0.1] log",
        "├── weights  vector  [-1, 1] × 500",
        "├── model    choice",
        "│   ├── 'none'",
        "│   └── 'svm'",
        "│       ├── C       float   [0, 1]  shared",
        "│       └── kernel  choice  'rbf' | 'linear'",
        "├── n        int     [1, 1234567]",
        "├── m        int     [8, 256] in steps of 8",
        "├── drop     float   [0, 0.5] in steps of 0.1",
        "├── size     choice  's' < 'm' < (64, 64)  ordered",
        "└── box      vector  [-1, 2] partly log × 2, each its own",
    ]
    assert repr(Space(x=X)) == "Space: 1 column\n└── x  float   [0, 1]"
    assert repr(Space()) == "Space: 0 columns"


def test_repr_of_long_spaces_is_cut():
    lines = repr(Space({f"x{i}": X for i in range(1000)})).splitlines()
    assert len(lines) == 41
    assert lines[-2:] == ["├── … 961 more", "└── x999  float   [0, 1]"]
    assert "… 39 more … | 49" in repr(Space(a=Choice(*range(50))))


def test_what_a_start_does_not_say_is_drawn_in_the_branch_that_it_means():
    space = Space(x=Float(0, 1), m=Choice(svm=Space(C=Float(0, 1)), forest=Space(n=Int(1, 9), d=Float(0, 1))))
    starts = [{"C": 0.5}, {"m": "forest", "n": 3}, {"n": 3}, {}, {"x": 0.25}]
    for seed in range(5):
        full = space.completed(starts, seed)
        assert [p["m"] for p in full[:3]] == ["svm", "forest", "forest"]
        assert all(
            space.validate(p) == p and given.items() <= p.items()
            for p, given in zip(full, starts, strict=True)
        )
        assert full == space.completed(starts, seed)
    for wrong, says in (
        ({"y": 1}, "'y' is unknown"),
        ({"m": "svm", "n": 3}, "inactive"),
        ({"x": 2}, "above"),
        (3, "a dict"),
    ):
        with pytest.raises(ParameterError, match=f"configuration 2: .*{says}"):
            space.completed([{}, wrong])
    with pytest.raises(ParameterError, match="a list of configurations is wanted"):
        space.completed({"x": 0.5})
