"""The papers' test functions as formulas on their own boxes.

A `Landscape` is a formula, its box, one minimiser in that box and the value there. Everything is minimised:
functions that a paper maximises are negated. Formulas take one point `x` of shape (d,).

References:
    REMBO: Branin, embedded. BOCK: repeated Branin and Hartmann6, Rosenbrock, Levy. RPP-GP-UCB: the
    three-modal additive function. Elastic GP: Hartmann6, the correlated Gaussian, Rosenbrock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import e, exp, log, pi, sin, sqrt

import numpy as np

from hidim._types import Array


@dataclass(frozen=True)
class Landscape:
    """A formula to be minimised over the box [low, high], with its known minimum.

    Args:
        formula: maps a point of shape (d,) of the box to a value.
        low, high: the box, both of shape (d,).
        minimiser: one point of shape (d,) where the minimum is reached.
        optimum: the value there.
    """

    formula: Callable[[Array], float]
    low: Array
    high: Array
    minimiser: Array
    optimum: float

    @property
    def dim(self) -> int:
        return len(self.low)


_BRANIN_MINIMISER = np.array([pi, 2.275])
_BRANIN_OPTIMUM = 10 / (8 * pi)


def branin(_: int = 2) -> Landscape:
    """Branin on [-5, 10] × [0, 15]; minimum 10/8π = 0.397887 at (π, 2.275) and two other points."""
    return repeated_branin(2)


def repeated_branin(dim: int) -> Landscape:
    """BOCK eq. 18: the mean of ⌊D/2⌋ Branins over consecutive pairs of coordinates."""

    def formula(x: Array) -> float:
        a, b = x[0::2], x[1::2]
        valley = b - 5.1 / (4 * pi**2) * a * a + 5 / pi * a - 6
        return float((valley * valley + 10 * (1 - 1 / (8 * pi)) * np.cos(a)).mean() + 10)

    low, high = (np.tile(side, dim // 2) for side in ([-5.0, 0.0], [10.0, 15.0]))
    return Landscape(formula, low, high, np.tile(_BRANIN_MINIMISER, dim // 2), _BRANIN_OPTIMUM)


_HARTMANN_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_A = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
_HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
# Solved to 40 digits from the published 6-digit minimiser, so that regrets of 1e-12 still mean something.
_HARTMANN_MINIMISER = np.array(
    [
        0.20168951100670542,
        0.15001069182345797,
        0.47687397422189699,
        0.27533243049405607,
        0.31165161660011324,
        0.65730053406562031,
    ]
)
_HARTMANN_OPTIMUM = -3.3223680114155148


def hartmann6(_: int = 6) -> Landscape:
    """Hartmann's six-dimensional function on [0, 1]⁶; minimum -3.32237."""
    return repeated_hartmann6(6)


def repeated_hartmann6(dim: int) -> Landscape:
    """BOCK eq. 19: the mean of ⌊D/6⌋ Hartmann6 functions over consecutive sixes of coordinates."""
    repeats = dim // 6

    def formula(x: Array) -> float:
        offsets = x.reshape(repeats, 1, 6) - _HARTMANN_P
        wells = np.exp(-(_HARTMANN_A * offsets * offsets).sum(axis=2))
        return float(-(wells @ _HARTMANN_ALPHA).sum() / repeats)

    size = 6 * repeats
    return Landscape(
        formula, np.zeros(size), np.ones(size), np.tile(_HARTMANN_MINIMISER, repeats), _HARTMANN_OPTIMUM
    )


def rosenbrock(dim: int) -> Landscape:
    """Rosenbrock on [-5, 10]^D times 50000 / (8181 (D-1)), BOCK's scaling; the centre's value is 8608.36."""
    scale = 50000 / (8181 * (dim - 1))

    def formula(x: Array) -> float:
        head = x[:-1]
        bend, slope = x[1:] - head * head, head - 1
        return scale * float(100 * (bend @ bend) + slope @ slope)

    return Landscape(formula, np.full(dim, -5.0), np.full(dim, 10.0), np.ones(dim), 0.0)


def levy(dim: int) -> Landscape:
    """Levy on [-10, 10]^D in its standard form (BOCK's eq. 21 has two misprints)."""

    def formula(x: Array) -> float:
        w = 1 + (x - 1) / 4
        gap, last = w[:-1] - 1, float(w[-1])
        waves = np.sin(pi * w[:-1] + 1)
        middle = float((gap * gap) @ (1 + 10 * waves * waves))
        return sin(pi * float(w[0])) ** 2 + middle + (last - 1) ** 2 * (1 + sin(2 * pi * last) ** 2)

    return Landscape(formula, np.full(dim, -10.0), np.full(dim, 10.0), np.ones(dim), 0.0)


def ackley(dim: int) -> Landscape:
    """Ackley on [-32.768, 32.768]^D, minimum 0 at the origin."""

    def formula(x: Array) -> float:
        return 20 + e - 20 * exp(-0.2 * sqrt(float(x @ x) / dim)) - exp(float(np.cos(2 * pi * x).mean()))

    return Landscape(formula, np.full(dim, -32.768), np.full(dim, 32.768), np.zeros(dim), 0.0)


