"""Random and Sobol search, and the design with which model-based methods begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hidim._limits import COLUMNS_WRITTEN_DOWN as LARGEST_TABLE
from hidim._types import Array
from hidim.embed import LazyVector, Uniform
from hidim.methods.base import Method, Observations, Suggestion, Task, observe
from hidim.methods.novelty import Seen
from hidim.optim.starts import latin_hypercube, sobol
from hidim.trial import History


@dataclass(frozen=True)
class Random(Method):
    """Independent uniform configurations: at each choice an option, then its parameters.

    Spaces of any size: vectors that are too long to be written down are lazy.
    """

    name: ClassVar[str] = "random"

    def suggest(self, task: Task, history: History, rng: np.random.Generator) -> Suggestion:
        if task.space.dim > LARGEST_TABLE:
            cube = Uniform(task.space.dim, 1, int(rng.integers(2**32)))
            return Suggestion(task.space.decode(LazyVector(cube, np.ones(1), 0.0, 1.0)), {})
        return unseen(task, observe(task, history), rng.random((1, task.space.dim)), rng, {})


@dataclass(frozen=True)
class Sobol(Method):
    """A scrambled Sobol sequence: fills the space more evenly than random points."""

    name: ClassVar[str] = "sobol"

    def suggest(self, task: Task, history: History, rng: np.random.Generator) -> Suggestion:
        return unseen(task, observe(task, history), sobol_point(task, len(history)), rng, {})


def design(task: Task, history: History, size: int, rng: np.random.Generator, **meta: str) -> Suggestion:
    """The next point of an initial design: the centre first, then Latin hypercubes of `size` points."""
    number = len(history)
    if number == 0:
        point = np.full((1, task.space.dim), 0.5)
    else:
        block, index = divmod(number - 1, size)
        hypercube = latin_hypercube(task.space.dim, size, np.random.default_rng([task.seed, block, size]))
        point = hypercube[index : index + 1]
    return unseen(task, observe(task, history), point, rng, {"way": "design", **meta})


def sobol_point(task: Task, index: int) -> Array:
    """Point `index` of the task's Sobol sequence, as (1, D)."""
    block: Array | None = task.memo.get("sobol")
    if block is None or len(block) <= index:
        block = sobol(task.space.dim, max(16, 2 ** int(index).bit_length()), task.seed)
        task.memo["sobol"] = block
    return block[index : index + 1]


def unseen(
    task: Task,
    seen: Observations,
    points: Array,
    rng: np.random.Generator,
    meta: dict[str, Any],
    *,
    repeat: bool = False,
) -> Suggestion:
    """The first of `points` (k, D) that is no repetition; if all are, another one, and `meta` says so.

    With `repeat`, complete trials may be repeated, as makes sense if their values are noisy.
    """
    space = task.space
    known = Seen(seen.failed if repeat else np.vstack([seen.x, seen.failed]), seen.running)
    snapped = space.snap(points)
    point = known.first_new(snapped)
    if point is None:
        point = known.any_new(space, rng)
        meta = {**meta, "instead": "random" if point is not None else "repetition"}
    return Suggestion(space.decode(snapped[0] if point is None else point), meta)
