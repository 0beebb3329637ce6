"""Which columns belong together: a partition into groups, by marginal likelihood.

Kandasamy et al. (2015) take the best of several random partitions. Of D columns there are too many to meet a
good one by chance, so the best is improved by exchanging columns: with G the gradient of −log p(y) in K, and
a group's covariance a function of the sum of what its columns contribute,

    K_v = ρ(Σ d²_c) · exp(−Σ w_c [x ≠ x'])          T[v, c] = ⟨G, ∂K_v/∂(contribution of c)⟩

column i of group a and column j of group b are worth exchanging if T[a, j] − T[a, i] + T[b, i] − T[b, j] < 0,
to first order. One matrix product gives T for all columns and groups. The most promising exchanges are judged
by their likelihoods, all at once, and the best is made, until none helps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Indices, Mask, Rng
from hidim.gp.kernels.stationary import Form

#: Groups are judged by at most this many observations: T takes two products of n² numbers for every column.
MOST = 256

#: Random partitions that the known one is compared with: the released code's number.
RANDOM = 5

#: Exchanges that are judged together, and how often at the most for every column.
TRIES, ROUNDS = 8, 1.0


class Contributions(NamedTuple):
    """What single columns contribute to the distance of two inputs.

    Args:
        pairs: (D, n, n), squared distances of numbers, weighted disagreements of labels.
        labels: which columns (D,) are labels.
        form: ρ.
    """

    pairs: Array
    labels: Mask
    form: Form


def contributions(numbers: Array, weights: Array, x: Array, form: Form) -> Contributions:
    """Of all columns of `x` (n, D).

    Args:
        numbers: (n, D), the columns divided by their length-scales; whatever for labels.
        weights: (D,), of labels; NaN for numbers.
    """
    labels = ~np.isnan(weights)
    images = np.where(labels, x, numbers).T
    pairs = images[:, :, None] - images[:, None, :]
    pairs *= pairs
    pairs[labels] = (pairs[labels] > 1e-12) * weights[labels, None, None]
    return Contributions(pairs, labels, form)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The marginal likelihood of partitions, with everything else known.

    Args:
        known: contributions of columns.
        y: (n,), outcomes, standardised.
        amplitude: the variance of every group.
        ridge: what is added to the diagonal, (n,) or one number.
    """

    known: Contributions
    y: Array
    amplitude: float
    ridge: float | Array

    @cached_property
    def _base(self) -> Array:
        """The covariance (n, n) of what belongs to no group: noise, and a constant mean of unit variance."""
        base = np.ones((len(self.y), len(self.y)))
        base.flat[:: len(base) + 1] += self.ridge
        return base

    def covariance(self, group: Indices) -> tuple[Array, Array, Array]:
        """K_v (n, n), and its derivatives in the contributions of numbers and of labels."""
        pairs, labels, form = self.known
        numbers = group[~labels[group]]
        value, slope = form(pairs[numbers].sum(axis=0))
        if len(numbers) < len(group):
            apart = np.exp(-pairs[group[labels[group]]].sum(axis=0))
            value, slope = value * apart, slope * apart
        return self.amplitude * value, self.amplitude * slope, -self.amplitude * value

    def losses(self, covariances: Array) -> Array:
        """−log p(y) (c,), up to a constant, of sums (c, n, n) over the groups; inf where it cannot be had."""
        matrices = covariances + self._base
        try:
            factors = np.linalg.cholesky(matrices)
        except np.linalg.LinAlgError:
            return np.array([self._loss(matrix) for matrix in matrices])
        solved = np.linalg.solve(factors, np.broadcast_to(self.y[:, None], (*factors.shape[:2], 1)))[..., 0]
        logs = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        return np.asarray(logs + 0.5 * np.vecdot(solved, solved))

    def _loss(self, matrix: Array) -> float:
        try:
            factor = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return math.inf
        solved = np.linalg.solve(factor, self.y)
        return float(np.log(np.diagonal(factor)).sum() + 0.5 * solved @ solved)

    def of(self, groups: Sequence[Indices]) -> float:
        """−log p(y) of a partition."""
        return float(self.losses(np.sum([self.covariance(group)[0] for group in groups], axis=0)[None])[0])

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
    if known is not None:
        candidates.insert(0, list(known))
    best = min(candidates, key=evidence.of)
    return _exchanged(evidence, best, cells)


def _exchanged(evidence: Evidence, groups: list[Indices], cells: Sequence[Indices]) -> list[Indices]:
    """The partition after all exchanges that help."""
    dim = len(evidence.known.labels)
    cell, member = np.full(dim, -1), np.full(dim, -1)
    for place, columns in enumerate(cells):
        cell[columns] = place
    for place, columns in enumerate(groups):
        member[columns] = place
    parts = [evidence.covariance(group) for group in groups]
    total = np.sum([part[0] for part in parts], axis=0)
    loss = float(evidence.losses(total[None])[0])
    for _ in range(math.ceil(ROUNDS * dim)):
        pairs = _promising(evidence, parts, total, member, cell)
        if not len(pairs):
            break
        moved = [_swapped(groups, member, i, j) for i, j in pairs]
        found = [(evidence.covariance(a), evidence.covariance(b)) for a, b in moved]
        sums = np.stack(
            [
                total - parts[member[i]][0] - parts[member[j]][0] + a[0] + b[0]
                for (i, j), (a, b) in zip(pairs, found, strict=True)
            ]
        )
        losses = evidence.losses(sums)
        first = int(np.argmin(losses))
        if not losses[first] < loss - 1e-6:
            break
        loss, total = float(losses[first]), sums[first]
        i, j = pairs[first]
        here, there = member[i], member[j]
        groups[here], groups[there] = moved[first]
        parts[here], parts[there] = found[first]
        member[i], member[j] = there, here
    return groups


def _promising(
    evidence: Evidence,
    parts: Sequence[tuple[Array, Array, Array]],
    total: Array,
    member: Indices,
    cell: Indices,
) -> Indices:
    """Pairs (k, 2) of columns whose exchange should help most, to first order."""
    pairs, labels, _ = evidence.known
    gradient = evidence.slope(total)
    flat = pairs.reshape(len(pairs), -1)
    table = np.empty((len(parts), len(pairs)))
    for kind, columns in enumerate((np.flatnonzero(~labels), np.flatnonzero(labels))):
        if len(columns):
            weights = np.stack([(gradient * part[1 + kind]).ravel() for part in parts])
            table[:, columns] = weights @ (flat.T if len(columns) == len(flat) else flat[columns].T)
    own = table[member, np.arange(len(pairs))]  # T[a, i]
    gain = table[member]  # T[a(i), j]
    change = gain - own[:, None] + gain.T - own[None, :]
    allowed = (cell[:, None] == cell) & (member[:, None] < member) & (member[:, None] >= 0)
    change = np.where(allowed, change, 0.0)
    order = np.argsort(change, axis=None)[:TRIES]
    found = np.column_stack(np.unravel_index(order, change.shape))
    return found[change.ravel()[order] < 0.0]


def _swapped(groups: Sequence[Indices], member: Indices, i: int, j: int) -> tuple[Indices, Indices]:
    """The groups of two columns, after they have changed places."""
    a, b = groups[member[i]], groups[member[j]]
    return np.sort(np.append(a[a != i], j)), np.sort(np.append(b[b != j], i))
