"""What a frame is: where a method looks.

A frame turns a task and its history into a *scene*: coordinates in which points are searched, the trials as
points in these coordinates, and the way back from points that were found to configurations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hidim._types import Array, Rng
from hidim.embed import Embedding
from hidim.embed.base import Moved
from hidim.frame.observe import Observations
from hidim.optim.starts import latin_hypercube
from hidim.space import Space
from hidim.space.columns import Kind
from hidim.space.tree import Vertex
from hidim.task import Task
from hidim.trial import History


@dataclass(frozen=True, eq=False)
class Ground:
    """The coordinates of a scene: the unit cube of a space, or the box of an embedding in it.

    Args:
        space: of the configurations.
        embedding: if points are those of its box.
    """

    space: Space
    embedding: Embedding | None = None

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
        return self.space.vertices if self.embedding is None else ()

    @cached_property
    def is_continuous(self) -> bool:
        return bool(np.all(self.kind == Kind.CONTINUOUS))

    @property
    def fills_box(self) -> bool:
        """Whether every point of the box has a configuration of its own, but for discrete parameters."""
        return self.embedding is None or self.embedding.fills_box

    def snap(self, points: Array) -> Array:
        """Points (n, d) moved to where points with a configuration of their own are; NaN where inactive."""
        if self.embedding is None:
            return self.space.snap(points)
        return self.embedding.settle(np.clip(points, self.lower, self.upper)).value

    def settle(self, points: Array) -> Moved:
        """The same, with the pullback of a gradient; inactive and discrete coordinates have none."""
        if self.embedding is not None:
            return self.embedding.settle(points)
        snapped = self.space.snap(points)
        moving = (self.kind == Kind.CONTINUOUS) & ~np.isnan(snapped)
        return Moved(snapped, lambda g: np.where(moving, g, 0.0))

    def to_unit(self, points: Array) -> Array:
        """Points (n, d) in the unit cube."""
        return points if self.embedding is None else (points - self.lower) / (self.upper - self.lower)

    def from_unit(self, unit: Array) -> Array:
        """Points (n, d) of the unit cube in the box."""
        return unit if self.embedding is None else self.lower + (self.upper - self.lower) * unit

    def sample(self, rng: Rng, n: int) -> Array:
        """Random points (n, d)."""
        return rng.random((n, self.dim)) if self.embedding is None else self.embedding.sample(rng, n)


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


class Frame(ABC):
    """Where a method looks."""

    #: Whether points of its scenes stand for configurations by an embedding.
    embeds: ClassVar[bool]

    #: Whether its scenes are several, and know nothing of each other.
    several: ClassVar[bool]

    @abstractmethod
    def scene(self, task: Task, history: History, number: int, rng: Rng) -> Scene:
        """What is shown for the suggestion of trial `number`."""

    @abstractmethod
    def scenes(self, task: Task, history: History) -> list[Scene]:
        """Every scene, as it is after the last trial."""


def design(scene: Scene, size: int) -> Array:
    """Points (k, d) of the ground to begin with, the first to be taken.

    What the frame has scattered; or point `scene.asked` of a design: the centre first, then Latin hypercubes
    of `size` points.
    """
    ground, number = scene.ground, scene.asked
    if len(scene.spare):
        return scene.spare
    if number == 0:
        return ground.snap(np.full((1, ground.dim), 0.5))
    block, index = divmod(number - 1, size)
    hypercube = latin_hypercube(ground.dim, size, np.random.default_rng([scene.task.seed, block, size]))
    return ground.snap(hypercube[index : index + 1])
