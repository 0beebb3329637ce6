"""`minimize`: the loop, for people who do not want to own it."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any, Literal

from hidim import serial
from hidim._types import Params
from hidim.errors import HistoryError, MethodError, RunError
from hidim.methods import Method
from hidim.optimizer import Optimizer, is_whole
from hidim.result import Result
from hidim.run.crew import Crew
from hidim.run.driver import Callback, Driver, Limits, Stop
from hidim.run.earlier import EARLIER, Source, adapted, is_earlier, missing, unfinished
from hidim.run.evaluate import Call, Objective, takes_keywords
from hidim.run.executors import Inline, Threads
from hidim.run.fingerprint import fingerprint
from hidim.run.interrupts import heeded
from hidim.run.journal import Journal, recorded_seed
from hidim.run.progress import Progress, make_progress
from hidim.space import Space
from hidim.trial import History, Trial, TrialState, alike, same_params

logger = logging.getLogger("hidim")


def minimize(
    objective: Objective,
    space: Space,
    n_trials: int | None = None,
    *,
    method: str | Method = "auto",
    seed: int | None = 0,
    maximize: bool = False,
    noisy: bool | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    time_budget: float | None = None,
    stop: Stop | None = None,
    callbacks: Callback | Iterable[Callback] = (),
    start_with: Iterable[Mapping[str, Any]] = (),
    start_from: Source | None = None,
    assume: Mapping[str, Any] | None = None,
    journal: str | os.PathLike[str] | None = None,
    on_change: Literal["warn", "error"] = "warn",
    retry_failed: bool = False,
    fail_fast: int | None = 5,
    progress: bool | Progress | None = None,
    about: Mapping[str, Any] | None = None,
) -> Result:
    """Evaluate `objective` at `n_trials` configurations and give the best.

    Workers are kept busy: as soon as one is free it gets the next trial, which takes those still running as
    pending. An objective that raises, runs out of time, or returns NaN, an infinity or no number makes a
    failed trial, with the reason kept; the run goes on, and learns where failures are. It ends when there is
    nothing else from the start (`fail_fast`), and when a finite space without noise has been tried out.
    Ctrl-C, SIGTERM, and `sys.exit` in the objective end it with the result so far. A journal that was written
    with another objective is gone on with, and it is said.

    Args:
        objective: takes a configuration as a dict, or as keyword arguments if it has an argument for every
            parameter; returns a number, `Measured(value, variance)` if it knows the variance of the noise, or
            a dict with the key "value", in which "variance" may be, and all else becomes the trial's
            attributes.
        space: what can vary.
        n_trials: trials in all, those in the journal counted in; as many as `time_budget` or `stop` allows by
            default.
        method: a name or a configured method.
        seed: of the whole run. With one worker, the same seed gives the same trials. None draws one, or
            takes that of the journal; `Result.seed` says which.
        maximize: whether large values are good.
        noisy: whether the same configuration may give different values; None: hidim finds out.
        executor: any `concurrent.futures.Executor`, or a function that makes one. What such a function made
            is made anew when it breaks or all its workers hang, and shut down in the end; processes that are
            still busy then are killed. Without, threads of this process are used.
        workers: how many trials may run at once; by default as many as the executor has workers, or 1.
        timeout: seconds after which a trial counts as failed.
        time_budget: seconds after which no further trial is started; those that run are waited for.
        stop: called with the history after every trial, and when a run is resumed; no further trial is
            started once it is true. An error in it ends the run and is raised then, with the result so far as
            its `result`.
        callbacks: called after every trial with that trial and the history; an error in one ends nothing.
        start_with: configurations to be evaluated first, such as the settings in use today; what one does
            not say is drawn at random.
        start_from: an earlier run whose finished trials are known from the start and do not count as trials
            of this one: the path of its journal, a `Result`, an `Optimizer` or a `History`. Its space may
            have been another one: parameters that are gone are dropped, and trials that do not fit are left
            out and counted.
        assume: by name, the values that parameters had in trials of `start_from` that do not know them.
        journal: a file that keeps every trial from the moment it is known. If it exists, the run is resumed:
            finished trials are not evaluated again, those that were running are.
        on_change: "error" refuses a journal whose trials are of another objective, as far as its code and the
            constants in it tell; "warn" says so and goes on.
        retry_failed: whether those that failed are evaluated again when a run is resumed, as after a mistake
            in the objective.
        fail_fast: after how many trials the run ends if all since it was begun or resumed have failed by one
            error of the code, as a name that is not defined. By another error, which a part of the space may
            have too, ten times as many. None for never.
        progress: True shows how far the run is, False is silent; None shows it on a terminal, and elsewhere
            if it takes long. `pip install 'hidim[cli]'` makes a bar of the lines.
        about: what is to be remembered of the run, by name; kept as plain JSON data in the journal and in
            `Result.about`, and of no influence.

    Example:
        >>> from hidim import Float, Space
        >>> result = minimize(lambda p: (p["x"] - 0.3) ** 2, Space(x=Float(0, 1)), n_trials=20)
        >>> round(result.best.params["x"], 2)
        0.3
    """
    if isinstance(objective, Space):
        raise MethodError("the objective comes first, then the space: minimize(objective, space, n_trials=…)")
    limits = Limits(
        math.inf if n_trials is None else _positive("n_trials", n_trials, whole=True),
        None if timeout is None else _positive("timeout", timeout),
        None if time_budget is None else _positive("time_budget", time_budget),
        _callable("stop", stop),
        _listed(callbacks),
        None if fail_fast is None else _positive("fail_fast", fail_fast, whole=True),
    )
    if n_trials is None and time_budget is None and stop is None:
        raise MethodError("say when the run ends: by n_trials, time_budget or stop")
    if workers is not None:
        workers = _positive("workers", workers, whole=True)
    if seed is None and journal is not None:
        seed = recorded_seed(journal)
    taken = []
    if assume and start_from is None:
        raise MethodError("assume says what earlier trials had: it goes with start_from")
    if start_from is not None:
        _check_apart(start_from, journal)
        taken = adapted(start_from, space, assume or {}, maximize=maximize)
    budget = None if n_trials is None else int(n_trials) + len(taken)
    optimizer = Optimizer(space, method=method, seed=seed, budget=budget, maximize=maximize, noisy=noisy)
    first = space.completed(start_with, optimizer.seed)
    call = Call(objective, takes_keywords(objective, space), limits.timeout)
    if on_change not in ("warn", "error"):
        raise MethodError(f"on_change must be 'warn' or 'error', not {on_change!r}")
    remembered = serial.plain(dict(about or {}))
    with heeded() as interrupts:
        with (
            _crew(call, executor, workers) as crew,
            _journal(journal, optimizer, remembered, objective, on_change) as kept,
        ):
            if kept is not None:
                optimizer._restore(kept.trials)
            _begin(optimizer, taken, kept)
            if retry_failed:
                _retry(optimizer, limits.n_trials, kept)
            given = [params for params in first if not _is_known(params, optimizer.history)]
            if given:
                optimizer._rehearse()
            shown = make_progress(progress, limits.n_trials)
            driver = Driver(optimizer, crew, limits, kept, shown, given, interrupts)
            stopped = driver.run()
        result = optimizer.result(stopped, driver.own_seconds) if driver.has_value else None
    if result is not None:
        result = replace(result, about=remembered, resumed=driver.resumed)
    if driver.fault is not None:
        raise _with_result(driver.fault, result)
    if result is None:
        raise _nothing(optimizer.history, limits.n_trials, stopped, journal)
    return result


def _with_result(fault: Any, result: Result | None) -> Any:
    """An error of the user's, which knows what the run had found before."""
    with suppress(AttributeError):
        fault.result = result
    fault.add_note("hidim: it was raised by `stop` and ended the run; what was found so far is its `result`")
    return fault


