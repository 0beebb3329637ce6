"""A random embedding that grows, for those who do not know how many directions matter.

Every parameter is put into one of d bins, with a random sign, and the parameters of a bin move together
(HeSBO, Nayebi et al. 2019). The bins, equally full, are searched as if they were parameters. When nothing
better is found for a while, every bin is split in two: d doubles, and each old point has an exact copy in the
new, larger space, so that nothing that was learnt is lost (BAxUS, Papenmeier et al. 2022). At first few
trials suffice to see what can be seen from so far away; in the end, if there are not too many, every
parameter is alone.

    meta["doublings"] = how often d had been doubled, besides what hidim.frame.embedded says
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hidim._limits import COLUMNS_WITHOUT_EMBEDDING
from hidim._settings import at_least
from hidim._types import Array, Rng
from hidim.embed import Bins, CountSketch
from hidim.frame.base import Frame, Ground, Scene
from hidim.frame.embedded import belongs, is_due_to
from hidim.frame.observe import Observations, given_variances
from hidim.space import Space, Vector
from hidim.task import Task
from hidim.trial import History, Trial

Sketch = Bins | CountSketch

#: The number of bins at the start, and what it was once. On nine functions of 4 to 15 out of 7,000 to 20,000
#: parameters, 150 trials, 32 runs in all on which this was chosen, 16 bins and the default's parts
#: of then were better than 8 and those of `gp` in 25, 32 bins in 22.
LOW, ONCE = 16, 8


@dataclass(frozen=True)
class Growing(Frame):
    """Bins of parameters, whose number doubles when the search stalls.

    But for `low` the defaults were never varied.

    Args:
        low: d, the number of bins at the start: fewer are searched sooner, more see more at once.
        patience: trials without a better one, as a multiple of d, after which d is doubled.
        least: trials without a better one at the least; the design alone takes ten.
        most: the largest d; time grows with it.
    """

    embeds: ClassVar[bool] = True
    several: ClassVar[bool] = False

    low: int = LOW
    patience: float = 1.0
    least: int = 15
    most: int = COLUMNS_WITHOUT_EMBEDDING

    def __post_init__(self) -> None:
        at_least(self, low=1, patience=0.0, least=1, most=self.low)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def scene(self, task: Task, history: History, number: int, rng: Rng) -> Scene:
        return self._scene(task, history, self.sketch(task, history), number)

    def scenes(self, task: Task, history: History) -> list[Scene]:
        start = self._start(task, history)
        level = max((_level(t) for t in history.complete if belongs(t, start)), default=0)
        return [self._scene(task, history, _grown(start, level), len(history))]

    def _scene(self, task: Task, history: History, sketch: Sketch, number: int) -> Scene:
        own = History([trial for trial in history if belongs(trial, sketch)])
        x, failed, running = (_points(trials, sketch) for trials in (own.complete, own.failed, own.running))
        seen = Observations(x, own.losses(maximize=task.maximize), failed, running, given_variances(own))
        ground = task.memo.get(self, sketch.low)
        if ground is None:
            ground = task.memo.keep(self, sketch.low, Ground(Space(y=Vector(sketch.low, -1.0, 1.0))))
        asked = number - sum(t.number < number and not belongs(t, sketch) for t in history)
        none = np.empty((0, sketch.low))
        to_low, meta = Vector(sketch.low, -1.0, 1.0).scale.from_unit, {"doublings": sketch.doublings}
        return Scene(task, history, ground, own, asked, seen, "growing", none, sketch, to_low, meta)

    def sketch(self, task: Task, history: History) -> Sketch:
        """The embedding for the next suggestion."""
        start = self._start(task, history)
        sketch = _grown(start, max((_level(t) for t in history if is_due_to(t, start)), default=0))
        return sketch.grown() if self.can_grow(sketch) and self._stalls(task, history, sketch) else sketch

    def can_grow(self, sketch: Sketch) -> bool:
        """Whether there may be more bins than these."""
        most = min(sketch.high, self.most)
        return 2 * sketch.low <= most or (isinstance(sketch, Bins) and sketch.low < sketch.high <= most)

    def _start(self, task: Task, history: History) -> Sketch:
        """Before any split. A run that began with fewer bins or a count sketch, as once, goes on so."""
        dim = task.space.dim
        seed = int(np.random.SeedSequence([task.seed]).generate_state(1, np.uint32)[0])
        lows = (self.low, ONCE) if self.low == LOW else (self.low,)
        once = [kind(dim, min(low, dim), seed) for low in lows for kind in (Bins, CountSketch)]
        return next((s for s in once if any(is_due_to(trial, s) for trial in history)), once[0])

    def _stalls(self, task: Task, history: History, sketch: Sketch) -> bool:
        """Whether none of the last trials was better than all before, with patience for each level anew."""
        finished = history.finished
        level = [
            i
            for i, trial in enumerate(finished)
            if is_due_to(trial, sketch) and _level(trial) == sketch.doublings
        ]
        if not level:
            return False
        best = int(np.argmin([trial.loss(maximize=task.maximize) for trial in finished]))
        waited = sum(place > best for place in level)
        return waited >= max(self.least, self.patience * sketch.low)


def _level(trial: Trial) -> int:
    return int(trial.meta.get("doublings", 0))  # a history may have been changed by hand


def _grown(sketch: Sketch, times: int) -> Sketch:
    for _ in range(times):
        sketch = sketch.grown()
    return sketch


def _points(trials: Sequence[Trial], sketch: Sketch) -> Array:
    """The points (n, d) of trials among the present bins, in the unit cube."""
    grown = [sketch.carry(np.array([t.meta["y"]], dtype=np.float64)) for t in trials]
    return 0.5 * (1.0 + np.array(grown).reshape(-1, sketch.low))
