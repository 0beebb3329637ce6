"""Named benchmark problems: `problem("levy-20-shifted")`.

A name is a family, a dimension and any of the variants below, in any order after the family:
`branin-25`, `branin-rotated-25` and `branin-25-rotated` (the last two are one problem). Everything random
about a problem is drawn from a checksum of its name, so a name means the same function everywhere.

*Shifted*: f(mirror(u - s)), where s moves the minimiser by up to a quarter of the cube along each coordinate
and never out of it; idle coordinates of embedded functions stay idle. *Rotated*: f(mirror(m + R(u - m))), an
orthogonal R about the minimiser m, which therefore stays where it was. Points outside the cube are mirrored
at its walls. So the formulas are only ever evaluated inside their own boxes, and the known optimum stays the
optimum whatever a formula does outside; clipping would do the same, but make flat regions. *Noisy*: what is
observed is the value plus Gaussian noise, whose standard deviation is a tenth of the function's range.
*Turned*: f(c + R(u - c)), a rotation about the centre c as in REMBO, for a formula that has its optimum on
the whole plane. *Crashing*: a half-space of random direction, three tenths of the cube without the minimiser,
has no values. *Walled*: the same, where a single active coordinate decides.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Indices, Rng
from hidim.bench import functions
from hidim.bench.base import BoxProblem, Crash, Problem
from hidim.bench.conditional import DeepTree, Jenatton, shifted_jenatton
from hidim.bench.discrete import discrete_47, switches
from hidim.bench.functions import Landscape, of_few
from hidim.bench.tuning import Network, Pipeline, Training
from hidim.errors import HidimError

VARIANTS = ("shifted", "rotated", "turned", "noisy", "crashing", "walled")
MAX_SHIFT = 0.25
HUGE = 1_000_000
NOISE = 0.1
CRASHING = 0.3


@dataclass(frozen=True)
class Family:
    """A function that exists in many dimensions.

    Args:
        build: makes the landscape for a dimension.
        about: one line for `hidim bench list`.
        least: the smallest dimension.
        even: whether the dimension must be even.
        scattered: the landscape's coordinates are spread at random over the problem's, not the leading ones.
    """

    build: Callable[[int], Landscape]
    about: str
    least: int = 2
    even: bool = False
    scattered: bool = False


FAMILIES = {
    "branin": Family(functions.branin, "REMBO: two active coordinates", scattered=True),
    "hartmann6": Family(functions.hartmann6, "Elastic GP: six active coordinates", least=6, scattered=True),
    "rep-branin": Family(functions.repeated_branin, "BOCK: mean of Branins over pairs"),
    "rep-hartmann6": Family(functions.repeated_hartmann6, "BOCK: mean of Hartmanns over sixes", least=6),
    "rosenbrock": Family(functions.rosenbrock, "BOCK, Elastic GP: curved valley, scaled as in BOCK"),
    "levy": Family(functions.levy, "BOCK: additive, multimodal"),
    "ackley": Family(functions.ackley, "multimodal, optimum at the centre"),
    "styblinski": Family(functions.styblinski, "additive, two basins in every coordinate"),
    "rastrigin": Family(functions.rastrigin, "additive, ten ripples in every coordinate"),
    "griewank": Family(functions.griewank, "a bowl with fine ripples"),
    "ellipsoid": Family(functions.ellipsoid, "a bowl, a hundred times as narrow one way as another"),
    "zakharov": Family(functions.zakharov, "a bowl in which all coordinates interact"),
    "levy10": Family(of_few(functions.levy, 10), "ten active coordinates", least=10, scattered=True),
    "levy20": Family(of_few(functions.levy, 20), "twenty active coordinates", least=20, scattered=True),
    "ackley8": Family(of_few(functions.ackley, 8), "eight active coordinates", least=8, scattered=True),
    "rosenbrock6": Family(of_few(functions.rosenbrock, 6), "six active coordinates", least=6, scattered=True),
    "gaussian": Family(functions.gaussian, "Elastic GP: flat but for one peak", even=True),
    "additive": Family(
        functions.three_modal, "Add-GP-UCB: sum of two three-modal groups", least=4, even=True
    ),
    "rpp": Family(functions.projected, "RPP-GP-UCB: the same behind a linear map", least=4, even=True),
}


class Named(NamedTuple):
    """A problem that is not one of a family: how it is made, and one line for `hidim bench list`."""

    build: Callable[[], Problem]
    about: str


NAMED = {
    "jenatton": Named(Jenatton, "Add-Tree: a conditional tree"),
    "jenatton-shifted": Named(shifted_jenatton, "the same with minimisers off the centres"),
    "tree-56": Named(partial(DeepTree, "tree-56", 3, 4), "Add-Tree: 7 choices and 56 numbers, 12 at a time"),
    "tree-189": Named(partial(DeepTree, "tree-189", 6, 1), "63 choices and 126 numbers, 6 at a time"),
    "training": Named(Training, "an optimiser and its parameters, on which the best rate depends"),
    "pipeline": Named(Pipeline, "a preprocessor and a classifier: the best pair is not that of the best"),
    "network": Named(Network, "two kinds of networks with one to four layers and a common rate"),
    "switches-60": Named(partial(switches, "switches-60", 60), "60 switches, some of them in pairs"),
    "switches-200": Named(partial(switches, "switches-200", 200), "200 switches, some of them in pairs"),
    "discrete-47": Named(discrete_47, "REMBO: 40 binary and 7 categorical parameters, five of which matter"),
}

EXAMPLES = (
    "branin-25",
    "branin-25-rotated",
    "hartmann6-100",
    "rep-branin-20",
    "rep-hartmann6-20-shifted",
    "rosenbrock-20",
    "levy-20-shifted-rotated",
    "ackley-30",
    "gaussian-50",
    "additive-50",
    "rpp-50",
    "hartmann6-6-noisy",
    "jenatton",
    "tree-56",
    "discrete-47",
)


def problem(name: str) -> Problem:
    """The problem of that name.

    Example:
        >>> levy = problem("levy-20-shifted")
        >>> levy.dim, levy.optimum, round(levy.evaluate(levy.minimiser), 12)
        (20, 0.0, 0.0)
    """
    if name in NAMED:
        return NAMED[name].build()
    family, dim, variants = _parse(name)
    return _huge(family, dim) if dim > HUGE else _box(family, dim, variants)


def _parse(name: str) -> tuple[str, int, tuple[str, ...]]:
    words = name.split("-")
    numbers = [word for word in words if re.fullmatch("[1-9][0-9]*", word)]
    family = "-".join(word for word in words if word not in numbers and word not in VARIANTS)
    if family not in FAMILIES or len(numbers) != 1 or len(set(words)) != len(words):
        raise HidimError(
            f"no problem {name!r}: write family-dimension[-variant…] with a family of "
            f"{', '.join(FAMILIES)}, as in 'levy-20-shifted'; or one of {', '.join(NAMED)}"
        )
    dim, needs = int(numbers[0]), FAMILIES[family]
    if dim < needs.least or (needs.even and dim % 2):
        kind = "an even" if needs.even else "a"
        raise HidimError(f"{name!r}: {family} needs {kind} dimension of at least {needs.least}")
    variants = tuple(variant for variant in VARIANTS if variant in words)
    if dim > HUGE and (variants or not needs.scattered):
        raise HidimError(f"{name!r}: beyond {HUGE} dimensions there are plain branin and hartmann6 only")
    if "turned" in variants and family != "branin":
        raise HidimError(f"{name!r}: only branin is turned, whose formula has its optimum on the whole plane")
    return family, dim, variants


def _box(family: str, dim: int, variants: tuple[str, ...]) -> BoxProblem:
    base = f"{family}-{dim}"
    landscape = FAMILIES[family].build(dim)
    active = _active(family, dim, landscape.dim)
    formula, low, width = landscape.formula, landscape.low, landscape.high - landscape.low
    # The minimiser's idle coordinates may be anything. Were they the centre's, a rotation about the minimiser
    # would leave the centre's value close to the optimum and flatter methods that start there.
    minimiser = _generator(base, "idle").random(dim)
    minimiser[active] = (landscape.minimiser - low) / width
    moves: list[Callable[[Array], Array]] = []
    if "shifted" in variants:
        shift = _shift(minimiser, active, _generator(base, "shifted"))
        minimiser = minimiser + shift
        moves.append(lambda u: mirror(u - shift))
    if "turned" in variants:
        turn = _orthogonal(dim, _generator(base, "turned"))
        minimiser = 0.5 + turn.T @ np.where(np.isin(np.arange(dim), active), minimiser - 0.5, 0.0)
        moves.insert(0, lambda u: 0.5 + turn @ (u - 0.5))
    if "rotated" in variants:
        rotation, pivot = _orthogonal(dim, _generator(base, "rotated")), minimiser
        # A point is rotated first and shifted then, so that the rotation is about the shifted minimiser.
        moves.insert(0, lambda u: mirror(pivot + rotation @ (u - pivot)))

    def moved(u: Array) -> float:
        for move in moves:
            u = move(u)
        return formula(low + width * u[active])

    evaluate: Callable[[Array], float] = moved
    noise = NOISE * _range(evaluate, dim, landscape.optimum) if "noisy" in variants else 0.0
    for variant in ("crashing", "walled"):
        if variant in variants:
            rng = _generator(base, variant)
            normal = rng.standard_normal(dim) if variant == "crashing" else np.eye(dim)[rng.choice(active)]
            evaluate = _crashing(evaluate, normal, minimiser)
    return BoxProblem("-".join((base, *variants)), dim, landscape.optimum, evaluate, minimiser, noise)


def _huge(family: str, dim: int) -> BoxProblem:
    """An embedded landscape of which only the active coordinates are ever looked at."""
    landscape = FAMILIES[family].build(dim)
    active = _active(family, dim, landscape.dim)
    low, width = landscape.low, landscape.high - landscape.low

    def evaluate(u: Array) -> float:
        return landscape.formula(low + width * u[active])

    return BoxProblem(f"{family}-{dim}", dim, landscape.optimum, evaluate, np.empty(0))


def active_coordinates(name: str) -> Indices:
    """The coordinates of the cube on which the formula of a problem looks, in its order."""
    family, dim, _ = _parse(name)
    return _active(family, dim, FAMILIES[family].build(dim).dim)


def _active(family: str, dim: int, count: int) -> Indices:
    if not FAMILIES[family].scattered:
        return np.arange(count)
    rng = _generator(f"{family}-{dim}", "active")
    return rng.choice(dim, count, replace=False) if dim > HUGE else rng.permutation(dim)[:count]


def _range(evaluate: Callable[[Array], float], dim: int, optimum: float) -> float:
    """How far values reach above the optimum, by the largest of a thousand random points."""
    points = np.random.default_rng(0).random((1000, dim))
    return max(map(evaluate, points)) - optimum


def _crashing(
    evaluate: Callable[[Array], float], normal: Array, minimiser: Array
) -> Callable[[Array], float]:
    """`evaluate` without values on that side of a plane, three tenths of the cube, which has no minimiser."""
    heights = np.random.default_rng(0).random((10_000, len(normal))) @ normal
    low, high = np.quantile(heights, [CRASHING, 1 - CRASHING])
    above = minimiser @ normal <= high

    def checked(u: Array) -> float:
        height = u @ normal
        if height > high if above else height < low:
            raise Crash("beyond the plane")
        return evaluate(u)

    return checked


def mirror(u: Array) -> Array:
    """Fold every coordinate into [0, 1] by reflection at 0 and 1: -0.2 becomes 0.2, and 1.3 becomes 0.7."""
    return 1 - np.abs(1 - u % 2)


def _shift(minimiser: Array, active: Indices, rng: Rng) -> Array:
    """A shift of the active coordinates that leaves the minimiser in the cube, of shape (dim,)."""
    low, high = np.maximum(minimiser - MAX_SHIFT, 0), np.minimum(minimiser + MAX_SHIFT, 1)
    shift = np.zeros_like(minimiser)
    shift[active] = (rng.uniform(low, high) - minimiser)[active]
    return shift


def _orthogonal(dim: int, rng: Rng) -> Array:
    """A uniformly random orthogonal matrix; the signs are fixed because LAPACKs differ in theirs."""
    q, r = np.linalg.qr(rng.standard_normal((dim, dim)))
    rotation: Array = q * np.sign(np.diag(r))
    return rotation


def _generator(base: str, purpose: str) -> Rng:
    # crc32 because Python's own hash of a string changes from process to process.
    return np.random.default_rng(zlib.crc32(f"{base}/{purpose}".encode()))
