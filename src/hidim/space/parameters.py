"""What can vary: the four kinds of parameter, as frozen definitions that refuse bad bounds.

`Parameter` is a closed union; the modules beside this one `match` on it. A parameter does not know its name:
names are given by the `ParameterMap` that holds it. People know that as a `Space`, which can do more with the
help of the modules that know parameters; so parameters do not know it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from hidim._limits import COORDINATES_AT_ALL
from hidim._types import Array, Mask
from hidim.embed import ranges
from hidim.embed.ranges import Range
from hidim.errors import SpaceError
from hidim.space import labels as names
from hidim.space.bounds import (
    check_flags,
    check_ranges,
    each_flag,
    each_real,
    integer,
    real,
    real_bounds,
    spaced,
)
from hidim.space.labels import Label
from hidim.space.scales import (
    LinearScale,
    LinearSteps,
    LogScale,
    LogSteps,
    PartlyLogScale,
    Spaced,
    UnitScale,
)

# Entries of a tuple of bounds that are shown, and the mark of fields that are shown only if they are given.
MOST_SHOWN = 6
RARE = {"rare": True}

# Beyond this, rounding of the logarithm would make some integers unreachable through the unit interval.
LARGEST_INT = 2**43


def _definition(parameter: Any) -> dict[str, Any]:
    """What is pickled of a parameter: what was said, without what is cached."""
    return {each.name: getattr(parameter, each.name) for each in fields(parameter)}


def _shown(parameter: Any) -> str:
    """The definition, without what is rarely given, and with long bounds cut."""
    parts = []
    for own in fields(parameter):
        value = getattr(parameter, own.name)
        if own.metadata == RARE and value == own.default:
            continue
        if isinstance(value, tuple) and len(value) > MOST_SHOWN:
            first = ", ".join(map(repr, value[: MOST_SHOWN - 1]))
            parts.append(f"{own.name}=({first}, …, {value[-1]!r})")
        else:
            parts.append(f"{own.name}={value!r}")
    return f"{type(parameter).__name__}({', '.join(parts)})"


@dataclass(frozen=True, repr=False)
class Float:
    """A real number in [low, high], or one of low, low + step, …, high.

    Args:
        low: the least value, positive if `log`.
        high: the greatest value; if it equals `low`, the value is fixed.
        log: equal ratios, rather than equal differences, count as equal distances.
        shared: one and the same parameter wherever exclusive options declare this name as shared.
        step: the distance of neighbouring values, if not all numbers are allowed; then `high` must be one
            of them, and `log` is not possible.

    Example:
        >>> Float(1e-5, 1e-1, log=True)
        Float(low=1e-05, high=0.1, log=True, shared=False)
        >>> Float(0, 1, step=0.25).levels
        5.0
    """

    low: float
    high: float
    log: bool = False
    shared: bool = False
    step: float | None = field(default=None, metadata=RARE)

    def __post_init__(self) -> None:
        low, high = real_bounds("Float", self.low, self.high, equal=True)
        check_flags("Float", log=self.log, shared=self.shared)
        if self.log and low <= 0.0:
            raise SpaceError(f"Float({low:g}, {high:g}, log=True) needs low > 0; raise low or drop log=True")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if self.step is not None:
            object.__setattr__(self, "step", real("Float", "step", self.step))
            _ = self.steps  # refuses what does not fit

    @property
    def width(self) -> int:
        return int(self.levels > 1)

    __repr__, __getstate__ = _shown, _definition

    @cached_property
    def steps(self) -> Spaced | None:
        """The scale of values in steps, or of a single one; None if all numbers are allowed."""
        if self.step is not None:
            return spaced("Float", self.low, self.high, self.step, self.log)
        return Spaced(self.low, self.high, 1, None) if self.low == self.high else None

    @property
    def levels(self) -> float:
        return math.inf if self.steps is None else float(self.steps.levels)

    @property
    def scale(self) -> UnitScale:
        if self.steps is not None:
            return self.steps
        return LogScale(self.low, self.high) if self.log else LinearScale(self.low, self.high)


@dataclass(frozen=True, repr=False)
class Int:
    """An integer in {low, …, high}, or one of low, low + step, …, high.

    Args:
        low: the least value, positive if `log`.
        high: the greatest value; if it equals `low`, the value is fixed.
        log: equal ratios, rather than equal differences, count as equal distances.
        shared: one and the same parameter wherever exclusive options declare this name as shared.
        step: the distance of neighbouring values; with any but 1, `high` is one of them, and `log` refused.

    Example:
        >>> Int(1, 30).levels, Int(8, 256, step=8).levels
        (30.0, 32.0)
    """

    low: int
    high: int
    log: bool = False
    shared: bool = False
    step: int = field(default=1, metadata=RARE)

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
        object.__setattr__(self, "step", integer("Int", "step", self.step))
        _ = self.steps  # refuses what does not fit

    @property
    def width(self) -> int:
        return int(self.levels > 1)

    __repr__, __getstate__ = _shown, _definition

    @cached_property
    def steps(self) -> Spaced | None:
        """The scale of values in steps; None if all integers are allowed."""
        return None if self.step == 1 else spaced("Int", self.low, self.high, self.step, self.log)

    @property
    def levels(self) -> float:
        return float((self.high - self.low) // self.step + 1)

    @property
    def scale(self) -> UnitScale:
        if self.steps is not None:
            return self.steps
        return LogSteps(self.low, self.high) if self.log else LinearSteps(self.low, self.high)


@dataclass(frozen=True, repr=False)
class Vector:
    """`dim` real numbers, each in [low, high], under one name; the value is an array of shape (dim,).

    Args:
        dim: the number of coordinates.
        low: the least value, of all coordinates or of each; positive if `log`.
        high: the greatest value, of all coordinates or of each.
        shared: one and the same parameter wherever exclusive options declare this name as shared.
        log: equal ratios, rather than equal differences, count as equal distances; for all coordinates, or
            said of each.

    Example:
        >>> Vector(10**9, low=-1).width
        1000000000
        >>> Vector(2, low=[0, 1], high=10).coordinate(1)
        Float(low=1.0, high=10.0, log=False, shared=False)
    """

    dim: int
    low: float | Sequence[float] | Array = 0.0
    high: float | Sequence[float] | Array = 1.0
    shared: bool = False
    log: bool | Sequence[bool] | Mask = field(default=False, metadata=RARE)

    def __post_init__(self) -> None:
        dim = integer("Vector", "dim", self.dim)
        if dim < 1:
            raise SpaceError(f"Vector(dim={dim}) has no coordinates; dim must be at least 1")
        if dim > COORDINATES_AT_ALL:
            raise SpaceError(f"Vector(dim={dim:.0e}) has too many coordinates; dim must be at most 2**53")
        check_flags("Vector", shared=self.shared)
        object.__setattr__(self, "dim", dim)
        object.__setattr__(self, "low", each_real("Vector", "low", self.low, dim))
        object.__setattr__(self, "high", each_real("Vector", "high", self.high, dim))
        object.__setattr__(self, "log", each_flag("Vector", "log", self.log, dim))
        check_ranges("Vector", *self.range)

    @property
    def width(self) -> int:
        return self.dim

    @property
    def levels(self) -> float:
        return math.inf

    __repr__, __getstate__ = _shown, _definition

    @cached_property
    def range(self) -> Range:
        """Bounds, and whether they are logarithmic: of all coordinates, or of each as an array (dim,)."""
        low, high, log = map(_as_array, (self.low, self.high, self.log))
        return low, high, log

    @property
    def has_common_range(self) -> bool:
        """Whether all coordinates have the same one."""
        return not any(isinstance(given, tuple) for given in (self.low, self.high, self.log))

    def coordinate(self, place: int) -> Float:
        """One of the numbers."""
        low, high, log = ranges.at(self.range, place)
        return Float(float(low), float(high), log=bool(log))

    @cached_property
    def scale(self) -> UnitScale:
        low, high, log = self.range
        if isinstance(log, np.ndarray):
            return PartlyLogScale(low, high, log)
        return LogScale(low, high) if log else LinearScale(low, high)


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
    _type: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_type", names.types(self.label))


@dataclass(frozen=True, init=False, repr=False)
class Choice:
    """One of several labels; an option may carry a `Space` of parameters that are active only under it.

    Args:
        labels: strings, numbers, booleans, None, or tuples of these; or mappings from label to `Space`
            (None: no parameters).
        shared: one and the same parameter wherever exclusive options declare this name as shared.
        ordered: neighbours in the order of declaration are alike, as sizes are: methods take the labels for
            the numbers 0, 1, 2, … and not for categories.
        spaces: further options whose labels are identifiers.

    Example:
        >>> from hidim.space import Space
        >>> Choice("none", svm=Space(C=Float(0, 1), kernel=Choice("rbf", "linear")))
        Choice('none', 'svm'(C, kernel))
        >>> Choice({1: None, 2: Space(C=Float(0, 1))}).labels
        (1, 2)
        >>> Choice("small", "medium", "large", ordered=True)
        Choice('small', 'medium', 'large', ordered=True)
    """

    options: tuple[Option, ...]
    shared: bool
    ordered: bool = False

    def __init__(
        self,
        *labels: Label | Mapping[Any, ParameterMap | None],
        shared: bool = False,
        ordered: bool = False,
        **spaces: ParameterMap | None,
    ) -> None:
        for name, flag in (("shared", shared), ("ordered", ordered)):
            if isinstance(flag, ParameterMap):
                raise SpaceError(f"Choice: {name} must be True or False; as a label, write {{{name!r}: …}}")
        check_flags("Choice", shared=shared, ordered=ordered)
        if not spaces:
            names.check_alone(labels)
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
        object.__setattr__(self, "ordered", ordered)

    def __repr__(self) -> str:
        parts = [f"{o.label!r}({', '.join(o.space)})" if o.space else repr(o.label) for o in self.options]
        flags = [f"{name}=True" for name in ("shared", "ordered") if getattr(self, name)]
        return f"Choice({', '.join(parts + flags)})"

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(option.label for option in self.options)

    __getstate__ = _definition

    @cached_property
    def positions(self) -> dict[Label, int]:
        """Where each label stands in the order of declaration."""
        return {option.label: i for i, option in enumerate(self.options)}

    @property
    def width(self) -> int:
        return int(len(self.options) > 1 or bool(self.options[0].space))

    @property
    def levels(self) -> float:
        return float(len(self.options))

    @property
    def scale(self) -> UnitScale:
        """The scale of the option's position, not of its label."""
        return LinearSteps(0, len(self.options) - 1)


Parameter: TypeAlias = Float | Int | Vector | Choice


def only_value(parameter: Parameter) -> Any:
    """The value of a parameter of no width, which has no other."""
    return parameter.labels[0] if isinstance(parameter, Choice) else parameter.low


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
    label = names.checked(label)
    if not isinstance(space, ParameterMap | None):
        raise SpaceError(
            f"Choice: the option {label!r} must hold a Space or None, not {space!r}; "
            "wrap parameters in Space(...)"
        )
    return Option(label, space if space is not None else ParameterMap({}))


def _as_array(given: Any) -> Any:
    return np.array(given) if isinstance(given, tuple) else given
