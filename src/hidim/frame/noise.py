"""Is the objective noisy? Asked of the history alone.

A given variance says so, and so do different values of the same configuration, or of a probe and its twin,
see `hidim.belief.probe`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidim._types import Params
from hidim.task import Task
from hidim.trial import CompleteTrial, History, same_params

#: Differences below this share of the values' interquartile range are no noise. With a step of 1e-8, even
#: sin(800 x) is then not called noisy.
JUMP = 1e-3

#: Coordinates of a vector by which equal ones are found first: 41 ms less at n = 2000, D = 1000.
TELLING = 8


class _Compared(NamedTuple):
    """Trials that have been compared, the pairs that were found, and the first of every configuration."""

    trials: list[CompleteTrial]
    pairs: list[tuple[float, float]]
    first: dict[tuple[object, ...], tuple[Params, float]]


def is_noisy(task: Task, history: History) -> bool:
    """Whether values of the same configuration differ, as far as the history knows."""
    if task.noisy is not None:
        return task.noisy
    complete = history.complete
    if any(trial.variance for trial in complete):
        return True
    pairs = _twins(task, complete)
    if not pairs:
        return False
    values = history.losses(maximize=False)
    # Quartiles, because one value out of all proportion must not hide the noise of the others; quartered,
    # because the difference of two numbers may be too large for one.
    low, high = np.quantile(values / 4.0, [0.25, 0.75])
    spread = high - low if high > low else float(np.ptp(values / 4.0))
    return any(abs(left / 4.0 - right / 4.0) > JUMP * spread for left, right in pairs)


def _twins(task: Task, complete: list[CompleteTrial]) -> list[tuple[float, float]]:
    """Values of configurations that are the same, or of a probe and its twin."""
    known: _Compared | None = task.memo.get(is_noisy, "compared")
    if known is None or complete[: len(known.trials)] != known.trials:
        known = _Compared([], [], {})
    trials, pairs, first = known
    for trial in complete[len(trials) :]:
        value = trial.loss(maximize=False)
        if "probe" in trial.meta and "instead" not in trial.meta:
            pairs.append((value, trial.meta["probe"]))
        params, before = first.setdefault(_signature(trial.params), (trial.params, value))
        if before != value and same_params(params, trial.params):
            pairs.append((value, before))
    task.memo.keep(is_noisy, "compared", _Compared(complete, pairs, first))
    return pairs


def _signature(params: Params) -> tuple[object, ...]:
    """What equal configurations have in common; of long vectors a few coordinates tell them apart."""
    return tuple((k, v[:TELLING].tobytes() if isinstance(v, np.ndarray) else v) for k, v in params.items())
