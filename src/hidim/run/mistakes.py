"""When a run is to end because of a mistake: an objective with a typo fails everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def failed_alike(mistakes: Sequence[str], trials: int, most: int | None) -> str | None:
    """What is wrong with a run that has had no value yet, if one mistake makes up half of its trials.

    Args:
        mistakes: the kind of each; what is no mistake, as NaN or a time-out, is not among them.
        trials: that are finished, mistakes and others.
        most: of one mistake, from which on a run ends; None for never.

    Example:
        >>> failed_alike(["no number"] * 5 + ["exit code 1"], trials=6, most=5)
        '5 of the first 6 trials failed alike, and none has a value'
    """
    count = max(Counter(mistakes).values(), default=0)
    if most is None or count < max(most, trials / 2):
        return None
    if count == trials:
        return f"the first {trials} trials all failed alike"
    return f"{count} of the first {trials} trials failed alike, and none has a value"
