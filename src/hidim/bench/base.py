"""What a benchmark problem is: one interface for boxes and for conditional spaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from hidim._types import Array, Params

if TYPE_CHECKING:
    from hidim.space import Space
    from hidim.space.parameters import Parameter


class Suggest(Protocol):
    """Chooses parameters one after another, parents before children, as an Optuna trial does."""

    def vector(self, name: str, dim: int) -> Array:
        """A point of the unit cube, of shape (dim,)."""
        ...

    def real(self, name: str, low: float, high: float, *, log: bool = False) -> float: ...

    def integer(self, name: str, low: int, high: int, *, log: bool = False) -> int: ...

    def label(self, name: str, options: tuple[str, ...]) -> str: ...


class Crash(Exception):
    """The objective has no value here, as a simulation that crashes."""


class Problem(ABC):
    """Something to be minimised: a name, the known optimum, a space, a value for every configuration.

    `noise` is the standard deviation of what an observer adds to a value (see `runner.execute`).
    """

    name: str
    optimum: float
    noise: float

    @abstractmethod
    def space(self) -> Space:
        """The `hidim.Space` of the problem."""

    @abstractmethod
    def draw(self, suggest: Suggest) -> Params:
        """A configuration whose parameters `suggest` chooses, for those who do not know `hidim.Space`."""

    @abstractmethod
    def value(self, params: Params) -> float:
        """The objective at a configuration, without noise; may raise `Crash`."""

    def is_best_branch(self, params: Params) -> bool | None:
        """Whether a configuration has the labels of the best one; None if these are not known."""
        return None


@dataclass(frozen=True)
class BoxProblem(Problem):
    """A problem on the unit cube, in which a configuration is `{"x": u}` with u of shape (dim,).

    Args:
        optimum: the smallest value; regret is a value minus this.
        evaluate: maps a point of shape (dim,) of the unit cube to a value.
        minimiser: one point of the unit cube, of shape (dim,), where the optimum is reached; empty if dim is
            too large to write it down.
        noise: standard deviation of the noise of an observation.
    """

    name: str
    dim: int
    optimum: float
    evaluate: Callable[[Array], float] = field(repr=False)
    minimiser: Array = field(repr=False)
    noise: float = 0.0

    def space(self) -> Space:
        from hidim.space import Space, Vector

        return Space({"x": Vector(self.dim, 0.0, 1.0)})

    def draw(self, suggest: Suggest) -> Params:
        return {"x": suggest.vector("x", self.dim)}

    def value(self, params: Params) -> float:
        return self.evaluate(params["x"])


class TreeProblem(Problem):
    """A problem over a conditional space in which a name stands for one parameter, and labels are text."""

    def draw(self, suggest: Suggest) -> Params:
        return _drawn(self.space(), suggest)


def _drawn(space: Mapping[str, Parameter], suggest: Suggest) -> Params:
    from hidim.space import Choice, Float, Int

    params: Params = {}
    for name, parameter in space.items():
        match parameter:
            case Float(low, high, log):
                params[name] = suggest.real(name, low, high, log=log)
            case Int(low, high, log):
                params[name] = suggest.integer(name, low, high, log=log)
            case Choice():
                label = suggest.label(name, tuple(map(str, parameter.labels)))
                params[name] = label
                params |= _drawn(parameter.options[parameter.positions[label]].space, suggest)
            case _:
                raise TypeError(f"{name}: {parameter} cannot be drawn")
    return params
