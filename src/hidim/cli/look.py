"""`hidim show`, `best`, `export`, `explain`: what a run has found, while it goes on or later."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hidim import _files
from hidim.cli.arguments import positive
from hidim.cli.output import speak_utf8
from hidim.cli.sources import add_source, find_kept, find_result
from hidim.space.render import dumped, printable


def add_to(commands: Any) -> None:
    show = commands.add_parser("show", help="where a run stands: counts, the best trials, failures")
    add_source(show)
    show.add_argument("--top", type=positive, default=5, metavar="N", help="trials to be listed (5)")
    show.set_defaults(handler=_show)
    best = commands.add_parser("best", help="the best configuration")
    add_source(best)
    best.add_argument("--json", action="store_true", help="value, params and number as JSON")
    best.set_defaults(handler=_best)
    export = commands.add_parser("export", help="all trials as a table")
    add_source(export)
    export.add_argument("--csv", action="store_true", help="separated by commas (the default)")
    export.add_argument("--json", action="store_true", help="a line of JSON for every trial")
    export.add_argument("-o", "--out", type=Path, metavar="FILE", help="where to (standard output)")
    export.set_defaults(handler=_export)
    explain = commands.add_parser("explain", help="the run in words: what was found, what matters")
    add_source(explain)
    explain.set_defaults(handler=_explain)


def _show(options: argparse.Namespace) -> None:
    import numpy as np

    from hidim.cli.display import counts, failures, shortened, sparkline, times
    from hidim.programs.shells import quoted

    kept = find_kept(options)
    history, complete, maximize = kept.history, kept.history.complete, kept.task.maximize
    name, chosen = kept.method.name, kept.method.chosen(kept.task).name
    method = name if name == chosen else f"{name} ({chosen})"
    print(" · ".join([counts(history), f"method {method}, seed {kept.task.seed}", *times(history)]))
    for about, value in kept.about.items():
        print(f"{about}: {quoted(*map(str, value)) if isinstance(value, list) else value}")
    values = np.array([trial.value for trial in complete], dtype=float)
    best = (np.maximum if maximize else np.minimum).accumulate(values).tolist()
    print(f"best so far {sparkline(best)} {best[-1]!r}" if best else "no value yet")
    ordered = sorted(complete, key=lambda trial: trial.loss(maximize=maximize))[: options.top]
    for trial in ordered:
        params = "  ".join(f"{printable(n)}={shortened(v)}" for n, v in list(trial.params.items())[:12])
        print(f"  #{trial.number:<5} {trial.value:<12.6g} {params}{'  …' * (len(trial.params) > 12)}")
    for reason, count in failures(history):
        print(f"  failed {count} ×: {reason}")


def _best(options: argparse.Namespace) -> None:
    from hidim.cli.display import plain

    result = find_result(options)
    best = result.best
    if options.json:
        speak_utf8()
        about = {"value": best.value, "params": plain(best.params), "number": best.number}
        print(dumped(about))
        return
    said = " observed; the best mean by the model" if result.by_model else ""
    print(f"value = {best.value!r}  (trial {best.number}{said})")
    for name, value in plain(best.params).items():
        print(f"{printable(name)} = {dumped(value)}")


def _explain(options: argparse.Namespace) -> None:
    print(find_result(options).explain())


def _export(options: argparse.Namespace) -> None:
    from hidim.errors import MethodError

    if options.csv and options.json:
        raise MethodError("a table is either --csv or --json: leave one out")
    rows = list(_rows(find_kept(options).history))
    if options.out is None:
        speak_utf8()
        _write(rows, sys.stdout, as_json=options.json)
        return
    place = _files.place_for(options.out)
    with _files.said(place, "written"), place.open("w", encoding="utf-8", newline="") as file:
        _write(rows, file, as_json=options.json)
    print(f"{len(rows)} trials in {place}")


def _rows(history: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every trial: what is known of it, and its parameters."""
    from hidim.cli.display import plain

    for trial in history:
        known = {"number": trial.number, "state": str(trial.state), "value": trial.value}
        known |= {"seconds": trial.seconds, "reason": trial.reason}
        yield known, plain(trial.params)


def _write(rows: list[tuple[dict[str, Any], dict[str, Any]]], file: Any, *, as_json: bool) -> None:
    if as_json:
        for known, params in rows:
            file.write(dumped({**known, "params": params}) + "\n")
        return
    flat = [(known, dict(_spread(params))) for known, params in rows]
    names = list(dict.fromkeys(name for _, params in flat for name in params))
    apart = {name: f"params.{name}" if flat and name in flat[0][0] else name for name in names}
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*(flat[0][0] if flat else ("number", "state", "value")), *apart.values()])
    for known, params in flat:
        writer.writerow([_cell(value) for value in (*known.values(), *(params.get(name) for name in names))])


def _spread(params: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in params.items():
        if isinstance(value, list) and value and all(isinstance(entry, float) for entry in value):
            yield from ((f"{name}[{place}]", entry) for place, entry in enumerate(value))
        else:
            yield name, value


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    return "" if value is None else json.dumps(value) if isinstance(value, bool | list) else value
