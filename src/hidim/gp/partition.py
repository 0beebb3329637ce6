"""Which columns belong together: a partition into groups, by marginal likelihood.

Kandasamy et al. (2015) take the best of several random partitions. Of D columns there are too many to meet a
good one by chance, so the best is improved by exchanging columns: with G the gradient of −log p(y) in K, and
a group's covariance a function of the sum of what its columns contribute,

    K_v = ρ(Σ d²_c) · exp(−Σ w_c [x ≠ x'])          T[v, c] = ⟨G, ∂K_v/∂(contribution of c)⟩

column i of group a and column j of group b are worth exchanging if T[a, j] − T[a, i] + T[b, i] − T[b, j] < 0,
to first order. One matrix product gives T for all columns and groups. The most promising exchanges are judged
by their likelihoods, and the best is made, until none helps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import linear_sum_assignment

from hidim._types import Array, Indices, Mask, Rng
from hidim.gp.kernels.stationary import Form

#: Groups are judged by at most so many observations, and numbers of pairs of them over all columns, 240 MB.
MOST, PAIRS = 256, 30_000_000

#: Random partitions that the known one is compared with: the released code's number.
RANDOM = 5

#: Exchanges of which the best is made, how many are made at the most, columns looked at for each.
TRIES, ROUNDS, WIDE = 8, 100, 256


def enough(dim: int) -> int:
    """Of how many observations groups of D columns are learnt at the most."""
    return min(MOST, math.isqrt(PAIRS // max(dim, 1)))


class Contributions(NamedTuple):
    """What single columns contribute to the distance of two inputs.

    Args:
        pairs: (D, n, n), squared distances of numbers, weighted disagreements of labels.
        labels: which columns (D,) are labels.
        exists: which inputs have each column, (n, D).
        form: ρ.
    """

    pairs: Array
    labels: Mask
    exists: Mask
    form: Form


def contributions(numbers: Array, weights: Array, x: Array, form: Form) -> Contributions:
    """Of all columns of `x` (n, D), NaN where they do not exist.

    Args:
        numbers: (n, D), the columns divided by their length-scales; whatever for labels.
        weights: (D,), of labels; NaN for numbers.
    """
    labels, exists = ~np.isnan(weights), ~np.isnan(x)
    images = np.where(exists, np.where(labels, x, numbers), 0.0).T
    pairs = images[:, :, None] - images[:, None, :]
    pairs *= pairs
    pairs[labels] = (pairs[labels] > 1e-12) * weights[labels, None, None]
    return Contributions(pairs, labels, exists, form)


class Group(NamedTuple):
    """The covariance of a group: from what its columns contribute, and with derivatives in that.

    Args:
        numbers: (n, n), the sum over its numbers.
        labels: that over its labels.
        exists: which inputs (n,) have the group.
        value: K_v (n, n).
        slopes: its derivatives in both.
    """

    numbers: Array
    labels: Array
    exists: Mask
    value: Array
    slopes: tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The marginal likelihood of partitions, with everything else known.

    Args:
        known: contributions of columns.
        y: (n,), outcomes, standardised.
        amplitude: the variance of every group.
        ridge: what is added to the diagonal, (n,) or one number.
        rest: the covariance (n, n) of what is in no group, if there is anything.
    """

    known: Contributions
    y: Array
    amplitude: float
    ridge: float | Array
    rest: Array | float = 0.0

    @cached_property
    def _base(self) -> Array:
        """The covariance (n, n) of what belongs to no group: noise, and a constant mean of unit variance."""
        base = np.ones((len(self.y), len(self.y))) + self.rest
        base.flat[:: len(base) + 1] += self.ridge
        return base

    def group(self, columns: Indices) -> Group:
        """The covariance of a group of columns."""
        labels = self.known.labels[columns]
        numbers, others = (self.known.pairs[columns[mask]].sum(axis=0) for mask in (~labels, labels))
        return self._covariance(numbers, others, self.known.exists[:, columns[0]])

    def swapped(self, group: Group, gone: int, come: int) -> Group:
        """The group after one column has taken the place of another."""
        sums = [group.numbers, group.labels]
        for column, sign in ((gone, -1.0), (come, 1.0)):
            kind = int(self.known.labels[column])
            sums[kind] = sums[kind] + sign * self.known.pairs[column]
        return self._covariance(np.maximum(sums[0], 0.0), sums[1], group.exists)

    def _covariance(self, numbers: Array, labels: Array, exists: Mask) -> Group:
        value, slope = self.known.form(numbers)
        if self.known.labels.any():
            apart = np.exp(-labels)
            value, slope = value * apart, slope * apart
        if not exists.all():
            both = np.outer(exists, exists)
            value, slope = value * both, slope * both
        value = self.amplitude * value
        return Group(numbers, labels, exists, value, (self.amplitude * slope, -value))

    def loss(self, covariance: Array) -> float:
        """−log p(y), up to a constant, for the sum (n, n) over the groups; inf if it cannot be had."""
        try:
            factor = np.linalg.cholesky(covariance + self._base)
        except np.linalg.LinAlgError:
            return math.inf
        solved = solve_triangular(factor, self.y, lower=True)
        return float(np.log(np.diagonal(factor)).sum() + 0.5 * solved @ solved)

    def of(self, groups: Sequence[Indices]) -> float:
        """−log p(y) of a partition."""
        return self.loss(np.sum([self.group(columns).value for columns in groups], axis=0))

    def slope(self, covariance: Array) -> Array:
        """G = ½ (K⁻¹ − α αᵀ) (n, n)."""
        inverse = np.linalg.inv(covariance + self._base)
        alpha = inverse @ self.y
        return np.asarray(0.5 * (inverse - np.outer(alpha, alpha)))


