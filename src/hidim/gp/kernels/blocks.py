"""Which rows have covariance with which: a factor of independent blocks costs the sum of their cubes."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hidim._types import Array, Indices
from hidim.gp.kernels.algebra import Scaled
from hidim.gp.kernels.base import Kernel
from hidim.gp.kernels.groups import Groups


@singledispatch
def blocks(kernel: Kernel, x: Array) -> list[Indices]:
    """Rows of (n, p) in groups that have no covariance with each other, each in ascending order."""
    return [np.arange(len(x))]


@blocks.register
def _(kernel: Scaled, x: Array) -> list[Indices]:
    return blocks(kernel.inner, x)


@blocks.register
def _(kernel: Groups, x: Array) -> list[Indices]:
    """Rows that have groups in common, directly or through others: without a common one there are several."""
    active = kernel.active(x)
    if active.all(axis=0).any():
        return [np.arange(len(x))]
    sparse = csr_array(active.astype(np.int64))
    count, member = connected_components(sparse @ sparse.T, directed=False)
    order = np.argsort(member, kind="stable")
    return np.split(order, np.cumsum(np.bincount(member, minlength=count))[:-1])
