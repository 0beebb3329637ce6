"""A history as lines of JSON: what journals and saved optimizers are.

One event is one line, with a checksum:

    {"event": "run",  "format": 2, "space": …, "method": …, "seed": …, "budget": …, "maximize": …, "crc": …}
    {"event": "ask",  "id": 0, "params": …, "meta": …, "crc": …}
    {"event": "tell", "id": 0, "value": 0.3, "variance": null, "seconds": 1.2, "crc": …}
    {"event": "fail", "id": 0, "reason": "ValueError: …", "seconds": 0.1, "crc": …}
    {"event": "retry", "id": 0, "crc": …}

Ends of trials may have "attributes", a table of whatever the user wants to remember.

A line that was torn by a crash is cut off; a line that was damaged later fails its checksum and is passed
over, with a warning. A line with the right checksum that says what it must not (see `hidim.events`) is
refused. Trials keep the order of their asks; ids may have gaps where an ask was damaged.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hidim import events, serial
from hidim._version import __version__
from hidim.errors import HidimError, HistoryError
from hidim.events import Event
from hidim.methods import Method
from hidim.space import Space
from hidim.space.tree import walk
from hidim.trial import Trial, TrialState

START = b'{"event": "run", '


@dataclass
class Contents:
    """What a journal says.

    Args:
        run: the last event that describes the run; None if there is none.
        objectives: what the objective was known by when trials were told, by their ids.
        trials: by the ids of their asks.
        damage: one line for a person about everything that could not be read.
        size: bytes up to the end of the last whole line.
        unended: whether that line is whole but for its newline, which has to come before the next one.
        finished: how many trials are complete or failed.
    """

    run: Event | None = None
    objectives: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    trials: dict[int, Trial] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    size: int = 0
    unended: bool = False
    finished: int = 0


def run_event(space: Space, settings: Mapping[str, Any]) -> Event:
    """What describes a run; `settings` are those of `Optimizer.settings`."""
    about = {"format": serial.FORMAT, "hidim": __version__, "space": space.to_dict()}
    return {"event": "run", **about, **settings}


def ask_event(trial: Trial, number: int) -> Event:
    """That a trial is about to be evaluated, under the id `number`."""
    return {"event": "ask", "id": number, "params": serial.write_params(trial.params), "meta": trial.meta}


def finish_event(trial: Trial, number: int) -> Event:
    """The value of a complete trial, or the reason of a failed one."""
    if trial.state is TrialState.COMPLETE:
        result = {"event": "tell", "id": number, "value": trial.value, "variance": trial.variance}
    else:
        result = {"event": "fail", "id": number, "reason": trial.reason}
    kept = {"attributes": trial.attributes} if trial.attributes else {}
    return result | {"seconds": trial.seconds} | kept


def retry_event(number: int) -> Event:
    """That a trial which failed is about to be evaluated again."""
    return {"event": "retry", "id": number}


def whole(space: Space, settings: Mapping[str, Any], trials: Sequence[Trial]) -> bytes:
    """All lines of a history: its trials in the order of asking, then their ends in that of finishing."""
    asked = [ask_event(trial, trial.number) for trial in trials]
    finished = sorted((t for t in trials if t.rank is not None), key=lambda t: t.rank or 0)
    ended = [finish_event(trial, trial.number) for trial in finished]
    return b"".join(map(seal, [run_event(space, settings), *asked, *ended]))


def seal(event: Event) -> bytes:
    """An event as a line with its checksum.

    Example:
        >>> seal({"event": "ask", "id": 3})
        b'{"event": "ask", "id": 3, "crc": "e38b964f"}\\n'
    """
    body = json.dumps(event, allow_nan=False)[:-1]
    return f'{body}, "crc": "{zlib.crc32(body.encode()):08x}"}}\n'.encode()


def unseal(line: bytes) -> Event | None:
    """The event of a line, or None if the line is damaged; `HistoryError` if it is whole and no event."""
    body, mark, seal = line.rstrip(b"\r\n").rpartition(b', "crc": "')
    if not mark or seal != f'{zlib.crc32(body):08x}"}}'.encode():
        return None
    try:
        event: Event = json.loads(body + b"}")
    except RecursionError:
        raise HistoryError(f"it is nested too deeply; {events.MEND}") from None
    except ValueError as error:  # no JSON, no UTF-8, or a number of thousands of digits
        raise HistoryError(f"it is not JSON ({error}); {events.MEND}") from error
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise HistoryError(f"the field 'event' must be a text; {events.MEND}")
    if body.count(b"[") + body.count(b"{") > events.DEEPEST and events.is_deep(event):
        raise HistoryError(f"it is nested too deeply; {events.MEND}")
    return event


def read(name: str, data: bytes, space: Space) -> Contents:
    """Everything that the file of that name says, whose bytes are `data`, about trials of `space`."""
    contents = Contents(size=data.rfind(b"\n") + 1)
    torn = data[contents.size :]
    if torn and _is_whole(torn):
        contents.size, contents.unended, torn = len(data), True, b""
    if contents.size == 0 and not (START.startswith(torn) or torn.startswith(START)):
        raise HistoryError(f"{name} is not a journal of hidim: give another path")
    known = list(_events(name, data[: contents.size], contents))
    if contents.size and not known:
        raise HistoryError(f"{name} is not a journal of hidim, or all of it is damaged: give another path")
    runs = [event for _, event in known if event["event"] == "run"]
    contents.run = runs[-1] if runs else None
    if contents.run is not None:
        check(name, contents.run, {"space": space.to_dict()})
    for number, event in known:
        with _said(f"{name}, line {number}"):
            _apply(event, number, space, contents)
    if torn:
        contents.damage.append(f"the last line was torn by a crash and is dropped ({len(torn)} bytes)")
    return contents


class Described(NamedTuple):
    """What the last event of a history that describes its run says.

    Args:
        run: the event.
        space: what could vary.
        settings: seed, budget, direction and noise, as arguments of an optimizer.
    """

    run: Event
    space: Space
    settings: dict[str, Any]


def described(name: str, data: bytes) -> Described:
    """The run that a file, whose bytes are `data`, is of."""
    runs = [(number, event) for number, event in _events(name, data, Contents()) if event["event"] == "run"]
    if not runs:
        raise HistoryError(
            f"{name} is not a saved history of hidim, or its first line, which has space and method, is "
            "damaged: then minimize(…, journal=…) with the same space still goes on from it"
        )
    number, run = runs[-1]
    place = f"{name}, line {number}"
    events.check_fields(run, events.DESCRIBED, f"{place}, the run")
    with _said(f"{place}, the run: the field 'space'"):
        space = Space.from_dict(run["space"])
    return Described(run, space, {key: run[key] for key in ("seed", "budget", "maximize", "noisy")})


def _is_whole(line: bytes) -> bool:
    try:
        return unseal(line) is not None
    except HistoryError:
        return True


def _events(name: str, data: bytes, contents: Contents) -> Iterator[tuple[int, Event]]:
    """Numbers and events of all lines that are not damaged, every field checked."""
    for number, line in enumerate(data.splitlines(), start=1):
        place = f"{name}, line {number}"
        with _said(place):
            event = unseal(line)
        if event is None:
            contents.damage.append(f"line {number} is damaged and is passed over")
            continue
        if event["event"] == "run":
            check(name, event, {})  # a newer hidim may have other fields
        events.check(event, place)
        yield number, event


@contextmanager
def _said(place: str) -> Iterator[None]:
    """Errors in there begin with the place to which they belong."""
    try:
        yield
    except HidimError as error:
        raise HistoryError(f"{place}: {error}") from error


def _apply(event: Event, line: int, space: Space, contents: Contents) -> None:
    kind, trials = event["event"], contents.trials
    if kind == "run":
        contents.run = event
        return
    number: int = event.get("id", -1)
    if kind == "ask":
        if number in trials:
            raise HistoryError(f"the field 'id': trial {number} was asked for before; {events.MEND}")
        trials[number] = _asked(event, space)
    elif kind == "retry" and number in trials:
        _retry(number, contents)
    elif kind not in ("tell", "fail", "retry"):
        contents.damage.append(f"line {line} is of an unknown kind, {kind!r}: it is passed over")
    elif number not in trials:
        contents.damage.append(f"line {line} tells of trial {number}, whose ask is lost: it is passed over")
    elif trials[number].state is TrialState.COMPLETE:
        contents.damage.append(f"line {line} tells of trial {number} again: it is passed over")
    else:
        _retry(number, contents)  # of a trial that failed before and has ended again, the retry is lost
        rank, seconds = contents.finished, event["seconds"]
        trial = replace(trials[number], attributes=event.get("attributes", {}))
        contents.finished += 1
        contents.objectives[number] = (contents.run or {}).get("objective", {})
        if kind == "tell":
            value, variance = event["value"], event["variance"]
            trials[number] = trial.completed(value, rank, variance=variance, seconds=seconds)
        else:
            trials[number] = trial.failed(event["reason"], rank, seconds=seconds)


def _retry(number: int, contents: Contents) -> None:
    """Take back that a trial has failed, if it has."""
    if contents.trials[number].state is TrialState.FAILED:
        places = list(contents.trials)
        again = serial.retried(list(contents.trials.values()), places.index(number))
        contents.trials.update(zip(places, again, strict=True))
        contents.finished -= 1


def _asked(event: Event, space: Space) -> Trial:
    try:
        return Trial(serial.read_params(event["params"], space), event["id"], meta=event["meta"])
    except HidimError as error:
        raise HistoryError(f"trial {event['id']} of the journal does not fit the space: {error}") from error


def renumbered(trials: Mapping[int, Trial]) -> tuple[list[Trial], dict[int, int]]:
    """Trials with numbers 0, 1, 2, …, and the id of each number."""
    ordered = [replace(trial, number=number) for number, trial in enumerate(trials.values())]
    return ordered, dict(enumerate(trials))


def check(name: str, found: Event, wanted: Mapping[str, Any]) -> None:
    """Refuse a run in an unknown format, of another space or in the other direction."""
    known = found.get("format")
    if isinstance(known, bool) or known != serial.FORMAT:
        raise HistoryError(
            f"{name} was written by hidim {found.get('hidim')} in format {found.get('format')}, and this "
            f"hidim {__version__} reads {serial.FORMAT}: upgrade hidim, or give another path"
        )
    for key, what in (("space", "another space"), ("maximize", "a run in the other direction")):
        # As text: the order of parameters counts, because it is the order of the columns.
        if key in wanted and json.dumps(found.get(key)) != json.dumps(wanted[key]):
            difference = _difference(key, found, wanted)
            mend = "give another path"
            if key == "space":
                mend += ", and start_from with this one, which takes over the trials that fit"
            raise HistoryError(f"{name} is the journal of {what}{difference}: {mend}")


def _difference(key: str, found: Event, wanted: Mapping[str, Any]) -> str:
    if key != "space":
        return ""
    try:
        was, now = _places(found["space"]), _places(wanted["space"])
    except HidimError:
        return ""
    title = next((title for title in [*was, *now] if was.get(title) != now.get(title)), None)
    if title is None:
        return " (its parameters are in another order)" if list(was) != list(now) else ""
    before, after = (f"{title} = {p[title]}" if title in p else f"no {title}" for p in (was, now))
    return f" (it has {before}, this run has {after})"


def _places(space: Mapping[str, Any]) -> dict[str, str]:
    """What all parameters are, by their readable names, as "model=svm/C"."""
    return {str(place): repr(place.parameter) for place in walk(Space.from_dict(space))}


def changes(found: Event, wanted: Event) -> Iterator[tuple[str, str]]:
    """What a run was written with and what it goes on with, as ("seed 3", "seed 4")."""
    for key in ("method", "seed"):
        was, now = found.get(key), json.loads(json.dumps(wanted.get(key)))
        if was == now:
            continue
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            before, after = _settings(was), _settings(now)
            same = was.get("name") == now.get("name")
            names = [name for name in {**before, **after} if same and before.get(name) != after.get(name)]
            yield _in_words(was, before, names), _in_words(now, after, names)
        else:
            yield f"{key} {was}", f"{key} {now}"


def _settings(method: Mapping[str, Any]) -> dict[str, Any]:
    """Of a written method, those of its parts among them; a part is named by its class."""
    found: dict[str, Any] = {}
    for name, value in method.items():
        if isinstance(value, Mapping):
            found |= {name: value.get("part")} | _settings(value)
        elif name not in ("part", "name"):
            found[name] = value
    return found


def _in_words(method: Mapping[str, Any], settings: Mapping[str, Any], names: Sequence[str]) -> str:
    told = ", ".join(f"{name}={settings[name]!r}" for name in names if name in settings)
    return f"method {method.get('name')}" + (f" ({told})" if told else "")


def method_of(run: Event) -> Method:
    """The method that a run was made with."""
    try:
        return serial.read_method(run["method"])
    except HidimError:
        raise
    except Exception as error:  # classes of somebody's own refuse settings in ways of their own
        raise HistoryError(f"the field 'method' does not describe one: {error!r}") from error
