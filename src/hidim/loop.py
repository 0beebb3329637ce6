"""The loop, for people who do not want to own it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from hidim._types import Params
from hidim.errors import HidimError, MethodError
from hidim.methods import Method
from hidim.optimizer import Optimizer, is_whole
from hidim.space import Space
from hidim.trial import History, Trial

logger = logging.getLogger("hidim")


@dataclass(frozen=True)
class Result:
    """What a run found: the best trial, and all trials."""

    best: Trial
    history: History

    def __repr__(self) -> str:
        return f"Result(best={self.best.value!r} at {self.best.params!r}, {self.history!r})"


def minimize(
    objective: Callable[[Params], float],
    space: Space,
    n_trials: int,
    *,
    method: str | Method = "auto",
    seed: int = 0,
    maximize: bool = False,
) -> Result:
    """Evaluate `objective` at `n_trials` configurations, one after another, and give the best.

    An objective that raises, or returns NaN or no number, makes a failed trial, with the reason kept; the
    run goes on. Ctrl-C ends it with the result so far.

    Args:
        objective: takes a configuration (a dict) and returns a number.
        space: what can vary.
        n_trials: evaluations.
        method: a name or a configured method.
        seed: of the whole run.
        maximize: whether large values are good.

    Example:
        >>> from hidim import Float, Space
        >>> result = minimize(lambda p: (p["x"] - 0.3) ** 2, Space(x=Float(0, 1)), n_trials=20)
        >>> round(result.best.params["x"], 2)
        0.3
    """
    if not is_whole(n_trials) or n_trials < 1:
        raise MethodError(f"n_trials must be a positive integer, not {n_trials!r}")
    optimizer = Optimizer(space, method=method, seed=seed, budget=n_trials, maximize=maximize)
    warned: set[str] = set()
    for _ in range(n_trials):
        trial = optimizer.ask()
        try:
            optimizer.tell(trial.number, objective(trial.params))
        except Exception as error:  # of the objective, or a value that is no number
            reason = f"{type(error).__name__}: {error}"
            optimizer.fail(trial.number, reason)
            if reason not in warned:
                warned.add(reason)
                logger.warning("trial %d failed: %s", trial.number, reason, exc_info=error)
        except KeyboardInterrupt:
            if not optimizer.history.complete:
                raise
            optimizer.fail(trial.number, "interrupted")
            logger.warning("interrupted in trial %d of %d", trial.number + 1, n_trials)
            break
    history = optimizer.history
    if not history.complete:
        reasons = sorted({str(t.reason) for t in history})
        raise HidimError(f"all {len(history)} trials failed: {'; '.join(reasons[:3])}")
    return Result(optimizer.best, history)
