"""What happens in a worker: the objective is called, timed and never allowed to take the worker down."""

from __future__ import annotations

import inspect
import reprlib
import signal
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from hidim import serial
from hidim._types import Params
from hidim.errors import MethodError
from hidim.run.interrupts import interruptible
from hidim.run.mistakes import OBVIOUS, weight_of
from hidim.space import Space
from hidim.space.tree import always_named
from hidim.trial import A_PAIR, Measured

Objective = Callable[..., Any]

#: Seconds, thirty years, that clocks and queues can be told to wait.
LONGEST = 1e9


class Report(NamedTuple):
    """What one call of the objective came to: a value, or the reason why there is none.

    Args:
        value: what the objective returned.
        variance: of the noise in it, if the objective said so.
        reason: why there is no value.
        trace: the traceback, if the objective raised.
        seconds: how long it took.
        attributes: what else the objective wants to be remembered.
        last: why it is the end of the run, if it is.
        mistake: the weight of a reason that can be mended, see `hidim.run.mistakes`; None for others.
    """

    value: Any = None
    variance: Any = None
    reason: str | None = None
    trace: str | None = None
    seconds: float = 0.0
    attributes: Mapping[str, Any] | None = None
    last: str = ""
    mistake: int | None = None


class NoValue(Exception):
    """Raised by an objective that knows why it has no value; there is no traceback then.

    Args:
        reason: in words.
        mistake: the weight of one that can be mended: a run with nothing else ends early.
        final: whether trying again is in vain.
    """

    def __init__(self, reason: str, *, mistake: int | None = None, final: bool = False) -> None:
        super().__init__(reason)
        self.mistake, self.final = mistake, final


class Numbered(ABC):
    """An objective that is told the number of the trial."""

    @abstractmethod
    def __call__(self, number: int, params: Params) -> Any: ...

    def fingerprint(self) -> dict[str, str]:
        """Hashes of what it is, by the names of its parts."""
        return {}


class TrialTimeout(BaseException):
    """Raised inside an objective that is out of time; no Exception, so that it is not caught there."""


@dataclass(frozen=True)
class Call:
    """An objective and how it is called; travels to workers by pickle.

    Args:
        objective: the function.
        keywords: whether it takes the parameters as keyword arguments, or all of them as one dict.
        timeout: seconds after which the call is interrupted, where the worker allows that.
    """

    objective: Objective
    keywords: bool
    timeout: float | None = None

    def __call__(self, params: Params, ticket: str = "", number: int = 0) -> Report:
        """Evaluate `params`, of the trial `number`; a ticket tells calls with the same params apart."""
        start = time.perf_counter()
        try:
            with interruptible(), _alarm(self.timeout):
                parts = _taken_apart(self._returned(params, number))
        except TrialTimeout:
            return Report(reason=out_of_time(self.timeout), seconds=time.perf_counter() - start)
        except KeyboardInterrupt:
            raise
        except NoValue as failure:
            seconds = time.perf_counter() - start
            return Report(reason=str(failure), mistake=failure.mistake, seconds=seconds)
        except BaseException as error:  # panics of compiled code are failures like any other
            trace, seconds = traceback.format_exc(), time.perf_counter() - start
            reason = in_words(error)
            last = f"the objective ended the run: {reason}" if isinstance(error, SystemExit) else ""
            mistake = weight_of(error, reason)
            return Report(reason=reason, trace=trace, seconds=seconds, last=last, mistake=mistake)
        seconds = time.perf_counter() - start
        if self.timeout is not None and seconds > self.timeout:
            return Report(reason=out_of_time(self.timeout), seconds=seconds)
        return Report(seconds=seconds, **parts)

    def _returned(self, params: Params, number: int) -> Any:
        if isinstance(self.objective, Numbered):
            return self.objective(number, params)
        return self.objective(**params) if self.keywords else self.objective(params)


def _taken_apart(returned: Any) -> dict[str, Any]:
    """Value, variance and attributes of what an objective returned."""
    if isinstance(returned, tuple) and len(returned) == 2:
        pair = f"it returned the pair {reprlib.repr(returned)}: {A_PAIR}"
        return {"reason": pair, "mistake": OBVIOUS}
    if isinstance(returned, Measured):
        return {"value": returned.value, "variance": returned.variance}
    if not isinstance(returned, Mapping) or "value" not in returned:
        return {"value": returned}
    rest = {name: entry for name, entry in returned.items() if name not in ("value", "variance")}
    variance = returned.get("variance")
    return {"value": returned["value"], "variance": variance, "attributes": serial.plain(rest)}


def in_words(error: BaseException) -> str:
    """The kind of an error and what it says, if it can say it.

    Example:
        >>> in_words(ValueError("too cold"))
        'ValueError: too cold'
    """
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def out_of_time(timeout: float | None) -> str:
    return f"timed out after {timeout:g} s"


@contextmanager
def _alarm(timeout: float | None) -> Iterator[None]:
    """Interrupt the body after `timeout` seconds, if this is a main thread on a system with alarms.

    Workers of process pools are. Elsewhere the driver gives the trial up, and its worker stays busy.
    """
    able = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if timeout is None or not able:
        yield
        return

    def ring(*_: Any) -> None:
        raise TrialTimeout

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, min(timeout, LONGEST))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def takes_keywords(objective: Objective, space: Space) -> bool:
    """Whether `objective` wants the parameters of `space` as keyword arguments rather than as one dict.

    Keywords go to a function that has an argument for every parameter, by its name; give those of conditional
    parameters a default. Any other function with a single argument, or a single one without default, gets the
    dict.

    Example:
        >>> from hidim import Float, Space
        >>> space = Space(a=Float(0, 1), b=Float(0, 1))
        >>> takes_keywords(lambda p: p["a"], space), takes_keywords(lambda a, b: a + b, space)
        (False, True)
    """
    if isinstance(objective, Numbered):
        return False
    if not callable(objective):
        raise MethodError(f"the objective must be a function, not {objective!r}")
    try:
        arguments = list(inspect.signature(objective).parameters.values())
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    by_name = {a.name for a in arguments if a.kind in (a.POSITIONAL_OR_KEYWORD, a.KEYWORD_ONLY)}
    open_ended = any(a.kind is a.VAR_KEYWORD for a in arguments)
    by_position = [a for a in arguments if a.kind not in (a.KEYWORD_ONLY, a.VAR_KEYWORD)]
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = [a for a in arguments if a.default is a.empty and a.kind not in starred]
    names = {vertex.name for vertex in space.vertices}
    if len(arguments) == 1 and by_position:
        return names == {arguments[0].name} == by_name
    if not by_name and any(a.kind is a.VAR_POSITIONAL for a in arguments):  # a wrapper, (*args, **kwargs)
        return False
    if {a.name for a in required} <= names and (open_ended or names <= by_name):
        _check_conditional(required, space)
        return True
    if by_position and all(a is by_position[0] for a in required):
        return False
    raise MethodError(
        f"the objective takes {inspect.signature(objective)}, and the space has the parameters "
        f"{', '.join(sorted(names))}: let it take one dict, as in def objective(params), or an argument for "
        "every parameter"
    )


def _check_conditional(required: list[inspect.Parameter], space: Space) -> None:
    # Or else every trial without the parameter fails, and the optimizer learns to avoid what is sound.
    absent = sorted({argument.name for argument in required} - always_named(space.roots))
    if absent:
        raise MethodError(
            f"the objective must have a default for {', '.join(absent)}, as in {absent[0]}=None: some "
            "configurations of the space are without"
        )