def random_partition(cells: Sequence[Indices], size: int, rng: Rng) -> list[Indices]:
    """The columns of every cell in random groups of `size`; the last of a cell may be smaller."""
    groups = []
    for cell in cells:
        shuffled = rng.permutation(cell)
        groups += [np.sort(shuffled[begin : begin + size]) for begin in range(0, len(cell), size)]
    return groups


def learnt_partition(
    evidence: Evidence, known: Sequence[Indices] | None, cells: Sequence[Indices], size: int, rng: Rng
) -> list[Indices]:
    """The known partition or a random one, improved by exchanges.

    Args:
        known: the last one, to go on from.
        cells: columns that may be in one group.
        size: of the groups.
    """
    candidates = [random_partition(cells, size, rng) for _ in range(RANDOM)]
    losses = [evidence.of(candidate) for candidate in candidates]
    best = candidates[int(np.argmin(losses))]
    if known is None:
        return _exchanged(evidence, best, cells, rng)
    if evidence.of(known) <= min(losses) + 1e-6:
        return _exchanged(evidence, list(known), cells, rng)
    return _in_order_of(known, _exchanged(evidence, best, cells, rng))


def _in_order_of(known: Sequence[Indices], groups: list[Indices]) -> list[Indices]:
    """Groups in the places of those that they have most in common with: parameters of groups go by place."""
    common = np.array([[len(np.intersect1d(old, new)) for new in groups] for old in known])
    return [groups[place] for place in linear_sum_assignment(-common)[1]]


def _exchanged(
    evidence: Evidence, groups: list[Indices], cells: Sequence[Indices], rng: Rng
) -> list[Indices]:
    """The partition after all exchanges that help, or as many as there is time for."""
    dim = len(evidence.known.labels)
    cell, member = np.full(dim, -1), np.full(dim, -1)
    for place, columns in enumerate(cells):
        cell[columns] = place
    for place, columns in enumerate(groups):
        member[columns] = place
    parts = [evidence.group(columns) for columns in groups]
    total = np.sum([part.value for part in parts], axis=0)
    loss = evidence.loss(total)
    for _ in range(ROUNDS):
        best: tuple[float, int, int, Group, Group, Array] | None = None
        looked = np.arange(dim) if dim <= WIDE else np.sort(rng.choice(dim, WIDE, replace=False))
        for i, j in _promising(evidence, parts, total, member, cell, looked).tolist():
            a, b = parts[member[i]], parts[member[j]]
            here, there = evidence.swapped(a, i, j), evidence.swapped(b, j, i)
            changed = total - a.value - b.value + here.value + there.value
            found = evidence.loss(changed)
            if best is None or found < best[0]:
                best = found, i, j, here, there, changed
        if best is None or not best[0] < loss - 1e-6:
            break
        loss, i, j, here, there, total = best
        a, b = int(member[i]), int(member[j])
        parts[a], parts[b] = here, there
        member[i], member[j] = b, a
    return [np.flatnonzero(member == place) for place in range(len(groups))]


def _promising(
    evidence: Evidence, parts: Sequence[Group], total: Array, member: Indices, cell: Indices, looked: Indices
) -> Indices:
    """Pairs (k, 2) of the columns `looked` at whose exchange should help most, to first order."""
    labels, gradient = evidence.known.labels[looked], evidence.slope(total)
    flat = evidence.known.pairs.reshape(len(member), -1)
    own, at = np.unique(member[looked], return_inverse=True)  # groups of these columns, and which is whose
    table = np.zeros((len(own), len(looked)))
    for kind, columns in enumerate((np.flatnonzero(~labels), np.flatnonzero(labels))):
        if len(columns):
            weights = np.stack([(gradient * parts[place].slopes[kind]).ravel() for place in own])
            whole = len(columns) == len(flat)
            table[:, columns] = weights @ (flat.T if whole else flat[looked[columns]].T)
    stays = table[at, np.arange(len(looked))]  # T[a, i]
    comes = table[at]  # T[a(i), j]
    change = comes - stays[:, None] + comes.T - stays[None, :]
    here, inside = member[looked], cell[looked]
    allowed = (inside[:, None] == inside) & (here[:, None] < here) & (here[:, None] >= 0)
    change = np.where(allowed, change, 0.0)
    first = np.argpartition(change, min(TRIES, change.size - 1), axis=None)[:TRIES]
    first = first[np.argsort(change.ravel()[first], kind="stable")]
    found = looked[np.column_stack(np.unravel_index(first, change.shape))]
    return found[change.ravel()[first] < 0.0]
