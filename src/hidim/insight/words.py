"""A history and its model as a page of text for a person."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator

import numpy as np

from hidim.errors import HidimError
from hidim.frame.observe import DESIGN
from hidim.insight.choices import LONGEST, branches, options
from hidim.insight.components import last_structure
from hidim.insight.findings import GOOD, POOR, Findings, trust
from hidim.insight.importance import Entry, percent
from hidim.insight.interactions import Interactions
from hidim.insight.learned import CENTRAL, CONSIDERABLE
from hidim.insight.text import counted, short, shortened
from hidim.space import Choice
from hidim.space.columns import Kind, kind_of
from hidim.space.render import printable
from hidim.space.tree import Vertex
from hidim.trial import TrialState, alike

#: How many of each thing are listed: failures, parameters.
MOST_REASONS, MOST_PARAMETERS = 4, 6
#: Groups of a sum, pairs and idle parameters that are listed.
MOST_GROUPS, MOST_PAIRS, MOST_IDLE = 6, 5, 8
#: Lines are broken after this many characters.
WIDTH = 110
#: Parameters are listed until they add up to this share.
NEARLY_ALL = 0.95
#: A best value this near a bound, as a share of the range, lies at the bound.
AT_BOUND = 0.01
#: An idle parameter has less than this part of what each would have if all mattered alike.
UNEVEN = 0.25
#: Below this share of starts on flat ground, nothing is gained by walking down the length-scales.
HARDLY = 0.05


def explain(insight: Findings) -> str:
    """What was found, how the search went, which parameters matter and where their good values are."""
    lines = [*_outcome(insight), *_failures(insight)]
    if insight.history.complete:
        lines += [*_progress(insight), *_walks(insight), *_lessons(insight), *_together(insight)]
        lines += [*_groups(insight)]
        lines += [*options(insight), *branches(insight)]
    broken = (textwrap.fill(printable(line), WIDTH, subsequent_indent="    ") for line in lines)
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
    yield f"What matters, as a model of {'only ' if n < 15 else ''}{n} trials sees it ({trust(quality)}):"
    listed = _until(NEARLY_ALL, shares.entries(MOST_PARAMETERS))
    if sum(len(entry.columns) for entry in listed) == len(shares.shares) - 1:
        listed = shares.entries(len(listed) + 1)
    names = shortened([entry.name for entry in listed], LONGEST)
    width = max(map(len, names))
    for name, entry in zip(names, listed, strict=True):
        yield f"  {name:<{width}}  {percent(entry.share):>5}  {_good_values(insight, entry)}".rstrip()
    others = len(shares.shares) - sum(len(entry.columns) for entry in listed)
    if others:
        rest = max(1.0 - sum(entry.share for entry in listed), 0.0)
        single = ".coordinates" if len(shares.coordinates) > len(shares) else ""
        more = f", one by one in result.importance(){single}" if rest > 1.0 - NEARLY_ALL else ""
        yield f"  the other {others} together: {percent(rest)}{more}"
    for entry in listed:
        yield from _bound(insight, entry)
    yield from _penalties(insight)
    yield from _noise(insight)


def _until(share: float, entries: list[Entry]) -> list[Entry]:
    """The first entries that add up to a share, at least one."""
    before = np.cumsum([0.0, *(entry.share for entry in entries[:-1])])
    return [entry for entry, told in zip(entries, before, strict=True) if told < share]


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
    if np.isnan(insight.points[:, column]).all():
        return "no trial that has it has a value"
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
        f"({trust(known.quality)})."
    )
    pairs = [
        f"{short(pair.first, LONGEST)} × {short(pair.second, LONGEST)} ({percent(pair.share)})"
        for pair in known.pairs[:MOST_PAIRS]
    ]
    if pairs:
        yield f"Interacting: {', '.join(pairs)}{_and_more(len(known.pairs) - len(pairs))}."
    idle = _idle(insight, known)
    if idle and known.quality >= GOOD:
        shown = shortened(idle[:MOST_IDLE], LONGEST)
        listed = [text + _as_far_as(insight, name) for text, name in zip(shown, idle, strict=False)]
        rest = _and_more(len(idle) - len(listed))
        yield f"Next to no effect over the whole space: {', '.join(listed)}{rest}."


def _idle(insight: Findings, known: Interactions) -> list[str]:
    """Of the names that the one model calls idle, those with next to no share in the other, too."""
    shares = insight.importance().shares
    names = insight.space.columns.names
    moving = {names[column] for column in np.flatnonzero(shares >= UNEVEN / len(shares))}
    return [name for name in known.idle if name not in moving]


def _as_far_as(insight: Findings, name: str) -> str:
    """What is added to the name of a choice of which some options never had a value."""
    vertex = insight.vertex(insight.space.columns.names.index(name))
    if not isinstance(vertex.parameter, Choice):
        return ""
    values = insight.points[:, vertex.start]
    seen = len(np.unique(values[~np.isnan(values)]))
    return "" if seen == vertex.parameter.levels else " (as far as its options had values)"


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
    yield f"As a sum over the {kind} of the method's model ({trust(known.quality)}):"
    for component in known[:MOST_GROUPS]:
        yield f"  {percent(component.share):>5}  {short(component.title, WIDTH - 12)}"
    rest = known[MOST_GROUPS:]
    if rest:
        yield f"  {percent(sum(c.share for c in rest)):>5}  {counted(len(rest), 'other group')}"
