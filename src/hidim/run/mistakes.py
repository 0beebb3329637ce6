"""When a run is to end because of a mistake: an objective with a typo fails everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: How many times as many trials it takes where a part of the space may fail like that, and not all of it.
DOUBT = 10

#: Errors that Python raises for what the code says, wherever in the space it is tried.
OF_CODE = (NameError, ImportError, SyntaxError, AttributeError, TypeError, NotImplementedError)


class Mistake(NamedTuple):
    """What was wrong with a trial, and whether it must be wrong with all others, too."""

    kind: str
    certain: bool = False


def is_certain(error: BaseException) -> bool:
    """Whether an error is one of the code; that there is nothing, None, may depend on the parameters."""
    return isinstance(error, OF_CODE) and "NoneType" not in str(error)


def failed_alike(mistakes: Sequence[Mistake], trials: int, most: int | None) -> str | None:
    """What is wrong with a run if all of its trials were one mistake.

    Args:
        mistakes: those that were made; what is no mistake, as NaN or a time-out, is not among them.
        trials: that are finished, mistakes and others.
        most: of one mistake that is certain, from which on a run ends; None for never.

    Example:
        >>> failed_alike([Mistake("NameError", certain=True)] * 5, trials=5, most=5)
        'the first 5 trials all failed alike'
        >>> failed_alike([Mistake("ValueError")] * 49, trials=49, most=5)
    """
    if most is None or len(mistakes) < trials or len(set(mistakes)) != 1:
        return None
    enough = trials >= most * (1 if mistakes[0].certain else DOUBT)
    return f"the first {trials} trials all failed alike" if enough else None
