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

from hidim._limits import CHOICES_NESTED
from hidim._types import Array, Indices, Mask

#: Places of one parameter, and of all together, up to which a tree is written down; a thousand take a
#: tenth of a second whenever a trial has finished.
MOST_PLACES, MOST_WRITTEN = 512, 2_000


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
    names: Sequence[str], table: Mask, kinds: Indices, complete: Mask, gates: Sequence[Gate]
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """For parameters that are not always there: the gate that opens them, and the options that do.

    Trials that have the same parameters are counted together, so that n trials cost n for every gate.

    Args:
        names: of the P parameters.
        table: (K, P) which of them trials of each kind have.
        kinds: (n,) of which kind each finished trial is.
        complete: (n,) whether a trial came to its end: others may have stopped before they asked.
        gates: which might be it.
    """
    size = len(table)
    whole = np.bincount(kinds[complete], minlength=size).astype(np.float64)  # (K,)
    some = np.flatnonzero(whole @ ~table > 0)
    if not len(some):
        return {}
    present, missing = table[:, some].astype(np.float64), (~table[:, some]).astype(np.float64)
    seen, absent = np.bincount(kinds, minlength=size) @ present, whole @ missing
    best: list[tuple[Any, ...]] = [((absent[p],),) for p in range(len(some))]  # nothing opens it
    for place, gate in enumerate(gates):
        told = gate.codes >= 0
        there = _counts(gate, kinds, told, size) @ present  # (V, P)
        not_there = _counts(gate, kinds, told & complete, size) @ missing
        opens = there > 0
        wrong = np.where(opens, not_there, 0.0).sum(axis=0)
        decides = (not_there > 0) & ~opens
        possible = (there.sum(axis=0) == seen) & decides.any(axis=0)
        active = float(complete[told].sum())
        for p in np.flatnonzero(possible):
            if names[some[p]] == gate.name:
                continue
            found, ways = _options(opens[:, p], decides[:, p], gate)
            best[p] = min(best[p], ((wrong[p], -active, ways, place), gate.name, found))
    return {names[some[p]]: (each[1], each[2]) for p, each in enumerate(best) if len(each) > 1}


def _counts(gate: Gate, kinds: Indices, which: Mask, size: int) -> Array:
    """(V, K) how many of these trials have each option of the gate, by kind."""
    which = which & (gate.codes == np.rint(gate.codes)) & (gate.codes < gate.size)  # with ranges that change
    cells = gate.codes[which].astype(np.intp) * size + kinds[which]
    return np.bincount(cells, minlength=gate.size * size).reshape(gate.size, size).astype(np.float64)


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


def affordable(
    names: Sequence[str], edges: Mapping[str, Sequence[tuple[str, Any]]]
) -> tuple[dict[str, Sequence[tuple[str, Any]]], list[str]]:
    """The edges of a tree that can be written down, and the parameters that have lost theirs for it.

    A parameter stands once under each of its options, wherever their choice stands: where every option but
    one goes on, as in a chain of operations that a last one ends, that is a number of places with the depth
    as its exponent. A parameter with too many is taken to be always there, and what is below starts anew.

    Args:
        names: of all parameters.
        edges: for some of them, the choice and its options; the choices are no circle.
    """
    for most in (MOST_PLACES >> halved for halved in range(MOST_PLACES.bit_length() + 1)):
        places: dict[str, tuple[int, int]] = {}
        cut: list[str] = []
        for name in names:
            way = [name]
            while way[-1] not in places and edges.get(way[-1]):
                way.append(edges[way[-1]][0][0])
            for each in reversed(way):
                if each not in places:
                    count, depth = _below(places, edges.get(each, ()))
                    if count > most or depth >= CHOICES_NESTED:
                        cut.append(each)
                        count, depth = 1, 0
                    places[each] = (count, depth)
        if sum(count for count, _ in places.values()) <= max(MOST_WRITTEN, len(names)):
            break
    return {name: found for name, found in edges.items() if name not in cut}, cut


def _below(places: Mapping[str, tuple[int, int]], edges: Sequence[tuple[str, Any]]) -> tuple[int, int]:
    """At how many places a parameter stands, and how many choices lead to it."""
    if not edges:
        return 1, 0
    count, depth = places[edges[0][0]]
    return count * len(edges), depth + 1
