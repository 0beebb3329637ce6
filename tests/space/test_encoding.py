from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidim.errors import ParameterError
from hidim.space import Choice, Float, Int, Space, Vector
from hidim.space.values import active_places
from hidim.trial import same_params
from space.corpus import CORPUS
from strategies import configurations, points, quick, spaces

nan = float("nan")


def same(left, right):
    """Configurations with equal values, equal types, and equal order."""
    if list(left) != list(right):
        return False
    return same_params(left, right) and all(type(left[k]) is type(right[k]) for k in left)


def check_cube(space, U):
    """The laws that tie decode, encode and snap together."""
    snapped = space.snap(U)
    np.testing.assert_array_equal(space.snap(snapped), snapped)
    decoded = [space.decode(u) for u in U]
    np.testing.assert_allclose(space.encode_all(decoded), snapped, rtol=0, atol=1e-12)
    inside = snapped[~np.isnan(snapped)]
    assert ((inside >= 0) & (inside <= 1)).all()
    for u, params in zip(snapped, decoded, strict=True):
        assert same(space.validate(params), params)
        assert space.active(params) == tuple(params)
        width = sum(place.parameter.width for place in active_places(space, params))
        assert np.count_nonzero(~np.isnan(u)) == width


@quick
@given(st.data())
def test_laws_of_the_cube(data):
    space = data.draw(spaces())
    check_cube(space, data.draw(points(space.dim)))


@pytest.mark.parametrize("name", CORPUS)
def test_laws_of_the_cube_on_the_corpus(name):
    space = CORPUS[name]
    U = np.random.default_rng(0).random((200, space.dim))
    U[U < 0.05] = nan
    check_cube(space, U)


@quick
@given(st.data())
def test_configurations_come_back(data):
    space = data.draw(spaces())
    params = data.draw(configurations(space))
    u = space.encode(params)
    back = space.decode(u)
    assert list(back) == list(params)
    np.testing.assert_allclose(space.encode(back), u, rtol=0, atol=1e-12)
    for name, value in params.items():
        if isinstance(value, float | np.ndarray) and not isinstance(back[name], str | bool | None):
            np.testing.assert_allclose(back[name], value, rtol=1e-9, atol=1e-7)
        else:
            assert back[name] == value


@quick
@given(st.data())
def test_inactive_columns_do_not_matter(data):
    space = data.draw(spaces())
    U = space.snap(data.draw(points(space.dim)))
    noise = data.draw(points(space.dim))
    filled = np.where(np.isnan(U), noise, U)
    np.testing.assert_array_equal(space.snap(filled), U)
    assert all(same(space.decode(a), space.decode(b)) for a, b in zip(U, filled, strict=True))


def test_values_by_hand():
    space = Space(
        lr=Float(1e-4, 1, log=True),
        n=Int(1, 4),
        w=Vector(2, -1, 1),
        model=Choice("none", svm=Space(C=Float(0, 2))),
    )
    u = space.encode({"lr": 1e-2, "n": 2, "w": np.array([-1, 0.5]), "model": "svm", "C": 0.5})
    np.testing.assert_allclose(u, [0.5, 0.375, 0, 0.75, 0.75, 0.25])
    u = space.encode({"lr": 1.0, "n": 4, "w": [0, 0], "model": "none"})
    np.testing.assert_allclose(u, [1, 0.875, 0.5, 0.5, 0.25, nan])


def test_shared_columns_are_filled_from_either_option():
    lr = Float(0, 1, shared=True)
    space = Space(opt=Choice("none", sgd=Space(lr=lr), adam=Space(b=Float(0, 1), lr=lr)))
    U = space.encode_all([{"opt": "none"}, {"opt": "sgd", "lr": 0.2}, {"opt": "adam", "b": 0.3, "lr": 0.4}])
    np.testing.assert_allclose(U[:, 1:], [[nan, nan], [0.2, nan], [0.4, 0.3]])


def test_a_shared_parameter_may_depend_on_a_later_column():
    space = CORPUS["deep sharing"]
    assert [v.title for v in space.vertices] == ["a", "s", "s=on/t", "a=y/b"]
    assert space.decode(np.array([0.9, 0.9, 0.5, 0.9])) == {"a": "y", "b": "q", "s": "on", "t": 2}
    assert space.decode(np.array([0.9, 0.9, 0.5, 0.1])) == {"a": "y", "b": "p"}


def test_nan_in_an_active_column_is_the_middle():
    space = Space(x=Float(0, 10), n=Int(1, 3), model=Choice("a", b=Space(y=Float(0, 1)), c=None))
    np.testing.assert_array_equal(space.snap(np.full((1, 4), nan)), [[0.5, 0.5, 0.5, 0.5]])
    assert space.decode(np.full(4, nan)) == {"x": 5.0, "n": 2, "model": "b", "y": 0.5}


def test_snap_clips_and_leaves_its_input_alone():
    U = np.array([[-1.0, 2.0, nan, np.inf]])
    before = U.copy()
    np.testing.assert_array_equal(Space(w=Vector(4)).snap(U), [[0, 1, 0.5, 1]])
    np.testing.assert_array_equal(U, before)


def test_no_rows():
    space = CORPUS["pipeline"]
    assert space.encode_all([]).shape == (0, space.dim)
    assert space.snap(np.empty((0, space.dim))).shape == (0, space.dim)
    assert space.sample(np.random.default_rng(0), 0) == []


def test_encode_mends_odd_types_and_rounding():
    space = Space(n=Int(0, 3), w=Vector(2), b=Choice(1, 2), x=Float(0, 0.3))
    u = space.encode({"n": np.float32(2), "w": (0, 1), "b": np.int8(2), "x": 0.1 + 0.2})
    assert u.tolist() == [0.625, 0, 1, 0.75, 1]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"lr": 0.5}, "'model' is missing"),
        ({"lr": 0.5, "model": "tree"}, "'tree' is none of its labels"),
        ({"lr": -0.5, "model": "none"}, "below its lower bound"),
        ({"lr": nan, "model": "none"}, "is not a number"),
        ({"lr": 0.5, "model": "svm", "n": 2.5}, "not an integer"),
        ({"lr": 0.5, "model": ["svm"]}, "none of its labels"),
        ({"lr": "half", "model": "none"}, "of type str"),
    ],
)
def test_encode_says_what_does_not_fit(params, message):
    space = Space(lr=Float(0.1, 1, log=True), model=Choice("none", svm=Space(n=Int(1, 4))))
    with pytest.raises(ParameterError, match=message):
        space.encode_all([{"lr": 0.5, "model": "none"}, params])


def test_wrong_shapes_are_refused():
    space = Space(x=Float(0, 1), y=Float(0, 1))
    with pytest.raises(ParameterError, match=r"has shape \(2,\), not \(3,\)"):
        space.decode(np.zeros(3))
    with pytest.raises(ParameterError, match=r"form an array \(n, 2\), not one of shape \(2,\)"):
        space.snap(np.zeros(2))


def fastest(call, repeats=5):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def test_speed():
    """Loose bounds: a loop over rows or coordinates in Python would miss them by far."""
    rng = np.random.default_rng(0)
    space = Space(w=Vector(1000, -1, 1), lr=Float(1e-5, 1, log=True))
    sample = space.sample(rng, 2000)
    assert fastest(lambda: space.encode_all(sample)) < 0.2
    flat = Space({f"x{i}": Float(0, 1) for i in range(100)})
    U = rng.random((768, 100))
    assert fastest(lambda: flat.snap(U)) < 0.004
