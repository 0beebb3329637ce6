"""What can vary: the four kinds of parameter, as frozen definitions that refuse bad bounds.

`Parameter` is a closed union; the modules beside this one `match` on it. A parameter does not know its name:
names are given by the `ParameterMap` that holds it. People know that as a `Space`, which can do more with the
help of the modules that know parameters; so parameters do not know it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from hidim._limits import COORDINATES_AT_ALL
from hidim.errors import SpaceError
from hidim.space.bounds import check_flags, integer, real_bounds
from hidim.space.scales import LinearScale, LinearSteps, LogScale, LogSteps, UnitScale

Label: TypeAlias = str | int | float | bool | None

# Beyond this, rounding of the logarithm would make some integers unreachable through the unit interval.
LARGEST_INT = 2**43

# Bits; Python refuses to write much longer ones down.
LONGEST_LABEL = 1000


@dataclass(frozen=True)
class Float:
    """A real number in [low, high].

    Args:
        low: the least value, positive if `log`.
        high: the greatest value.
        log: equal ratios, rather than equal differences, count as equal distances.
        shared: one and the same parameter wherever exclusive options declare this name as shared.

    Example:
        >>> Float(1e-5, 1e-1, log=True)
        Float(low=1e-05, high=0.1, log=True, shared=False)
    """

    low: float
    high: float
    log: bool = False
    shared: bool = False

    def __post_init__(self) -> None:
        low, high = real_bounds("Float", self.low, self.high)
        check_flags("Float", log=self.log, shared=self.shared)
        if self.log and low <= 0.0:
            raise SpaceError(f"Float({low:g}, {high:g}, log=True) needs low > 0; raise low or drop log=True")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def width(self) -> int:
        return 1

    @property
    def levels(self) -> float:
        return math.inf

    @property
    def scale(self) -> UnitScale:
        return LogScale(self.low, self.high) if self.log else LinearScale(self.low, self.high)


@dataclass(frozen=True)
class Int:
    """An integer in {low, …, high}.

    Args:
        low: the least value, positive if `log`.
        high: the greatest value; may equal `low`.
        log: equal ratios, rather than equal differences, count as equal distances.
        shared: one and the same parameter wherever exclusive options declare this name as shared.

    Example:
        >>> Int(1, 30).levels
        30.0
    """

    low: int
    high: int
    log: bool = False
    shared: bool = False

    def __post_init__(self) -> None:
        low, high = integer("Int", "low", self.low), integer("Int", "high", self.high)
        check_flags("Int", log=self.log, shared=self.shared)
        if low > high:
            raise SpaceError(f"Int({low}, {high}) is empty: low must not exceed high; swap the bounds")
        if self.log and low <= 0:
            raise SpaceError(f"Int({low}, {high}, log=True) needs low >= 1; raise low or drop log=True")
        if max(-low, high) > LARGEST_INT:
            raise SpaceError(
                f"Int({low}, {high}) reaches beyond ±2**43, where neighbours cannot be told apart; "
                "use Float and round"
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def width(self) -> int:
        return 1

    @property
    def levels(self) -> float:
        return float(self.high - self.low + 1)

    @property
    def scale(self) -> UnitScale:
        return LogSteps(self.low, self.high) if self.log else LinearSteps(self.low, self.high)


@dataclass(frozen=True)
class Vector:
    """`dim` real numbers, each in [low, high], under one name; the value is an array of shape (dim,).

    Example:
        >>> Vector(10**9, low=-1).width
        1000000000
    """

    dim: int
    low: float = 0.0
    high: float = 1.0
    shared: bool = False

    def __post_init__(self) -> None:
        dim = integer("Vector", "dim", self.dim)
        if dim < 1:
            raise SpaceError(f"Vector(dim={dim}) has no coordinates; dim must be at least 1")
        if dim > COORDINATES_AT_ALL:
            raise SpaceError(f"Vector(dim={dim:.0e}) has too many coordinates; dim must be at most 2**53")
        low, high = real_bounds("Vector", self.low, self.high)
        check_flags("Vector", shared=self.shared)
        object.__setattr__(self, "dim", dim)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def width(self) -> int:
        return self.dim

    @property
    def levels(self) -> float:
        return math.inf

    @property
    def scale(self) -> UnitScale:
        return LinearScale(self.low, self.high)


class ParameterMap(Mapping[str, "Parameter"]):
    """Parameters by name: an immutable mapping that can be hashed."""

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self._parameters = dict(parameters)

    def __getitem__(self, name: str) -> Parameter:
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __eq__(self, other: object) -> bool:
        # The order counts, because it is the order of the columns.
        return isinstance(other, ParameterMap) and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    def __repr__(self) -> str:
        return repr(self._parameters)

    def __deepcopy__(self, memo: object) -> ParameterMap:
        return self  # nothing in it can change


@dataclass(frozen=True)
class Option:
    """One option of a choice: its label, and the parameters that exist only under it (often none)."""

    label: Label
    space: ParameterMap
    # Python holds 1 == 1.0 == True; definitions that differ in this way must not be equal.
    _type: type = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_type", type(self.label))


@dataclass(frozen=True, init=False, repr=False)
class Choice:
    """One of several labels; an option may carry a `Space` of parameters that are active only under it.

    Args:
        labels: strings, numbers, booleans or None; or mappings from label to `Space` (None: no parameters).
        shared: one and the same parameter wherever exclusive options declare this name as shared.
        spaces: further options whose labels are identifiers.

    Example:
        >>> from hidim.space import Space
        >>> Choice("none", svm=Space(C=Float(0, 1), kernel=Choice("rbf", "linear")))
        Choice('none', 'svm'(C, kernel))
        >>> Choice({1: None, 2: Space(C=Float(0, 1))}).labels
        (1, 2)
    """

    options: tuple[Option, ...]
    shared: bool

    def __init__(
        self,
        *labels: Label | Mapping[Any, ParameterMap | None],
        shared: bool = False,
        **spaces: ParameterMap | None,
    ) -> None:
        check_flags("Choice", shared=shared)
        options = tuple(_option(label, space) for label, space in _pairs(labels, spaces))
        if not options:
            raise SpaceError("Choice() has no options; give at least one label")
        seen: dict[Label, Label] = {}
        for option in options:
            if option.label in seen:
                raise SpaceError(
                    f"Choice has the labels {seen[option.label]!r} and {option.label!r}, which are equal; "
                    "rename one"
                )
            seen[option.label] = option.label
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "shared", shared)

    def __repr__(self) -> str:
        parts = [f"{o.label!r}({', '.join(o.space)})" if o.space else repr(o.label) for o in self.options]
        return f"Choice({', '.join(parts + ['shared=True'] * self.shared)})"

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(option.label for option in self.options)

    @cached_property
    def positions(self) -> dict[Label, int]:
        """Where each label stands in the order of declaration."""
        return {option.label: i for i, option in enumerate(self.options)}

    @property
    def width(self) -> int:
        return 1

    @property
    def levels(self) -> float:
        return float(len(self.options))

    @property
    def scale(self) -> UnitScale:
        """The scale of the option's position, not of its label."""
        return LinearSteps(0, len(self.options) - 1)


