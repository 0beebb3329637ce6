"""What a frame is: where a method looks.

A frame turns a task and its history into a *scene*: coordinates in which points are searched, the trials as
points in these coordinates, and the way back from points that were found to configurations.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hidim._types import Array, Indices, Mask, Rng
from hidim.embed import Embedding
from hidim.embed.base import Moved
from hidim.frame.observe import Observations
from hidim.optim.starts import latin_hypercube
from hidim.space import Space
from hidim.space.columns import Kind
from hidim.space.nodes import Branch
from hidim.space.tree import Vertex
from hidim.task import Task
from hidim.trial import History

#: Little is known before there are so many trials for every column, or so many in all: main effects wait, and
#: searches look everywhere. With 5 for each, regrets after 200 trials were higher by a fifth, with 1 by a
#: tenth: geometric means of 16 functions in 10 to 100 dimensions, two runs each, on which this was chosen.
#: Without any wait Rosenbrock's function in 20 dimensions was at 1,000 to 6,000 after 50 trials, not 400.
EACH, ENOUGH = 2, 60


@dataclass(frozen=True, eq=False)
class Ground:
    """The coordinates of a scene: the unit cube of a space, or the box of an embedding in it.

    Args:
        space: of the configurations.
        embedding: if points are those of its box.
        center: a point (d,) around which good ones are expected; inactive coordinates are NaN.
        ball: whether points lie in the ball inside the box. The unit cube then stands for the cube inside
            the ball.
        branch: the only one that has points, if there is one.
    """

    space: Space
    embedding: Embedding | None = None
    center: Array | None = None
    ball: bool = False
    branch: Branch | None = None

    def within(self, branch: Branch) -> Ground:
        """The part of it that takes one option."""
        return replace(self, branch=branch)

    @property
    def dim(self) -> int:
        """d, the number of coordinates."""
        return self.space.dim if self.embedding is None else self.embedding.low

    @cached_property
    def lower(self) -> Array:
        """The lower corner (d,) of the box."""
        return np.full(self.dim, 0.0 if self.embedding is None else -self.embedding.radius)

    @cached_property
    def upper(self) -> Array:
        """The upper corner (d,)."""
        return np.full(self.dim, 1.0 if self.embedding is None else self.embedding.radius)

    @cached_property
    def middle(self) -> Array:
        """The centre (d,): the given one; else that of the box, integers on their levels."""
        middle = 0.5 * (self.lower + self.upper)
        if self.center is not None:
            return np.where(np.isnan(self.center), middle, self.center)
        snapped = self._snapped(middle[None])[0]
        return np.where((self.kind == Kind.INTEGER) & ~np.isnan(snapped), snapped, middle)

    @cached_property
    def half(self) -> float:
        """Half the width of the box, or of the cube inside the ball."""
        half = 0.5 * float(self.upper[0] - self.lower[0]) if self.dim else 0.5
        return half / math.sqrt(max(int(self.round.sum()), 1)) if self.ball else half

    @cached_property
    def round(self) -> Mask:
        """The coordinates (d,) that the ball bounds: those of real numbers."""
        return np.asarray(self.kind == Kind.CONTINUOUS)

    def reach(self, columns: Indices) -> float:
        """The farthest that a point can be from the centre in these columns, in units of `half`."""
        farthest = np.maximum(self.upper - self.middle, self.middle - self.lower) / self.half
        if self.ball:
            farthest = np.where(self.round, 1.0, farthest)
        return float(np.linalg.norm(farthest[columns]))

    @cached_property
    def kind(self) -> NDArray[np.int8]:
        """What each coordinate is (d,), codes of `Kind`."""
        return self.space.columns.kind if self.embedding is None else np.full(self.dim, Kind.CONTINUOUS)

    @cached_property
    def levels(self) -> Array:
        """The number of values of each coordinate (d,), inf where continuous."""
        return self.space.columns.levels if self.embedding is None else np.full(self.dim, np.inf)

    @property
    def vertices(self) -> tuple[Vertex, ...]:
        """The parameters to which single coordinates belong; none for an embedding."""
        return tuple(v for v in self.space.vertices if v.parameter.width) if self.embedding is None else ()

    @cached_property
    def is_continuous(self) -> bool:
        return bool(np.all(self.kind == Kind.CONTINUOUS))

    @cached_property
    def varies_continuously(self) -> bool:
        """Whether all columns that vary hold real numbers."""
        return bool(np.all((self.kind == Kind.CONTINUOUS) | (self.levels == 1)))

    @property
    def fills_box(self) -> bool:
        """Whether every point of the box has a configuration of its own, but for discrete parameters."""
        return not self.ball if self.embedding is None else self.embedding.fills_box

    def is_unknown(self, trials: int) -> bool:
        """Whether so few trials say little of it."""
        return trials < min(EACH * self.dim, ENOUGH)

    def snap(self, points: Array) -> Array:
        """Points (n, d) moved to where points with a configuration of their own are; NaN where inactive."""
        return self.settle(points).value if self.ball else self._snapped(points)

    def _snapped(self, points: Array) -> Array:
        if self.embedding is None:
            return self.space.snap(self._entered(points))
        return self.embedding.settle(np.clip(points, self.lower, self.upper)).value

    def _entered(self, points: Array) -> Array:
        return points if self.branch is None else self.branch.entered(points)

    def settle(self, points: Array) -> Moved:
        """The same, with the pullback of a gradient; inactive and discrete coordinates have none."""
        if self.embedding is not None:
            return self.embedding.settle(points)
        drawn = self._drawn_in(points) if self.ball else Moved(points, lambda g: g)
        snapped = self.space.snap(self._entered(drawn.value))
        moving = (self.kind == Kind.CONTINUOUS) & ~np.isnan(snapped)
        return Moved(snapped, lambda g: drawn.to_inputs(np.where(moving, g, 0.0)))

    def _drawn_in(self, points: Array) -> Moved:
        """Points (n, d) outside the ball drawn to its surface, along the radius."""
        away = np.where(self.round & ~np.isnan(points), points - self.middle, 0.0)
        radius = np.sqrt(np.vecdot(away, away))[:, None]
        outside = radius > 0.5
        factor = np.where(outside, 0.5 / np.maximum(radius, 1e-300), 1.0)
        unit = np.where(outside, away / np.maximum(radius, 1e-300), 0.0)

        def to_inputs(g: Array) -> Array:
            inside = np.where(self.round, g, 0.0)
            drawn = factor * (inside - np.vecdot(inside, unit)[:, None] * unit)
            return np.where(self.round, drawn, g)

        return Moved(np.where(self.round, self.middle + factor * away, points), to_inputs)

    def to_unit(self, points: Array) -> Array:
        """Points (n, d) in the unit cube."""
        if self.embedding is not None:
            return (points - self.lower) / (self.upper - self.lower)
        return np.where(self.round, 0.5 + (points - 0.5) * (0.5 / self.half), points) if self.ball else points

    def from_unit(self, unit: Array) -> Array:
        """Points (n, d) of the unit cube in the box."""
        if self.embedding is not None:
            return self.lower + (self.upper - self.lower) * unit
        return np.where(self.round, 0.5 + (unit - 0.5) * (self.half / 0.5), unit) if self.ball else unit

    def sample(self, rng: Rng, n: int) -> Array:
        """Random points (n, d)."""
        if self.embedding is not None:
            return self.embedding.sample(rng, n)
        return self.from_unit(rng.random((n, self.dim)))


@dataclass(frozen=True, eq=False)
class Scene:
    """What a frame shows for the next suggestion.

    Args:
        task: what is being optimised.
        history: all trials.
        ground: the coordinates of points.
        trials: those of the history that are points of the ground.
        asked: how many suggestions came before this one, by the frame's own count.
        seen: `trials` as points of the ground.
        key: what tells the scenes of a history apart.
        spare: scattered points (k, d), drawn for this suggestion, if the frame draws any.
        embedding: by which points of the ground stand for configurations, if they do not by themselves.
        to_low: points of the ground (n, d) to y (n, d), which the embedding takes.
        meta: what a suggestion that is made here has to remember of it.
        awaits_center: whether a centre was given that nobody has tried yet.
        scattered: whether the design is scattered all over, and does not begin with the centre.
        to_cube: points of the ground (n, d) to those of the unit cube, if these are others.
        is_apart: whether it knows of some trials only, and has a model of its own.
    """

    task: Task
    history: History
    ground: Ground
    trials: History
    asked: int
    seen: Observations
    key: Hashable
    spare: Array
    embedding: Embedding | None = None
    to_low: Callable[[Array], Array] = lambda y: y
    meta: dict[str, Any] = field(default_factory=dict)
    awaits_center: bool = False
    scattered: bool = False
    to_cube: Callable[[Array], Array] | None = None
    is_apart: bool = False

    @cached_property
    def improvable(self) -> Mask | None:
        """Which of the observations (n,) count as what is to be improved on, if not all do."""
        branch = self.ground.branch
        inside = None if branch is None else branch.holds(self.seen.x)
        return inside if inside is not None and inside.any() else None


class Frame(ABC):
    """Where a method looks."""

    #: Whether points of its scenes stand for configurations by an embedding.
    embeds: ClassVar[bool]

    #: Whether its scenes are several, and know nothing of each other.
    several: ClassVar[bool]

    @property
    @abstractmethod
    def needs(self) -> frozenset[str]:
        """What it needs of the prior: "center" if it moves one, which others would not notice."""

    @abstractmethod
    def scene(self, task: Task, history: History, number: int, rng: Rng) -> Scene:
        """What is shown for the suggestion of trial `number`."""

    @abstractmethod
    def scenes(self, task: Task, history: History) -> list[Scene]:
        """Every scene, as it is after the last trial."""


def design(scene: Scene, size: int) -> Array:
    """Points (k, d) of the ground to begin with, the first to be taken.

    What the frame has scattered; or point `scene.asked` of a design: the centre first, then Latin hypercubes
    of `size` points; or, if it is to be scattered all over, a point at random.
    """
    ground, number = scene.ground, scene.asked
    if len(scene.spare):
        return scene.spare
    if scene.awaits_center or (number == 0 and not scene.scattered):
        return ground.snap(ground.middle[None])
    if scene.scattered:
        return ground.snap(ground.sample(np.random.default_rng([scene.task.seed, number, size]), 1))
    block, index = divmod(number - 1, size)
    hypercube = latin_hypercube(ground.dim, size, np.random.default_rng([scene.task.seed, block, size]))
    return ground.snap(ground.from_unit(hypercube[index : index + 1]))
