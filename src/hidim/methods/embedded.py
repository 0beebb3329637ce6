"""What methods that search through an embedding have in common.

A suggestion remembers the low-dimensional point that it stands for:

    meta["y"] = [...], meta["embedding"] = of which embedding, as "gaussian 2 of seed 1234"
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hidim._limits import COORDINATES_KEPT as SHORT
from hidim._types import Array, Mask
from hidim.embed import EMBEDDINGS, Embedding, LazyVector, Zonotope
from hidim.gp.kernels import Kernel, Overlap, SquaredExponential, Stationary, Through
from hidim.gp.maps import Chain, Clip, Linear, Map, Mapped, Scale, Select
from hidim.gp.priors import Flat
from hidim.methods.base import Suggestion, Task, observe
from hidim.methods.novelty import NEARLY, TOLERANCE, Seen
from hidim.space import Int, Space
from hidim.space.columns import Kind
from hidim.space.scales import LinearSteps, LogSteps
from hidim.trial import History, Trial, TrialState

#: In spaces of up to so many columns configurations are compared, in larger ones the points they stand for.
COMPARED = 2_000

#: Integers with more values than this are numbers, whatever is asked for.
MOST_LABELS = 1_000


def configuration(space: Space, embedding: Embedding, y: Array) -> dict[str, Any]:
    """The configuration for which y (d,) stands; long vectors are lazy."""
    point = LazyVector(embedding, y, 0.0, 1.0)
    lazy = any(vertex.parameter.width > SHORT for vertex in space.vertices)
    return space.decode(point if lazy else np.asarray(point))


def images(space: Space, embedding: Embedding, y: Array) -> Array:
    """Encoded configurations (n, D) for points y (n, d)."""
    return space.snap(embedding.unit(y, np.arange(space.dim)))


def suggested(
    task: Task,
    history: History,
    embedding: Embedding,
    candidates: Array,
    rng: np.random.Generator,
    meta: dict[str, Any],
    *,
    repeat: bool = False,
) -> Suggestion:
    """The first of `candidates` (k, d) whose configuration is new, or some other new configuration.

    A point of the embedding is remembered in the meta.

    With `repeat`, complete trials may be repeated, as makes sense if their values are noisy.
    """
    space = task.space
    if space.dim > COMPARED:
        place = _first_apart(history, embedding, candidates)
        meta = meta if place is not None else {**meta, "instead": "repetition"}
        return _point(space, embedding, candidates[place or 0], meta)
    seen = observe(task, history)
    known = Seen(seen.failed if repeat else np.vstack([seen.x, seen.failed]), seen.running)
    points = images(space, embedding, candidates)
    new = known.first_new_place(points)
    if new is not None:
        return _point(space, embedding, candidates[new], meta)
    point = known.any_new(space, rng)
    if point is not None:
        remembered = {**meta, "embedding": tag(embedding), "instead": "random"}
        return Suggestion(space.decode(point), remembered)
    return _point(space, embedding, candidates[0], {**meta, "instead": "repetition"})


def _point(space: Space, embedding: Embedding, y: Array, meta: dict[str, Any]) -> Suggestion:
    remembered = {**meta, "embedding": tag(embedding), "y": y.tolist()}
    return Suggestion(configuration(space, embedding, y), remembered)


def tag(embedding: Embedding) -> str:
    """What tells the embeddings of a history apart."""
    kind = next(name for name, example in EMBEDDINGS.items() if type(example) is type(embedding))
    return f"{kind} {embedding.origin} of seed {embedding.seed}"


def is_due_to(trial: Trial, embedding: Embedding) -> bool:
    """Whether a trial was suggested in a search of that embedding, or of one from which it has grown."""
    return trial.meta.get("embedding") == tag(embedding)


def belongs(trial: Trial, embedding: Embedding) -> bool:
    """Whether it also is a point of it."""
    return is_due_to(trial, embedding) and "y" in trial.meta


def _first_apart(history: History, embedding: Embedding, candidates: Array) -> int | None:
    """The place of the first candidate that no trial stands for already."""
    dim = embedding.low
    trials = [t for t in history if belongs(t, embedding) and len(t.meta["y"]) == dim]
    known = np.array([t.meta["y"] for t in trials]).reshape(-1, dim)
    tolerance = np.array([NEARLY if t.state is TrialState.RUNNING else TOLERANCE for t in trials])[:, None]
    for place, y in enumerate(candidates):
        if not np.any(np.all(np.abs(known - y) < tolerance, axis=1)):
            return place
    return None


class Discretised(Map):
    """Points of [−1, 1]^D moved to the nearest configuration: numbers in [−1, 1], labels as `Overlap` wants.

    The gradient is passed on where moving a coordinate moves the configuration.

    Args:
        space: of the configurations.
        labels: which columns (D,) count as labels.
    """

    def __init__(self, space: Space, labels: Mask) -> None:
        self.space = space
        self.labels = labels
        found = [
            (vertex.start, vertex.parameter.low, vertex.parameter.high)
            for vertex in space.vertices
            if labels[vertex.start] and isinstance(vertex.parameter, Int) and vertex.parameter.log
        ]
        # Integers on a logarithmic scale have cells of different widths, labels have not.
        columns, low, high = np.array(found, dtype=np.float64).reshape(-1, 3).T
        self.logs = columns.astype(np.intp)
        self.uneven, self.even = LogSteps(low, high), LinearSteps(low, high)
        self.continuous: Mask = np.asarray(space.columns.kind == Kind.CONTINUOUS)

    def __call__(self, theta: Array, x: Array) -> Mapped:
        snapped = self.space.snap(0.5 * (1.0 + x))
        inactive = np.isnan(snapped)
        moving = self.continuous & ~inactive
        if len(self.logs):
            snapped[:, self.logs] = self.even.to_unit(self.uneven.from_unit(snapped[:, self.logs]))
        numbers = np.where(inactive, 0.0, 2.0 * snapped - 1.0)
        value = np.where(self.labels, np.where(inactive, -1.0, snapped), numbers)
        return Mapped(value, lambda _: np.empty(0), lambda g: g * moving)


def clipped(matrix: Array) -> Map:
    """y (n, d) to clip(A y), for A (D, d)."""
    return Chain(Linear(*matrix.T.shape, fixed=matrix.T), Clip(-1.0, 1.0))


class Unprojected(Map):
    """y (n, d) to the points of the cube whose projection on the subspace is y."""

    def __init__(self, embedding: Zonotope) -> None:
        self.embedding = embedding

    def __call__(self, theta: Array, x: Array) -> Mapped:
        image = self.embedding.image(x)
        return Mapped(image.value, lambda _: np.empty(0), image.to_inputs)


def isotropic(dim: int) -> Stationary:
    """exp(−‖y − y'‖² / 2ℓ²)."""
    return Stationary(SquaredExponential(), Scale(dim, ard=False, prior=Flat()))


def high_dimensional(space: Space, lift: Map, *, as_labels: bool, squared: bool) -> Kernel:
    """A kernel on the configurations for which low-dimensional points stand.

    Squared exponential in numbers, exponential in the number of labels that differ, and the product of both
    in mixed spaces (REMBO, definitions 5 and eq. 5).

    Args:
        lift: y (n, d) to what it stands for in [−1, 1]^D.
        as_labels: integers are compared like labels, if they have at most a thousand values.
        squared: the printed form for labels, which is not positive semi-definite.
    """
    kind, levels = space.columns.kind, space.columns.levels
    label: Mask = np.asarray(
        (kind == Kind.LABEL) | ((kind == Kind.INTEGER) & (levels <= MOST_LABELS) & as_labels)
    )
    numbers, labels = np.flatnonzero(~label), np.flatnonzero(label & (levels > 1))
    if np.any(kind != Kind.CONTINUOUS):
        lift = Chain(lift, Discretised(space, label))
    factors: list[Kernel] = []
    if len(numbers) or not len(labels):
        scale = Scale(max(len(numbers), 1), ard=False, prior=Flat())
        factors.append(Stationary(SquaredExponential(), Chain(Select(numbers), scale)))
    if len(labels):
        factors.append(Overlap(labels, levels[labels].astype(np.intp), squared=squared))
    return Through(lift, factors[0] if len(factors) == 1 else factors[0] * factors[1])
