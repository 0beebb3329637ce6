"""Random permutations by their place: where one of a billion numbers goes is computed without the others.

A Feistel network turns a pair of halves (a, b) into (b, a ⊕ F(b)), which can be undone whatever F is; a few
rounds with random F are a random permutation of the 2^2h pairs (Luby and Rackoff 1988). Of n numbers, fewer
than there are pairs, those that are sent beyond n are sent on until they are not: a walk along their cycle,
which is again a permutation (Black and Rogaway 2002).
"""

from __future__ import annotations

import numpy as np

from hidim._types import Indices
from hidim.embed.counter import Words, words

#: Four rounds are enough in theory, for many bits; a few more for few.
ROUNDS = 6


def permuted(seed: int, places: Indices, count: int) -> Indices:
    """Where each of the places (m,), from 0 to count − 1, goes; at most four rounds of walks on average.

    Example:
        >>> sorted(permuted(3, np.arange(10), 10).tolist())
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    if len(places) and not 0 <= places.min() <= places.max() < count:
        raise IndexError(f"there are {count} places, from 0 on")
    half = max((int(count - 1).bit_length() + 1) // 2, 1)
    found = _shuffled(seed, np.asarray(places, dtype=np.uint64), half)
    beyond = np.flatnonzero(found >= count)
    while len(beyond):
        found[beyond] = _shuffled(seed, found[beyond], half)
        beyond = beyond[found[beyond] >= count]
    return found.astype(np.intp)


def _shuffled(seed: int, numbers: Words, half: int) -> Words:
    shift, mask = np.uint64(half), np.uint64((1 << half) - 1)
    left, right = numbers >> shift, numbers & mask
    for turn in range(ROUNDS):
        stream = seed + ((turn + 1) << 32)  # apart from what else is drawn with the seed
        left, right = right, left ^ (words(stream, right.astype(np.int64)) & mask)
    return (left << shift) | right
