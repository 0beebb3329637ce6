"""Fitting the model for the reader rather than for the search.

The posterior density of the hyperparameters has many peaks, and the one next to the usual start is often a
poor one: the prior ties every column to the others, and a column whose effect has no slope on average (the
best value in mid-range) never feels a pull to leave; and in an optimisation all columns have moved together
with the values. So the fit is tried from three starts,

    tied      the usual one
    picked    columns that explain the losses by a polynomial untied, all others nearly out of the way
    untied    where a climb leads if nothing ties columns, in spaces without conditions

under several transforms of the losses, a few steps each; the most probable is then fitted in full. Transforms
by the logarithm of the gap to the best are left out: they magnify the surroundings of the optimum, which
helps the search, and make everything else look alike.

The probabilities are comparable because the Jacobian of the transform is counted (see `hidim.gp.outcome`).
Where some losses look like penalties, each is tried with the gap before them and without (see
`hidim.insight.penalties`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Indices
from hidim.belief.priors import Flat, MainEffects, Prior, Structure, Tree
from hidim.belief.priors.tree import nodes
from hidim.frame import Ground, Observations
from hidim.gp.fit import fit
from hidim.gp.model import Model
from hidim.gp.outcome import OUTCOMES
from hidim.gp.posterior import Posterior
from hidim.gp.untied import untied
from hidim.insight.penalties import Cut, gap
from hidim.space import Space
from hidim.space.columns import Kind

#: Transforms that are tried.
TRANSFORMS = ("identity", "yeo-johnson(0)", "yeo-johnson(-1)")
#: The most trials that a first look takes.
FIRST_TRIALS = 200
#: Steps of a first look and of the full fit, at least and at most; fewer where each is expensive.
FIRST_STEPS, FULL_STEPS = (12, 50), (30, 150)
#: The most columns that are untied.
MOST_PICKED = 20
#: Log length-scale of columns that are not picked: many times the width of the cube.
FAR = 3.0
#: Log variance of the noise at the start: with less, the first steps bend the length-scales to every wrinkle.
NOISE = math.log(1e-2)
#: Nats for every column that a fit has to be better with which not all of them matter. Where all do, and
#: there are hardly more trials than columns, it was up to .34 better by chance; where two or four of 24 or
#: 100 do, by more than 2.
PRICE = 0.5


class View(NamedTuple):
    """A space as a model sees it.

    Args:
        space: where.
        prior: which makes the model; its length-scales are hierarchical.
        numbers: columns of numbers, in the order in which the model has their length-scales.
        structure: of the model.
        transforms: of the losses that are tried.
        cuts: whether the gap before penalties may be cut out.
    """

    space: Space
    prior: Prior
    numbers: Indices
    structure: Structure = None
    transforms: Sequence[str] = TRANSFORMS
    cuts: bool = True

    def inputs(self, points: Array) -> Array:
        """Points (n, D), NaN where inactive, as the kernel wants them."""
        return self.prior.inputs(Ground(self.space), points)


def plain(space: Space) -> View:
    """All columns in one kernel."""
    numbers = np.flatnonzero(space.columns.kind != Kind.LABEL)
    return View(space, Flat(), numbers)


def branching(space: Space) -> View:
    """A sum of kernels over the nodes of a conditional space.

    Matérn without warps: the smoother kernel over warped numbers, with which the search goes, predicts as
    well, but its intervals miss the truth more often.
    """
    numbers = np.concatenate([term.numbers for term in nodes(space)]).astype(np.intp)
    return View(space, Tree(form="matern", warped=False), numbers)


class Transform(NamedTuple):
    """Of losses, before a model sees them: a cut, if there is one, and the name of an outcome."""

    cut: Cut | None
    outcome: str

    def __call__(self, losses: Array) -> Array:
        return OUTCOMES[self.outcome](self._closer(losses))

    def slopes(self, losses: Array) -> Array:
        """Derivatives (n,) at losses (n,)."""
        slopes = OUTCOMES[self.outcome].slopes(self._closer(losses))
        return slopes if self.cut is None else slopes * self.cut.slopes(losses)

    def variances(self, losses: Array, given: Array) -> Array:
        """Variances (n,) of what becomes of losses (n,), for those given of the losses."""
        if self.cut is not None:
            given = given * self.cut.slopes(losses) ** 2
        return OUTCOMES[self.outcome].variances(self._closer(losses), given)

    def _closer(self, losses: Array) -> Array:
        return losses if self.cut is None else self.cut(losses)


class Start(NamedTuple):
    """Where a fit begins: a transform of the losses and θ, and how well it predicts.

    Args:
        score: the log density of every loss, given all others, less the price of columns that are set apart.
            The log posterior density of θ would do among transforms, but not between a peak at which few
            columns count and one at which all do: with few trials, which follow each other, the former may be
            higher, and wrong.
    """

    transform: Transform
    theta: Array
    score: float


class Fitted(NamedTuple):
    """The posterior of transformed losses, and the gap that was cut out of them, if any."""

    posterior: Posterior
    cut: Cut | None


def fitted(view: View, seen: Observations) -> Fitted:
    """The posterior of the transformed losses under the most probable transform and hyperparameters."""
    model = view.prior.model(Ground(view.space), structure=view.structure)
    few = even(seen, FIRST_TRIALS)
    found = gap(seen.y) if view.cuts else None
    cuts = [None] if found is None else [None, found]
    tried = (Transform(cut, name) for cut in cuts for name in view.transforms)
    best = max((s for transform in tried for s in _tried(view, model, few, transform)), key=lambda s: s.score)
    x, y, variances = _transformed(view, seen, best.transform)
    steps = _affordable(x, 3e9, FULL_STEPS)
    theta = fit(model, x, y, [best.theta], max_evaluations=steps, variances=variances).theta
    return Fitted(Posterior(model, theta, x, y, variances=variances), best.transform.cut)


def even(seen: Observations, most: int) -> Observations:
    """At most so many observations, chosen evenly by the rank of their losses."""
    if len(seen.y) <= most:
        return seen
    ranks = np.linspace(0, len(seen.y) - 1, most).astype(np.intp)
    kept = np.sort(np.argsort(seen.y, kind="stable")[ranks])
    variances = None if seen.variances is None else seen.variances[kept]
    return seen._replace(x=seen.x[kept], y=seen.y[kept], variances=variances)


def _transformed(view: View, seen: Observations, transform: Transform) -> tuple[Array, Array, Array | None]:
    variances = None if seen.variances is None else transform.variances(seen.y, seen.variances)
    return view.inputs(seen.x), transform(seen.y), variances


def _tried(view: View, model: Model, seen: Observations, transform: Transform) -> list[Start]:
    """A first look at one transform, from all starts."""
    x, y, variances = _transformed(view, seen, transform)
    thetas = [_tied(model)]
    if len(view.numbers):
        numbers = plain(view.space).inputs(seen.x)[:, view.numbers]
        thetas.append(_untied(model, picked(numbers, y)))
    jacobian = float(np.sum(np.log(transform.slopes(seen.y))))
    steps = _affordable(x, 4e8, FIRST_STEPS)
    starts = []
    whole = isinstance(view.prior, Flat | MainEffects)
    if whole and len(view.numbers) > 1 and not view.space.is_conditional:
        thetas.append(untied(model, x, y, model.start, (), steps, variances))
    for place, theta in enumerate(thetas):
        found = fit(model, x, y, [theta], max_evaluations=steps, variances=variances).theta
        left_out = Posterior(model, found, x, y, variances=variances).leave_one_out()
        price = PRICE * len(view.numbers) if place > 0 else 0.0
        starts.append(Start(transform, found, jacobian + float(left_out.log_density.sum()) - price))
    return starts


def _affordable(x: Array, operations: float, limits: tuple[int, int]) -> int:
    n, columns = x.shape
    return int(np.clip(operations / (n**2 * (n + columns)), *limits))


def _tied(model: Model) -> Array:
    """The usual θ, with more noise."""
    theta = model.start.copy()
    theta[-1] = NOISE
    return theta


def _untied(model: Model, columns: Indices) -> Array:
    """θ with a length-scale of 1 for these of the numeric columns, and a very long one for the others."""
    theta = _tied(model)
    deviations = np.flatnonzero(model.holds("log_lengthscale_deviation"))
    theta[model.holds("log_lengthscale")] = FAR
    theta[deviations[columns]] = -FAR
    return theta


def picked(x: Array, y: Array) -> Indices:
    """Columns of x (n, p) that together explain y (n,) by polynomials of second degree, one after the other.

    Orthogonal least squares (Chen et al. 1989): take the feature, a column or its square, that explains most
    of what is left, remove its part from all others, and repeat until the best one explains no more than the
    best of 2p idle ones would by chance.

    Example:
        >>> x = np.random.default_rng(0).random((100, 50))
        >>> sorted(picked(x, x[:, 3] + 2 * (x[:, 7] - 0.5) ** 2).tolist())
        [3, 7]
    """
    n = len(y)
    centred = x - x.mean(axis=0)
    features = np.concatenate([centred, centred**2 - np.mean(centred**2, axis=0)], axis=1)
    sizes = np.sum(features**2, axis=0)
    usable = sizes > 1e-9 * n
    left = y - y.mean()
    chance = 2.0 * math.log(2.0 * features.shape[1]) / n
    columns: dict[int, None] = {}
    basis = np.empty((n, 0))
    for _ in range(min(MOST_PICKED, n // 4)):
        gains = np.where(usable, (left @ features) ** 2 / np.where(usable, sizes, 1.0), 0.0)
        feature = int(np.argmax(gains))
        if gains[feature] <= chance * (left @ left) or left @ left < 1e-9 * n:
            break
        columns[feature % x.shape[1]] = None
        new = features[:, feature] - basis @ (basis.T @ features[:, feature])
        new /= np.linalg.norm(new)
        basis = np.column_stack([basis, new])
        left = left - new * (new @ left)
        sizes = sizes - (new @ features) ** 2
        usable &= sizes > 1e-9 * n
    return np.array(list(columns), dtype=np.intp)
