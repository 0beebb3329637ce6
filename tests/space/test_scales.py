from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidim.space import Float, Int, Space, Vector
from strategies import floats, ints, quick, stepped, vectors

numeric = st.one_of(floats(), stepped(), ints(), vectors())


@quick
@given(numeric, st.lists(st.floats(0, 1), min_size=1))
def test_values_stay_within_bounds_and_units_within_the_interval(parameter, u):
    values = parameter.scale.from_unit(np.repeat(np.array(u)[:, None], parameter.width, axis=1))
    assert ((parameter.low <= values) & (values <= parameter.high)).all()
    back = parameter.scale.to_unit(values)
    assert ((back >= 0) & (back <= 1)).all()


@quick
@given(numeric)
def test_the_ends_are_exact(parameter):
    low, high = parameter.scale.from_unit(np.repeat([[0.0], [1.0]], parameter.width, axis=1))
    assert np.all(low == parameter.low)
    assert np.all(high == parameter.high)


@quick
@given(floats(), st.floats(0, 1))
def test_continuous_round_trip(parameter, u):
    assert parameter.scale.to_unit(parameter.scale.from_unit(np.array([u])))[0] == pytest.approx(u, abs=1e-12)


@quick
@given(st.data())
def test_every_integer_comes_back(data):
    parameter = data.draw(ints())
    value = parameter.low + parameter.step * data.draw(st.integers(0, int(parameter.levels) - 1))
    u = parameter.scale.to_unit(np.array([float(value)]))
    assert int(parameter.scale.from_unit(u)[0]) == value


def test_extreme_ranges():
    for parameter in (Float(5e-324, 1.7e308, log=True), Float(0, 5e-324), Float(-8e307, 8e307)):
        values = parameter.scale.from_unit(np.linspace(0, 1, 11))
        assert values[0] == parameter.low
        assert values[-1] == parameter.high
        assert (np.diff(values) >= 0).all()


def test_bounds_that_are_neighbours():
    for low in (5e-324, 1e-300, 1e-5, 1.0, 1.9, 3.3, 1e10, 1.7e308):
        for high in (np.nextafter(low, math.inf), low * (1 + 1e-15), low * (1 + 1e-7), low * (1 + 2e-7)):
            for kind in (partial(Float, log=True), Float, partial(Vector, 1, log=True), partial(Vector, 1)):
                if low < high:
                    space = Space(x=kind(float(low), float(high)))
                    values = [space.decode([u])["x"] for u in (0.0, 0.3, 0.7, 1.0)]
                    units = space.encode_all([{"x": value} for value in values])[:, 0]
                    assert values[0] == low
                    assert values[-1] == high
                    assert np.all(np.diff(units) >= 0.0)
                    assert units[[0, -1]].tolist() == [0.0, 1.0]


def test_linear_integers_have_equal_cells():
    assert Int(3, 6).scale.to_unit(np.array([3.0, 4, 5, 6])).tolist() == [0.125, 0.375, 0.625, 0.875]
    assert Int(3, 6).scale.from_unit(np.array([0.0, 0.24, 0.26, 0.99, 1.0])).tolist() == [3, 3, 4, 6, 6]


def test_log_integers_have_cells_of_equal_ratio():
    u = Int(1, 2, log=True).scale.to_unit(np.array([1.0, 2.0]))
    assert u == pytest.approx(np.log([2, 4]) / np.log(5))
