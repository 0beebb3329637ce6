"""Does a configuration fit a space? Every refusal names the parameter, the value and the mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any, NoReturn, assert_never

import numpy as np

from hidim._types import Array, Params
from hidim.embed import LazyVector
from hidim.errors import ParameterError
from hidim.space import labels
from hidim.space.labels import Label
from hidim.space.parameters import Choice, Float, Int, Parameter, Vector, only_value
from hidim.space.render import allowed, number
from hidim.space.scales import Spaced
from hidim.space.tree import Place, Trail, walk

# Overshoot of a bound or a level, relative to the larger bound, that is taken for rounding.
ROUNDING = 1e-12


def validated(space: Mapping[str, Parameter], params: Mapping[str, Any]) -> Params:
    """A normalised copy in declared order, or a `ParameterError`."""
    if not isinstance(params, Mapping):
        raise ParameterError(f"a configuration is a dict from name to value, not {params!r}")
    fitting = {place.name: _checked(place, params) for place in active_places(space, params)}
    for name in params:
        if name not in fitting:
            _refuse_name(space, name, params[name], fitting)
    return fitting


def active_places(
    space: Mapping[str, Parameter], params: Mapping[str, Any], path: Trail = ()
) -> Iterator[Place]:
    """The places that the choices in `params` make active, depth first; only choices are looked at."""
    for name, parameter in space.items():
        place = Place(path, name, parameter)
        yield place
        if isinstance(parameter, Choice):
            label = _checked(place, params)
            option = parameter.options[parameter.positions[label]]
            yield from active_places(option.space, params, (*path, (name, label)))


def _checked(place: Place, params: Mapping[str, Any]) -> Any:
    name, parameter = place.name, place.parameter
    if name not in params and not parameter.width:
        return only_value(parameter)
    if name not in params:
        because = f", which is active because {_conditions(place.path)}" if place.path else ""
        close = difflib.get_close_matches(name, [str(given) for given in params if given != name], n=1)
        instead = f", and there is {close[0]!r}" if close else ""
        raise ParameterError(f"parameter {name!r} is missing{because}{instead}; give {allowed(parameter)}")
    value = params[name]
    match parameter:
        case Float(steps=Spaced() as steps):
            return _checked_step(name, parameter, steps, value)
        case Float():
            return _checked_float(name, parameter, value)
        case Int():
            return _checked_int(name, parameter, value)
        case Vector():
            return _checked_vector(name, parameter, value)
        case Choice():
            return _checked_label(name, parameter, value)
        case _:
            assert_never(parameter)


def _checked_float(name: str, parameter: Float | Int, value: Any) -> float:
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Real):
        _refuse(name, parameter, value, f"is of type {type(value).__name__}")
    given: Any = value
    low, high = _loosened(parameter)
    # Compared before conversion to float, which a huge int does not survive.
    if given != given:
        _refuse(name, parameter, value, "is not a number")
    if given < low:
        _refuse(name, parameter, value, f"is below its lower bound {number(parameter.low)}")
    if given > high:
        _refuse(name, parameter, value, f"is above its upper bound {number(parameter.high)}")
    return min(max(float(value), parameter.low), parameter.high)


def _checked_step(name: str, parameter: Float, steps: Spaced, value: Any) -> float:
    """The level that is meant; the tolerance allows for sums like 0.1 + 0.2."""
    as_float = np.array(_checked_float(name, parameter, value))
    position = steps.positions(as_float)
    level = float(steps.at(np.rint(position)))
    if abs(level - as_float) > ROUNDING * max(abs(parameter.low), abs(parameter.high)):
        between = [number(float(steps.at(side))) for side in (np.floor(position), np.floor(position) + 1.0)]
        _refuse(name, parameter, value, f"lies between the steps {' and '.join(between)}")
    return level


def _checked_int(name: str, parameter: Int, value: Any) -> int:
    as_float = _checked_float(name, parameter, value)
    if not as_float.is_integer() or value != as_float:
        _refuse(name, parameter, value, "is not an integer")
    whole = int(as_float)
    if past := (whole - parameter.low) % parameter.step:
        sides = f"{whole - past} and {whole - past + parameter.step}"
        _refuse(name, parameter, value, f"lies between the steps {sides}")
    return whole


def _checked_vector(name: str, parameter: Vector, value: Any) -> Array | LazyVector:
    if isinstance(value, LazyVector):
        if len(value) != parameter.dim:
            _refuse(name, parameter, value, f"has {len(value)} coordinates instead of {parameter.dim}")
        if not value.is_sound:
            _refuse(name, parameter, value, "does not fit the embedding that it comes from")
        low, high, _ = parameter.range
        if not (np.all(low <= value.low) and np.all(value.low <= value.high) and np.all(value.high <= high)):
            _refuse(name, parameter, value, "reaches out of range")
        if not (value.has_common_range or value.has_range(*parameter.range)):
            _refuse(name, parameter, value, "has bounds by coordinate that are not the parameter's")
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # ragged lists
        _refuse(name, parameter, value, "is not a flat list of numbers")
    if array.shape != (parameter.dim,):
        _refuse(name, parameter, value, f"has shape {array.shape} instead of ({parameter.dim},)")
    if array.dtype.kind not in "fiu":
        _refuse(name, parameter, value, f"holds entries of type {array.dtype}")
    low, high, _ = parameter.range
    slack = ROUNDING * np.maximum(np.abs(low), np.abs(high))
    # Written so that NaN counts as outside.
    outside = ~((array >= low - slack) & (array <= high + slack))
    if outside.any():
        first = int(np.argmax(outside))
        _refuse(f"{name}[{first}]", parameter.coordinate(first), array[first].item(), "is out of range")
    return np.clip(array.astype(np.float64), low, high)


def _checked_label(name: str, parameter: Choice, value: Any) -> Label:
    plain = labels.from_plain(value)
    try:
        position = parameter.positions.get(plain)
    except TypeError:  # unhashable
        position = None
    # True == 1 in Python, but not to the one who wrote the space.
    if position is None or not labels.are_same(parameter.options[position].label, plain):
        _refuse(name, parameter, value, "is none of its labels")
    return parameter.options[position].label


def _loosened(parameter: Float | Int) -> tuple[float, float]:
    slack = ROUNDING * max(abs(parameter.low), abs(parameter.high))
    return parameter.low - slack, parameter.high + slack


def _refuse(name: str, parameter: Parameter, value: Any, fault: str) -> NoReturn:
    fault = fault if parameter.width else "is not what it is fixed at"
    raise ParameterError(f"parameter {name!r} = {_shown(value)} {fault}; give {allowed(parameter)}")


def _shown(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 10_000:
        return f"an integer of about {value.bit_length() * 0.3:.0f} digits"  # which Python may not write down
    text = np.array2string(value, threshold=6) if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 80 else f"{text[:60]}…"


def _refuse_name(space: Mapping[str, Parameter], name: Any, value: Any, fitting: Params) -> NoReturn:
    places = [place for place in walk(space) if place.name == name]
    if places:
        conditions = " or ".join(dict.fromkeys(_conditions(place.path) for place in places))
        raise ParameterError(
            f"parameter {name!r} = {value!r} is inactive in this configuration; "
            f"leave it out, or set {conditions}"
        )
    close = difflib.get_close_matches(str(name), dict.fromkeys(place.name for place in walk(space)), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"the active parameters are {', '.join(fitting)}"
    raise ParameterError(f"parameter {name!r} is unknown; {hint}")


def _conditions(path: Trail) -> str:
    return " and ".join(f"{choice}={label!r}" for choice, label in path)
