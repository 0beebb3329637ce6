"""Is what the model calls noise any?

A model that explains values by noise may only be too coarse for a rugged function; one further value very
close to an earlier one settles it, since no function that could be optimised jumps there. Such a *probe* is
suggested once the model suspects noise, and judged by `hidim.frame.noise`:

    meta["probe"] = value of the trial next to which it stands
"""

from __future__ import annotations

import numpy as np

from hidim._types import Array, Rng
from hidim.frame import Scene
from hidim.space.columns import Kind

#: Share of the variance of all (transformed) losses that is suspicious if the model calls it noise. Less
#: would waste probes on rugged functions, more overlook small noise; a choice that was not varied.
SUSPICIOUS = 0.01

#: Trials before a first probe, when the model's word is worth little and a trial much; the next one waits
#: until there are four times as many, so that probes stay few.
EARLIEST, LATER = 20, 4

#: How far a probe is from its twin, as a share of the range: nothing that could be optimised jumps there.
STEP = 1e-8


def probe(scene: Scene, noise_share: float, rng: Rng) -> tuple[Array, float] | None:
    """A point (1, d) next to the best one, and the value of the trial that stands there.

    None as long as nothing has to be found out: noise is known of, or the model does not suspect any, or
    nothing continuous is active in the best trial.

    Args:
        noise_share: of the variance of the losses, what the model calls noise.
    """
    ground = scene.ground
    continuous = ground.kind == Kind.CONTINUOUS
    if scene.task.noisy is not None or noise_share < SUSPICIOUS or not np.any(continuous):
        return None
    probes = [place for place, trial in enumerate(scene.trials) if "probe" in trial.meta]
    if len(scene.seen.y) < (EARLIEST if not probes else LATER * probes[-1]):
        return None
    best = int(np.argmin(scene.seen.y))
    point = scene.seen.x[best].copy()
    moved = continuous & ~np.isnan(point)
    if not np.any(moved):
        return None
    width = (ground.upper - ground.lower)[moved]
    towards = np.where(point[moved] < 0.5 * (ground.lower + ground.upper)[moved], STEP, -STEP) * width
    point[moved] += towards * rng.uniform(0.5, 1.0, size=int(moved.sum()))
    return ground.snap(point[None]), scene.trials.complete[best].loss(maximize=False)
