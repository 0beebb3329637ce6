"""What every kernel in `KERNELS` must do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp

from differences import assert_gradient
from hidim.gp.hyperparameter import bounds, starts
from hidim.gp.kernels import KERNELS, Constant, Groups, Kernel, Matern, Term, values

COLUMNS = 3  # every example of the registry is over three columns

every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def theta_near_start(kernel: Kernel, rng: np.random.Generator) -> np.ndarray:
    low, high = bounds(kernel.parameters)
    return np.clip(starts(kernel.parameters) + 0.4 * rng.standard_normal(kernel.size), low, high)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@every_kernel
def test_size_is_the_number_of_parameters(kernel):
    assert kernel.size == sum(p.size for p in kernel.parameters)
    assert len(
        kernel.gram(starts(kernel.parameters), np.full((2, COLUMNS), 0.5)).to_parameters(np.eye(2))
    ) == (kernel.size)


@every_kernel
def test_gradient_in_parameters(kernel, rng):
    x, theta = rng.random((6, COLUMNS)), theta_near_start(kernel, rng)
    g = rng.standard_normal((6, 6))
    g += g.T
    closed = kernel.gram(theta, x).to_parameters(g)
    assert_gradient(closed, lambda t: float(np.vdot(g, kernel.gram(t, x).value)), theta)


@every_kernel
def test_gradient_in_queries(kernel, rng):
    x, u, theta = rng.random((6, COLUMNS)), rng.random((4, COLUMNS)), theta_near_start(kernel, rng)
    g = rng.standard_normal((4, 6))
    against = kernel.against(theta, x)
    assert_gradient(against(u).to_inputs(g), lambda v: float(np.vdot(g, against(v).value)), u)


@every_kernel
def test_gradient_of_the_diagonal(kernel, rng):
    u, theta = rng.random((4, COLUMNS)), theta_near_start(kernel, rng)
    g = rng.standard_normal(4)
    closed = kernel.diagonal(theta, u).to_inputs(g)
    assert_gradient(closed, lambda v: float(g @ kernel.diagonal(theta, v).value), u)


@every_kernel
def test_gram_against_and_diagonal_are_one_function(kernel, rng):
    x, theta = rng.random((7, COLUMNS)), theta_near_start(kernel, rng)
    gram, cross = kernel.gram(theta, x).value, kernel.against(theta, x)(x).value
    apart = ~np.eye(7, dtype=bool)
    np.testing.assert_allclose(gram[apart], cross[apart], rtol=1e-12, atol=1e-14)
    # On the diagonal, `against` has to take the root of a squared distance that is zero up to rounding.
    np.testing.assert_allclose(np.diag(gram), np.diag(cross), rtol=1e-6)
    np.testing.assert_array_equal(np.diag(gram), kernel.diagonal(theta, x).value)


@every_kernel
def test_what_is_remembered_between_parameters_changes_nothing(kernel, rng):
    x, theta = rng.random((6, COLUMNS)), theta_near_start(kernel, rng)
    x[2] = 0.5  # the centre of cylinders
    remembering = values(kernel, x)
    for index in [*rng.permutation(kernel.size), *rng.permutation(kernel.size)]:
        theta = theta.copy()
        theta[index] += 0.1
        np.testing.assert_allclose(remembering(theta), kernel.gram(theta, x).value, rtol=1e-12, atol=1e-15)


@every_kernel
def test_one_row_at_a_time_or_all_together(kernel, rng):
    x, u, theta = rng.random((6, COLUMNS)), rng.random((4, COLUMNS)), theta_near_start(kernel, rng)
    cross = kernel.against(theta, x)
    single = np.vstack([cross(row[None]).value for row in u])
    np.testing.assert_allclose(cross(u).value, single, rtol=1e-13, atol=1e-15)


def inputs_within(kernel: Kernel) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    low, high = bounds(kernel.parameters)
    theta = stnp.arrays(np.float64, kernel.size, elements=st.floats(0, 1)).map(
        lambda s: low + s * (high - low)
    )
    coordinate = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0]))
    return st.tuples(
        theta, stnp.arrays(np.float64, st.tuples(st.integers(1, 8), st.just(COLUMNS)), elements=coordinate)
    )


@every_kernel
@settings(max_examples=25)
@given(data=st.data())
def test_symmetric_and_positive_semidefinite_for_all_parameters_within_bounds(kernel, data):
    theta, x = data.draw(inputs_within(kernel))
    value = kernel.gram(theta, x).value
    assert np.isfinite(value).all()
    np.testing.assert_allclose(value, value.T, rtol=1e-12)
    # Squared distances from a matrix product carry an error of ε‖z‖², of which Matérn-1/2 takes the root:
    # with ‖z‖ up to 1e3 (the shortest length-scale) an entry is exact to about 1e-5 of the variance.
    rough = isinstance(getattr(kernel, "form", None), Matern) and kernel.form.nu == 0.5
    slack = (1e-5 if rough else 1e-8) * len(x) * float(np.diag(value).max())
    assert np.linalg.eigvalsh(0.5 * (value + value.T)).min() >= -slack


@every_kernel
def test_a_fit_can_leave_its_start(kernel, rng):
    """At the start itself the gradient is right, and no parameter sits on a saddle."""
    x, theta = rng.random((9, COLUMNS)), starts(kernel.parameters)
    g = rng.standard_normal((9, 9))
    g += g.T
    closed = kernel.gram(theta, x).to_parameters(g)
    assert_gradient(closed, lambda t: float(np.vdot(g, kernel.gram(t, x).value)), theta)
    begin = 0
    for parameter in kernel.parameters:
        assert np.any(np.abs(closed[begin : begin + parameter.size]) > 1e-6), parameter.name
        begin += parameter.size


def test_sums_and_products_have_the_parameters_of_both_in_order(rng):
    left, right = KERNELS["se-ard"], KERNELS["hamming"]
    a, b = theta_near_start(left, rng), theta_near_start(right, rng)
    x = rng.random((5, COLUMNS))
    for combined, expected in (
        (left + right, left.gram(a, x).value + right.gram(b, x).value),
        (left * right, left.gram(a, x).value * right.gram(b, x).value),
    ):
        assert combined.parameters == left.parameters + right.parameters
        np.testing.assert_array_equal(combined.gram(np.concatenate([a, b]), x).value, expected)


def test_an_inactive_label_is_a_level_of_its_own():
    kernel = KERNELS["hamming"]
    x = np.array([[np.nan, 0.5, 0.25], [1 / 6, 0.5, 0.25], [np.nan, 0.1, 0.25]])
    value = kernel.gram(starts(kernel.parameters), x).value
    assert value[0, 2] == pytest.approx(1.0)
    assert value[0, 1] < 0.95


def test_a_group_exists_where_all_of_its_columns_do_and_negative_numbers_are_ordinary(rng):
    kernel = Groups([Term([0, 1]), Term([2])])
    theta, x = starts(kernel.parameters), rng.standard_normal((5, COLUMNS))
    x[0, 1] = x[1, 0] = x[2, 2] = np.nan
    value = kernel.gram(theta, x).value
    np.testing.assert_array_equal(np.diag(value), [1, 1, 1, 2, 2])
    assert np.isfinite(value).all()


def test_an_unknown_smoothness_is_refused():
    with pytest.raises(ValueError, match=r"nu=3.5.*must be 0.5, 1.5 or 2.5"):
        Matern(3.5)


def test_a_constant_has_no_parameters():
    assert Constant().size == 0
