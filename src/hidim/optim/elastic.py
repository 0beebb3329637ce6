"""Maximise a flat function by walking down from smoother ones (Elastic GP; Rana et al. 2017, Algorithm 2).

What is maximised is one member of a family a(x; l), l ≥ 1: the larger l, the smoother and the less flat. An
ascent that cannot move, because the ground is flat, is lifted to the smallest l at which it can (step 1).
Then l is lowered, each time from where the last ascent ended, since maxima of neighbours are close; where one
leaves an ascent where it is, the ground may be flat again: the step was too long, and is halved (step 2). The
walk ends at l = 1, the member that counts.

    l = longest^(t/K)    t = K, …, 1, 0 and halves of these: so that many starts share few members

All starts advance as one batch, those with the same l in one call. Departures from the paper: steps are
factors and not differences, because what l does to a kernel it does by the factor; a halved step is doubled
again afterwards; evaluations are counted instead of seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np

from hidim._settings import at_least
from hidim._types import Array, Indices, Mask, Rng
from hidim.errors import MethodError
from hidim.optim.base import Maximiser, Objective, Optimum, Score, best_of
from hidim.optim.lbfgs import ascend

#: The members by l; that of 1 counts.
Family: TypeAlias = Callable[[float], Objective]

#: Root mean square of what an ascent has to move the coordinates by, as a share of their ranges, to have
#: moved: "‖x − x*‖ = 0" in floating point.
STILL = 1e-6

#: A slope is flat if all of the range would gain less than this share of the largest score.
FLAT = 1e-5

#: An ascent that gains less than this share is lifted, though it moved: first steps are long, and go far for
#: nothing where the ground is nearly flat. From 1e-4 to .05 it made no difference in 20 and 50 dimensions.
WORTHWHILE = 1e-3

#: Below this, scores are as good as zero: what they are scaled by must not be so small that others overflow.
LEAST = 1e-30

#: What a walk takes: eight levels up, and some calls on each of two or three down.
EACH = 50

#: Calls for the last digits of the best point.
POLISH = 40


class Start(NamedTuple):
    """Points (r, p) to walk from, and the box (r, p) or (p,) of each."""

    points: Array
    lower: Array
    upper: Array


class Walk(NamedTuple):
    """Where walks ended.

    Args:
        points: (r, p); values: (r,), at l = 1; starts: (r, p).
        evaluations: points that were scored, at any l.
        flat: (r,), whether an ascent from the start did not move at all, though it might: on flat ground, or
            at the very top.
        paths: of every walk that led anywhere, the l at which it moved, in order; the last is 1.
    """

    points: Array
    values: Array
    starts: Array
    evaluations: int
    flat: Mask
    paths: list[list[float]]

    @property
    def order(self) -> Indices:
        """Places (r,) of the walks, best first."""
        return np.argsort(-np.nan_to_num(self.values, nan=-np.inf), kind="stable")

    def joined(self, other: Walk) -> Walk:
        """Both, one after the other."""
        return Walk(
            np.vstack([self.points, other.points]),
            np.concatenate([self.values, other.values]),
            np.vstack([self.starts, other.starts]),
            self.evaluations + other.evaluations,
            np.concatenate([self.flat, other.flat]),
            self.paths + other.paths,
        )


@dataclass(frozen=True)
class Elastic(Maximiser):
    """Walks down from smoother members of a family, from as many starts as there are evaluations for.

    Args:
        lanes: starts that advance together; fewer if there are not 50 evaluations for each.
        longest: the largest l.
        step: from one l to the next at first, as a factor; the paper does not say.
        halvings: of a step that leads onto flat ground.
        calls: of a member by each ascent, at most; fewer if the first would take half of the evaluations.
        evaluations: points scored in all.
        seconds: after which no further walk begins, if that is given; suggestions are then no longer the same
            on another machine.
    """

    lanes: int = 20
    longest: float = 100.0
    step: float = 2.0
    halvings: int = 2
    calls: int = 5
    evaluations: int = 2_000
    seconds: float | None = None

    def __post_init__(self) -> None:
        at_least(self, lanes=1, longest=1.0, halvings=0, calls=2, evaluations=1)
        at_least(self, step=1.0)
        if self.step <= 1.0:
            raise MethodError(f"Elastic(step={self.step!r}): step must be above 1")
        if self.seconds is not None:
            at_least(self, seconds=0.0)

    @property
    def abreast(self) -> int:
        """How many starts advance together."""
        return int(np.clip(self.evaluations // EACH, 1, self.lanes))

    def __call__(
        self, objective: Objective, lower: Array, upper: Array, rng: Rng, starts: Array | None = None
    ) -> Optimum:
        """Of a function that is smoother nowhere: it is its own family."""
        return self.over(lambda _: objective, lower, upper, rng, starts)

    def over(
        self, family: Family, lower: Array, upper: Array, rng: Rng, starts: Array | None = None
    ) -> Optimum:
        """The best point found of the member of l = 1; `starts` (s, p) are points worth trying."""
        given = np.empty((0, len(lower))) if starts is None else starts

        def begin(place: int) -> Start:
            own = given[place * self.abreast : (place + 1) * self.abreast]
            drawn = lower + (upper - lower) * rng.random((self.abreast - len(own), len(lower)))
            return Start(np.vstack([own, drawn]), lower, upper)

        walk = self.walks(family, begin)
        return best_of(walk.points, walk.values, walk.evaluations)

    def walks(self, family: Family, begin: Callable[[int], Start]) -> Walk:
        """Walks from `begin(0)`, `begin(1)`, …, as many as evaluations allow, and one at least."""
        family = cache(family)
        until = None
        if self.seconds is not None:
            until = time.monotonic() + self.seconds
        found: Walk | None = None
        while found is None or self._goes_on(found, until):
            start = begin(0 if found is None else len(found.values) // self.abreast)
            left = self.evaluations - (0 if found is None else found.evaluations)
            walk = self.walk(family, start, left)
            found = walk if found is None else found.joined(walk)
        return found

    def walk(self, family: Family, start: Start, evaluations: int) -> Walk:
        """One batch of walks, with so many evaluations in all; the best of them is brought to its top."""
        walk = _Walks(self, family, start, evaluations).walk()
        best = walk.order[:1]
        lower, upper = (np.broadcast_to(edge, walk.points.shape)[best] for edge in (start.lower, start.upper))
        calls = min(evaluations - walk.evaluations, POLISH)
        if calls < 1:
            return walk
        points, values, _, spent = _climbed(family(1.0), walk.points[best], lower, upper, calls)
        walk.points[best], walk.values[best] = points, values
        return walk._replace(evaluations=walk.evaluations + spent)

    def _goes_on(self, found: Walk, until: float | None) -> bool:
        """Whether another batch of walks, as long as those before, fits into what is left."""
        batches = len(found.values) // self.abreast
        left = self.evaluations - found.evaluations
        return left >= found.evaluations / max(batches, 1) and (until is None or time.monotonic() < until)


class _Walks:
    """A batch of walks: where each is, at which t, and how long its next step is."""

    def __init__(self, settings: Elastic, family: Family, start: Start, evaluations: int) -> None:
        self.family, self.longest = cache(family), settings.longest
        self.calls = max(2, min(settings.calls, evaluations // (2 * len(start.points))))
        self.top = math.ceil(math.log(settings.longest) / math.log(settings.step) - 1e-9)
        self.shortest = 0.5**settings.halvings
        self.lower, self.upper = (np.broadcast_to(e, start.points.shape) for e in (start.lower, start.upper))
        self.starts = np.clip(start.points, self.lower, self.upper)
        self.x, self.t = self.starts.copy(), np.zeros(len(self.starts))
        self.paths: list[list[float]] = [[] for _ in self.starts]
        self.spent, self.most = 0, evaluations
        width = self.upper - self.lower
        self.shares = np.where(width > 0.0, 1.0 / np.maximum(width, 1e-300), 0.0)
        self.free = (width > 0.0).sum(axis=1)

    def walk(self) -> Walk:
        everyone = np.arange(len(self.x))
        values, moved, gains = self._ascended(0.0, everyone, self.calls)
        first, flat = self.x.copy(), ~moved & (self.free > 0)
        self._lift(np.flatnonzero(~(moved & (gains > WORTHWHILE)) & (self.free > 0)))
        lifted = np.flatnonzero(self.t > 0.0)
        self._lower()
        if len(lifted):
            # What began at a maximum did not move either, and may have been lifted off a better one.
            again, *_ = self._ascended(0.0, lifted, self.calls)
            better = ~np.isnan(again) & ~(again <= values[lifted])
            values[lifted[better]] = again[better]
            kept = lifted[~better]
            self.x[kept] = first[kept]
            for lane in kept.tolist():
                self.paths[lane] = []
        for path in self.paths:
            path.append(1.0)
        return Walk(self.x, values, self.starts, self.spent, flat, self.paths)

    def _lift(self, still: Indices) -> None:
        """Step 1: raise l until the ascent moves."""
        for t in range(1, self.top + 1):
            if len(still) == 0 or (calls := self._affordable(len(still))) == 0:
                return
            before = self.x[still]
            _, moved, gains = self._ascended(float(t), still, calls)
            moved &= gains > WORTHWHILE
            self.x[still[~moved]] = before[~moved]
            self._note(still[moved], float(t))
            still = still[~moved]

    def _lower(self) -> None:
        """Step 2: lower l, by shorter steps where an ascent does not move."""
        step = np.ones(len(self.x))
        while len(walking := np.flatnonzero(self.t > 0.0)):
            goals = np.maximum(self.t[walking] - step[walking], 0.0)
            t = float(goals.max())
            lanes = walking[goals == t]
            calls = self._affordable(len(lanes))
            if calls == 0:
                break
            _, moved, _ = self._ascended(t, lanes, calls)
            done = moved | (step[lanes] <= self.shortest)
            self._note(lanes[moved], t)
            self.t[lanes[done]] = t
            step[lanes] = np.where(done, np.minimum(2.0 * step[lanes], 1.0), 0.5 * step[lanes])
        self.t[:] = 0.0

    def _note(self, lanes: Indices, t: float) -> None:
        """That these moved at t."""
        self.t[lanes] = t
        if t:
            for lane in lanes.tolist():
                self.paths[lane].append(self._scale(t))

    def _scale(self, t: float) -> float:
        return float(self.longest ** (t / self.top)) if t else 1.0

    def _affordable(self, lanes: int) -> int:
        """Calls of so many lanes, if what the last ascents at l = 1 may take is left over."""
        reserve = len(self.x) * self.calls + POLISH
        return int(np.clip((self.most - self.spent - reserve) // lanes, 0, self.calls))

    def _ascended(self, t: float, lanes: Indices, calls: int) -> tuple[Array, Mask, Array]:
        """The scores of `lanes` after an ascent at t, which of them moved, and what they gained."""
        before = self.x[lanes]
        points, values, gains, spent = _climbed(
            self.family(self._scale(t)), before, self.lower[lanes], self.upper[lanes], calls
        )
        away = np.nan_to_num((points - before) * self.shares[lanes])
        moved = np.sqrt(np.vecdot(away, away) / np.maximum(self.free[lanes], 1)) > STILL
        self.x[lanes] = points
        self.spent += spent
        return values, moved, gains


def _climbed(
    objective: Objective, starts: Array, lower: Array, upper: Array, calls: int
) -> tuple[Array, Array, Array, int]:
    """Ascents that stop where the ground is flat, by the size of the scores there if that is below one.

    Returns:
        points (r, p), scores (r,), gains (r,) in that size, number of points scored.
    """
    unit: list[float] = []
    first: list[Array] = []

    def sized(u: Array) -> Score:
        score = objective(u)
        if not unit:
            size = float(np.max(np.abs(score.value), where=np.isfinite(score.value), initial=0.0))
            unit.append(max(min(size, 1.0), LEAST))
            first.append(score.value / unit[0])
        return Score(score.value / unit[0], lambda g: score.to_inputs(g / unit[0]))

    points, values, spent = ascend(sized, starts, lower, upper, max_calls=calls, tolerance=FLAT)
    gains = np.subtract(values, first[0], out=np.zeros_like(values), where=np.isfinite(first[0]))
    return points, values * unit[0], gains, spent