def _crew(call: Call, executor: Executor | Callable[[], Executor] | None, workers: int | None) -> Crew:
    if executor is not None:
        return Crew(call, executor, workers)
    # A trial in this very thread could not be given up when it is out of time.
    alone = workers in (None, 1) and call.timeout is None
    return Crew(call, Inline() if alone else Threads(), workers or 1)


def _journal(
    path: str | os.PathLike[str] | None,
    optimizer: Optimizer,
    about: Mapping[str, Any],
    objective: Objective,
    on_change: str,
) -> AbstractContextManager[Journal | None]:
    if path is None:
        return nullcontext()
    known = {"about": about, "objective": fingerprint(objective)}
    journal = Journal(
        path, optimizer.space, optimizer.settings() | {key: value for key, value in known.items() if value}
    )
    if journal.changed:
        parts = ", ".join(dict.fromkeys(part for parts in journal.changed for part in parts))
        other = f"has {len(journal.changed)} trials of another objective ({parts} changed)"
        if on_change == "error":
            journal.close()
            raise HistoryError(f"{journal.path} {other}: give another journal, or leave on_change out")
        mend = "they count as trials of this one; if they are not, give another journal"
        logger.warning("%s %s: %s", journal.path.name, other, mend)
    return journal


def _check_apart(source: Source, journal: str | os.PathLike[str] | None) -> None:
    if not isinstance(source, str | os.PathLike) or journal is None:
        return
    if os.path.exists(source) and os.path.exists(journal) and os.path.samefile(source, journal):
        raise MethodError("the earlier run is the journal itself, which is gone on from anyway: leave it out")


