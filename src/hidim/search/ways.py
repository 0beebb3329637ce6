"""Ways to propose the next point, mixed by their own success in the run.

    all   starts everywhere and around the best points; every coordinate is refined, thoroughly if asked
    few   starts around the best points; only the coordinates that a start moved (1 to 20) are refined
    box   one random set of up to 20 coordinates, inside a box around the best point whose length adapts
    terms coordinates of the best points at the best values of their main effects, if the model has any; only
          these are refined
    far   random points, to look elsewhere; never by success

No single way wins everywhere: smooth functions in which every coordinate matters like the first, rugged or
ill-conditioned ones the second, few active coordinates among hundreds the third. Each way is one call of
the same batched ascent and differs only in the starts and in the box of each start. Functions drawn from the
posterior, at points that differ from the best in 20 coordinates, as a further way made things worse: 8 of 30
runs on six functions with few active coordinates were better after 100 trials, 13 after 150.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from hidim._settings import at_least, of_type, one_of
from hidim._types import Array, Indices, Mask, Rng
from hidim.acquisition.base import Belief
from hidim.errors import MethodError
from hidim.frame import Ground
from hidim.frame.success import shares, steps
from hidim.optim.lbfgs import ascend
from hidim.optim.starts import coordinate_masks, perturbed
from hidim.search.base import Found, Search, Situation, Target
from hidim.search.credit import FIRST, MOST_OF_ONE, TERMS, WAYS, box_length, choose_way, improvements
from hidim.search.discrete import jumped
from hidim.search.refine import refined, stepped
from hidim.search.terms import by_effects

#: The share of starts that lie anywhere, by way; the others are around the best points. A third is that of
#: the prototype from which this search comes.
SCATTERED = {"all": 1 / 3, "few": 0.0, "far": 1.0}

#: Where there are but numbers, a thorough "all" starts from close copies of the best point, all of whose
#: coordinates are moved by this share of the range, and from random points for the rest of two thirds of the
#: starts; twice as many are refined, half as long again, to a hundredth of the tolerance. Copies with few
#: coordinates moved would take the places of all others. Regrets of `gp` after 75 and 150 trials were .76 and
#: .79 of those before, with half of the suggestions of this way .92 and .82: geometric means of the functions
#: named in `credit`.
COPIES, CLOSE = 16, 0.025

#: In conditional spaces so many times more of the best points are perturbed, and more starts made and
#: refined, as long as they are not too many numbers, nor too many to be compared with those of all trials:
#: the acquisition function has its maxima near trials of other branches, too (benchmarks/acquisition_gap.py).
KNOWN, WIDER, NUMBERS, COMPARED = 100, 4, 200_000, 50_000_000

#: Batched calls for which scouts climb. Of 64 posteriors in four trees, the maximum was missed twice with 256
#: scouts, and 13 times without any, in three quarters of the time: what is best after a few steps is often
#: not among the best before.
SCOUTING = 4

#: Of suggestions that look elsewhere, the share that starts far from what is known. With it, and gentle
#: transforms, lp_solve's gap fell from 1.25 to .81, .67 and .92 on three seeds.
FAR = 0.5


Credit = Literal["count", "gain", "late-gain"]


#: Whether the way "all" is thorough: always, never, or until there are main effects.
Thorough = bool | Literal["early"]


class Plan(NamedTuple):
    """How points are looked for: the way, the edge of the box of "box", and whether "all" is thorough."""

    way: str
    edge: float
    thorough: bool


class Region(NamedTuple):
    """Starts (r, d), and the coordinates and box in which each may be refined (r, d)."""

    starts: Array
    free: Mask
    lower: Array
    upper: Array

    @classmethod
    def everywhere(cls, starts: Array, ground: Ground) -> Region:
        """Starts (r, d) that may be refined in all coordinates."""
        lower, upper = (np.broadcast_to(edge, starts.shape) for edge in (ground.lower, ground.upper))
        return cls(starts, np.ones(starts.shape, dtype=np.bool_), lower, upper)

    def joined(self, other: Region) -> Region:
        return Region(*(np.vstack(pair) for pair in zip(self, other, strict=True)))

    def at(self, places: Indices) -> Region:
        """Some of the starts."""
        return Region(self.starts[places], self.free[places], self.lower[places], self.upper[places])


@dataclass(frozen=True)
class Ways(Search):
    """Three ways to start an ascent, chosen by their success.

    Numbers of starts are half of the prototype's, for time; the others are the prototype's, of which only
    `few` was measured: refining the moved coordinates alone took Rosenbrock-20 from 357 to 12.

    Args:
        raw: starts that are scored for a suggestion, and four times as many where the search is wide.
        refined: how many of the best are refined, likewise.
        max_calls: batched calls of the acquisition function for the refinement.
        tolerance: gain of the acquisition score below which a refinement stops.
        few: coordinates moved at the most by the ways "few" and "box".
        incumbents: how many of the best points are perturbed, and a hundred times as many there.
        credit: what the shares of the ways go by: "count", of improvements, or "gain", what a way has gained
            with a suggestion; "late-gain" is the latter, but in spaces without conditions by counts until
            there are main effects. By gains from the start, 14 of 48 runs on six functions with 2 to 10 of 60
            to 300 coordinates that matter were better than by counts after 100 trials.
        first: by "count", the share of the way "all" at the least.
        thorough: whether "all" is refined thoroughly, where there are but numbers; "early", until main
            effects have been searched by (the way "terms"), in every window anew. `mixed` gains by it until
            then (benchmarks/results/thorough.md).
        wide: whether more starts lie around more of the best points in conditional spaces.
        scouts: the share of these starts that climb a few steps first; the best of those go on, everywhere.
    """

    raw: int = 384
    refined: int = 4
    max_calls: int = 40
    tolerance: float = 1e-3
    few: int = 20
    incumbents: int = 3
    credit: Credit = "count"
    first: float = FIRST
    thorough: Thorough = True
    wide: bool = True
    scouts: float = 0.0

    def __post_init__(self) -> None:
        one_of(self, credit=get_args(Credit))
        at_least(
            self, raw=3, refined=1, max_calls=1, tolerance=0.0, few=1, incumbents=1, first=0.0, scouts=0.0
        )
        of_type(self, wide=bool)
        if not (isinstance(self.thorough, bool) or self.thorough == "early"):
            raise MethodError(f"Ways(thorough={self.thorough!r}): thorough is True, False or 'early'")
        if self.first > MOST_OF_ONE:
            raise MethodError(f"Ways(first={self.first!r}): a share of at most {MOST_OF_ONE}")
        if self.scouts > 1.0:
            raise MethodError(f"Ways(scouts={self.scouts!r}): a share of at most 1")

    def __call__(self, target: Target, situation: Situation, rng: Rng) -> Found:
        plan = self.chosen(situation, target.belief, rng)
        best = self.known(situation)
        return Found(self.points(plan, target, situation.scene.ground, best, rng), plan.way)

    def known(self, situation: Situation) -> Array:
        """The best points (c, d), around which starts lie."""
        times = KNOWN if self._is_wide(situation.scene.ground) else 1
        return situation.ranked[: times * self.incumbents]

    def chosen(self, situation: Situation, belief: Belief, rng: Rng) -> Plan:
        """How the next point is looked for; it is early until main effects are first used in the scene."""
        scene, ways = situation.scene, (*WAYS, TERMS) if belief.has_effects else WAYS
        past = improvements(scene.trials, maximize=scene.task.maximize)
        found = steps(scene.trials, "way", maximize=scene.task.maximize)
        early = TERMS not in ways and all(step.which != TERMS for step in found)
        counted = self.credit == "late-gain" and early and not scene.ground.space.is_conditional
        if situation.elsewhere and rng.random() < FAR:
            way = "far"
        elif self.credit == "count" or counted:
            way = choose_way(past, rng, ways, self.first)
        else:
            known = [step._replace(which=ways.index(step.which)) for step in found if step.which in ways]
            way = ways[int(rng.choice(len(ways), p=shares(known, len(ways))))]
        asked = early if self.thorough == "early" else self.thorough
        return Plan(way, box_length(past), asked and way == "all" and scene.ground.varies_continuously)

    def points(
        self,
        plan: Plan,
        target: Target,
        ground: Ground,
        best: Array,
        rng: Rng,
        promising: Array | None = None,
    ) -> Array:
        """Points (k, d) on their levels: the refined ones, best first, then all starts, best first.

        Args:
            best: (c, d), the best points so far, best first; inactive columns NaN.
            promising: (s, d), starts besides those of the way; all of their coordinates are refined.
        """
        if plan.way == TERMS:
            region = self._terms(target.belief, ground, best, rng)
        else:
            region = self._region(plan, target.belief, ground, best, rng)
        if promising is not None:
            region = region.joined(Region.everywhere(promising, ground))
        starts = region.starts
        ranking = np.argsort(-target.scores(starts), kind="stable")
        count, calls, tolerance = self.refined, self.max_calls, self.tolerance
        if plan.thorough:
            count, calls, tolerance = 2 * count, 3 * calls // 2, 0.01 * tolerance
        elif self._is_wide(ground):
            count = WIDER * count
        region = region.at(ranking[: max(count, self._scouts(ground, len(starts)))])
        if len(region.starts) > count:
            found = refined(ascend, target, ground, *region, SCOUTING, tolerance)
            region = Region.everywhere(found[:count], ground)
        ranked = refined(ascend, target, ground, *region, calls, tolerance)
        if plan.way != "far" and not ground.is_continuous:
            ranked = stepped(target, ground, ranked, rng)
        rest = starts[ranking] if promising is None else ground.snap(starts[ranking])
        return np.vstack([ranked, rest])

    def _is_wide(self, ground: Ground) -> bool:
        return self.wide and ground.embedding is None and ground.space.is_conditional

    def _scouts(self, ground: Ground, starts: int) -> int:
        """How many of the best starts climb a few steps before the best of them go on."""
        return int(self.scouts * starts) if self._is_wide(ground) else 0

    def _count(self, ground: Ground, trials: int) -> int:
        """Of starts."""
        if not self._is_wide(ground):
            return self.raw
        most = min(NUMBERS, COMPARED // max(trials, 1)) // ground.dim
        return min(WIDER * self.raw, max(most, self.raw))

    def _terms(self, belief: Belief, ground: Ground, best: Array, rng: Rng) -> Region:
        starts, moved = by_effects(belief, best[: self.incumbents], rng)
        edges = (np.broadcast_to(edge, starts.shape) for edge in (ground.lower, ground.upper))
        region = Region(ground.snap(starts), moved, *edges)
        if ground.varies_continuously:
            return region
        # Where all of these have been tried, neighbours are left.
        near = self._region(Plan("few", 1.0, False), belief, ground, best, rng)
        return region.joined(near)

    def _region(self, plan: Plan, belief: Belief, ground: Ground, best: Array, rng: Rng) -> Region:
        unit, count = ground.to_unit(best), self._count(ground, len(belief.x))
        if plan.way == "box":
            region = self._box(ground, unit[0], plan.edge, count, rng)
        elif plan.thorough:
            near = unit[0] + CLOSE * rng.standard_normal((COPIES, ground.dim)) * (ground.levels > 1)
            anywhere = rng.random((2 * self.raw // 3, ground.dim))
            starts = np.vstack([np.clip(near, 0.0, 1.0), anywhere])
            free = np.ones(starts.shape, dtype=np.bool_)
            region = Region(starts, free, np.zeros(free.shape), np.ones(free.shape))
        else:
            scattered = rng.random((int(SCATTERED[plan.way] * count), ground.dim))
            count -= len(scattered)
            near, moved = perturbed(rng, unit, count, most=self.few, movable=ground.levels > 1)
            starts = np.vstack([scattered, jumped(ground, near, moved, rng)])
            free = moved if plan.way == "few" else np.ones(starts.shape, dtype=np.bool_)
            region = Region(starts, free, np.zeros(free.shape), np.ones(free.shape))
        starts, lower, upper = map(ground.from_unit, (region.starts, region.lower, region.upper))
        return Region(ground.snap(starts), region.free, lower, upper)

    def _box(self, ground: Ground, centre: Array, length: float, count: int, rng: Rng) -> Region:
        shape = (count, ground.dim)
        missing = np.isnan(centre)
        allowed = ~missing & (ground.levels > 1)
        chosen = coordinate_masks(rng, allowed[None], np.array([min(self.few, allowed.sum())]))
        lower = np.where(missing, 0.0, np.maximum(centre - 0.5 * length, 0.0))
        upper = np.where(missing, 1.0, np.minimum(centre + 0.5 * length, 1.0))
        # From one of the chosen coordinates to all of them, log-uniformly.
        share = np.exp(rng.uniform(-math.log(max(chosen.sum(), 1)), 0.0, size=(shape[0], 1)))
        moved = (chosen & (rng.random(shape) < share)) | missing
        starts = np.where(moved, lower + (upper - lower) * rng.random(shape), centre)
        boxes = (np.broadcast_to(edge, shape) for edge in (chosen[0] | missing, lower, upper))
        return Region(jumped(ground, starts, moved, rng), *boxes)
