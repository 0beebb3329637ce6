"""Is the objective noisy? Asked of the history alone.

A given variance says so, and so do different values of the same configuration. A model that explains values
by noise may only be too coarse for a rugged function; one further value very close to an earlier one settles
it, since no function that could be optimised jumps there. Such a *probe* is suggested once the model
suspects noise:

    meta["probe"] = value of the trial next to which it stands
"""

from __future__ import annotations

import numpy as np

from hidim._types import Array, Params, Rng
from hidim.frame import Scene
from hidim.space.columns import Kind
from hidim.task import Task
from hidim.trial import History, Trial, same_params

#: Share of the variance of all (transformed) losses that is suspicious if the model calls it noise. Less
#: would waste probes on rugged functions, more overlook small noise; a choice that was not varied.
SUSPICIOUS = 0.01

#: Trials before a first probe, when the model's word is worth little and a trial much; the next one waits
#: until there are four times as many, so that probes stay few.
EARLIEST, LATER = 20, 4

#: How far a probe is from its twin, as a share of the range: nothing that could be optimised jumps there.
STEP = 1e-8

#: Differences below this share of the values' interquartile range are no noise. With a step of 1e-8, even
#: sin(800 x) is then not called noisy.
JUMP = 1e-3

#: Coordinates of a vector by which equal ones are found first: 41 ms less at n = 2000, D = 1000.
TELLING = 8


def is_noisy(task: Task, history: History) -> bool:
    """Whether values of the same configuration differ, as far as the history knows."""
    if task.noisy is not None:
        return task.noisy
    complete = history.complete
    if any(trial.variance for trial in complete):
        return True
    pairs = _twins(complete)
    if not pairs:
        return False
    values = history.losses(maximize=False)
    # Quartiles, because one value out of all proportion must not hide the noise of the others; quartered,
    # because the difference of two numbers may be too large for one.
    low, high = np.quantile(values / 4.0, [0.25, 0.75])
    spread = high - low if high > low else float(np.ptp(values / 4.0))
    return any(abs(left / 4.0 - right / 4.0) > JUMP * spread for left, right in pairs)


def _twins(complete: list[Trial]) -> list[tuple[float, float]]:
    """Values of configurations that are the same, or of a probe and its twin."""
    pairs: list[tuple[float, float]] = []
    first: dict[tuple[object, ...], tuple[Params, float]] = {}
    for trial in complete:
        value = trial.loss(maximize=False)
        if "probe" in trial.meta and "instead" not in trial.meta:
            pairs.append((value, trial.meta["probe"]))
        params, known = first.setdefault(_signature(trial.params), (trial.params, value))
        if known != value and same_params(params, trial.params):
            pairs.append((value, known))
    return pairs


def _signature(params: Params) -> tuple[object, ...]:
    """What equal configurations have in common; of long vectors a few coordinates tell them apart."""
    return tuple((k, v[:TELLING].tobytes() if isinstance(v, np.ndarray) else v) for k, v in params.items())


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
