"""The run of a program, kept in a journal."""

from __future__ import annotations

import json
import logging
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hidim import _files
from hidim.errors import ParameterError
from hidim.methods import Method
from hidim.programs.program import Program
from hidim.result import Result
from hidim.run.executors import Threads
from hidim.run.journal import recorded_seed
from hidim.run.minimize import minimize
from hidim.run.progress import Progress
from hidim.space import Space

logger = logging.getLogger("hidim")

#: What the journal of a space file is called, after its name.
JOURNAL = ".hidim.jsonl"


@dataclass(frozen=True)
class Plan:
    """What is to be done.

    Args:
        trials: in all, those of earlier calls counted in; None for as many as there is time for.
        seconds: after which no further trial is started.
        workers: how many trials run at once.
        seed: of the run; None for that of the journal, or 0.
        method, maximize, noisy, fail_fast, retry_failed: as for `minimize`.
        start_with: configurations that come first.
        start_from: the journal of an earlier run.
        about: what is to be remembered of the run.
    """

    trials: int | None = 100
    seconds: float | None = None
    workers: int = 1
    method: str | Method = "auto"
    seed: int | None = None
    maximize: bool = False
    noisy: bool | None = None
    start_with: tuple[Mapping[str, Any], ...] = ()
    start_from: str | os.PathLike[str] | None = None
    fail_fast: int | None = 5
    retry_failed: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)


def tune(program: Program, space: Space, plan: Plan, journal: Path, progress: Progress | bool) -> Result:
    """Run the plan to its end, or as far as it gets; `KeyboardInterrupt` if that is nowhere."""
    with program:
        _files.exists(journal, "opened")  # a pipe would be waited for, and a device has no end
        known = recorded_seed(journal) if plan.seed is None else plan.seed
        return minimize(
            program,
            space,
            plan.trials,
            method=plan.method,
            seed=0 if known is None else known,
            maximize=plan.maximize,
            noisy=plan.noisy,
            executor=Threads(),
            workers=plan.workers,
            time_budget=plan.seconds,
            start_with=plan.start_with,
            start_from=plan.start_from,
            journal=journal,
            retry_failed=plan.retry_failed,
            fail_fast=plan.fail_fast,
            progress=progress,
            about=plan.about,
        )


def journal_of(space_file: str | os.PathLike[str]) -> Path:
    """Where the run of a space file is kept.

    Example:
        >>> journal_of("here/space.toml").as_posix()
        'here/space.hidim.jsonl'
    """
    place = _files.path_of(space_file)
    return place.with_name(place.stem + JOURNAL)


def read_configurations(path: str | os.PathLike[str], space: Space) -> tuple[Mapping[str, Any], ...]:
    """Configurations from a file: JSON with one or a list of them, lines of JSON, or TOML with one.

    One that stands under the key `params`, as in what `hidim best --json` prints, is found, too.
    """
    place = _files.path_of(path)
    try:
        text = _files.read_bytes(place).decode("utf-8-sig")
    except FileNotFoundError:
        raise ParameterError(f"there is no file {place} with configurations to start with") from None
    except UnicodeDecodeError as error:
        raise ParameterError(f"{place}: it is no text in UTF-8") from error
    entries = _entries(place, text)
    if not entries:
        raise ParameterError(f"{place}: there is no configuration in it")
    try:
        return tuple(space.completed([e.get("params", e) if isinstance(e, Mapping) else e for e in entries]))
    except ParameterError as error:
        raise ParameterError(f"{place}, {error}") from error


def _entries(place: Path, text: str) -> list[Any]:
    try:
        if place.suffix.lower() == ".toml":
            return [tomllib.loads(text)]
        try:
            data = json.loads(text)
        except json.JSONDecodeError:
            data = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{place}: it is neither JSON, lines of JSON nor TOML: {error}") from error
    return data if isinstance(data, list) else [data]
