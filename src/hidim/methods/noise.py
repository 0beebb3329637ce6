"""Is the objective noisy? Asked of the history alone.

A given variance says so, and so do different values of the same configuration. A model that explains values
by noise may only be too coarse for a rugged function; one further value very close to an earlier one settles
it, since no function that could be optimised jumps there. Such a *probe* is suggested once the model
suspects noise:

    meta["probe"] = number of the trial next to which it stands
"""

from __future__ import annotations

import numpy as np

from hidim._types import Array, Params
from hidim.methods.base import Observations, Task
from hidim.space.columns import Kind
from hidim.trial import History, Trial, same_params

#: Share of the variance of all (transformed) losses that is suspicious if the model calls it noise.
SUSPICIOUS = 0.01

#: Trials before a first probe; the next one waits until there are four times as many.
EARLIEST = 20

#: How far a probe is from its twin, in the unit cube.
STEP = 1e-8

#: Differences below this share of the values' interquartile range are no noise.
JUMP = 1e-3


def is_noisy(task: Task, history: History) -> bool:
    """Whether values of the same configuration differ, as far as the history knows."""
    if task.noisy is not None:
        return task.noisy
    complete = history.complete
    if any(trial.variance for trial in complete):
        return True
    pairs = _twins(history, complete)
    if not pairs:
        return False
    values = np.array([float(trial.value or 0.0) for trial in complete])
    # Quartiles, because one value out of all proportion must not hide the noise of the others; quartered,
    # because the difference of two numbers may be too large for one.
    low, high = np.quantile(values / 4.0, [0.25, 0.75])
    spread = high - low if high > low else float(np.ptp(values / 4.0))
    return any(abs(left / 4.0 - right / 4.0) > JUMP * spread for left, right in pairs)


def _twins(history: History, complete: list[Trial]) -> list[tuple[float, float]]:
    """Values of configurations that are the same, or of a probe and its twin."""
    pairs = []
    first: dict[tuple[object, ...], Trial] = {}
    for trial in complete:
        value = float(trial.value or 0.0)
        if "probe" in trial.meta and "instead" not in trial.meta:
            place = trial.meta["probe"]
            twin = history[place] if place < len(history) else trial
            if twin.value is not None:
                pairs.append((value, twin.value))
        known = first.setdefault(_signature(trial.params), trial)
        if known.value not in (None, value) and same_params(known.params, trial.params):
            pairs.append((value, float(known.value or 0.0)))
    return pairs


def _signature(params: Params) -> tuple[object, ...]:
    """What equal configurations have in common; of long vectors a few coordinates tell them apart."""
    return tuple((k, v[:8].tobytes() if isinstance(v, np.ndarray) else v) for k, v in params.items())


def is_probe_due(task: Task, history: History, noise_share: float) -> bool:
    """Whether a probe should find out what the model's noise is, if nothing shows it yet."""
    if (
        task.noisy is not None
        or noise_share < SUSPICIOUS
        or not np.any(task.space.columns.kind == Kind.CONTINUOUS)
    ):
        return False
    probes = [trial.number for trial in history if "probe" in trial.meta]
    due = EARLIEST if not probes else 4 * probes[-1]
    return len(history.complete) >= due


def probe(
    task: Task, history: History, seen: Observations, rng: np.random.Generator
) -> tuple[Array, int] | None:
    """A point (D,) next to the best one, and the number of the trial that stands there.

    None if nothing continuous is active in it.
    """
    place = int(np.argmin(seen.y))
    twin, point = history.complete[place], seen.x[place].copy()
    moved = (task.space.columns.kind == Kind.CONTINUOUS) & ~np.isnan(point)
    if not np.any(moved):
        return None
    towards = np.where(point[moved] < 0.5, STEP, -STEP)
    point[moved] += towards * rng.uniform(0.5, 1.0, size=int(moved.sum()))
    return point, twin.number
