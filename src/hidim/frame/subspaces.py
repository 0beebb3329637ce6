"""Random subspaces, several of them in turn (REMBO; Wang et al. 2013, 2016).

If only d_e of D parameters, or of their linear combinations, matter, then a random subspace of d ≥ d_e
dimensions holds an optimum (theorem 2). So y is searched in a small box, and stands for clip(A y). A box may
hold no optimum: k runs with embeddings of their own are interleaved, and trial t belongs to run t mod k
(§3.1). The centre of the space is a point of all embeddings; it is evaluated first and every run knows it.
A run knows nothing else of the others, nor of trials that did not come from its embedding.

    meta["run"] = of which run the suggestion is, besides what hidim.frame.embedded says
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from hidim._settings import at_least, of_type, one_of
from hidim._types import Array, Rng
from hidim.embed import Gaussian, Zonotope
from hidim.embed.gaussian import BoxName
from hidim.errors import MethodError
from hidim.frame.base import Frame, Ground, Scene
from hidim.frame.embedded import SPARE, belongs, is_due_to
from hidim.frame.observe import Observations, given_variances
from hidim.task import Task
from hidim.trial import History, Trial

MapName = Literal["clip", "zonotope"]

#: d of those who do not say. It costs where two suffice: a median gap of .02 instead of 1e-6 on branin-25
#: after 500 trials (benchmarks/results/rembo-table1.md).
UNKNOWN = 4


@dataclass(frozen=True)
class Subspaces(Frame):
    """Boxes of random embeddings, in turn.

    Args:
        low: d, the dimension of the embeddings, D at the most; or several, for the runs in turn. None, for
            those who do not know how many directions matter: `lows`. Too large is slow, too small finds
            nothing.
        runs: k, the number of interleaved runs. With a fixed budget, each has its k-th part of it. Four were
            best at d = 2 in the paper's table 1; with few trials one is better.
        map: what y stands for. "clip": clip(A y), as in the paper; "zonotope": the point of the cube whose
            projection on the subspace is y, so that no two y stand for the same and no box has to be chosen
            (see `hidim.embed.Zonotope`); for up to 10,000 columns.
        box: with "clip", the size of the search box: "sqrt", "theorem" or "log" (see `hidim.embed.Gaussian`).
        failure: with box="theorem", ε: the probability that the box holds no optimum.
        inside: with "clip", whether runs begin with points that are hardly clipped, and not anywhere in the
            box.
        lows: d of the runs in turn if `low` is None, as far as there are runs.
    """

    embeds: ClassVar[bool] = True
    several: ClassVar[bool] = True

    low: int | tuple[int, ...] | None = None
    runs: int = 4
    map: MapName = "clip"
    box: BoxName = "sqrt"
    failure: float = 0.1
    inside: bool = False
    lows: tuple[int, ...] = (UNKNOWN,)

    def __post_init__(self) -> None:
        at_least(self, runs=1, failure=0.0)
        lows = self.lows if self.low is None else self.low if isinstance(self.low, tuple) else (self.low,)
        if not lows or not all(type(low) is int and low >= 1 for low in lows):
            raise MethodError(
                f"low={self.low!r} must be an integer of at least 1, or several for runs in turn, as (2, 4)"
            )
        if self.low is not None and len(lows) > self.runs:
            raise MethodError(
                f"low={self.low!r} has more dimensions than there are runs: set runs={len(lows)}"
            )
        one_of(self, map=get_args(MapName), box=get_args(BoxName))
        of_type(self, inside=bool)
        if self.failure != Gaussian.failure and self.box != "theorem":
            raise MethodError(f"failure={self.failure!r} is for box='theorem': box={self.box!r} has none")
        if self.map == "zonotope" and self.box != "sqrt":
            raise MethodError(f"box={self.box!r} is for map='clip': the zonotope has a size of its own")

    def embedding(self, task: Task, run: int) -> Gaussian | Zonotope:
        """A of a run; it depends on the seed of the task and on nothing else."""
        dim, low = task.space.dim, self._low(task, run)
        seed = int(np.random.SeedSequence([task.seed, run]).generate_state(1, np.uint32)[0])
        if self.map == "zonotope":
            return Zonotope(dim, low, seed)
        return Gaussian(dim, low, seed, box=self.box, failure=self.failure)

    def _low(self, task: Task, run: int) -> int:
        lows = self.lows if self.low is None else self.low
        low = lows[run % len(lows)] if isinstance(lows, tuple) else lows
        return min(low, task.space.dim)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def scene(self, task: Task, history: History, number: int, rng: Rng) -> Scene:
        run = number % self.runs
        embedding = self.embedding(task, run)
        if self.inside and isinstance(embedding, Gaussian):
            spare = embedding.inside(rng, SPARE)
        else:
            spare = embedding.sample(rng, SPARE)
        if number == 0:
            spare[0] = 0.0
        return self._scene(task, history, run, spare)

    def scenes(self, task: Task, history: History) -> list[Scene]:
        none = [np.empty((0, self._low(task, run))) for run in range(self.runs)]
        return [self._scene(task, history, run, spare) for run, spare in enumerate(none)]

    def _scene(self, task: Task, history: History, run: int, spare: Array) -> Scene:
        """What the history says about a run."""
        embedding = self.embedding(task, run)
        asked = sum(is_due_to(trial, embedding) for trial in history)
        own = History([trial for trial in history if _is_point(trial, embedding) or _is_centre(trial)])
        x, failed, running = (_points(t, embedding.low) for t in (own.complete, own.failed, own.running))
        seen = Observations(x, own.losses(maximize=task.maximize), failed, running, given_variances(own))
        ground = Ground(task.space, embedding)
        return Scene(task, history, ground, own, asked, seen, embedding, spare, embedding, meta={"run": run})


def _points(trials: Sequence[Trial], low: int) -> Array:
    """y (n, d) of trials; the centre may come from an embedding of another dimension."""
    points = [t.meta["y"] if any(t.meta["y"]) else np.zeros(low) for t in trials]
    return np.array(points, dtype=np.float64).reshape(-1, low)


def _is_point(trial: Trial, embedding: Gaussian | Zonotope) -> bool:
    return belongs(trial, embedding) and len(trial.meta["y"]) == embedding.low


def _is_centre(trial: Trial) -> bool:
    """Whether a trial is the centre of the space, a point of all embeddings."""
    return bool(trial.meta.get("y")) and not any(trial.meta["y"])
