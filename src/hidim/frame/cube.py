"""The space itself: points are configurations in the unit cube."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np

from hidim._limits import COLUMNS_OF_CUBE
from hidim._settings import of_type, one_of
from hidim._types import Array, Rng
from hidim.errors import HidimError, MethodError
from hidim.frame.base import Frame, Ground, Scene
from hidim.frame.novelty import Seen
from hidim.frame.observe import Observations, observe
from hidim.task import Task
from hidim.trial import History

Region = Literal["box", "ball"]

#: A configuration as parts keep it: hashable pairs of a name and a value, in which vectors are tuples.
Pairs = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Cube(Frame):
    """All of the space, in its own coordinates.

    Args:
        center: around which good settings are expected: a configuration, which is tried first; "best", the
            one with the best value so far; None, the centre of the space. Priors that know of no centre only
            try it first.
        region: "box", all of it; or "ball", the ball inside the box, for real numbers. BOCK's ball around
            [−1, 1]^D is that of Vector(D, −√D, √D): objectives that allow for it get wider bounds.
        scattered: whether the first trials are scattered all over, and do not begin with the centre. Test
            functions often have their optimum there, and then nothing is tested.
    """

    embeds: ClassVar[bool] = False
    several: ClassVar[bool] = False

    center: Mapping[str, Any] | Pairs | Literal["best"] | None = None
    region: Region = "box"
    scattered: bool = False

    def __post_init__(self) -> None:
        one_of(self, region=get_args(Region))
        of_type(self, scattered=bool)
        if self.center is not None and not self.moves:
            object.__setattr__(self, "center", _pairs(self.center))
        if self.center is not None and self.region == "ball":
            raise MethodError("region='ball' has a centre of its own, that of the space: use region='box'")

    @property
    def moves(self) -> bool:
        """Whether the centre goes where the best trial is."""
        return isinstance(self.center, str) and self.center == "best"

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"center"} if self.moves else ())

    def scene(self, task: Task, history: History, number: int, rng: Rng) -> Scene:
        return self._scene(task, history, number)

    def scenes(self, task: Task, history: History) -> list[Scene]:
        return [self._scene(task, history, len(history))]

    def _scene(self, task: Task, history: History, number: int) -> Scene:
        if task.space.dim > COLUMNS_OF_CUBE:
            raise MethodError(
                f"the space has {task.space.dim} columns, and without an embedding methods with a model are "
                f"for at most {COLUMNS_OF_CUBE}: use method='baxus', or 'auto', which does"
            )
        seen = observe(task, history)
        none, center = np.empty((0, task.space.dim)), self._center(task, seen)
        ground = Ground(task.space, center=center, ball=self.region == "ball")
        given = center is not None and not self.moves
        awaits = given and Seen.of(seen).first_new(np.asarray(center)[None]) is not None
        return Scene(
            task,
            history,
            ground,
            history,
            number,
            seen,
            "cube",
            none,
            awaits_center=awaits,
            scattered=self.scattered,
        )

    def _center(self, task: Task, seen: Observations) -> Array | None:
        if self.center is None:
            return None
        if self.moves:
            return seen.x[int(np.argmin(seen.y))] if len(seen.y) else None
        known: Array | None = task.memo.get(self, "center")
        if known is None:
            params = {name: _value(value) for name, value in cast(Pairs, self.center)}
            try:
                valid = task.space.validate(params)
            except HidimError as error:
                raise MethodError(f"center: {error}") from error
            known = task.memo.keep(self, "center", task.space.encode(valid))
        return known


def _pairs(center: Any) -> Pairs:
    """A configuration that can be hashed and saved."""
    if isinstance(center, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in center):
        center = dict(center)
    if not isinstance(center, Mapping) or not center:
        raise MethodError(
            f"center={center!r}: a configuration, as {{'x': 0.5}}, or 'best' for the best one so far"
        )
    return tuple((str(name), _hashable(name, value)) for name, value in center.items())


def _hashable(name: str, value: Any) -> Any:
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    if isinstance(plain, list | tuple | range) and all(isinstance(x, int | float | np.number) for x in plain):
        return tuple(map(float, plain))
    raise MethodError(f"center: {name!r} is to be a number, a label or a vector of numbers, not {value!r}")


def _value(value: Any) -> Any:
    return np.array(value) if isinstance(value, tuple) else value
