"""A program as an objective: a configuration goes in by its command line, a value comes out of its words."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hidim import _files
from hidim._types import Params
from hidim.errors import HidimError, MethodError
from hidim.programs.command import (
    FOLDER,
    NUMBER,
    PARAMS,
    TRIAL,
    Command,
    Placeholder,
    Word,
    as_json,
    read_word,
)
from hidim.programs.process import OUTPUT, Ended, Processes
from hidim.programs.reading import Reading
from hidim.programs.shells import quoted
from hidim.run.evaluate import NoValue, Numbered, out_of_time
from hidim.run.fingerprint import hashed
from hidim.run.mistakes import CERTAIN, DOUBTFUL
from hidim.space import Space

#: Characters of standard error that a reason of failure ends with.
TOLD = 300

#: Endings of files that an interpreter runs.
SCRIPTS = (".py", ".sh", ".r", ".R", ".jl", ".m", ".pl", ".rb", ".js", ".lua")

#: Bytes of a file in which a value is looked for.
LARGEST = 50_000_000


@dataclass(frozen=True)
class Running:
    """A trial that is being evaluated: since when, and by which command line."""

    since: float
    line: str


class Program(Numbered):
    """Runs a command for every configuration.

    Args:
        command: what is run.
        reading: where the value is.
        space: of the configurations.
        timeout: seconds that a trial may take.
        retries: how often a trial that failed is run again; one that was out of time is not.
        logs: a folder for what every trial prints.
        workers: how many trials may run at once.
    """

    def __init__(
        self,
        command: Command,
        reading: Reading,
        space: Space,
        *,
        timeout: float | None = None,
        retries: int = 0,
        logs: str | os.PathLike[str] | None = None,
        workers: int = 1,
    ) -> None:
        self._command, self._reading = command, reading
        self._timeout, self._retries = timeout, retries
        self._file: Word | None = None if reading.file is None else read_word(reading.file, space)
        if self._file is not None and workers > 1 and all(isinstance(part, str) for part in self._file):
            raise MethodError(
                f"{workers} trials at once would write the same file {reading.file}: put {{@trial}} or "
                "{@folder} into its name, and let the program know"
            )
        self._logs = None if logs is None else _folder(logs)
        self._processes = Processes(uuid.uuid4().hex)
        self.running: dict[int, Running] = {}

    def __call__(self, number: int, params: Params) -> float:
        """The value of one trial; `NoValue` if there is none."""
        try:
            return self._tried(number, params)
        finally:
            self.running.pop(number, None)

    def _tried(self, number: int, params: Params) -> float:
        for attempt in range(self._retries + 1):
            try:
                return self._once(number, params, attempt)
            except NoValue as failure:
                if failure.final or attempt == self._retries:
                    again = f" (tried {attempt + 1} times)" if attempt else ""
                    raise NoValue(f"{failure}{again}", mistake=failure.mistake, final=True) from None
        raise AssertionError

    def _once(self, number: int, params: Params, attempt: int) -> float:
        with self._given(number, params) as values:
            name = f"trial-{number:05d}" + (f"-{attempt}" if attempt else "")
            started = time.time_ns()
            ended = self._run(values, params, number, name)
            _check(ended, self._timeout)
            return self._reading.value(self._text(ended, values, started))

    @contextmanager
    def _given(self, number: int, params: Params) -> Iterator[dict[str, Any]]:
        """The parameters of a trial and what else may stand in braces."""
        values: dict[str, Any] = {**params, TRIAL: number}
        file = {part.name for part in self._file or () if isinstance(part, Placeholder)}
        if not (self._command.named | file) & {FOLDER, PARAMS}:
            yield values
            return
        with _saying("a folder for the trial cannot be made"):
            folder = Path(tempfile.mkdtemp(prefix=f"hidim-trial-{number}-"))
        try:
            values[FOLDER] = str(folder)
            if PARAMS in self._command.named:
                values[PARAMS] = f"{folder}.json"
                with _saying("the file of parameters cannot be written"):
                    Path(values[PARAMS]).write_text(as_json(params), encoding="utf-8")
            yield values
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            Path(f"{folder}.json").unlink(missing_ok=True)

    def _run(self, values: dict[str, Any], params: Params, number: int, name: str) -> Ended:
        argv = self._command.argv(values)
        self.running[number] = Running(time.monotonic(), self._command.line(values))
        environment = self._command.environment(params, values) | {NUMBER: str(number)}
        try:
            return self._processes.run(argv, environment, name, self._timeout, self._logs)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError | PermissionError)
            why = f"{argv[0]} cannot be run: {_refusal(error)}"
            raise NoValue(why, mistake=CERTAIN if missing else DOUBTFUL, final=True) from None
        except ValueError as error:  # a null character, or an odd name of a variable
            raise NoValue(f"{argv[0]} cannot be run: {error}", mistake=DOUBTFUL, final=True) from None

    def _text(self, ended: Ended, values: dict[str, Any], started: int) -> str:
        """That in which the value is looked for."""
        if self._file is None:
            if ended.cut and self._reading.field is not None:
                raise NoValue(f"it printed more than {OUTPUT} bytes: let it write its JSON to a file")
            return ended.output
        path = Path("".join(part if isinstance(part, str) else part.text(values) for part in self._file))
        try:
            if path.stat().st_mtime_ns < started - 2_000_000_000:  # some systems keep whole seconds only
                raise NoValue(f"the file {path} is older than the trial: the program did not write it")
            with path.open("rb") as file:
                return file.read(LARGEST).decode("utf-8", errors="replace")
        except OSError as error:
            raise NoValue(f"the file {path} cannot be read: {error.strerror}", mistake=DOUBTFUL) from None

    def fingerprint(self) -> dict[str, str]:
        """Of the command line, of where the value is, and of the files that are run: program and scripts."""
        told = {"the command": self._command, "where the value is": self._reading}
        found = {name: hashed(repr(part).encode(errors="replace")) for name, part in told.items()}
        for place, word in enumerate(self._command.words):
            name = "".join(map(str, word))
            with suppress(OSError, ValueError):  # it is no name of a file
                file = Path((shutil.which(name) if place == 0 else None) or name)
                executable = os.access(file, os.X_OK) or file.suffix in SCRIPTS
                if file.is_file() and executable and file.stat().st_size <= LARGEST:
                    found[str(file)] = hashed(file.read_bytes())
        return found

    def preview(self, params: Params) -> str:
        """The command line of a configuration, as a person would type it."""
        return previewed(self._command, params)

    def close(self) -> None:
        """End all that is running."""
        self._processes.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def previewed(command: Command, params: Params) -> str:
    """The command line of a configuration, as a person would type it, variables before it."""
    values = {**params, TRIAL: 0, FOLDER: "FOLDER", PARAMS: "PARAMS.json"}
    variables = [f"{name}={quoted(text)}" for name, text in command.variables(params).items()]
    return " ".join([*variables, command.line(values)])


def _check(ended: Ended, timeout: float | None) -> None:
    """Refuse a program that did not end as it should."""
    if ended.late:
        raise NoValue(out_of_time(timeout), final=True)
    if ended.code == 0:
        return
    said = ended.errors.strip()
    said = f": …{said[-TOLD:]}" if len(said) > TOLD else f": {said}" * bool(said)
    if ended.code > 0:
        raise NoValue(f"exit code {ended.code}{said}", mistake=DOUBTFUL)
    try:
        name = signal.Signals(-ended.code).name
    except ValueError:
        name = f"signal {-ended.code}"
    raise NoValue(f"killed by {name}{said}", mistake=DOUBTFUL)


def _refusal(error: OSError) -> str:
    if error.errno == 7:
        return "the values are too long for a command line; hand them over as a JSON file, by {@params}"
    return error.strerror or str(error)


@contextmanager
def _saying(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NoValue(f"{what}: {error.strerror}", mistake=DOUBTFUL, final=True) from None


def _folder(path: str | os.PathLike[str]) -> Path:
    place = _files.path_of(path)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HidimError(f"the folder {place} cannot be made: {error.strerror}") from error
    return place
