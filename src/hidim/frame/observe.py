"""The history as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hidim._types import Array, Params
from hidim.task import Task
from hidim.trial import History, Trial

#: The way of trials that no model suggested, if they have one; of all that no search has suggested.
DESIGN = "design"
UNSEARCHED = (DESIGN, "probe", "given", "added", "random", "sobol")


class Observations(NamedTuple):
    """Trials as points, in the order of finishing; inactive columns are NaN.

    Args:
        x: points of the complete trials (n, d).
        y: their losses (n,).
        failed: points of failed trials (f, d).
        running: points of running trials (r, d).
        variances: of the noise in the losses (n,), zero where none was given; None if none was given at all.
    """

    x: Array
    y: Array
    failed: Array
    running: Array
    variances: Array | None = None


def observe(task: Task, history: History) -> Observations:
    """All trials as points of the unit cube.

    Points are encoded from the stored params, so that a reload changes nothing.
    """
    task.space.check_dense()
    return Observations(
        _encoded(task, history.complete),
        history.losses(maximize=task.maximize),
        _encoded(task, history.failed),
        _encoded(task, history.running),
        given_variances(history),
    )


def given_variances(history: History) -> Array | None:
    """Variances (n,) with which the losses of complete trials came, if any did."""
    variances = np.array([t.variance or 0.0 for t in history.complete])
    return variances if np.any(variances) else None


def _encoded(task: Task, trials: Sequence[Trial]) -> Array:
    kept = task.memo.get(observe, "rows")
    rows: dict[int, tuple[Params, Array]] = task.memo.keep(observe, "rows", {}) if kept is None else kept
    missing = [t for t in trials if t.number not in rows or rows[t.number][0] is not t.params]
    if missing:
        fresh = task.space.encode_all([t.params for t in missing])
        rows.update({t.number: (t.params, row) for t, row in zip(missing, fresh, strict=True)})
    if not trials:
        return np.empty((0, task.space.dim))
    return np.stack([rows[t.number][1] for t in trials])
