"""A sum over groups of columns: covariance of functions that are sums of functions of few columns each.

    k(x, x') = Σ_v δ_v(x) δ_v(x') a_v k_v(x_v, x'_v)

δ_v says whether an input has group v at all. Every term is a product of positive semi-definite kernels, hence
so is the sum, whatever the groups. With the nodes of a tree as groups, and δ_v for those on the path of an
input, this is Add-Tree (Ma and Blaschko 2020, eq. 5), for sibling forks and nodes that several branches
share, too; with a partition of all columns, and no δ, the additive model of Add-GP-UCB.

Inputs have NaN in every column that does not exist for them: the mask that equals the linear representation
of Add-Tree's appendix B. A row with the columns of one group alone therefore has k_v as its covariance with
all others, which is what a search group by group needs.

The groups have one level of length-scales, of label weights and of amplitudes in common, from which single
columns and groups may deviate: a branch with few trials borrows from the others what it cannot know, and
keeps an honest variance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from hidim._types import Array, Indices, Mask
from hidim.gp.densities import Density, StudentT
from hidim.gp.hyperparameter import Hyperparameter, total
from hidim.gp.kernels.algebra import Constant, Scaled, Through
from hidim.gp.kernels.base import Against, Cross, Gram, Kernel, Product
from hidim.gp.kernels.hamming import Hamming
from hidim.gp.kernels.stationary import Form, Matern, Stationary
from hidim.gp.maps import Chain, HierarchicalScale, Map, Scale, Select, Warp

Lengthscales = Literal["hierarchical", "isotropic", "ard", "grouped"]


@dataclass(frozen=True, eq=False)
class Term:
    """One group of columns.

    Args:
        numbers: columns of numbers.
        labels: columns of labels.
        levels: number of labels of each of those.
        gates: which inputs have the group, if its first column does not tell: columns of choices, the
            position of the label in each, and the number of labels.
    """

    numbers: Sequence[int] | Indices
    labels: Sequence[int] | Indices = ()
    levels: Sequence[int] | Indices = ()
    gates: Sequence[tuple[int, int, int]] = ()

    @cached_property
    def columns(self) -> Indices:
        return np.concatenate([self.numbers, self.labels]).astype(np.intp)

    def is_open(self, x: Array) -> Mask:
        """Whether all gates lead to the group, for each row of (n, p)."""
        is_open = np.ones(len(x), dtype=np.bool_)
        for column, position, levels in self.gates:
            is_open &= np.minimum(np.floor(x[:, column] * levels), levels - 1.0) == position
        return is_open


@dataclass(frozen=True, eq=False)
class _Part:
    """A term, its kernel over its own columns, and where that kernel's parameters stand in θ."""

    term: Term
    kernel: Kernel
    columns: Indices
    entries: Indices
    amplitude: int | None

    def inputs(self, x: Array, rows: Indices) -> Array:
        return x[rows[:, None], self.columns]


