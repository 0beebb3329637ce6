"""Is it time to look elsewhere?

On a plateau, where several of the last trials had exactly the best value, parameters that are known not to
matter could be changed for ever. And a run that has settled in a basin always finds a little more there, for
under a transform that stretches what is close to the best value every digit counts as much as the one before.

To look elsewhere means: the utility may ask for more than any improvement, every other suggestion of the
search `Ways` starts from random points, far away, and no transform of the losses is used that would make much
of what is close to the best value.
"""

from __future__ import annotations

import numpy as np

from hidim.trial import History

#: How many of the last trials are looked at for ties with the best value, and how many are a plateau. Only
#: the rule as a whole was measured: discrete-47 is solved in ten of ten runs with it, in five without.
LATELY, TIES = 10, 2

#: The way of trials that no model suggested, if they have one.
DESIGN = "design"

#: A run has settled if one suggestion for every column, within these limits, has gained less than this share
#: of what was gained since as many at its beginning; as these may be penalties, by their best quarter. Rough
#: choices: Rastrigin's function in 5 dimensions was left at 10.3 without the rule, at 4.8 to 6.8 with shares
#: of 1e-3 and 1e-4, at 7.6 with 1e-6 (200 trials, means of five runs, four of five suggestions elsewhere).
#: With half of them elsewhere, as it is, it was left at 5.6. All of this was chosen on these runs.
TRIALS, MANY, WORTH = 15, 30, 1e-4


def plateau(history: History, *, maximize: bool) -> int:
    """How many trials have exactly the best value, after the first, if several of the last have it; else 0.

    More of that kind teach nothing.
    """
    losses: list[float] = history.losses(maximize=maximize).tolist()
    if not losses:
        return 0
    best = min(losses)
    first = losses.index(best)
    lately = losses[max(first + 1, len(losses) - LATELY) :].count(best)
    return losses.count(best) - 1 if lately >= TIES else 0


def is_settled(history: History, dim: int, *, maximize: bool) -> bool:
    """Whether the last suggestions of a model have gained next to nothing, in the units of the objective.

    Args:
        dim: number of columns.
    """
    last = int(np.clip(dim, TRIALS, MANY))
    losses = 0.25 * history.losses(maximize=maximize)  # differences of the largest numbers stay finite
    suggested = [t.meta.get("way", DESIGN) != DESIGN for t in history.complete]
    if len(losses) < 2 * last or sum(suggested) < last:
        return False
    since = np.flatnonzero(suggested)[-last]
    best, begun = float(losses.min()), float(np.quantile(losses[:last], 0.25, method="lower"))
    return float(losses[:since].min()) - best <= WORTH * (begun - best)
