"""A history and its model as a page of text for a person."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from hidim._limits import COLUMNS_OF_INSIGHT
from hidim._types import Array
from hidim.errors import HidimError
from hidim.frame.settled import DESIGN
from hidim.insight.branches import Branch, Branches
from hidim.insight.components import Components, last_structure
from hidim.insight.importance import Entry, Importance, percent
from hidim.insight.interactions import Interactions
from hidim.insight.learned import CENTRAL, CONSIDERABLE, Learned
from hidim.insight.text import counted, rounded, short, shortened
from hidim.space import Choice, Space
from hidim.space.columns import Kind, kind_of
from hidim.space.tree import Vertex
from hidim.trial import History, Trial, TrialState, alike

#: How many of each thing are listed: failures, parameters, choices, their options, branches, shared nodes.
MOST_REASONS, MOST_PARAMETERS, MOST_CHOICES, MOST_OPTIONS, MOST_BRANCHES, MOST_SHARED = 4, 6, 5, 4, 5, 3
#: Groups of a sum, pairs and idle parameters that are listed.
MOST_GROUPS, MOST_PAIRS, MOST_IDLE = 6, 5, 8
#: Lines are broken after this many characters, and names cut to that many.
WIDTH, LONGEST = 110, 40
#: Parameters are listed until they add up to this share.
NEARLY_ALL = 0.95
#: A best value this near a bound, as a share of the range, lies at the bound.
AT_BOUND = 0.01
#: Below the first R² on left-out trials the model is a guess, from the second on it is good.
POOR, GOOD = 0.2, 0.6
#: An idle parameter has less than this part of what each would have if all mattered alike.
UNEVEN = 0.25
#: Shares of common nodes are told from here on.
NOTABLE = 0.01
#: Below this share of starts on flat ground, nothing is gained by walking down the length-scales.
HARDLY = 0.05


class Findings(Protocol):
    """What there is to tell of; `Insight` finds it out."""

    space: Space
    history: History
    maximize: bool
    pruned: int

    @property
    def best(self) -> Trial: ...

    @property
    def ranked(self) -> list[Trial]: ...

    @property
    def points(self) -> Array: ...

    @property
    def learned(self) -> Learned: ...

    def importance(self) -> Importance: ...

    def branches(self) -> Branches: ...

    def components(self) -> Components: ...

    def interactions(self) -> Interactions: ...

    def vertex(self, column: int) -> Vertex: ...


def explain(insight: Findings) -> str:
    """What was found, how the search went, which parameters matter and where their good values are."""
    lines = [*_outcome(insight), *_failures(insight)]
    if insight.history.complete:
        lines += [*_progress(insight), *_walks(insight), *_lessons(insight), *_together(insight)]
        lines += [*_groups(insight)]
        lines += [*_options(insight), *_branches(insight)]
    broken = (textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in lines)
    return "\n".join(broken)


# -- what happened -----------------------------------------------------------------------------------------


def _outcome(insight: Findings) -> Iterator[str]:
    history = insight.history
    counts = Counter(trial.state for trial in history)
    parts = [f"{counts[state]} {state}" for state in TrialState if counts[state]]
    tally = f"{counted(len(history), 'trial')} ({', '.join(parts)})" if parts else "no trials"
    if not history.complete:
        yield f"Nothing found yet: {tally}."
        return
    best, first = insight.best, insight.ranked[0]
    extreme = "largest" if insight.maximize else "smallest"
    yield f"Best value {best.value:.6g} ({extreme} is best): trial {best.number} of {tally}."
    if best.value != first.value:
        yield f"It has the best mean; the {extreme} single value is {first.value:.6g}, trial {first.number}."
    if insight.pruned:
        yield (
            f"Pruned: {insight.pruned} of the complete ones; each counts by its last intermediate value, or "
            "by the median of the others if that is worse."
        )


def _failures(insight: Findings) -> Iterator[str]:
    failed = [t for t in insight.history if t.state is TrialState.FAILED]
    if failed:
        first: dict[str, str] = {}
        for trial in failed:
            first.setdefault(alike(trial.reason or ""), short(trial.reason or "no reason given", 60))
        reasons = Counter(alike(trial.reason or "") for trial in failed).most_common()
        listed = [f"{count} × {first[kind]}" for kind, count in reasons[:MOST_REASONS]]
        rest = sum(count for _, count in reasons[MOST_REASONS:])
        yield f"Failed: {'; '.join(listed)}{f'; {rest} × other' if rest else ''}."


def _progress(insight: Findings) -> Iterator[str]:
    ways = {trial.meta.get("way") for trial in insight.history}
    if ways == {DESIGN}:
        yield "All trials are points of a design: no model has been asked for any of them."
    losses = insight.history.losses(maximize=insight.maximize)
    n = len(losses)
    if n < 8:
        yield f"Too few trials to say whether it still improves: {n} complete."
        return
    best = np.minimum.accumulate(losses)
    since = n - 1 - int(np.argmax(losses == best[-1]))
    with np.errstate(over="ignore"):  # an infinite gain is said as it is
        gain, reach = best[n - 1 - n // 4] - best[-1], 2.0 * np.median(losses / 2.0) - best[-1]
    if gain <= 0.0:
        single = " single" if insight.best.value != insight.ranked[0].value else ""
        yield f"No new best{single} value in the last {since} of {n} complete trials."
        return
    pace = "Hardly improving any more" if gain < 1e-3 * reach else "Still improving"
    ago = "in the very last one" if since == 0 else f"{counted(since, 'trial')} ago"
    yield f"{pace}: by {gain:.2g} in the last quarter of {n} complete trials, the last time {ago}."


def _walks(insight: Findings) -> Iterator[str]:
    """Of walks down the length-scales: whether the ground was flat, and from how far they came."""
    walks = [t.meta["elastic"] for t in insight.history if "elastic" in t.meta]
    if not walks:
        return
    flat = float(np.mean([walk["flat"] for walk in walks]))
    if flat < HARDLY:
        yield f"Elastic search: {percent(flat)} of the starts were on flat ground; a plain search would do."
        return
    longest = float(np.median([max(walk["path"]) for walk in walks]))
    if longest == 1.0:
        yield f"Elastic search: {percent(flat)} of the starts could not move; the best walks began at others."
        return
    yield (
        f"Elastic search: {percent(flat)} of the starts were on flat ground; the best walks came down from "
        f"length-scales {longest:.1f} times as long (median of {counted(len(walks), 'suggestion')})."
    )


# -- what the model says -----------------------------------------------------------------------------------


def _lessons(insight: Findings) -> Iterator[str]:
    try:
        shares = insight.importance()
    except HidimError as error:
        yield f"Which parameters matter is not known: {error}."
        return
    n, quality = len(insight.learned.posterior.y), insight.learned.quality
    yield ""
    yield f"What matters, as a model of {'only ' if n < 15 else ''}{n} trials sees it ({_trust(quality)}):"
    listed = _until(NEARLY_ALL, shares.entries(MOST_PARAMETERS))
    names = shortened([entry.name for entry in listed], LONGEST)
    width = max(map(len, names))
    for name, entry in zip(names, listed, strict=True):
        yield f"  {name:<{width}}  {percent(entry.share):>5}  {_good_values(insight, entry)}".rstrip()
    others = len(shares.shares) - sum(len(entry.columns) for entry in listed)
    if others:
        rest = max(1.0 - sum(entry.share for entry in listed), 0.0)
        single = ".coordinates" if len(shares.coordinates) > len(shares) else ""
        known = others > 1 and rest > 1.0 - NEARLY_ALL
        more = f", one by one in result.importance(){single}" if known else ""
        yield f"  the other{f' {others} together' if others > 1 else ''}: {percent(rest)}{more}"
    for entry in listed:
        yield from _bound(insight, entry)
    yield from _penalties(insight)
    yield from _noise(insight)


def _until(share: float, entries: list[Entry]) -> list[Entry]:
    """The first entries that add up to a share, at least one."""
    before = np.cumsum([0.0, *(entry.share for entry in entries[:-1])])
    return [entry for entry, told in zip(entries, before, strict=True) if told < share]


def _trust(quality: float) -> str:
    if quality < POOR:
        return "a guess, for it hardly predicts left-out trials"
    return f"{'it' if quality >= GOOD else 'roughly: it'} predicts left-out trials with R² = {quality:.2f}"


def _good_values(insight: Findings, entry: Entry) -> str:
    """The best trial's value, and the range among the best tenth of the trials."""
    column = int(entry.columns[0])
    vertex = insight.vertex(column)
    if len(entry.columns) > 1:
        most = float(insight.importance().shares[entry.columns].max())
        return f"no single coordinate more than {percent(most)}"
    if kind_of(vertex.parameter) == Kind.LABEL:
        return ""  # has a line of its own
    at = _at_best(insight, column)
    count = max(3, -(-len(insight.points) // 10))
    good = insight.points[:count, column]
    good = good[~np.isnan(good)]
    best = "inactive in the best trial" if np.isnan(at) else f"best {_text(vertex, column, at)}"
    if len(good) < 2:
        return best
    low, high = _text(vertex, column, good.min()), _text(vertex, column, good.max())
    if good.max() - good.min() > 0.8:
        return f"{best}; in the best {count} trials anywhere in its range"
    return f"{best}; in the best {count} trials {low}{f' to {high}' if low != high else ', too'}"


def _bound(insight: Findings, entry: Entry) -> Iterator[str]:
    column = int(entry.columns[0])
    vertex, at = insight.vertex(column), _at_best(insight, column)
    parameter = vertex.along(column)
    if len(entry.columns) > 1 or isinstance(parameter, Choice) or np.isnan(at) or parameter.levels <= 2:
        return
    near = 0.5 / parameter.levels + 1e-9 if np.isfinite(parameter.levels) else AT_BOUND
    if min(at, 1.0 - at) <= near:
        side, word, bound = (
            ("lower", "low <", parameter.low) if at < 0.5 else ("upper", "high >", parameter.high)
        )
        yield (
            f"! {entry.name} = {_text(vertex, column, at)} lies at its {side} bound: widen {vertex.title} "
            f"({word} {bound:g}) if values beyond make sense."
        )


def _penalties(insight: Findings) -> Iterator[str]:
    cut, sign = insight.learned.cut, insight.learned.sign
    if cut is not None:
        losses = insight.history.losses(maximize=insight.maximize)
        count = int(cut.penalties(losses).sum())
        on = "downwards" if insight.maximize else "on"
        yield (
            f"Penalties: {counted(count, 'value')} from {sign * cut.first:.4g} {on}, out of proportion to "
            f"all others, which end at {sign * cut.worst:.4g}. What matters is told without the gap between "
            "them."
        )


def _noise(insight: Findings) -> Iterator[str]:
    learned, best = insight.learned, insight.best
    if np.sqrt(learned.posterior.noise) >= CONSIDERABLE:
        point = insight.space.encode(best.params)[None]
        band, expected = learned.noise(point), float(learned.values(point).median[0])
        deviation = float(band.high[0] - band.low[0]) / (2.0 * CENTRAL)
        yield (
            f"Noise: near the best, values scatter with a standard deviation of about {deviation:.2g}, or "
            f"the model misses detail of that size. It expects {expected:.4g} where it saw {best.value:.4g}."
        )


def _at_best(insight: Findings, column: int) -> float:
    return float(insight.space.encode(insight.best.params)[column])


def _text(vertex: Vertex, column: int, unit: float) -> str:
    parameter = vertex.along(column)
    value = parameter.scale.from_unit(np.array([unit]))[0]
    return f"{parameter.labels[int(value)]}" if isinstance(parameter, Choice) else f"{value:.4g}"


# -- what adds up, and what interacts ----------------------------------------------------------------------


def _together(insight: Findings) -> Iterator[str]:
    """Nothing, if the model of plain values is a guess: its opinion of pairs would be one, too."""
    if insight.space.dim < 2:
        return
    try:
        known = insight.interactions()
    except HidimError:  # told already
        return
    if known.quality < POOR:
        return
    yield ""
    yield (
        f"Of the values themselves, {percent(known.additive)} adds up over single parameters "
        f"({_trust(known.quality)})."
    )
    pairs = [
        f"{short(pair.first, LONGEST)} × {short(pair.second, LONGEST)} ({percent(pair.share)})"
        for pair in known.pairs[:MOST_PAIRS]
    ]
    if pairs:
        yield f"Interacting: {', '.join(pairs)}{_and_more(len(known.pairs) - len(pairs))}."
    idle = _idle(insight, known)
    if idle and known.quality >= GOOD:
        listed = shortened(idle[:MOST_IDLE], LONGEST)
        rest = _and_more(len(idle) - len(listed))
        yield f"Next to no effect over the whole space: {', '.join(listed)}{rest}."


def _idle(insight: Findings, known: Interactions) -> list[str]:
    """Of the names that the one model calls idle, those with next to no share in the other, too."""
    shares = insight.importance().shares
    names = insight.space.columns.names
    moving = {names[column] for column in np.flatnonzero(shares >= UNEVEN / len(shares))}
    return [name for name in known.idle if name not in moving]


def _and_more(count: int) -> str:
    return f" and {count} more" if count else ""


# -- groups that the method has learnt ---------------------------------------------------------------------


def _groups(insight: Findings) -> Iterator[str]:
    if last_structure(insight.history) is None:
        return
    try:
        known = insight.components()
    except HidimError:  # told already
        return
    kind = "directions" if any(effect.weights for c in known for effect in c.effects) else "groups"
    yield ""
    yield f"As a sum over the {kind} of the method's model ({_trust(known.quality)}):"
    for component in known[:MOST_GROUPS]:
        yield f"  {percent(component.share):>5}  {short(component.title, WIDTH - 12)}"
    rest = known[MOST_GROUPS:]
    if rest:
        yield f"  {percent(sum(c.share for c in rest)):>5}  {counted(len(rest), 'other group')}"


# -- choices -----------------------------------------------------------------------------------------------


def _options(insight: Findings) -> Iterator[str]:
    if insight.space.dim > COLUMNS_OF_INSIGHT:  # too wide to be encoded for this alone
        return
    choices = [
        v for v in _by_importance(insight) if isinstance(v.parameter, Choice) and v.parameter.levels > 1
    ]
    if choices:
        yield ""
        yield "Options, by their best values:"
    for vertex in choices[:MOST_CHOICES]:
        yield f"  {short(vertex.title, LONGEST)}: {', '.join(_ranking(insight, vertex))}"
    if len(choices) > MOST_CHOICES:
        yield f"  and {counted(len(choices) - MOST_CHOICES, 'more choice')}"


def _by_importance(insight: Findings) -> list[Vertex]:
    try:
        places = {title: place for place, title in enumerate(insight.importance())}
    except HidimError:
        return list(insight.space.vertices)
    return sorted(insight.space.vertices, key=lambda vertex: places[vertex.title])


def _ranking(insight: Findings, vertex: Vertex) -> list[str]:
    """The options of a choice, each with its best value and the number of its trials."""
    labels = (
        [option.label for option in vertex.parameter.options] if isinstance(vertex.parameter, Choice) else []
    )
    column = insight.points[:, vertex.start]
    active = np.flatnonzero(~np.isnan(column))
    picked = vertex.parameter.scale.from_unit(column[active]).astype(np.intp)
    told = []
    for option in dict.fromkeys(picked.tolist()):  # in the order of their best trials
        rows = active[picked == option]
        name = f"{labels[option]} has" if isinstance(labels[option], int | float) else labels[option]
        told.append(f"{name} {insight.ranked[rows[0]].value:.4g} ({counted(len(rows), 'trial')})")
    worse, untried = len(told) - MOST_OPTIONS, len(labels) - len(told)
    rest = [f"{worse} worse"] if worse > 0 else []
    return told[:MOST_OPTIONS] + rest + ([f"{untried} without a value"] if untried else [])


# -- branches ----------------------------------------------------------------------------------------------


def _branches(insight: Findings) -> Iterator[str]:
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
    yield f"Branches, by the best that a model finds attainable there ({_trust(known.learned.quality)}):"
    for name, branch in zip(names, listed, strict=True):
        yield f"  {name:<{width}}  {expectation(branch, '95 %: ')}; {_seen(branch)}"
    if len(leaves) > len(listed):
        yield f"  and {len(leaves) - len(listed)} more"
    yield from _common(known.all)


def expectation(branch: Branch, title: str = "") -> str:
    """The best value that can be attained in a branch and, after a title, its interval: "0.1 (0.07 to 0.11)".

    A dash where nothing is known.
    """
    expected = branch.expected
    if expected is None:
        return "–"
    value, low, high = rounded(expected.value, expected.low, expected.high)
    return f"{value} ({title}{low} to {high})"


def _seen(branch: Branch) -> str:
    failed = f", {branch.failed} failed" if branch.failed else ""
    if branch.best is None:
        return f"no value yet{failed}"
    return f"best {branch.best.value:.4g} of {counted(branch.complete, 'trial')}{failed}"


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
    ways = f"{branch.ways}" if branch.ways < 10**6 else f"{branch.ways:.1e}"
    return f"learnt in {branch.paths} of {ways} branches"