class Groups(Kernel):
    """A sum of kernels, each over the columns of one group, among the inputs that have that group.

    Args:
        terms: the groups.
        form: k_v as a function of distance over numbers; over the labels of a group, a Hamming kernel.
        lengthscales: "hierarchical" (all columns have one in common until the data insist), "isotropic" (one
            for all columns), "ard" (one for every column) or "grouped" (one for every group).
        warped: numbers are warped first, each by a Kumaraswamy distribution of its own: what happens near the
            end of a range may be steeper than elsewhere.
        warps: the prior of the logarithms of their exponents, if not the usual one.
        spread: scale of the Student-t prior by which amplitudes of groups may leave their common level; 0 for
            groups of the same variance, as in the papers.
        common: whether a column that is in several groups has the same parameters in all of them. Parameters
            of columns then stand in the order of columns, whatever the groups: other groups, same θ.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        *,
        form: Form | None = None,
        lengthscales: Lengthscales = "hierarchical",
        warped: bool = False,
        warps: Density | None = None,
        spread: float = 0.0,
        common: bool = False,
    ) -> None:
        self.terms = tuple(terms)
        self._form, self._lengthscales, self._warped = form or Matern(2.5), lengthscales, warped
        numbers, self._count = _places([t.numbers for t in terms], common=common)
        labels, _ = _places([t.labels for t in terms], common=common)
        widest, most = (max(map(len, places)) for places in (numbers, labels))
        if widest:
            entries = len(terms) if lengthscales == "grouped" else self._count
            self.parameters += _scale(entries, widest, lengthscales).parameters
        self._first_warp = total(self.parameters)
        if widest and warped:
            self.parameters += Warp(self._count, prior=warps).parameters
        self._first_label = total(self.parameters)
        if most:
            levels = _by_place(labels, [term.levels for term in terms])
            self.parameters += Hamming(range(len(levels)), levels, usual=most).parameters
        first_amplitude = total(self.parameters)
        if spread > 0.0:
            prior = StudentT(1.0, 0.0, spread)
            # A variance 150 times the usual one, or a 150th, is as good as all or nothing.
            self.parameters += (Hyperparameter("log_amplitude_deviation", len(terms), 0.0, -5.0, 5.0, prior),)
        self._parts = [
            _Part(
                term,
                self._kernel(term),
                term.columns,
                np.concatenate([*self._of_numbers(place, numbers[place]), *self._of_labels(labels[place])]),
                first_amplitude + place if spread > 0.0 else None,
            )
            for place, term in enumerate(terms)
        ]

        self._counted = np.ones(len(terms), dtype=np.bool_)

        # A group exists where all of its columns do, unless there are gates or no columns.
        self._gated = [place for place, t in enumerate(terms) if t.gates or len(t.columns) == 0]
        self._plain = [place for place in range(len(terms)) if place not in set(self._gated)]
        self._columns = np.concatenate([np.empty(0, np.intp), *(terms[p].columns for p in self._plain)])
        self._begins = np.cumsum([0, *(len(terms[p].columns) for p in self._plain)])[:-1]

    def only(self, place: int) -> Groups:
        """The kernel of one of the groups, over all columns and with all parameters."""
        one = copy(self)
        one._counted = np.arange(len(self.terms)) == place
        return one

    def _kernel(self, term: Term) -> Kernel:
        """k_v over the columns of one group."""
        width, count = len(term.numbers), len(term.labels)
        if not width + count:
            return Constant()
        labels = Hamming(width + np.arange(count), term.levels)
        if not width:
            return labels
        steps: list[Map] = [Select(range(width))] if count else []
        steps += [Warp(width)] if self._warped else []
        shared: Lengthscales = "isotropic" if self._lengthscales == "grouped" else self._lengthscales
        numbers = Stationary(self._form, Chain(*steps, _scale(width, 1, shared)))
        return numbers * labels if count else numbers

    def _of_numbers(self, group: int, places: Indices) -> list[Indices]:
        """The entries of θ for the numbers at these places: their warps, then their length-scales."""
        if not len(places):
            return [places]
        warps = [self._first_warp + places, self._first_warp + self._count + places] if self._warped else []
        match self._lengthscales:
            case "isotropic":
                return [*warps, np.arange(1)]
            case "grouped":
                return [*warps, np.array([group])]
            case "ard":
                return [*warps, places]
            case _:
                return [*warps, np.arange(1), places + 1]

    def _of_labels(self, places: Indices) -> list[Indices]:
        """The entries of θ for the weights of the labels at these places."""
        first = self._first_label
        return [np.array([first]), places + first + 1] if len(places) else []

    def images(self, theta: Array, x: Array) -> tuple[Array, Array]:
        """What distances see of single columns, if no column is in several groups.

        Returns:
            numbers (n, p), warped and over their length-scales; weights of labels (p,), NaN for numbers.
        """
        numbers, weights = x.copy(), np.full(x.shape[1], np.nan)
        for part in self._parts:
            own, factors = theta[part.entries], [part.kernel]
            if isinstance(part.kernel, Product):
                factors = [part.kernel.left, part.kernel.right]
            for factor in factors:
                if isinstance(factor, Stationary):
                    seen = factor.inputs(own[: factor.size], part.inputs(x, np.arange(len(x))))
                    numbers[:, np.asarray(part.term.numbers)] = seen.value
                if isinstance(factor, Hamming):
                    weights[np.asarray(part.term.labels)] = factor.weights(own[len(own) - factor.size :])
        return numbers, weights

    def active(self, x: Array) -> Mask:
        """Which groups each row of (n, p) has, as (n, number of groups)."""
        active = np.empty((len(x), len(self.terms)), dtype=np.bool_, order="F")
        if self._plain:
            missing = np.isnan(x[:, self._columns])
            active[:, self._plain] = ~np.logical_or.reduceat(missing, self._begins, axis=1)
        for place in self._gated:
            active[:, place] = self.terms[place].is_open(x)
        return active

    def _present(self, x: Array) -> Iterator[tuple[_Part, Indices]]:
        """The groups that count and that some row of (n, p) has, and these rows."""
        active = self.active(x) & self._counted
        for place in np.flatnonzero(active.any(axis=0)):
            yield self._parts[place], np.flatnonzero(active[:, place])

    def _amplitude(self, part: _Part, theta: Array) -> float:
        return 1.0 if part.amplitude is None else math.exp(theta[part.amplitude])

    def gram(self, theta: Array, x: Array) -> Gram:
        value = np.zeros((len(x), len(x)))
        present: list[tuple[_Part, Indices, Gram, float]] = []
        for part, rows in self._present(x):
            own = part.kernel.gram(theta[part.entries], part.inputs(x, rows))
            scale = self._amplitude(part, theta)
            value[_block(rows, rows)] += scale * own.value
            present.append((part, rows, own, scale))

        def to_parameters(g: Array) -> Array:
            gradient = np.zeros(len(theta))
            for part, rows, own, scale in present:
                block = scale * g[_block(rows, rows)]
                gradient[part.entries] += own.to_parameters(block)  # a part has no entry twice
                if part.amplitude is not None:
                    gradient[part.amplitude] += np.vdot(block, own.value)
            return gradient

        return Gram(value, to_parameters)

    def against(self, theta: Array, x: Array) -> Against:
        known = {
            id(part): (
                rows,
                part.kernel.against(theta[part.entries], part.inputs(x, rows)),
                self._amplitude(part, theta),
            )
            for part, rows in self._present(x)
        }

        def cross(u: Array) -> Cross:
            value = np.zeros((len(u), len(x)))
            met: list[tuple[_Part, Indices, Indices, Cross, float]] = []
            for part, queries in self._present(u):
                if id(part) in known:
                    rows, own, scale = known[id(part)]
                    k = own(part.inputs(u, queries))
                    value[_block(queries, rows)] += scale * k.value
                    met.append((part, queries, rows, k, scale))

            def to_inputs(g: Array) -> Array:
                gradient = np.zeros_like(u)
                for part, queries, rows, k, scale in met:
                    pulled = k.to_inputs(scale * g[_block(queries, rows)])
                    gradient[queries[:, None], part.columns] += pulled
                return gradient

            return Cross(value, to_inputs)

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        amplitudes = np.array([self._amplitude(part, theta) for part in self._parts])
        # Every k_v has unit variance.
        return Cross(self.active(u) @ (self._counted * amplitudes), lambda _: np.zeros_like(u))


def _block(rows: Indices, columns: Indices) -> Any:
    """The index of these rows and columns; where none is left out it is a view, which costs nothing."""
    if _follow(rows) and _follow(columns):
        return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return rows[:, None], columns


def _follow(places: Indices) -> bool:
    """Whether increasing places (n,) have no gap."""
    return len(places) > 0 and int(places[-1] - places[0]) == len(places) - 1


def groups_in(kernel: Kernel) -> Groups | None:
    """The sum over groups that a kernel is, but for an amplitude and a map of inputs; None if it is not."""
    while isinstance(kernel, Scaled | Through):
        kernel = kernel.inner
    return kernel if isinstance(kernel, Groups) else None


def widest(kernel: Kernel, dim: int) -> int:
    """The largest number of numbers in a group; `dim` for a kernel that is no sum over groups."""
    groups = groups_in(kernel)
    return dim if groups is None else max(1, *(len(term.numbers) for term in groups.terms))


def _scale(dim: int, effective: int, lengthscales: Lengthscales) -> Map:
    """A scale for `dim` columns, of which `effective` belong to one node: priors go by the latter.

    Hierarchical ones go by the columns of each group. With one level for all, fitted to a group of 200, one
    of 2 beside it was taken for noise: four of five runs of 28 trials left its bowl at .01 to .1, now 2e-5.
    """
    if lengthscales == "hierarchical":
        return HierarchicalScale(dim, relative=True)
    return Scale(dim, ard=lengthscales != "isotropic", effective=effective)


def _places(columns: Sequence[Sequence[int] | Indices], *, common: bool) -> tuple[list[Indices], int]:
    """Where the parameters of each term's columns stand among all, and how many there are.

    One after the other, or, if they are common, by the number of the column.
    """
    if common:
        distinct = np.unique(np.concatenate(columns)) if any(map(len, columns)) else np.empty(0)
        return [np.searchsorted(distinct, own) for own in columns], len(distinct)
    ends = np.cumsum([0, *map(len, columns)])
    return [np.arange(begin, end) for begin, end in pairwise(ends)], int(ends[-1])


def _by_place(places: Sequence[Indices], values: Sequence[Sequence[int] | Indices]) -> Indices:
    """Values of columns in the order of their parameters."""
    sorted_values = dict(zip(np.concatenate(places).tolist(), np.concatenate(values).tolist(), strict=True))
    return np.array([sorted_values[place] for place in sorted(sorted_values)], dtype=np.intp)
