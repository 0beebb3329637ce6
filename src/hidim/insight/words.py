"""A history and its model as a page of text for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from hidim._types import Array
from hidim.errors import HidimError
from hidim.insight.importance import percent
from hidim.space import Choice, Int
from hidim.space.tree import Vertex
from hidim.trial import TrialState

if TYPE_CHECKING:
    from hidim.insight.insight import Insight

#: How many of each thing are listed: failures, parameters, choices, options of a choice.
MOST_REASONS, MOST_PARAMETERS, MOST_CHOICES, MOST_OPTIONS = 4, 6, 5, 5
#: Parameters are listed until they add up to this share.
NEARLY_ALL = 0.95
#: A best value this near a bound, as a share of the range, lies at the bound.
AT_BOUND = 0.01
#: Below this R² on left-out trials the model is not to be trusted; above the other it is.
POOR, GOOD = 0.2, 0.6
#: Noise is told of from this share of the standard deviation of the (transformed) values on.
CONSIDERABLE = 0.1


def explain(insight: Insight) -> str:
    """What was found, how the search went, which parameters matter and where their good values are."""
    lines = [*_outcome(insight), *_failures(insight)]
    if insight.history.complete:
        lines += [*_progress(insight), *_lessons(insight), *_choices(insight)]
    return "\n".join(lines)


def short(text: str, most: int = 60) -> str:
    """One line of at most `most` characters, cut in the middle.

    Example:
        >>> short("a_very_long_parameter_name", 11)
        'a_ver…_name'
    """
    text = " ".join(text.split())
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


def _outcome(insight: Insight) -> Iterator[str]:
    history = insight.history
    counts = Counter(trial.state for trial in history)
    parts = [f"{counts[state]} {state}" for state in TrialState if counts[state]]
    tally = f"{len(history)} trial{'s' if len(history) != 1 else ''} ({', '.join(parts) or 'none'})"
    if not history.complete:
        yield f"Nothing found yet: {tally}."
        return
    best, extreme = insight.best, "largest" if insight.maximize else "smallest"
    yield f"Best value {best.value:.6g} ({extreme} is best), trial {best.number} of {tally}."


def _failures(insight: Insight) -> Iterator[str]:
    failed = [t for t in insight.history if t.state is TrialState.FAILED]
    if not failed:
        return
    reasons = Counter(short(trial.reason or "no reason given") for trial in failed).most_common()
    listed = [f"{count} × {reason}" for reason, count in reasons[:MOST_REASONS]]
    rest = sum(count for _, count in reasons[MOST_REASONS:])
    yield f"Failed: {'; '.join(listed)}{f'; {rest} others' if rest else ''}."


def _progress(insight: Insight) -> Iterator[str]:
    sign = -1.0 if insight.maximize else 1.0
    losses = sign * np.array([trial.value for trial in insight.history.complete], dtype=np.float64)
    before = np.concatenate([[np.inf], np.minimum.accumulate(losses)[:-1]])
    records, n = np.flatnonzero(losses < before), len(losses)
    if n < 8:
        yield f"Too few trials to say whether it still improves: {n} complete."
        return
    late = int(np.sum(records >= n - n // 4))
    since = n - 1 - int(records[-1])
    if late:
        yield (
            f"Still improving: {late} new best value{'s' if late > 1 else ''} in the last quarter of the "
            f"complete trials, the last {_ago(since)}. More trials may bring more."
        )
    else:
        yield f"No new best value in the last {since} of {n} complete trials."


def _ago(since: int) -> str:
    return "by the very last trial" if since == 0 else f"{since} trial{'s' if since > 1 else ''} ago"


def _lessons(insight: Insight) -> Iterator[str]:
    """What takes a model: importance, good ranges, bounds, noise."""
    try:
        shares = insight.importance()
    except HidimError as error:
        yield f"Which parameters matter is not known: {error}."
        return
    yield ""
    yield f"What matters, as the model sees it ({_trust(insight.learned.quality)}):"
    names, told = insight.space.columns.names, 0.0
    listed: list[int] = []
    for column in shares.order[:MOST_PARAMETERS].tolist():
        if listed and told >= NEARLY_ALL:
            break
        listed.append(column)
        told += float(shares.shares[column])
    width = max(len(short(names[column], 30)) for column in listed)
    for column in listed:
        share = percent(float(shares.shares[column]))
        yield f"  {short(names[column], 30):<{width}}  {share:>5}  {_good_values(insight, column)}".rstrip()
    others = len(shares.shares) - len(listed)
    if others:
        yield f"  the other{f' {others} together' if others > 1 else ''} {percent(max(1.0 - told, 0.0))}"
    for column in listed:
        yield from _bound(insight, column)
    yield from _noise(insight)


def _trust(quality: float) -> str:
    if quality < POOR:
        return "a guess: it hardly predicts left-out trials"
    return f"{'it' if quality >= GOOD else 'only roughly: it'} predicts left-out trials with R² = {quality:.2f}"


def _values(vertex: Vertex, units: Array) -> Array:
    return np.asarray(vertex.parameter.scale.from_unit(units))


def _good_values(insight: Insight, column: int) -> str:
    """The best trial's value, and the range among the best tenth of the trials."""
    vertex, points = insight.vertex(column), insight.points
    at = insight.space.encode(insight.best.params)[column]
    if isinstance(vertex.parameter, Choice):
        return ""  # has a line of its own
    count = max(3, -(-len(points) // 10))
    good = points[:count, column]
    good = good[~np.isnan(good)]
    best = "inactive in the best trial" if np.isnan(at) else f"best {_values(vertex, at[None])[0]:.4g}"
    if len(good) < 2:
        return best
    if np.ptp(good) > 0.8:
        return f"{best}; the best {count} trials have it anywhere in its range"
    low, high = _values(vertex, np.array([good.min(), good.max()]))
    return f"{best}; the best {count} trials have {low:.4g} to {high:.4g}"


def _bound(insight: Insight, column: int) -> Iterator[str]:
    vertex, at = insight.vertex(column), insight.space.encode(insight.best.params)[column]
    parameter = vertex.parameter
    if isinstance(parameter, Choice) or np.isnan(at) or parameter.levels <= 2:
        return
    value = float(_values(vertex, at[None])[0])
    whole = isinstance(parameter, Int)
    for bound, gap, word, sign in ((parameter.low, at, "lower", "<"), (parameter.high, 1.0 - at, "upper", ">")):
        if value == bound or (gap <= AT_BOUND and not whole):
            name = insight.space.columns.names[column]
            yield (
                f"! {name} = {value:.4g} lies at its {word} bound: widen {vertex.title} beyond it "
                f"({'low' if word == 'lower' else 'high'} {sign} {bound:g}) if such values make sense."
            )


def _noise(insight: Insight) -> Iterator[str]:
    learned = insight.learned
    if np.sqrt(learned.posterior.noise) < CONSIDERABLE:
        return
    point = insight.space.encode(insight.best.params)[None]
    band, expected = learned.noise(point), float(learned.values(point).median[0])
    half = float(band.high[0] - band.low[0]) / 2.0
    yield (
        f"Noise: evaluations near the best scatter by about ± {half:.2g}, or the model misses detail of that "
        f"size; it expects {expected:.4g} there, where {insight.best.value:.4g} was seen."
    )


def _choices(insight: Insight) -> Iterator[str]:
    vertices = [v for v in insight.space.vertices if isinstance(v.parameter, Choice) and v.parameter.levels > 1]
    if not vertices:
        return
    yield ""
    yield "Options, by their best values:"
    for vertex in vertices[:MOST_CHOICES]:
        yield f"  {short(vertex.title, 30)}: {_options(insight, vertex)}"
    if len(vertices) > MOST_CHOICES:
        yield f"  and {len(vertices) - MOST_CHOICES} more choices"


def _options(insight: Insight, vertex: Vertex) -> str:
    assert isinstance(vertex.parameter, Choice)
    column = insight.points[:, vertex.start]
    active = np.flatnonzero(~np.isnan(column))
    picked = _values(vertex, column[active]).astype(np.intp)
    told = []
    for option in dict.fromkeys(picked.tolist()):  # in the order of their best trials
        rows = active[picked == option]
        value, label = insight.ranked[rows[0]].value, vertex.parameter.labels[option]
        told.append(f"{label} {value:.4g} ({len(rows)} trial{'s' if len(rows) > 1 else ''})")
    untried = len(vertex.parameter.labels) - len(told)
    cut = [f"{len(told) - MOST_OPTIONS} worse ones"] if len(told) > MOST_OPTIONS else []
    return ", ".join([*told[:MOST_OPTIONS], *cut, *([f"{untried} without a value"] if untried else [])])
