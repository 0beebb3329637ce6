"""Learning which columns belong together, and along which directions a function varies."""

from __future__ import annotations

import math
import time
from itertools import permutations

import numpy as np
import pytest

from differences import assert_gradient
from hidim import Choice, Space, Vector
from hidim.belief.priors import Additive, Lesson, additive
from hidim.frame import Ground
from hidim.gp.kernels import Matern, SquaredExponential
from hidim.gp.partition import Evidence, _in_order_of, contributions, learnt_partition, random_partition
from hidim.gp.pursuit import PRIOR, _Likelihood, aligned, pursued
from hidim.gp.restriction import log_ratio, mixed, restricted_alpha, smallest_alpha


def planted(
    n: int, seed: int, dim: int = 12, size: int = 3
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Products of sines over random groups: within a group, nothing is additive."""
    rng = np.random.default_rng(seed)
    groups = random_partition([np.arange(dim)], size, rng)
    x = rng.random((n, dim))
    y = sum(np.prod(np.sin(3.0 * x[:, group] + 0.5), axis=1) for group in groups)
    return x, (y - y.mean()) / y.std(), groups


def evidence(x, y, form=None, length=0.7) -> Evidence:
    nothing = np.full(x.shape[1], np.nan)
    return Evidence(contributions(x / length, nothing, x, form or SquaredExponential()), y, 0.5, 1e-4)


def as_sets(groups) -> set[frozenset[int]]:
    return {frozenset(np.asarray(group).tolist()) for group in groups}


def test_planted_groups_are_found():
    found = []
    for seed in range(5):
        x, y, groups = planted(200, seed)
        learnt = learnt_partition(evidence(x, y), None, [np.arange(12)], 3, np.random.default_rng(seed))
        found.append(as_sets(learnt) == as_sets(groups))
    assert sum(found) >= 4


def test_of_few_columns_the_best_of_all_partitions_is_found():
    x, y, _ = planted(60, 3, dim=6, size=2)
    judge = evidence(x, y, Matern(2.5))
    every = {frozenset(frozenset(order[a : a + 2]) for a in (0, 2, 4)) for order in permutations(range(6))}
    best = min(every, key=lambda groups: judge.of([np.array(sorted(group)) for group in groups]))
    assert as_sets(learnt_partition(judge, None, [np.arange(6)], 2, np.random.default_rng(0))) == best


def test_a_known_partition_is_only_left_for_a_better_one():
    x, y, groups = planted(150, 1)
    judge = evidence(x, y)
    learnt = learnt_partition(judge, groups, [np.arange(12)], 3, np.random.default_rng(5))
    assert judge.of(learnt) <= judge.of(groups) + 1e-9


def test_columns_stay_in_their_cells():
    x, y, _ = planted(80, 2)
    cells = [np.arange(5), np.arange(5, 12)]
    for group in learnt_partition(evidence(x, y), None, cells, 3, np.random.default_rng(0)):
        assert len({int(column) < 5 for column in group}) == 1


def test_labels_are_grouped_with_the_numbers_that_they_change():
    rng = np.random.default_rng(0)
    x = rng.random((150, 4))
    x[:, 3] = (rng.integers(3, size=150) + 0.5) / 3
    y = np.where(x[:, 3] > 0.5, 1.0, -1.0) * np.sin(4 * x[:, 1]) + x[:, 0] * x[:, 2]
    y = (y - y.mean()) / y.std()
    weights = np.array([np.nan, np.nan, np.nan, 1.0])
    judge = Evidence(contributions(x / 0.7, weights, x, SquaredExponential()), y, 0.5, 1e-3)
    learnt = learnt_partition(judge, None, [np.arange(4)], 2, rng)
    assert as_sets(learnt) == {frozenset({1, 3}), frozenset({0, 2})}


def test_the_evidence_is_that_of_the_model_where_columns_do_not_exist():
    """Columns of other branches are NaN, and an option without columns has a term of its own."""
    space = Space(m=Choice(p=Space(a=Vector(4)), q=Space(b=Vector(4)), r=None), d=Vector(3))
    rng = np.random.default_rng(0)
    x = space.snap(rng.random((40, space.dim)))
    y = rng.standard_normal(40)
    prior = Additive(size=2)
    seen: list[tuple[Evidence, list[np.ndarray]]] = []

    def spying(judge, known, cells, size, chance):
        seen.append((judge, list(known)))
        return list(known)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(additive, "learnt_partition", spying)
        prior.learnt(Lesson(Ground(space), x, y), rng)
    judge, groups = seen[0]
    model = prior.model(Ground(space))
    theta = model.start
    k = model.kernel.gram(theta[:-1], x).value + np.exp(theta[-1]) * np.eye(40) + 1.0
    exact = 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.linalg.slogdet(k)[1]
    assert judge.of(groups) == pytest.approx(exact, rel=1e-9)


def test_groups_keep_the_places_of_those_that_they_come_from():
    known = [np.array([0, 1, 2]), np.array([3, 4, 5]), np.array([6, 7, 8])]
    new = [np.array([2, 7, 8]), np.array([0, 1, 6]), np.array([3, 4, 5])]
    assert [group.tolist() for group in _in_order_of(known, new)] == [[0, 1, 6], [3, 4, 5], [2, 7, 8]]


def test_a_thousand_columns_take_seconds():
    rng = np.random.default_rng(0)
    x, y = rng.random((20, 1000)), rng.standard_normal(20)
    started = time.perf_counter()
    groups = learnt_partition(evidence(x, y), None, [np.arange(1000)], 5, rng)
    assert time.perf_counter() - started < 20.0
    assert sorted(np.concatenate(groups).tolist()) == list(range(1000))


def test_covariances_that_cannot_be_factorised_are_never_chosen():
    x, y, _ = planted(30, 0, dim=4, size=2)
    judge = Evidence(contributions(x, np.full(4, np.nan), x, SquaredExponential()), y, 0.5, -10.0)
    assert judge.loss(np.zeros((30, 30))) == math.inf


# -- directions ----------------------------------------------------------------------------------------------


def test_the_gradient_of_a_direction():
    rng = np.random.default_rng(0)
    x, y = rng.random((40, 5)), rng.standard_normal(40)
    likelihood = _Likelihood(x - 0.5, y, 1.5)
    p = np.concatenate([rng.standard_normal(5), PRIOR[:, 0] + 0.3])
    assert_gradient(likelihood(p)[1], lambda q: likelihood(q)[0], p)


def test_a_direction_agrees_with_a_process_on_the_line():
    """The expansion into sines is nearly exact: the likelihood is that with the full covariance."""
    rng = np.random.default_rng(1)
    x, y = rng.random((30, 3)), rng.standard_normal(30)
    likelihood = _Likelihood(x - 0.5, y, 1.5)
    w, (length, variance, noise) = np.array([0.6, 0.0, 0.8]), (0.4, 0.9, 0.2)
    p = np.concatenate([w, np.log([length, variance, noise])])
    z = (x - 0.5) @ w
    k = variance * np.exp(-0.5 * (z[:, None] - z) ** 2 / length**2) + noise * np.eye(30)
    exact = 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.linalg.slogdet(k)[1]
    deviation = (p[-3:] - PRIOR[:, 0]) / PRIOR[:, 1]
    assert likelihood(p)[0] - 0.5 * deviation @ deviation == pytest.approx(exact, abs=0.05)


def test_planted_directions_are_found():
    rng = np.random.default_rng(2)
    x, w = rng.random((200, 10)), rng.standard_normal((10, 2))
    w /= np.linalg.norm(w, axis=0)
    y = np.sin(5 * (x - 0.5) @ w[:, 0]) + np.tanh(4 * (x - 0.5) @ w[:, 1])
    found = pursued(x, y, 10, rng)
    assert (np.abs(found.T @ w).max(axis=0) > 0.97).all()


def test_a_direction_that_explains_all_is_the_only_one():
    rng = np.random.default_rng(6)
    x, w = rng.random((120, 6)), rng.standard_normal(6)
    found = pursued(x, np.tanh(3 * (x - 0.5) @ w / np.linalg.norm(w)), 6, rng)
    assert found.shape == (6, 1)


def test_there_are_no_directions_in_a_constant():
    rng = np.random.default_rng(7)
    assert pursued(rng.random((100, 10)), np.full(100, 3.0), 10, rng).shape == (10, 0)


def test_directions_towards_corners_are_wide():
    """Points along the diagonal of fifty dimensions are more than three units from the centre."""
    rng = np.random.default_rng(8)
    x = np.clip(0.5 + rng.uniform(-0.5, 0.5, (200, 1)) + 0.05 * rng.standard_normal((200, 50)), 0, 1)
    diagonal = np.full(50, 50**-0.5)
    found = pursued(x, np.sin(1.2 * (x - 0.5) @ diagonal), 1, rng)
    assert abs(float(found[:, 0] @ diagonal)) > 0.97


@pytest.mark.parametrize("seed", range(6))
def test_steps_do_not_break_the_fit(seed):
    rng = np.random.default_rng(seed)
    x = rng.random((20, 4))
    assert np.isfinite(pursued(x, (x[:, 0] > 0.5).astype(float), 4, rng)).all()


def test_there_are_no_directions_in_noise():
    rng = np.random.default_rng(3)
    assert pursued(rng.random((200, 10)), rng.standard_normal(200), 10, rng).shape == (10, 0)


def test_directions_are_found_again_from_where_they_stood():
    rng = np.random.default_rng(4)
    x, w = rng.random((60, 8)), rng.standard_normal(8)
    y = np.sin(6 * (x - 0.5) @ w / np.linalg.norm(w))
    first = pursued(x, y, 1, rng)
    again = pursued(x, y, 1, rng, first)
    assert abs(float(first[:, 0] @ again[:, 0])) > 0.999


def test_directions_are_aligned_with_the_axes():
    w = np.linalg.qr(np.random.default_rng(5).standard_normal((4, 4)))[0]
    shuffled = -np.eye(4)[:, [2, 0, 3, 1]]
    np.testing.assert_array_equal(aligned(shuffled), np.eye(4))
    found = aligned(w)
    best = max(permutations(range(4)), key=lambda order: sum(abs(w[i, k]) for i, k in enumerate(order)))
    np.testing.assert_allclose(np.abs(found), np.abs(w[:, best]))
    assert (np.diagonal(found) >= 0.0).all()
    others = np.arange(4) != np.argmax(np.abs(w[:, 0]))  # axes without a direction stay
    np.testing.assert_array_equal(aligned(w[:, :1])[:, others], np.eye(4)[:, others])


# -- restriction ---------------------------------------------------------------------------------------------


def unit_columns(dim: int, seed: int) -> np.ndarray:
    w = np.random.default_rng(seed).standard_normal((dim, dim))
    return aligned(w / np.linalg.norm(w, axis=0))


@pytest.mark.parametrize("dim", [3, 50])
@pytest.mark.parametrize("delta", [0.05, 0.1, 2.0])
def test_the_smallest_feasible_alpha(dim, delta):
    w = unit_columns(dim, dim)
    alpha = smallest_alpha(w, delta)
    limit = math.log1p(delta)
    assert log_ratio(mixed(w, alpha)) <= limit
    rest = 1.0 - alpha
    assert log_ratio(mixed(w, 1.0 - 1.01 * rest)) > limit


def test_in_fifty_dimensions_little_is_feasible_and_more_than_nothing():
    """A uniform grid over α would return the additive model."""
    assert 1e-5 < 1.0 - smallest_alpha(unit_columns(50, 0), 0.1) < 1e-2


def test_the_ratio_is_that_of_the_volumes():
    w = np.array([[1.0, 0.5], [-0.2, 0.8]])
    outer = (1.0 + 0.2) * (0.5 + 0.8)
    assert log_ratio(w) == pytest.approx(math.log(outer / (1.0 * 0.8 + 0.5 * 0.2)))
    assert log_ratio(np.zeros((2, 2))) == math.inf


def test_no_tolerance_is_additive_and_no_restriction_is_projection_pursuit():
    w, losses = unit_columns(4, 1), []

    def loss(matrix):
        losses.append(matrix)
        return -log_ratio(matrix)  # the farther from the identity, the better

    assert restricted_alpha(w, 0.0, loss) == 1.0
    assert restricted_alpha(w, math.inf, loss) == 0.0
    assert restricted_alpha(w, 0.1, loss) == smallest_alpha(w, 0.1)
    assert restricted_alpha(w, 0.1, lambda matrix: log_ratio(matrix)) == 1.0


def test_directions_that_coincide_still_have_an_inverse():
    w = np.ones((3, 3)) / math.sqrt(3.0)
    alpha = restricted_alpha(w, math.inf, lambda _: 0.0)
    assert alpha > 0.0
    assert np.linalg.cond(mixed(w, alpha)) < 1e4
