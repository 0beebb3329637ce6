"""What the models say, as plain data that the page draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hidim._types import Array
from hidim.insight import Branch, Branches, Component, Components, Effect, Interactions, Slice
from hidim.insight.branches import expectation
from hidim.insight.findings import GOOD, POOR
from hidim.report.limits import Limits
from hidim.report.parameters import labelled
from hidim.report.texts import clipped, number, numbers
from hidim.space.nodes import Node
from hidim.trial import History, Trial

#: Groups of a sum of which the effects are drawn, pairs and idle parameters that are listed.
DRAWN, PAIRS, IDLE = 9, 12, 60
#: Coordinates of an embedding that are drawn, and numbers of its best point that are listed.
COORDINATES, LISTED = 6, 200


def trust(quality: float) -> dict[str, Any]:
    """How far a model is to be trusted, by its R² on left-out trials."""
    word = "good" if quality >= GOOD else "rough" if quality >= POOR else "guess"
    return {"r2": number(quality, 3), "word": word}


def sliced(found: Slice, limits: Limits) -> dict[str, Any]:
    """A curve with its band."""
    return {
        **_axis(found.grid, found.at, limits),
        **_band(found.grid, found.median, found.low, found.high, limits),
    }


def _band(grid: Any, mid: Array, low: Array, high: Array, limits: Limits) -> dict[str, Any]:
    """A curve and its interval; of labels only those that are listed."""
    most = limits.labels if isinstance(grid, tuple) else len(grid)
    return {"mid": numbers(mid[:most]), "low": numbers(low[:most]), "high": numbers(high[:most])}


def _axis(grid: Array | tuple[Any, ...], at: Any, limits: Limits) -> dict[str, Any]:
    if isinstance(grid, tuple):
        return {"labels": labelled(grid, limits), "at": grid.index(at) if at in grid else None}
    return {"grid": numbers(grid), "at": None if at is None else number(float(at))}


def effects(found: Components, limits: Limits) -> dict[str, Any]:
    """Groups of a sum with their shares, and for the strongest the changes along their parameters."""
    groups = [_group(component, limits, drawn=place < DRAWN) for place, component in enumerate(found)]
    return {"trust": trust(found.quality), "groups": groups[: limits.groups]}


def _group(component: Component, limits: Limits, *, drawn: bool) -> dict[str, Any]:
    curves = [_effect(effect, limits) for effect in component.effects[:COORDINATES]] if drawn else []
    return {
        "title": clipped(component.title, limits.name),
        "share": number(component.share, 4),
        "size": len(component.names),
        "effects": curves,
    }


def _effect(effect: Effect, limits: Limits) -> dict[str, Any]:
    band = _band(effect.grid, effect.mean, effect.low, effect.high, limits)
    name = clipped(effect.name, limits.name)
    return {"name": name, "log": effect.log, **_axis(effect.grid, effect.at, limits), **band}


def pairs(found: Interactions, limits: Limits) -> dict[str, Any]:
    """What adds up, who interacts, who does not matter."""
    listed = [
        {
            "names": [clipped(name, limits.name) for name in (pair.first, pair.second)],
            "share": number(pair.share, 4),
        }
        for pair in found.pairs[:PAIRS]
    ]
    idle = [clipped(name, limits.name) for name in found.idle[:IDLE]] if found.quality >= GOOD else []
    return {
        "additive": number(found.additive, 4),
        "pairs": listed,
        "idle": idle,
        "idleCount": len(found.idle) if idle else 0,
        "trust": trust(found.quality),
    }


# -- the tree ----------------------------------------------------------------------------------------------


def tree(found: Branches, limits: Limits) -> dict[str, Any]:
    """A row for every node, parents first."""
    known = {id(branch.node): branch for branch in found.all}
    rows = list(_rows(found.root, known, 0, limits))
    model = None if found.learned is None else trust(found.learned.quality)
    why = clipped(found.unknown, limits.reason)
    return {
        "rows": rows[: limits.groups],
        "left": max(len(rows) - limits.groups, 0),
        "trust": model,
        "unknown": why,
    }


def _rows(
    node: Node, known: dict[int, Branch], depth: int, limits: Limits, fork: str = "", label: str = ""
) -> Iterator[dict[str, Any]]:
    """The row of a node and those below it; a shared node stands where it is met first."""
    branch = known.pop(id(node), None)
    if branch is None:
        return
    names = [clipped(name, limits.name) for name in branch.names[:12]]
    row: dict[str, Any] = {
        "depth": depth,
        "fork": clipped(fork, limits.name),
        "label": clipped(label, limits.name),
        "names": names,
        "complete": branch.complete,
        "failed": branch.failed,
        "leads": branch.leads,
    }
    if branch.best is not None and branch.best.value is not None:
        row |= {"best": branch.best.value, "trial": branch.best.number}
    if branch.expected is not None:
        ends = (branch.expected.value, branch.expected.low, branch.expected.high)
        row |= {"expected": [number(each) for each in ends], "attainable": expectation(branch)}
    if branch.share is not None:
        row["share"] = number(branch.share, 3)
    yield row
    for other in node.beside:
        yield from _rows(other, known, depth + 1, limits, "shared", other.title)
    for each in node.forks:
        for option in each.options:
            label = option.title.removeprefix(f"{each.vertex.title}=")
            yield from _rows(option, known, depth + 1, limits, each.vertex.name, label)


# -- the embedding -----------------------------------------------------------------------------------------


def embedding(history: History, best: Trial, limits: Limits) -> dict[str, Any] | None:
    """The embeddings through which a method has searched, and the values along that of the best trial."""
    through: dict[str, list[Trial]] = {}
    for trial in history.complete:
        if "embedding" in trial.meta and "y" in trial.meta:
            through.setdefault(str(trial.meta["embedding"]), []).append(trial)
    if not through:
        return None
    sign = -1.0 if history.maximize else 1.0
    told = [
        {
            "name": clipped(name, limits.name),
            "trials": len(trials),
            "dims": sorted({len(trial.meta["y"]) for trial in trials}),
            "best": min((t.value for t in trials if t.value is not None), key=lambda v: sign * v),
        }
        for name, trials in through.items()
    ]
    found: dict[str, Any] = {"all": told[: limits.groups]}
    if "y" in best.meta:
        name, dim = str(best.meta["embedding"]), len(best.meta["y"])
        alike = [t for t in through.get(name, []) if len(t.meta["y"]) == dim]
        found |= {"name": clipped(name, limits.name), "dim": dim}
        found["y"] = numbers(np.array(best.meta["y"], dtype=np.float64)[:LISTED], 6)
        found["coordinates"] = _coordinates(alike[-limits.trials // 4 :], best, sign)
    return found


def _coordinates(trials: list[Trial], best: Trial, sign: float) -> list[dict[str, Any]]:
    """Values along the coordinates whose distance to the best goes most with them, by their ranks."""
    if len(trials) < 3:
        return []
    points = np.array([trial.meta["y"] for trial in trials], dtype=np.float64)
    losses = np.array([trial.loss(maximize=sign < 0.0) for trial in trials])
    far = np.abs(points - np.array(best.meta["y"], dtype=np.float64))
    ranks = [np.argsort(np.argsort(each)) - 0.5 * (len(trials) - 1) for each in (*far.T, losses)]
    moving = np.array([float(np.ptp(each)) > 0.0 for each in points.T])
    strength = np.array(ranks[:-1]) @ ranks[-1] * moving
    order = np.argsort(-strength, kind="stable")[:COORDINATES]
    return [
        {
            "name": f"y[{place}]",
            "x": numbers(points[:, place], 5),
            "number": [trial.number for trial in trials],
            "value": [trial.value for trial in trials],
            "at": number(float(best.meta["y"][place])),
        }
        for place in order.tolist()
    ]
