"""A hyperparameter: its name, size, range, start and prior in one field.

Values are kept in the coordinates in which they are fitted, natural logarithms for positive quantities,
so that a model's hyperparameters are one flat vector θ without further transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hidim._types import Array
from hidim.gp.densities import Density, Improper


@dataclass(frozen=True)
class Hyperparameter:
    """`size` numbers that share one range and prior, and start at one number, or each at its own.

    Where the likelihood is known to have two peaks, fits from scratch start at `also`, too.
    """

    name: str
    size: int
    start: float | tuple[float, ...]
    low: float
    high: float
    prior: Density = field(default_factory=Improper)
    also: float | None = None


def total(parameters: Iterable[Hyperparameter]) -> int:
    return sum(p.size for p in parameters)


def starts(parameters: Iterable[Hyperparameter]) -> Array:
    """The start of every coordinate of θ."""
    return np.concatenate([np.broadcast_to(p.start, p.size) for p in parameters] or [np.empty(0)])


def other_starts(parameters: Sequence[Hyperparameter]) -> list[Array]:
    """For each name of those that have another start: θ with them there, and the rest at its start."""
    names = dict.fromkeys(p.name for p in parameters if p.also is not None)
    return [
        starts(p if p.also is None or p.name != name else replace(p, start=p.also) for p in parameters)
        for name in names
    ]


def bounds(parameters: Iterable[Hyperparameter]) -> tuple[Array, Array]:
    """Lower and upper bounds of θ."""
    listed = list(parameters)
    low = [np.full(p.size, p.low) for p in listed] or [np.empty(0)]
    high = [np.full(p.size, p.high) for p in listed] or [np.empty(0)]
    return np.concatenate(low), np.concatenate(high)


def log_prior(parameters: Sequence[Hyperparameter], theta: Array) -> tuple[float, Array]:
    """Sum of the log densities of all priors at θ, and its gradient."""
    gradient = np.empty_like(theta)
    value, begin = 0.0, 0
    for p in parameters:
        end = begin + p.size
        density, gradient[begin:end] = p.prior(theta[begin:end])
        value += density
        begin = end
    return value, gradient


def remembered_log_prior(parameters: Sequence[Hyperparameter]) -> Callable[[Array], float]:
    """`log_prior` without its gradient, for samplers, which change one parameter at a time."""
    ends = np.cumsum([p.size for p in parameters]).tolist()
    pieces = [(p.prior, slice(end - p.size, end)) for p, end in zip(parameters, ends, strict=True)]
    known: list[tuple[bytes, float]] = [(b"", 0.0)] * len(pieces)

    def value(theta: Array) -> float:
        for place, (prior, part) in enumerate(pieces):
            key = theta[part].tobytes()
            if known[place][0] != key:
                known[place] = key, prior(theta[part])[0]
        return sum(density for _, density in known)

    return value
