"""Choices and the branches to which they lead, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from hidim._limits import COLUMNS_OF_INSIGHT
from hidim._types import Array, Indices
from hidim.errors import HidimError
from hidim.insight.branches import Branch, expectation, seen
from hidim.insight.findings import Findings, trust
from hidim.insight.importance import percent
from hidim.insight.text import counted, short, shortened
from hidim.space import Choice
from hidim.space.tree import Vertex

#: How many of each thing are listed: choices, their options, branches, shared nodes.
MOST_CHOICES, MOST_OPTIONS, MOST_BRANCHES, MOST_SHARED = 5, 4, 5, 3
#: Names are cut to so many characters.
LONGEST = 40
#: Shares of common nodes are told from here on.
NOTABLE = 0.01


def options(insight: Findings) -> Iterator[str]:
    """Of every choice the options, by their best values."""
    if insight.space.dim > COLUMNS_OF_INSIGHT:  # too wide to be encoded for this alone
        return
    choices = [
        v for v in insight.space.vertices if isinstance(v.parameter, Choice) and v.parameter.levels > 1
    ]
    if not choices:
        return
    yield ""
    yield "Options, by their best values:"
    failed = insight.space.encode_all([trial.params for trial in insight.history.failed])
    for vertex in _by_importance(insight, choices)[:MOST_CHOICES]:
        yield f"  {short(vertex.title, LONGEST)}: {', '.join(_ranking(insight, vertex, failed))}"
    if len(choices) > MOST_CHOICES:
        yield f"  and {counted(len(choices) - MOST_CHOICES, 'more choice')}"


def _by_importance(insight: Findings, choices: list[Vertex]) -> list[Vertex]:
    try:
        places = {title: place for place, title in enumerate(insight.importance())}
    except HidimError:
        return choices
    return sorted(choices, key=lambda vertex: places[vertex.title])


def _ranking(insight: Findings, vertex: Vertex, failed: Array) -> list[str]:
    """The options of a choice, each with its best value and the number of its trials.

    Args:
        failed: points (m, D) without a value.
    """
    labels = (
        [option.label for option in vertex.parameter.options] if isinstance(vertex.parameter, Choice) else []
    )
    active, picked = _picked(vertex, insight.points)
    told = {}
    for option in dict.fromkeys(picked.tolist()):  # in the order of their best trials
        rows = active[picked == option]
        name = f"{labels[option]} has" if isinstance(labels[option], int | float) else labels[option]
        told[option] = f"{name} {insight.ranked[rows[0]].value:.4g} ({counted(len(rows), 'trial')})"
    rest = [f"{len(told) - MOST_OPTIONS} worse"] if len(told) > MOST_OPTIONS else []
    lost = Counter(option for option in _picked(vertex, failed)[1].tolist() if option not in told)
    rest += [
        f"{labels[option]} no value ({count} failed)" for option, count in lost.most_common(MOST_OPTIONS)
    ]
    if len(lost) > MOST_OPTIONS:
        rest.append(f"{len(lost) - MOST_OPTIONS} more without a value")
    untried = len(labels) - len(told) - len(lost)
    return list(told.values())[:MOST_OPTIONS] + rest + ([f"{untried} untried"] if untried else [])


def _picked(vertex: Vertex, points: Array) -> tuple[Indices, Indices]:
    """The rows of points (n, D) in which a choice is active, and the places of its options there."""
    column = points[:, vertex.start]
    active = np.flatnonzero(~np.isnan(column))
    return active, vertex.parameter.scale.from_unit(column[active]).astype(np.intp)


def branches(insight: Findings) -> Iterator[str]:
    """The leaves of the tree, by what a model finds attainable, and what they have in common."""
    try:
        known = insight.branches()
    except HidimError:  # no branches, or too many columns
        return
    if known.learned is None:  # the options have told the rest
        return
    leaves = [branch for branch in known.all if branch.is_leaf]
    sign = -1.0 if insight.maximize else 1.0
    leaves.sort(key=lambda b: sign * b.expected.value if b.expected else np.inf)  # stable: unknown ones last
    listed = leaves[:MOST_BRANCHES]
    names = shortened([branch.node.title for branch in listed], LONGEST)
    width = max(map(len, names))
    yield ""
    yield f"Branches, by the best that a model finds attainable there ({trust(known.learned.quality)}):"
    for name, branch in zip(names, listed, strict=True):
        yield f"  {name:<{width}}  {expectation(branch, '95 %: ')}; {seen(branch)}"
    if len(leaves) > len(listed):
        yield f"  and {len(leaves) - len(listed)} more"
    yield from _common(known.all)


def _common(known: Sequence[Branch]) -> Iterator[str]:
    """What branches learn from each other."""
    shared = [b for b in known if b.paths > 1 and (b.share or 0.0) >= NOTABLE]
    listed = sorted(shared, key=lambda branch: -(branch.share or 0.0))[:MOST_SHARED]
    if listed:
        yield "What several branches have in common, and its share of the variation among them:"
        names = shortened([", ".join(branch.names) for branch in listed], LONGEST)
        width = max(map(len, names))
        for name, branch in zip(names, listed, strict=True):
            yield f"  {name:<{width}}  {percent(branch.share or 0.0):>5}  {learnt_in(branch)}"


def learnt_in(branch: Branch) -> str:
    """From how many branches the trials of a node come, as "learnt in 2 of 4 branches"."""
    if branch.paths == branch.ways:
        return "learnt in both branches" if branch.ways == 2 else f"learnt in all {branch.ways} branches"
    ways = f"{branch.ways}" if branch.ways < 10**6 else f"{branch.ways:.1e}"
    return f"learnt in {branch.paths} of {ways} branches"
