"""A random embedding that grows, for those who do not know how many directions matter.

Every parameter is put into one of d bins, with a random sign, and the parameters of a bin move together
(count sketch; HeSBO, Nayebi et al. 2019). The default method searches the d bins. When it finds nothing
better for a while, every bin is split in two: d doubles, and each old point has an exact copy in the new,
larger space, so that nothing that was learnt is lost (BAxUS, Papenmeier et al. 2022). At first few trials
suffice to see what can be seen from so far away; in the end any point can be reached.

What a suggestion remembers, besides what the default method does, is the level and the point:

    meta["run"] = how often d had been doubled, meta["y"] = [...]
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from hidim._types import Array
from hidim.embed import CountSketch
from hidim.methods.base import Method, Suggestion, Task, at_least
from hidim.methods.embedded import belongs, is_due_to, suggested
from hidim.methods.gp import GaussianProcess
from hidim.methods.noise import is_noisy
from hidim.space import Space, Vector
from hidim.trial import History, Trial


@dataclass(frozen=True)
class Baxus(Method):
    """A growing count-sketch embedding, searched by the default method.

    Args:
        low: d, the number of bins at the start.
        patience: trials without a better one, as a multiple of d, after which d is doubled.
        least: trials without a better one at the least.
        most: the largest d.
        inner: searches the bins.

    Example:
        >>> from hidim import Optimizer, Space, Vector
        >>> optimizer = Optimizer(Space(x=Vector(10**9, -1, 1)), method=Baxus(), seed=0)
        >>> optimizer.ask().params["x"]
        LazyVector(1000000000 coordinates in [-1, 1])
    """

    name: ClassVar[str] = "baxus"

    low: int = 8
    patience: float = 1.0
    least: int = 15
    most: int = 256
    inner: GaussianProcess = field(default_factory=GaussianProcess)

    def __post_init__(self) -> None:
        at_least(self, low=1, patience=0.0, least=1, most=self.low)

    def suggest(self, task: Task, history: History, rng: np.random.Generator) -> Suggestion:
        sketch = self.sketch(task, history)
        mine = _own(history, sketch)
        found = self.inner.suggest(self._inside(task, sketch), _carried(mine, sketch), rng)
        spare = rng.uniform(-1.0, 1.0, size=(64, sketch.low))
        meta = {**found.meta, "run": sketch.doublings}
        if "probe" in meta:
            meta["probe"] = mine[meta["probe"]].number
        candidates = np.vstack([found.params["y"], spare])
        repeat = is_noisy(task, history)
        suggestion = suggested(task, history, sketch, candidates, rng, meta, repeat=repeat)
        if suggestion.meta.get("y") != found.params["y"].tolist():
            suggestion.meta.pop("probe", None)  # it stands elsewhere
        return suggestion

    def sketch(self, task: Task, history: History) -> CountSketch:
        """The embedding for the next suggestion."""
        start = self._at_level(task, 0)
        level = max((t.meta["run"] for t in history if is_due_to(t, start)), default=0)
        sketch = self._at_level(task, level)
        if 2 * sketch.low <= min(task.space.dim, self.most) and self._stalls(task, history, sketch):
            return sketch.doubled()
        return sketch

    def _at_level(self, task: Task, doublings: int) -> CountSketch:
        dim = task.space.dim
        seed = int(np.random.SeedSequence([task.seed]).generate_state(1, np.uint32)[0])
        sketch = CountSketch(dim, min(self.low, dim), seed)
        for _ in range(doublings):
            sketch = sketch.doubled()
        return sketch

    def _stalls(self, task: Task, history: History, sketch: CountSketch) -> bool:
        """Whether none of the last trials was better than all before, with patience for each level anew."""
        finished = history.finished
        level = [
            i
            for i, trial in enumerate(finished)
            if is_due_to(trial, sketch) and trial.meta["run"] == sketch.doublings
        ]
        if not level:
            return False
        sign = -1.0 if task.maximize else 1.0
        values = np.array([np.inf if t.value is None else sign * t.value for t in finished])
        best = int(np.argmin(values))
        waited = sum(place > best for place in level)
        return waited >= max(self.least, self.patience * sketch.low)

    def _inside(self, task: Task, sketch: CountSketch) -> Task:
        """The task of searching the bins; its caches are kept as long as there are as many bins."""
        kept: Task | None = task.memo.get("bins")
        if kept is None or kept.space.dim != sketch.low:
            space = Space(y=Vector(sketch.low, -1.0, 1.0))
            kept = replace(task, space=space, memo={})
            task.memo["bins"] = kept
        return kept

    def means(self, task: Task, history: History) -> Array | None:
        start = self._at_level(task, 0)
        if not all(belongs(trial, start) for trial in history.complete):
            return None  # the model knows nothing of some
        level = max((trial.meta["run"] for trial in history.complete), default=0)
        sketch = self._at_level(task, level)
        inside, known = self._inside(task, sketch), _carried(_own(history, sketch), sketch)
        return self.inner.means(inside, known)


def _own(history: History, sketch: CountSketch) -> list[Trial]:
    """The trials that are points of the sketch; those from elsewhere are not."""
    return [trial for trial in history if belongs(trial, sketch)]


def _carried(trials: list[Trial], sketch: CountSketch) -> History:
    """A history of the bins, numbered without gaps."""
    places = {trial.number: place for place, trial in enumerate(trials)}
    return History([_inner(trial, places, sketch) for trial in trials])


def _inner(trial: Trial, places: dict[int, int], sketch: CountSketch) -> Trial:
    meta = dict(trial.meta)
    if meta.get("probe") in places:
        meta["probe"] = places[meta["probe"]]
    else:
        meta.pop("probe", None)
    return replace(trial, number=places[trial.number], meta=meta, params={"y": _grown(trial, sketch)})


def _grown(trial: Trial, sketch: CountSketch) -> Array:
    """The point (d,) of the trial among the present bins."""
    y = np.array(trial.meta["y"], dtype=np.float64)
    return np.repeat(y, sketch.low // len(y))
