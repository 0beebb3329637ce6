"""Has a run settled?"""

from __future__ import annotations

import numpy as np

from hidim._types import Array
from hidim.trial import History

#: The way of trials that no model suggested, if they have one.
DESIGN = "design"

#: Ways of trials that a person, or another program, has entered.
ENTERED = ("given", "added")

#: Ways of trials that no search has suggested.
UNSEARCHED = (DESIGN, "probe", *ENTERED, "random", "sobol")

#: A run has settled if one suggestion for every column, within these limits, has gained less than this share
#: of what was gained since as many at its beginning; as these may be penalties, by their best quarter. Rough
#: choices: Rastrigin's function in 5 dimensions was left at 10.3 without the rule, at 4.8 to 6.8 with shares
#: of 1e-3 and 1e-4, at 7.6 with 1e-6 (200 trials, means of five runs, four of five suggestions elsewhere).
#: With half of them elsewhere, as it is, it was left at 5.6. All of this was chosen on these runs.
TRIALS, MANY, WORTH = 15, 30, 1e-4


def is_settled(history: History, dim: int, *, maximize: bool, times: int = 1) -> bool:
    """Whether the last suggestions of a model have gained next to nothing, in the units of the objective.

    Trials that were entered, or that remember nothing, are no suggestions; what they gained counts. But
    probes are: they take turns that a model might have had.

    Args:
        dim: number of columns.
        times: how many times as many suggestions are looked at.
    """
    last = times * int(np.clip(dim, TRIALS, MANY))
    losses = 0.25 * history.losses(maximize=maximize)  # differences of the largest numbers stay finite
    suggested = [t.meta.get("way", DESIGN) not in (DESIGN, *ENTERED) for t in history.complete]
    if len(losses) < 2 * last or sum(suggested[1:]) < last:  # the first trial gains on none
        return False
    since = np.flatnonzero(suggested)[-last]
    best = float(losses.min())
    return float(losses[:since].min()) - best <= WORTH * (_begun(losses, last) - best)


def gained(history: History, dim: int, *, maximize: bool) -> float:
    """A quarter of what was gained since the beginning, by the same measure."""
    losses = 0.25 * history.losses(maximize=maximize)
    return _begun(losses, int(np.clip(dim, TRIALS, MANY))) - float(losses.min())


def _begun(losses: Array, last: int) -> float:
    return float(np.quantile(losses[:last], 0.25, method="lower"))
