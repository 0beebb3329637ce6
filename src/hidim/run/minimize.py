"""`minimize`: the loop, for people who do not want to own it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from hidim._types import Params
from hidim.errors import HidimError, MethodError
from hidim.methods import Method
from hidim.optimizer import Optimizer, is_whole
from hidim.run.crew import Crew
from hidim.run.driver import Callback, Driver, Limits, Stop
from hidim.run.evaluate import Call, Objective, takes_keywords
from hidim.run.executors import Inline, Threads
from hidim.run.journal import Journal
from hidim.run.progress import make_progress
from hidim.run.result import Result, result_of
from hidim.space import Space
from hidim.trial import History, same_params


def minimize(
    objective: Objective,
    space: Space,
    n_trials: int,
    *,
    method: str | Method = "auto",
    seed: int = 0,
    maximize: bool = False,
    noisy: bool | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    time_budget: float | None = None,
    stop: Stop | None = None,
    callbacks: Callback | Iterable[Callback] = (),
    start_with: Iterable[Mapping[str, Any]] = (),
    journal: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Result:
    """Evaluate `objective` at `n_trials` configurations and give the best.

    Workers are kept busy: as soon as one is free it gets the next trial, which takes those still running as
    pending. An objective that raises, runs out of time, or returns NaN, an infinity or no number makes a
    failed trial, with the reason kept; the run goes on, and learns where failures are. Ctrl-C ends it with
    the result so far.

    Args:
        objective: takes a configuration as a dict, or as keyword arguments if it has an argument for every
            parameter; returns a number, or a number and the variance of the noise in it.
        space: what can vary.
        n_trials: trials in all, those in the journal counted in.
        method: a name or a configured method.
        seed: of the whole run. With one worker, the same seed gives the same trials.
        maximize: whether large values are good.
        noisy: whether the same configuration may give different values; None: hidim finds out.
        executor: any `concurrent.futures.Executor`, or a function that makes one. What such a function made
            is made anew when it breaks or all its workers hang, and shut down in the end; processes that are
            still busy then are killed. Without, threads of this process are used.
        workers: how many trials may run at once; by default as many as the executor has workers, or 1.
        timeout: seconds after which a trial counts as failed.
        time_budget: seconds after which no further trial is started; those that run are waited for.
        stop: called with the history after every trial, and when a run is resumed; no further trial is
            started once it is true.
        callbacks: called after every trial with that trial and the history.
        start_with: configurations to be evaluated first, such as the settings in use today.
        journal: a file that keeps every trial from the moment it is known. If it exists, the run is resumed:
            finished trials are not evaluated again, those that were running are.
        progress: True shows a bar, False is silent; None shows a bar on a terminal and logs elsewhere.

    Example:
        >>> from hidim import Float, Space
        >>> result = minimize(lambda p: (p["x"] - 0.3) ** 2, Space(x=Float(0, 1)), n_trials=20)
        >>> round(result.best.params["x"], 2)
        0.3
    """
    limits = Limits(
        _positive("n_trials", n_trials, whole=True),
        None if timeout is None else _positive("timeout", timeout),
        None if time_budget is None else _positive("time_budget", time_budget),
        _callable("stop", stop),
        _listed(callbacks),
    )
    if workers is not None:
        workers = _positive("workers", workers, whole=True)
    optimizer = Optimizer(space, method=method, seed=seed, budget=n_trials, maximize=maximize, noisy=noisy)
    first = [space.validate(params) for params in start_with]
    call = Call(objective, takes_keywords(objective, space), limits.timeout)
    with _crew(call, executor, workers) as crew, _journal(journal, optimizer) as kept:
        if kept is not None:
            optimizer.restore(kept.trials)
        given = [params for params in first if not _is_known(params, optimizer.history)]
        if given:
            optimizer.rehearse()
        driver = Driver(optimizer, crew, limits, kept, make_progress(progress, limits.n_trials), given)
        stopped = driver.run()
    if not optimizer.history.complete:
        raise HidimError(_nothing(optimizer.history, limits.n_trials, stopped))
    return result_of(optimizer, stopped, driver.own_seconds)


def _crew(call: Call, executor: Executor | Callable[[], Executor] | None, workers: int | None) -> Crew:
    if executor is not None:
        return Crew(call, executor, workers)
    # A trial in this very thread could not be given up when it is out of time.
    alone = workers in (None, 1) and call.timeout is None
    return Crew(call, Inline() if alone else Threads(), workers or 1)


def _journal(
    path: str | os.PathLike[str] | None, optimizer: Optimizer
) -> AbstractContextManager[Journal | None]:
    return nullcontext() if path is None else Journal(path, optimizer.space, optimizer.settings())


def _is_known(params: Params, history: History) -> bool:
    return any(same_params(params, trial.params) for trial in history)


def _nothing(history: History, n_trials: int, stopped: str) -> str:
    reasons = [str(trial.reason) for trial in history.finished]
    if not reasons:
        return f"no trial was finished: {stopped}"
    counts = {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}
    listed = "; ".join(f"{reason} ({count} times)" for reason, count in list(counts.items())[:3])
    more = f"; and {len(counts) - 3} other reasons" if len(counts) > 3 else ""
    ended = f"; the run ended early: {stopped}" if len(reasons) < n_trials else ""
    return f"all {len(reasons)} trials failed: {listed}{more}{ended}"


def _positive(name: str, value: Any, *, whole: bool = False) -> Any:
    number = is_whole(value) or (not whole and isinstance(value, float))
    if not number or not 0 < value < math.inf:
        kind = "a positive integer" if whole else "a positive number of seconds"
        raise MethodError(f"{name} must be {kind}, not {value!r}")
    return int(value) if whole else float(value)


def _callable(name: str, value: Any) -> Any:
    if value is not None and not callable(value):
        raise MethodError(f"{name} must be a function, not {value!r}")
    return value


def _listed(callbacks: Callback | Iterable[Callback]) -> tuple[Callback, ...]:
    if callable(callbacks):
        return (callbacks,)
    listed = tuple(callbacks) if isinstance(callbacks, Iterable) else (callbacks,)
    for callback in listed:
        if not callable(callback):
            raise MethodError(f"callbacks must be functions, not {callback!r}")
    return listed