def styblinski(dim: int) -> Landscape:
    """Styblinski–Tang on [-5, 5]^D, by its mean over coordinates: two basins in each, one of them deeper."""
    lowest = -2.9035340277711771

    def formula(x: Array) -> float:
        square = x * x
        return 0.5 * float((square * square - 16.0 * square + 5.0 * x).mean())

    optimum = 0.5 * (lowest**4 - 16.0 * lowest**2 + 5.0 * lowest)
    return Landscape(formula, np.full(dim, -5.0), np.full(dim, 5.0), np.full(dim, lowest), optimum)


def rastrigin(dim: int) -> Landscape:
    """Rastrigin on [-5.12, 5.12]^D, minimum 0 at the origin: ten ripples along every axis of a bowl."""

    def formula(x: Array) -> float:
        return float(10.0 * dim + x @ x - 10.0 * np.cos(2.0 * pi * x).sum())

    return Landscape(formula, np.full(dim, -5.12), np.full(dim, 5.12), np.zeros(dim), 0.0)


def griewank(dim: int) -> Landscape:
    """Griewank on [-600, 600]^D, minimum 0 at the origin: a bowl with fine ripples."""
    roots = np.sqrt(np.arange(1, dim + 1))

    def formula(x: Array) -> float:
        return float(1.0 + x @ x / 4000.0 - np.prod(np.cos(x / roots)))

    return Landscape(formula, np.full(dim, -600.0), np.full(dim, 600.0), np.zeros(dim), 0.0)


def ellipsoid(dim: int) -> Landscape:
    """Σ 10^{4 i/(D-1)} x_i² on [-5, 5]^D, over D: a bowl a hundred times as narrow one way as another."""
    weights = 10.0 ** (4.0 * np.arange(dim) / max(dim - 1, 1)) / dim

    def formula(x: Array) -> float:
        return float(weights @ (x * x))

    return Landscape(formula, np.full(dim, -5.0), np.full(dim, 5.0), np.zeros(dim), 0.0)


def zakharov(dim: int) -> Landscape:
    """Zakharov on [-5, 10]^D, minimum 0 at the origin: all coordinates interact."""
    halves = 0.5 * np.arange(1, dim + 1)

    def formula(x: Array) -> float:
        along = float(halves @ x)
        return float(x @ x) + along**2 + along**4

    return Landscape(formula, np.full(dim, -5.0), np.full(dim, 10.0), np.zeros(dim), 0.0)


def of_few(build: Callable[[int], Landscape], count: int) -> Callable[[int], Landscape]:
    """A landscape of so many coordinates, whatever the dimension of the problem."""
    return lambda _: build(count)


def gaussian(dim: int) -> Landscape:
    """Elastic GP's -exp(-½ xᵀΣ⁻¹x), Σ made of blocks [[1, .9], [.9, 1]].

    On [-1, 1]^D below 50 dimensions and on [-.5, .5]^D from there on, as in the paper (D = 20 and 50).
    """

    def formula(x: Array) -> float:
        a, b = x[0::2], x[1::2]
        return -exp(-0.5 * float(a @ a + b @ b - 1.8 * (a @ b)) / 0.19)

    half = np.full(dim, 1.0 if dim < 50 else 0.5)
    return Landscape(formula, -half, half, np.zeros(dim), -1.0)


def three_modal(dim: int, mix: Array | None = None) -> Landscape:
    """RPP-GP-UCB §5.1, negated: two groups of D/2 coordinates of z = Aᵀx, each a log mixture of three modes.

    On [-1, 1]^D (the paper's [0, 1]^D does not contain the maximum). `mix` is A, of shape (D, D); None is
    the identity, for which the function is additive along the axes. Each group's value is floored at -700.
    """
    size = dim // 2
    starts, tails = np.array([[0.62, -0.38], [0.18, 0.58], [-0.58, -0.56]]), np.array([-0.66, -0.19, 0.62])
    modes = np.hstack([starts, np.repeat(tails[:, None], size - 2, axis=1)])
    variance = 0.01 * size**0.1
    log_weights = np.log([0.1, 0.8, 0.1]) - size / 2 * log(2 * pi * variance)

    def formula(x: Array) -> float:
        z = x if mix is None else x @ mix
        offsets = z.reshape(2, 1, size) - modes
        logs = log_weights - (offsets * offsets).sum(axis=2) / (2 * variance)
        top = logs.max(axis=1)
        groups = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
        return -float(np.maximum(groups, -700).sum())

    peak = np.tile(modes[1], 2)
    minimiser = peak if mix is None else np.linalg.solve(mix.T, peak)
    return Landscape(formula, -np.ones(dim), np.ones(dim), minimiser, -2 * float(log_weights[1]))


def projected(dim: int) -> Landscape:
    """The three-modal function with A = I + S, entries of S uniform within ±1/4 (±1/8 above 50 dimensions).

    The paper does not say what regret is measured against when the maximiser A⁻ᵀv leaves the box, as it does
    in seven of eight draws at D = 50. Here A is drawn again until the maximiser is inside, so regret is
    measured against the true optimum. There is one such A for a dimension.
    """
    rng = np.random.default_rng(dim)
    spread = 0.25 if dim <= 50 else min(0.125, 12.5 / dim)
    while True:
        landscape = three_modal(dim, np.eye(dim) + rng.uniform(-spread, spread, (dim, dim)))
        if np.abs(landscape.minimiser).max() <= 1:
            return landscape
