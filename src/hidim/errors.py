"""Every error that hidim raises on purpose.

    HidimError
    ├── SpaceError          a space or parameter that cannot be built
    ├── ParameterError      a configuration that does not fit its space
    ├── MethodError         an unknown method, or settings that a method cannot take
    ├── TrialError          a trial told twice, or a trial nobody asked for
    ├── RunError            a run without a single value
    ├── HistoryError        a saved history that cannot be read
    ├── NumericalError      linear algebra that no jitter could mend
    └── MissingDependencyError   an optional package is not installed

Each message names the offending thing and says how to mend it.
"""

from __future__ import annotations


class HidimError(Exception):
    """Root of all errors raised on purpose by hidim."""


class SpaceError(HidimError, ValueError):
    """A space or parameter that cannot be built: empty bounds, clashing names, …"""


class ParameterError(HidimError, ValueError):
    """A configuration that does not fit its space."""


class MethodError(HidimError, ValueError):
    """An unknown method, or settings that the method cannot take."""


class TrialError(HidimError, ValueError):
    """A trial that was told already, or that this optimizer never suggested."""


class HistoryError(HidimError, ValueError):
    """A saved history that is damaged, of another space, or of a newer version."""


class RunError(HidimError):
    """A run in which no trial came to a value.

    Args:
        why: in words.
        mend: what to do.
    """

    def __init__(self, why: str, mend: str = "") -> None:
        super().__init__(f"{why}; {mend}" if mend else why)
        self.why = why


class NumericalError(HidimError, ArithmeticError):
    """A matrix that stays indefinite whatever jitter is added."""


class MissingDependencyError(HidimError, ImportError):
    """An optional package is not installed."""
