"""When a run is to end because of a mistake: an objective with a typo fails everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: How many times `fail_fast` trials it takes until a mistake ends a run: one that is plain to see, one of the
#: code, and one that a part of the space may have and another not.
OBVIOUS, CERTAIN, DOUBTFUL = 0, 1, 10

#: Errors that Python raises for what the code says, wherever in the space it is tried.
OF_CODE = (NameError, ImportError, SyntaxError, AttributeError, TypeError, NotImplementedError)


class Mistake(NamedTuple):
    """What was wrong with a trial, and how many times `fail_fast` of them end a run."""

    kind: str
    weight: int = DOUBTFUL


def weight_of(error: BaseException, said: str) -> int:
    """That of an error and what it says; that there is nothing, None, may depend on the parameters."""
    return CERTAIN if isinstance(error, OF_CODE) and "NoneType" not in said else DOUBTFUL


def failed_alike(mistakes: Sequence[Mistake], trials: int, most: int | None) -> str | None:
    """What is wrong with a run if all of its trials were one mistake.

    Args:
        mistakes: those that were made; what is no mistake, as NaN or a time-out, is not among them.
        trials: that are finished, mistakes and others.
        most: of one mistake that is certain, from which on a run ends; None for never.

    Example:
        >>> failed_alike([Mistake("NameError", CERTAIN)] * 5, trials=5, most=5)
        'the first 5 trials all failed alike'
        >>> failed_alike([Mistake("ValueError")] * 49, trials=49, most=5)
    """
    alike = len(mistakes) == trials and len(set(mistakes)) == 1
    if most is None or not alike or trials < most * mistakes[0].weight:
        return None
    return f"the first {trials} trials all failed alike" if trials > 1 else "it would be so in every trial"
