"""Which way of proposing has earned the next suggestion, and how large its box is.

Both are folded from the history: the ways of finished trials, in the order of finishing, and whether each
trial was better than all before it. A failed trial is a trial without success.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hidim.trial import History

WAYS = ("all", "few", "box")

#: Factor by which the credit of all ways decays with every finished suggestion.
FORGET = 0.95


def outcomes(history: History, *, maximize: bool) -> list[tuple[str, bool]]:
    """The way of every finished suggestion, and whether it improved on all values before it."""
    return list(_outcomes(history, -1.0 if maximize else 1.0))


def _outcomes(history: History, sign: float) -> Iterator[tuple[str, bool]]:
    best = np.inf
    for trial in history.finished:
        loss = np.inf if trial.value is None else sign * trial.value
        way = trial.meta.get("way")
        if way in WAYS:
            yield way, bool(loss < best)
        best = min(best, loss)


def choose_way(past: list[tuple[str, bool]], rng: np.random.Generator) -> str:
    """A way, drawn with a tenth for each and the rest by decayed counts of improvements."""
    credit = dict.fromkeys(WAYS, 0.0)
    weight = 1.0
    for way, improved in reversed(past):
        credit[way] += weight * improved
        weight *= FORGET
    total = sum(credit.values())
    share = [credit[way] / total if total > 0.0 else 1.0 / len(WAYS) for way in WAYS]
    return WAYS[int(rng.choice(len(WAYS), p=0.1 + 0.7 * np.array(share)))]


def box_length(past: list[tuple[str, bool]], *, patience: int = 10) -> float:
    """Edge of the box of the way "box".

    Doubled after three successes in a row, halved after `patience` failures, started again when tiny.
    """
    length, successes, failures = 0.8, 0, 0
    for _, improved in (entry for entry in past if entry[0] == "box"):
        successes, failures = (successes + 1, 0) if improved else (0, failures + 1)
        if successes == 3:
            length, successes = min(2.0 * length, 1.6), 0
        if failures == patience:
            length, failures = 0.5 * length, 0
        if length < 0.5**7:
            length = 0.8
    return length
