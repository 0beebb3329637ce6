"""Which parameters depend on which choices: found in the trials, as nobody says so in a study.

A parameter that is missing in some complete trials depends on something. What it depends on is the choice, or
the small integer, that explains best where it is missing: there it is active under every option under which
it was ever seen. An integer that opens parameters from some value on, as the number of layers does, opens
them at the values in between, too, whether seen or not. A parameter that is declared where nobody asks for it
costs little, and one that is not declared where it is asked for is drawn at random: so in doubt, it is
declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hidim._types import Array, Mask


@dataclass(frozen=True, eq=False)
class Gate:
    """What others may depend on.

    Args:
        name: of the parameter.
        codes: (n,) which of its options each trial has; −1 where it is missing.
        size: the number of its options.
        ordered: whether these are numbers.
    """

    name: str
    codes: Array
    size: int
    ordered: bool


def dependencies(
    names: Sequence[str], present: Mask, complete: Mask, gates: Sequence[Gate]
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """For parameters that are not always there: the gate that opens them, and the options that do.

    Args:
        names: of the P parameters.
        present: (n, P) which of them each finished trial has.
        complete: (n,) whether a trial came to its end: others may have stopped before they asked.
        gates: which might be it.
    """
    missing = ~present & complete[:, None]
    some = np.flatnonzero(missing.any(axis=0))
    if not len(some):
        return {}
    present, missing = present[:, some].astype(np.float64), missing[:, some].astype(np.float64)
    seen, absent = present.sum(axis=0), missing.sum(axis=0)
    best: list[tuple[Any, ...]] = [((absent[p],),) for p in range(len(some))]  # nothing opens it
    for place, gate in enumerate(gates):
        hot = gate.codes[:, None] == np.arange(gate.size)
        there, not_there = hot.T.astype(np.float64) @ present, hot.T.astype(np.float64) @ missing  # (V, P)
        opens = there > 0
        wrong = np.where(opens, not_there, 0.0).sum(axis=0)
        decides = (not_there > 0) & ~opens
        possible = (there.sum(axis=0) == seen) & decides.any(axis=0)
        active = float(complete[gate.codes >= 0].sum())
        for p in np.flatnonzero(possible):
            if names[some[p]] == gate.name:
                continue
            found, ways = _options(opens[:, p], decides[:, p], gate)
            best[p] = min(best[p], ((wrong[p], -active, ways, place), gate.name, found))
    return {names[some[p]]: (each[1], each[2]) for p, each in enumerate(best) if len(each) > 1}


def _options(opens: Mask, closes: Mask, gate: Gate) -> tuple[tuple[int, ...], float]:
    """The options that open a parameter, and among how many such sets this one had to be found."""
    if gate.ordered:
        shut, open_ = np.flatnonzero(closes), np.flatnonzero(opens)
        if shut.max() < open_.min():
            return tuple(range(int(shut.max()) + 1, gate.size)), float(gate.size)
        if shut.min() > open_.max():
            return tuple(range(int(shut.min()))), float(gate.size)
    return tuple(np.flatnonzero(opens).tolist()), 2.0**gate.size


def edges(
    found: Mapping[str, tuple[str, tuple[int, ...]]], labels: Mapping[str, Sequence[Any]]
) -> dict[str, list[tuple[str, Any]]]:
    """The same by labels, as `hidim.space.assemble` wants it."""
    return {name: [(gate, labels[gate][place]) for place in places] for name, (gate, places) in found.items()}
