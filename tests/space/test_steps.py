"""Real numbers in steps: finitely many, and as people write them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidim.errors import ParameterError
from hidim.space import Choice, Float, Int, Space
from strategies import quick, stepped


def levels(parameter: Float | Int) -> list[float]:
    return [params["x"] for params in Space(x=parameter).enumerate()]


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (Float(0, 0.5, step=0.1), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (Float(-0.3, 0.3, step=0.15), [-0.3, -0.15, 0.0, 0.15, 0.3]),
        (Float(10, 40, step=10), [10.0, 20.0, 30.0, 40.0]),
        (Float(1e-5, 5e-5, step=2e-5), [1e-5, 3e-5, 5e-5]),
        (Float(0, 1, step=1 / 3), [0.0, 1 / 3, 2 / 3, 1.0]),
        (Float(0, 3e-30, step=1e-30), [0.0, 1e-30, 2e-30, 3e-30]),
        (Float(0, 4.011489917287037, step=4.011489917287037), [0.0, 4.011489917287037]),
        (Int(-8, 16, step=8), [-8, 0, 8, 16]),
        (Int(2**43 - 6, 2**43, step=3), [2**43 - 6, 2**43 - 3, 2**43]),
    ],
)
def test_the_values_are_those_that_one_would_write(parameter, values):
    found = levels(parameter)
    assert found[0] == parameter.low
    assert found[-1] == parameter.high
    assert found == (values if parameter.steps.decimals is not None else pytest.approx(values, rel=1e-15))
    assert parameter.levels == len(values)
    space = Space(x=parameter)
    rows = space.encode_all(list(space.enumerate()))
    assert [space.decode(row)["x"] for row in rows] == found
    assert {type(space.decode(row)["x"]) for row in rows} == {type(parameter.low)}
    with pytest.raises(ParameterError, match="lies between the steps"):
        space.validate({"x": parameter.low + (1 if isinstance(parameter, Int) else 0.4 * parameter.step)})


def test_a_long_row_is_exact_to_its_end():
    parameter = Float(0.001, 1000, step=0.001)
    values = parameter.steps.at(np.arange(parameter.levels))
    assert values.tolist() == [float(Decimal(k) / 1000) for k in range(1, 1_000_001)]


@quick
@given(st.data())
def test_every_level_comes_back_to_the_last_bit(data):
    space = Space(x=data.draw(stepped()))
    position = data.draw(st.integers(0, int(space.size) - 1))
    value = float(space["x"].steps.at(np.array(position)))
    u = space.encode({"x": value})
    assert u.tolist() == [(position + 0.5) / space.size] * space.dim
    assert space.decode(u) == {"x": value} == space.validate({"x": value})
    noisy = value + 1e-13 * max(abs(space["x"].low), abs(space["x"].high))
    assert space.encode({"x": noisy}).tolist() == u.tolist()
    np.testing.assert_array_equal(space.snap(u[None]), u[None])


def test_a_space_of_steps_is_finite():
    space = Space(x=Float(0, 1, step=0.25), n=Int(1, 2), c=Choice("a", b=Space(y=Float(0, 1, step=0.5))))
    assert space.size == 5 * 2 * 4
    every = list(space.enumerate())
    assert len(every) == 40
    assert every[1] == {"x": 0.0, "n": 1, "c": "b", "y": 0.0}
    rows = space.encode_all(every)
    np.testing.assert_array_equal(space.snap(rows), rows)
    assert [space.decode(row) for row in rows] == every


def test_cells_have_equal_widths():
    drawn = np.random.default_rng(0).random((20_000, 1))
    space = Space(x=Float(0, 0.3, step=0.1))
    counts = np.unique([space.decode(u)["x"] for u in drawn], return_counts=True)
    assert counts[0].tolist() == [0.0, 0.1, 0.2, 0.3]
    assert (np.abs(counts[1] - 5000) < 300).all()