def _begin(optimizer: Optimizer, taken: Sequence[Trial], kept: Journal | None) -> None:
    """Take over trials of an earlier run; those whose end was lost in a crash are ended first."""
    for number, trial in unfinished(taken, optimizer.history):
        if trial.value is None:
            optimizer.fail(number, str(trial.reason), seconds=trial.seconds)
        else:
            optimizer.tell(number, trial.value, variance=trial.variance, seconds=trial.seconds)
        if kept is not None:
            kept.finish(optimizer.history[number])
    entered = [optimizer._take(trial, EARLIER) for trial in missing(taken, optimizer.history)]
    if kept is not None:
        kept.enter(entered)


def _retry(optimizer: Optimizer, n_trials: float, kept: Journal | None) -> None:
    """Take back the failures that can be tried again, the earliest first."""
    own = [trial for trial in optimizer.history if not is_earlier(trial)]
    failed = [trial for trial in own if trial.state is TrialState.FAILED]
    for trial in failed[: int(max(min(n_trials - len(own), 0) + len(failed), 0))]:
        optimizer.retry(trial.number)
        if kept is not None:
            kept.retry(trial)


def _is_known(params: Params, history: History) -> bool:
    return any(same_params(params, trial.params) for trial in history if not is_earlier(trial))


def _nothing(
    history: History, n_trials: float, stopped: str, journal: str | os.PathLike[str] | None
) -> RunError:
    reasons = [str(trial.reason) for trial in history.failed if not is_earlier(trial)]
    if not reasons:
        return RunError(f"no trial was finished: {stopped}")
    kinds = [alike(reason) for reason in reasons]  # of which the first reason stands for all
    counts = {reasons[kinds.index(kind)]: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    listed = "; ".join(
        f"{reason} ({count} time{'s' * (count > 1)})" for reason, count in list(counts.items())[:3]
    )
    more = f"; and {len(counts) - 3} other reasons" if len(counts) > 3 else ""
    ended = f"; the run ended early: {stopped}" if len(reasons) < n_trials else ""
    where = "" if journal is None else f" with journal={os.fspath(journal)!r}, retry_failed=True"
    mend = f"mend the objective, and run it again{where}"
    which = f"all {len(reasons)} trials" if len(reasons) > 1 else "the only trial"
    return RunError(f"{which} failed: {listed}{more}{ended}", mend)


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
