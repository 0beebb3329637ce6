"""Everything that a page shows, as one dict of plain data."""

from __future__ import annotations

import platform
import shlex
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np
import scipy

from hidim._version import __version__
from hidim.insight import Insight
from hidim.insight.text import counted
from hidim.report import views
from hidim.report.configuration import to_copy
from hidim.report.findings import Known, Part
from hidim.report.limits import Limits
from hidim.report.parameters import Line, described, lines, values
from hidim.report.texts import clipped, number, paragraph
from hidim.report.trials import chosen_rows, failures, table
from hidim.space import Choice, Float, Int, Space, Vector
from hidim.trial import History, Trial, TrialState


class Run(Protocol):
    """What a page is about; `hidim.Result` is one."""

    @property
    def best(self) -> Trial: ...
    @property
    def history(self) -> History: ...
    @property
    def space(self) -> Space: ...
    @property
    def maximize(self) -> bool: ...
    @property
    def noisy(self) -> bool: ...
    @property
    def by_model(self) -> bool: ...
    @property
    def stopped(self) -> str: ...
    @property
    def own_seconds(self) -> float: ...
    @property
    def objective_seconds(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def method(self) -> str: ...
    @property
    def chosen(self) -> str: ...
    def insight(self) -> Insight: ...


def gather(
    run: Run, known: Known, limits: Limits, *, command: Sequence[str] | None, refresh: float | None
) -> dict[str, Any]:
    """The data of a page.

    Args:
        run: what was run.
        known: what its models say.
        limits: how much of everything.
        command: that was tuned.
        refresh: seconds after which the page loads itself anew.
    """
    history, rows = run.history, chosen_rows(run.history, run.best, limits.trials, maximize=run.maximize)
    shares = known.importance.found
    every = lines(run.space, shares)
    listed = every[: limits.parameters]
    trials = table(run.space, history, rows, listed, limits)
    return {
        "head": _headline(run),
        "refresh": refresh,
        "params": _parameters(run, known, listed, len(trials["columns"]), limits),
        "dim": run.space.dim,
        "trials": trials,
        "importance": {
            "why": clipped(known.importance.why, limits.reason),
            "trust": views.trust(run.insight().learned.quality) if shares else None,
        },
        "slicesWhy": clipped(known.slices.why, limits.reason),
        "tree": _part(known.branches, views.tree, limits) if run.space.is_conditional else None,
        "components": _part(known.components, views.effects, limits),
        "interactions": _part(known.interactions, views.pairs, limits) if run.space.dim > 1 else None,
        "embedding": views.embedding(history, run.best, limits),
        "failures": failures(history, limits),
        "config": to_copy(run.best.params, limits),
        "words": paragraph(known.words, limits.words),
        "run": _how(run, command, limits),
        "space": paragraph(repr(run.space), limits.words),
        "left": list(_left_out(run, rows, every, listed, trials, limits)),
    }


def _part(part: Part[Any], view: Any, limits: Limits) -> dict[str, Any]:
    return {"why": clipped(part.why, limits.reason)} if part.found is None else view(part.found, limits)


def _headline(run: Run) -> dict[str, Any]:
    counts = Counter(trial.state for trial in run.history)
    complete = run.history.complete
    first = min(complete, key=lambda trial: trial.loss(maximize=run.maximize))
    return {
        "value": run.best.value,
        "number": run.best.number,
        "maximize": run.maximize,
        "noisy": run.noisy,
        "byModel": run.by_model,
        "single": first.value,
        "singleNumber": first.number,
        "complete": counts[TrialState.COMPLETE],
        "failed": counts[TrialState.FAILED],
        "running": counts[TrialState.RUNNING],
        "earlier": sum(bool(trial.meta.get("earlier")) for trial in run.history),
        "own": number(run.own_seconds, 4),
        "objective": number(run.objective_seconds, 4),
        "method": run.method,
        "chosen": run.chosen,
    }


def _parameters(
    run: Run, known: Known, listed: Sequence[Line], columns: int, limits: Limits
) -> list[dict[str, Any]]:
    """The list of parameters; the first `columns` single ones have a column in the table of trials."""
    told = [described(line, limits) for line in listed]
    single = [place for place, line in enumerate(listed) if line.column is not None]
    at_best = values(run.space, [run.best], [listed[place] for place in single], limits)
    for order, place in enumerate(single):
        told[place]["best"] = at_best[order][0]
        if order < columns:
            told[place]["column"] = order
    shares = known.importance.found
    cuts = {found.name: found for found in known.slices.found or ()}
    for line, entry in zip(listed, told, strict=True):
        if shares is not None and line.column is not None:
            entry["share"] = number(float(shares.shares[line.column]), 4)
        if line.name in cuts:
            entry["slice"] = views.sliced(cuts[line.name], limits)
    return told


def _how(run: Run, command: Sequence[str] | None, limits: Limits) -> list[list[str]]:
    """How it was run, as pairs of words."""
    told = [["Method", run.method if run.method == run.chosen else f"{run.method}, which chose {run.chosen}"]]
    if command is not None:
        told.insert(0, ["Command", paragraph(shlex.join(map(str, command)), limits.reason)])
    told += [
        ["Goal", f"{'largest' if run.maximize else 'smallest'} value"],
        ["Noise", "values are noisy" if run.noisy else "values are taken as exact"],
        ["Trials", f"{len(run.history)} asked for, {len(run.history.finished)} finished"],
        ["Ended", clipped(run.stopped, limits.reason) if run.stopped else "not said"],
        ["Seed", str(run.seed)],
        ["Space", _space(run.space)],
        ["Time of the objective", f"{run.objective_seconds:.3g} s, over all workers"],
        ["Time of hidim itself", f"{run.own_seconds:.3g} s"] if run.own_seconds else ["", ""],
        ["Written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")],
        ["Versions", f"hidim {__version__}, Python {platform.python_version()}, "
                     f"numpy {np.__version__}, scipy {scipy.__version__}"],
    ]  # fmt: skip
    return [pair for pair in told if pair[0]]


def _space(space: Space) -> str:
    kinds = {Float: "float", Int: "integer", Choice: "choice", Vector: "vector"}
    counts = Counter(kinds[type(v.parameter)] if v.parameter.width else "fixed value" for v in space.vertices)
    told = ", ".join(counted(count, kind) for kind, count in counts.items())
    columns = f" ({space.dim:,} columns)" if counts["vector"] else ""
    return f"{told}{columns}{', conditional' if space.is_conditional else ''}"


def _left_out(
    run: Run,
    rows: Sequence[int] | Any,
    every: Sequence[Line],
    listed: Sequence[Line],
    trials: dict[str, Any],
    limits: Limits,
) -> list[str]:
    """What the page has no room for."""
    told = []
    if len(rows) < len(run.history):
        told.append(
            f"Of {len(run.history):,} trials, {len(rows):,} are on this page: the best, those that were the "
            "best of their time, and an even selection of the others."
        )
    columns, single = len(trials["columns"]), sum(line.column is not None for line in listed)
    if columns < single:
        told.append(f"Trials have the values of {columns:,} of {single:,} parameters: the first of the list.")
    if len(listed) < len(every):
        told.append(f"{len(listed):,} of {len(every):,} parameters are listed.")
    for line in listed:
        if line.column is None and isinstance(line.parameter, Vector):
            told.append(
                f"{clipped(line.name, limits.name)} is a vector of {line.parameter.dim:,} coordinates, "
                "which are not shown singly."
            )
    return told[: limits.groups]
