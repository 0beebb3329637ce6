"""hidim: Bayesian optimisation for black boxes with too many parameters."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hidim._version import __version__
from hidim.errors import HidimError
from hidim.space import Choice, Float, Int, Space, Vector
from hidim.trial import History, Measured, Trial, TrialState

if TYPE_CHECKING:
    from hidim.insight import Insight
    from hidim.integrations.optuna import OptunaSampler as OptunaSampler
    from hidim.methods import METHODS
    from hidim.optimizer import Optimizer
    from hidim.result import Result
    from hidim.run.minimize import minimize

# OptunaSampler is not among them: it needs Optuna, and `from hidim import *` must not.
__all__ = [
    "METHODS",
    "Choice",
    "Float",
    "HidimError",
    "History",
    "Insight",
    "Int",
    "Measured",
    "Optimizer",
    "Result",
    "Space",
    "Trial",
    "TrialState",
    "Vector",
    "__version__",
    "minimize",
]

# What needs scipy is imported on first use: describing a space should not cost half a second.
_LAZY = {
    "Insight": "hidim.insight",
    "METHODS": "hidim.methods",
    "Optimizer": "hidim.optimizer",
    "OptunaSampler": "hidim.integrations.optuna",
    "Result": "hidim.result",
    "minimize": "hidim.run.minimize",
}


def __getattr__(name: str) -> Any:
    if name == "plot":
        return importlib.import_module("hidim.plot")
    if name not in _LAZY:
        raise AttributeError(f"module 'hidim' has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "OptunaSampler"])
