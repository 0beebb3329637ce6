"""What earlier versions wrote, in the words of this one.

Format 1 (hidim 0.1 before recipes): a method was a name and nested settings, what a suggestion remembered of
its fit stood under several keys and did not say of which model, and a probe named its twin by number. A
history or journal in that format is translated, and its next suggestion is what it would have been, unless
it was made by `auto`: that is another method now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from hidim.acquisition.beta import Adaptation, Fixed
from hidim.acquisition.utility import UTILITIES, Bold, GroupBounds
from hidim.belief.inference import Adaptive, Inference, Peak, Slices
from hidim.belief.priors import tag
from hidim.errors import HidimError, HistoryError, MethodError
from hidim.events import (
    AMOUNT,
    COUNT,
    LIST,
    NUMBER,
    TABLE,
    TEXT,
    check_fields,
    check_known,
    check_meta,
)
from hidim.frame import Growing
from hidim.methods import METHODS, Auto, Method, Recipe, configured
from hidim.methods.gp import GP
from hidim.serial import read_params
from hidim.space import Space
from hidim.task import Task
from hidim.trial import Trial, TrialState

#: What the number of an earlier trial stood for: its value, None if it has none.
Values = Callable[[int], float | None]


#: Settings that have other names now, by the table in which they stood.
RENAMED = {
    ("paths", "raw"): "settings",
    ("paths", "max_calls"): "climbs",
    ("schedule", "evaluations"): "fit_evaluations",
}


#: `baxus` had the parts of `gp` then.
SEARCHED_BY_GP = replace(GP, name="baxus", frame=Growing(), utility=Bold(restless=0.0))


def method_of_1(data: Mapping[str, Any]) -> Method:
    """The method that format 1 described."""
    name, settings = data["name"], data["settings"]
    if name in ("gp", "addtree", "baxus", "rembo"):
        try:
            base = SEARCHED_BY_GP if name == "baxus" else METHODS[name]
            return configured(base, **_translated(name, dict(_flat(settings))))
        except MethodError as error:
            raise HistoryError(
                f"the history was made with settings that this hidim has no more: {error}"
            ) from error
    if name in METHODS and not settings:
        return METHODS[name]
    raise HistoryError(
        f"the history was made with a method {name!r} that this hidim cannot make again: keep its trials, "
        "and enter them by add(params, value)"
    )


def _flat(settings: Mapping[str, Any], table: str = "") -> Iterator[tuple[str, Any]]:
    """Settings without their tables; only that of the adaptation stays whole."""
    for key, value in settings.items():
        if isinstance(value, Mapping) and key != "adaptation":
            yield from _flat(value, key)
        else:
            yield RENAMED.get((table, key), key), value


def _translated(name: str, flat: dict[str, Any]) -> dict[str, Any]:
    """What was said by one setting and is now by another, or by a part."""
    acquisition = flat.pop("acquisition")
    if name == "rembo":
        maximiser = flat.pop("search")
        later = {"warp_from": None, "inside": False, "lows": (4,)}  # as it was then
        return flat | {"maximiser": maximiser, "utility": acquisition, "search": "box"} | later
    adaptive, adaptation = flat.pop("adaptive", False), flat.pop("adaptation", {})
    beta = Adaptation(**adaptation) if adaptive else Fixed(flat.pop("beta", 4.0))
    flat.pop("beta", None)
    slices = flat.pop("inference") == "slice"
    if not slices:
        flat["twins"] = flat["lengthscales"] == "mixed"
        del flat["draws"]
    if flat["lengthscales"] == "mixed":
        flat["lengthscales"] = "hierarchical"
    if flat.pop("structure", "tree") == "leaves":
        flat |= {"by": "paths", "search": "ways"}
        for unused in ("settings", "climbs", "keep"):
            del flat[unused]
    inner: Inference = Slices() if slices else Peak()
    flat["inference"] = Adaptive(inner, Adaptation(**adaptation)) if adaptive else inner
    if acquisition != "auto":
        always = GroupBounds(beta) if acquisition == "nodes" else UTILITIES[acquisition]
        flat["utility"] = Bold(always, always, restless=0.0, last=0.0, fair=0.0)
    else:
        flat |= {"restless": 0.0, "last": 0.0, "fair": 0.0}  # as it was then, and so was the search
    return flat | {"first": 0.1, "thorough": False, "wide": False}


def meta_of_1(
    meta: Mapping[str, Any], method: Method | None, space: Space, value_of: Values
) -> dict[str, Any]:
    """What a suggestion remembered in format 1; `method` is that of the run, if it is known."""
    new = dict(meta)
    if isinstance(method, Auto):
        method = method.chosen(Task(space))
        if method is METHODS["mixed"]:
            method = METHODS["addtree" if space.is_conditional else "gp"]  # which `auto` was
    if str(new.get("embedding", "")).startswith("count-sketch") and "run" in new:
        new["doublings"] = new.pop("run")
    twin = value_of(new.pop("probe")) if "probe" in new else None
    if twin is not None:
        new["probe"] = twin
    fit = new.pop("fit", None)
    scales, outcome = new.pop("scales", None), new.pop("outcome", None)
    if scales is not None:
        check_fields({"scales": scales}, {"scales": TABLE}, "meta")
        check_fields(scales, {"fitted": LIST, "upper": LIST, "calm": NUMBER}, "meta, scales")
        fit = {
            "scales": scales["fitted"],
            "upper": scales["upper"],
            "calm": scales["calm"],
            "outcome": outcome,
        }
    if isinstance(method, Recipe):
        of = {"prior": tag(method.prior, len(new["y"]) if "y" in new else space.dim)}
        new |= {"fit": fit | of | {"by": type(method.inference).__name__}} if fit is not None else {}
        new |= {"feasible": new["feasible"] | of} if "feasible" in new else {}
    return new


#: What a trial of format 1 said, and what it may have said.
FIELDS_OF_1 = {
    "number": COUNT,
    "params": TABLE,
    "state": TEXT,
    "value": NUMBER.or_null,
    "meta": TABLE,
    "reason": TEXT.or_null,
    "rank": COUNT.or_null,
}
FURTHER_OF_1 = {"variance": AMOUNT.or_null, "seconds": NUMBER.or_null}


class History1(NamedTuple):
    """What a file of format 1 held."""

    space: Space
    method: Method
    settings: dict[str, Any]
    trials: list[Trial]


def is_table_of_1(data: bytes) -> bool:
    """Whether these are the bytes of one JSON table, and not of lines."""
    try:
        table = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(table, Mapping) and table.get("format") == 1 and "trials" in table


def history_of_1(data: Mapping[str, Any]) -> History1:
    """A history that was saved as one JSON table."""
    try:
        space, method = Space.from_dict(data["space"]), method_of_1(data["method"])
        trials = [_trial(entry, space) for entry in data["trials"]]
        settings = {key: data.get(key) for key in ("seed", "budget", "maximize", "noisy")}
        values = {trial.number: trial.value for trial in trials}
        translated = [replace(t, meta=meta_of_1(t.meta, method, space, values.get)) for t in trials]
    except HistoryError:
        raise
    except KeyError as error:
        raise HistoryError(f"the saved history is damaged: it has no {error}") from error
    except (HidimError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise HistoryError(f"the saved history is damaged: {error}") from error

    return History1(space, method, settings, translated)


def _trial(entry: Mapping[str, Any], space: Space) -> Trial:
    place = f"trial {entry.get('number')!r}"
    check_fields(entry, FIELDS_OF_1, place)
    check_known(entry, FURTHER_OF_1, place)
    check_meta(entry["meta"], place)
    rest: dict[str, Any] = {key: entry[key] for key in ("number", "value", "meta", "reason", "rank")}
    rest |= {key: entry.get(key) for key in ("variance", "seconds")}
    return Trial(read_params(entry["params"], space), state=TrialState(entry["state"]), **rest)
