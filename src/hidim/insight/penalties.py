"""Losses out of all proportion, as penalties for bad configurations are.

Beside a penalty of 10⁶ everything else looks alike. So the gap between ordinary losses and penalties is cut
out before a model is fitted, and put back when it is asked for values:

    c(y) = y                          ordinary losses, from the best b to the worst w
    c(y) = b + 3 (w − b) + s (y − p)   penalties, from the smallest p on

where s ≤ 1 keeps them within another w − b. What is below the middle of the gap that is left is taken for
ordinary, what is above for a penalty: between the two nothing has been seen.

A run that has converged leaves gaps, too. But there the losses without a cut are smoother than those with it,
and `hidim.insight.fitting` lets the evidence decide: c has a slope wherever there are data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hidim._types import Array, Mask

#: Losses may be penalties if the largest of them is at most `ALIKE` times as far from the best as the
#: smallest, and that more than `PENALTY` times as far as the next loss, times the ratio in which they differ:
#: those of a run that has found better ground also leave a gap, but are spread over what there is elsewhere.
PENALTY, ALIKE = 10.0, 10.0
#: Fewer ordinary losses than this say nothing about what is out of proportion.
ORDINARY = 5
#: Where penalties begin, in ranges of ordinary losses from the best.
BEGIN = 3.0


@dataclass(frozen=True)
class Cut:
    """The gap between ordinary losses and penalties.

    Args:
        best: the smallest loss.
        worst: the largest ordinary one.
        first: the smallest penalty.
        slope: by which the spread of the penalties shrinks.
    """

    best: float
    worst: float
    first: float
    slope: float

    def __call__(self, losses: Array) -> Array:
        """Losses (n,) without the gap.

        Example:
            >>> losses = np.array([1.0, 2.0, 3.0, 1e9, 1.5, 2.5])
            >>> gap(losses)(losses).tolist()
            [1.0, 2.0, 3.0, 7.0, 1.5, 2.5]
        """
        begin = self.best + BEGIN * (self.worst - self.best)
        above = begin + self.slope * (np.maximum(losses, self.first) - self.first)
        return np.where(self.penalties(losses), above, losses)

    def penalties(self, losses: Array) -> Mask:
        """Which of the losses (n,) are penalties."""
        return np.asarray(losses >= self.first)

    def slopes(self, losses: Array) -> Array:
        """Slopes (n,) of the cut at losses."""
        return np.where(self.penalties(losses), self.slope, 1.0)


def gap(losses: Array) -> Cut | None:
    """Where losses (n,) may be cut, if anywhere: above the gap all are alike, so there is one at the most."""
    ordered = np.sort(losses)
    far = ordered - ordered[0]
    firsts = np.arange(ORDINARY, len(far))
    firsts = firsts[(far[firsts - 1] > 0.0) & (far[firsts] >= far[-1] / ALIKE)]
    places = firsts[far[firsts] > PENALTY * (far[-1] / far[firsts]) * far[firsts - 1]]
    if not len(places) or not math.isfinite(far[-1]):
        return None
    worst = int(places[0]) - 1
    spread, reach = float(far[-1] - far[worst + 1]), float(far[worst])
    slope = min(1.0, reach / spread) if spread > 0.0 else 1.0
    return Cut(float(ordered[0]), float(ordered[worst]), float(ordered[worst + 1]), slope)