Parameter: TypeAlias = Float | Int | Vector | Choice


def _pairs(
    labels: tuple[Label | Mapping[Any, ParameterMap | None], ...], spaces: Mapping[str, ParameterMap | None]
) -> Iterator[tuple[Any, ParameterMap | None]]:
    for label in labels:
        if isinstance(label, Mapping):
            yield from label.items()
        else:
            yield label, None
    yield from spaces.items()


def _option(label: Any, space: Any) -> Option:
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, list | tuple | set):
        raise SpaceError(f"Choice: {label!r} is no label; unpack it: Choice(*labels)")
    if not isinstance(label, str | int | float | None):
        raise SpaceError(f"Choice: the label {label!r} must be a string, a number, a boolean or None")
    if isinstance(label, int) and label.bit_length() > LONGEST_LABEL:
        raise SpaceError("Choice: an integer of hundreds of digits is no label; write it as a string")
    if isinstance(label, float) and not math.isfinite(label):
        raise SpaceError(f"Choice: the label {label!r} must be finite; write it as a string")
    if not isinstance(space, ParameterMap | None):
        raise SpaceError(
            f"Choice: the option {label!r} must hold a Space or None, not {space!r}; "
            "wrap parameters in Space(...)"
        )
    return Option(label, space if space is not None else ParameterMap({}))
