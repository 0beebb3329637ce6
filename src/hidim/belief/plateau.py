"""Has the search run out onto a plateau?

On a plateau, where several of the last trials had exactly the best value, parameters that are known not to
matter could be changed for ever. There a utility may ask for more than any improvement, every other
suggestion starts from random points, far away, and no transform of the losses is used that would make much of
what is close to the best value.
"""

from __future__ import annotations

from hidim.trial import History

#: How many of the last trials are looked at for ties with the best value, and how many are a plateau. Only
#: the rule as a whole was measured: discrete-47 is solved in ten of ten runs with it, in five without.
LATELY, TIES = 10, 2


def is_plateau(history: History, *, maximize: bool) -> bool:
    """Whether several of the last trials have exactly the best value: more of that kind teach nothing."""
    losses: list[float] = history.losses(maximize=maximize).tolist()
    if not losses:
        return False
    best = min(losses)
    first = losses.index(best)
    return sum(loss == best for loss in losses[max(first + 1, len(losses) - LATELY) :]) >= TIES
