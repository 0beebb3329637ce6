"""Add-Tree: covariance of functions that are sums along the paths of a tree (Ma and Blaschko 2023, eq. 5).

    k(x, x') = Σ_v δ_v(x) δ_v(x') a_v k_v(x_v, x'_v)

δ_v says whether an input has node v on its path. Every term is a product of positive semi-definite kernels,
hence so is the sum, whatever the tree: for sibling forks and nodes that several branches share, too.

Inputs have a negative number in every column that does not exist for them: the mask that equals the linear
representation of appendix B. A row with the columns of one node alone therefore has k_v as its covariance
with all others, which is what the search node by node needs.

The nodes have one level of length-scales, of label weights and of amplitudes in common, from which single
columns and nodes may deviate: a branch with few trials borrows from the others what it cannot know, and keeps
an honest variance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hidim._types import Array, Indices, Mask
from hidim.gp.kernels.algebra import Constant
from hidim.gp.kernels.base import Against, Cross, FeatureMap, Features, Gram, Kernel
from hidim.gp.kernels.hamming import Hamming
from hidim.gp.kernels.stationary import Form, Matern, Stationary
from hidim.gp.maps import Chain, HierarchicalScale, Map, Scale, Select, Warp
from hidim.gp.parameter import Parameter, total
from hidim.gp.priors import StudentT

Lengthscales = Literal["hierarchical", "isotropic", "ard"]


@dataclass(frozen=True, eq=False)
class Term:
    """One node of the tree, as the kernel sees it.

    Args:
        numbers: columns of numbers.
        labels: columns of labels.
        levels: number of labels of each of those.
        gates: what leads to the node, if its first column does not tell: columns of choices, the position of
            the label in each, and the number of labels.
    """

    numbers: Sequence[int] | Indices
    labels: Sequence[int] | Indices = ()
    levels: Sequence[int] | Indices = ()
    gates: Sequence[tuple[int, int, int]] = ()

    @cached_property
    def columns(self) -> Indices:
        return np.concatenate([self.numbers, self.labels]).astype(np.intp)

    def is_open(self, x: Array) -> Mask:
        """Whether all gates lead to the node, for each row of (n, p)."""
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


class AddTree(Kernel):
    """A sum of kernels, each over the columns of one node, among the inputs that have that node.

    Args:
        terms: the nodes.
        form: k_v as a function of distance over numbers; over the labels of a node, a Hamming kernel.
        lengthscales: "hierarchical" (all columns have one in common until the data insist), "isotropic" (one
            for all columns) or "ard" (one for every column).
        warped: numbers are warped first, each by a Kumaraswamy distribution of its own: what happens near the
            end of a range may be steeper than elsewhere.
        spread: scale of the Student-t prior by which amplitudes of nodes may leave their common level; 0 for
            nodes of the same variance, as in the paper.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        *,
        form: Form | None = None,
        lengthscales: Lengthscales = "hierarchical",
        warped: bool = False,
        spread: float = 0.0,
    ) -> None:
        self.terms = tuple(terms)
        self._form, self._lengthscales, self._warped = form or Matern(2.5), lengthscales, warped
        numbers, labels = _ends([len(t.numbers) for t in terms]), _ends([len(t.labels) for t in terms])
        widest, most = (max(end - begin for begin, end in ends) for ends in (numbers, labels))
        self._count = numbers[-1][1]
        if widest:
            self.parameters += _scale(self._count, widest, lengthscales).parameters
        self._first_warp = total(self.parameters)
        if widest and warped:
            self.parameters += Warp(self._count).parameters
        self._first_label = total(self.parameters)
        if most:
            levels = np.concatenate([term.levels for term in terms])
            self.parameters += Hamming(range(len(levels)), levels, usual=most).parameters
        first_amplitude = total(self.parameters)
        if spread > 0.0:
            prior = StudentT(1.0, 0.0, spread)
            self.parameters += (Parameter("log_amplitude_deviation", len(terms), 0.0, -5.0, 5.0, prior),)
        self._parts = [
            _Part(
                term,
                self._kernel(term),
                term.columns,
                np.concatenate([*self._of_numbers(*numbers[place]), *self._of_labels(*labels[place])]),
                first_amplitude + place if spread > 0.0 else None,
            )
            for place, term in enumerate(terms)
        ]

        # The first column of a node tells whether it is on a path, unless there are gates or no columns.
        self._gated = [place for place, t in enumerate(terms) if t.gates or len(t.columns) == 0]
        self._firsts = [int(t.columns[0]) if len(t.columns) else 0 for t in terms]

    def _kernel(self, term: Term) -> Kernel:
        """k_v over the columns of one node."""
        width, count = len(term.numbers), len(term.labels)
        if not width + count:
            return Constant()
        labels = Hamming(width + np.arange(count), term.levels)
        if not width:
            return labels
        steps: list[Map] = [Select(range(width))] if count else []
        steps += [Warp(width)] if self._warped else []
        numbers = Stationary(self._form, Chain(*steps, _scale(width, 1, self._lengthscales)))
        return numbers * labels if count else numbers

    def _of_numbers(self, begin: int, end: int) -> list[Indices]:
        """The entries of θ for the numbers from `begin` to `end`: their warps, then their length-scales."""
        places = np.arange(begin, end)
        if begin == end:
            return [places]
        warps = [self._first_warp + places, self._first_warp + self._count + places] if self._warped else []
        match self._lengthscales:
            case "isotropic":
                return [*warps, np.arange(1)]
            case "ard":
                return [*warps, places]
            case _:
                return [*warps, np.arange(1), places + 1]

    def _of_labels(self, begin: int, end: int) -> list[Indices]:
        """The entries of θ for the weights of the labels from `begin` to `end`."""
        first = self._first_label
        return [np.array([first]), np.arange(begin, end) + first + 1] if begin < end else []

    def _active(self, x: Array) -> Mask:
        """Which nodes are on the path of each row of (n, p), as (n, number of nodes)."""
        active = np.asfortranarray(x[:, self._firsts] >= 0.0)
        for place in self._gated:
            active[:, place] = self.terms[place].is_open(x)
        return active

    def _present(self, x: Array) -> Iterator[tuple[_Part, Indices]]:
        """The nodes that some row of (n, p) has, and these rows."""
        active = self._active(x)
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
            value[rows[:, None], rows] += scale * own.value
            present.append((part, rows, own, scale))

        def to_parameters(g: Array) -> Array:
            gradient = np.zeros(len(theta))
            for part, rows, own, scale in present:
                block = scale * g[rows[:, None], rows]
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
                    value[queries[:, None], rows] += scale * k.value
                    met.append((part, queries, rows, k, scale))

            def to_inputs(g: Array) -> Array:
                gradient = np.zeros_like(u)
                for part, queries, rows, k, scale in met:
                    pulled = k.to_inputs(scale * g[queries[:, None], rows])
                    gradient[queries[:, None], part.columns] += pulled
                return gradient

            return Cross(value, to_inputs)

        return cross

    def diagonal(self, theta: Array, u: Array) -> Cross:
        amplitudes = np.array([self._amplitude(part, theta) for part in self._parts])
        # Every k_v has unit variance.
        return Cross(self._active(u) @ amplitudes, lambda _: np.zeros_like(u))

    def features(self, theta: Array, rng: np.random.Generator, count: int, width: int) -> FeatureMap:
        each = max(4, count // len(self._parts))
        maps = {
            id(part): (place, part.kernel.features(theta[part.entries], rng, each, len(part.columns)))
            for place, part in enumerate(self._parts)
        }

        def feature_map(x: Array) -> Features:
            value = np.zeros((len(x), each * len(maps)))
            met: list[tuple[_Part, Indices, int, Features, float]] = []
            for part, rows in self._present(x):
                place, own = maps[id(part)]
                phi = own(part.inputs(x, rows))
                scale = math.sqrt(len(maps) * self._amplitude(part, theta))
                value[rows, place * each : (place + 1) * each] = scale * phi.value
                met.append((part, rows, place * each, phi, scale))

            def to_inputs(g: Array) -> Array:
                gradient = np.zeros_like(x)
                for part, rows, begin, phi, scale in met:
                    pulled = phi.to_inputs(scale * g[rows, begin : begin + each])
                    gradient[rows[:, None], part.columns] += pulled
                return gradient

            return Features(value, to_inputs)

        return feature_map

    def blocks(self, x: Array) -> list[Indices]:
        """Rows that have nodes in common, directly or through others: without a root there are several."""
        active = self._active(x)
        if active.all(axis=0).any():
            return [np.arange(len(x))]
        sparse = csr_array(active.astype(np.int64))
        count, member = connected_components(sparse @ sparse.T, directed=False)
        order = np.argsort(member, kind="stable")
        return np.split(order, np.cumsum(np.bincount(member, minlength=count))[:-1])


def _scale(dim: int, effective: int, lengthscales: Lengthscales) -> Map:
    """A scale for `dim` columns, of which `effective` belong to one node: priors go by the latter."""
    if lengthscales == "hierarchical":
        return HierarchicalScale(dim, effective=effective)
    return Scale(dim, ard=lengthscales == "ard", effective=effective)


def _ends(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Where runs of these sizes begin and end."""
    return list(pairwise(np.cumsum([0, *sizes]).tolist()))
