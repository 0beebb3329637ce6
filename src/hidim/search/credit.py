"""Which way of proposing has earned the next suggestion, and how large its box is.

Both are folded from the history: the ways of finished trials, in the order of finishing, and whether each
trial was better than all before it. A failed trial is a trial without success.
"""

from __future__ import annotations

import numpy as np

from hidim._types import Rng
from hidim.frame.success import steps
from hidim.trial import History

WAYS = ("all", "few", "box")

#: The way of models with main effects.
TERMS = "terms"

#: Factor by which the credit of all ways decays with every finished suggestion: a memory of about twenty.
FORGET = 0.95

#: The share that "all" has anyway, that of every other way, and what is left for the first; the rest goes by
#: success. With a tenth for each regrets after 150 trials were higher by a fifth: geometric mean of twelve
#: functions in 20 to 300 dimensions on which this was chosen, three runs each.
FIRST, ANYWAY, MOST_OF_ONE = 0.5, 0.1, 0.7

#: The box's first, largest and smallest length, as in TuRBO (Eriksson et al. 2019); and successes in a row
#: after which it is doubled, as in TuRBO's code. Failures after which it is halved are fewer: TuRBO waits for
#: as many as there are dimensions, but every suggestion is one of the box there.
LENGTH, LONGEST, SHORTEST, SUCCESSES, FAILURES = 0.8, 1.6, 0.5**7, 3, 10


def improvements(history: History, *, maximize: bool) -> list[tuple[str, bool]]:
    """The way of every finished suggestion, and whether it improved on all values before it."""
    past = steps(history, "way", maximize=maximize)
    return [(step.which, step.improved) for step in past if step.which in (*WAYS, TERMS)]


def choose_way(
    past: list[tuple[str, bool]], rng: Rng, ways: tuple[str, ...] = WAYS, first: float = FIRST
) -> str:
    """A way: a share of the draws are the first, a tenth each other, the rest by decayed improvements."""
    credit = dict.fromkeys((*WAYS, TERMS), 0.0)
    weight = 1.0
    for way, improved in reversed(past):
        credit[way] += weight * improved
        weight *= FORGET
    total = sum(credit[way] for way in ways)
    share = [credit[way] / total if total > 0.0 else 1.0 / len(ways) for way in ways]
    anyway = np.array([first] + [ANYWAY] * (len(ways) - 1))
    return ways[int(rng.choice(len(ways), p=anyway + (1.0 - anyway.sum()) * np.array(share)))]


def box_length(past: list[tuple[str, bool]]) -> float:
    """Edge of the box of the way "box".

    Doubled after three successes in a row, halved after ten failures, started again when tiny.
    """
    length, successes, failures = LENGTH, 0, 0
    for _, improved in (entry for entry in past if entry[0] == "box"):
        successes, failures = (successes + 1, 0) if improved else (0, failures + 1)
        if successes == SUCCESSES:
            length, successes = min(2.0 * length, LONGEST), 0
        if failures == FAILURES:
            length, failures = 0.5 * length, 0
        if length < SHORTEST:
            length = LENGTH
    return length
