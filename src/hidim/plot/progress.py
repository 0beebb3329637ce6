"""Values in the order of finishing, and the best so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from hidim._types import Array
from hidim.insight import Insight
from hidim.plot.style import ACCENT, DARK, GREY, PALE, SMALL, heading, label, quiet, wants_log
from hidim.trial import TrialState

#: On a linear axis, values further from the best than this many times the distance of the 90 % quantile are
#: marked at the margin: a few penalties of a million must not flatten everything else.
FAR = 10.0


def draw_convergence(axis: Any, insight: Insight) -> None:
    """Every value as a dot, the best so far as a line, failed trials as crosses at the lower margin."""
    finished = insight.history.finished
    quiet(axis)
    heading(axis, "Convergence")
    label(axis, x="trials, in the order of finishing", y=value_label(insight))
    places = {
        state: np.array([i for i, t in enumerate(finished, 1) if t.state is state]) for state in TrialState
    }
    steps, failed = places[TrialState.COMPLETE], places[TrialState.FAILED]
    values = np.array([t.value for t in finished if t.state is TrialState.COMPLETE], dtype=np.float64)
    if len(values):
        _draw_values(axis, steps, values, len(finished), maximize=insight.maximize)
        _mark_best(axis, insight)
    if len(failed):
        at_margin = axis.get_xaxis_transform()
        what = f"{len(failed)} failed"
        axis.plot(
            failed, np.full(len(failed), 0.02), "x", transform=at_margin, color=GREY, ms=4.5, label=what
        )
    if not finished:
        return
    axis.set_xlim(0.0 if len(finished) > 20 else 0.5, len(finished) + max(0.5, 0.01 * len(finished)))
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, frameon=False, fontsize=SMALL,
        labelcolor=GREY, handletextpad=0.4, columnspacing=1.2, borderaxespad=0.1,
    )  # fmt: skip


def value_label(insight: Insight) -> str:
    return "value (large is good)" if insight.maximize else "value"


def _draw_values(axis: Any, steps: Array, values: Array, last: int, *, maximize: bool) -> None:
    so_far = np.maximum.accumulate(values) if maximize else np.minimum.accumulate(values)
    axis.scatter(
        steps, values, s=14.0 if len(values) <= 300 else 6.0, color=PALE, linewidths=0, label="value"
    )
    x, y = np.append(steps, last), np.append(so_far, so_far[-1])
    what = f"best so far: {so_far[-1]:.5g}"
    axis.plot(x, y, drawstyle="steps-post", color=ACCENT, linewidth=1.8, label=what)
    if wants_log(values):
        axis.set_yscale("log")
    else:
        _leave_out_far(axis, steps, values, so_far[-1])


def _leave_out_far(axis: Any, steps: Array, values: Array, best: float) -> None:
    distance = np.abs(values - best)
    reach = float(np.quantile(distance, 0.9))
    off = distance > FAR * reach
    if not off.any() or reach == 0.0:
        return
    up = values[off][0] > best
    shown = values[~off]
    margin = 0.06 * float(np.ptp(shown))
    axis.set_ylim(shown.min() - margin, shown.max() + margin)
    axis.plot(
        steps[off], np.full(int(off.sum()), 0.98 if up else 0.06), "^" if up else "v",
        transform=axis.get_xaxis_transform(), color=PALE, ms=4.5, label=f"{int(off.sum())} off the scale",
    )  # fmt: skip


def _mark_best(axis: Any, insight: Insight) -> None:
    best = insight.best
    place = [trial.number for trial in insight.history.finished].index(best.number) + 1
    axis.plot([place], [best.value], "o", color=DARK, ms=5.5, markeredgecolor="white")
