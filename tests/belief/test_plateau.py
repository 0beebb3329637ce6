"""When a search has run out onto a plateau."""

from __future__ import annotations

import pytest

from hidim.belief.plateau import is_plateau
from hidim.trial import History, Trial


@pytest.mark.parametrize(
    ("values", "plateau"),
    [
        ([], False),
        ([1.0], False),
        ([3.0, 1.0, 2.0], False),
        ([3.0, 1.0, 1.0], False),
        ([3.0, 1.0, 1.0, 1.0], True),
        ([1.0, 1.0, 1.0, 0.5], False),
        ([1.0, 1.0, 1.0, *range(2, 11)], False),
        ([2.0, 2.0, 2.0, 1.0, 1.0], False),
    ],
)
def test_a_plateau_is_several_late_ties_with_the_best_value(values, plateau):
    for sign in (1.0, -1.0):
        trials = [Trial({}, number=i).completed(sign * v, rank=i) for i, v in enumerate(values)]
        assert is_plateau(History(trials), maximize=sign < 0) is plateau
