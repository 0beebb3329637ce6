"""What `minimize` says to bad input, and what it keeps: every line of the table is tried.

python benchmarks/bad_input.py --out benchmarks/results/bad-input.md
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import hidim
from hidim import Choice, Float, HidimError, Space, Vector
from hidim.bench.tables import render
from hidim.run.journal import Journal

SPACE = Space(x=Float(0, 1), c=Choice("a", "b"))
OTHER = Space(x=Float(0, 2), c=Choice("a", "b"))


def bowl(params: dict) -> float:
    return (params["x"] - 0.3) ** 2


def slow(params: dict) -> float:
    time.sleep(5.0)
    return 0.0


def always(params: dict) -> float:
    raise ValueError("no license")


def sometimes(returned: object) -> Callable[[dict], object]:
    """An objective that returns that, or raises it, for labels "b"."""

    def objective(params: dict) -> object:
        if params["c"] == "a":
            return bowl(params)
        if isinstance(returned, Exception):
            raise returned
        return returned

    return objective


def run(
    objective: Callable = bowl, space: Space = SPACE, n_trials: int = 12, **settings: object
) -> hidim.Result:
    return hidim.minimize(objective, space, n_trials, **({"progress": False} | settings))


def written(journal: Path, change: Callable[[bytes], bytes] = lambda data: data) -> Path:
    """A journal of eight trials, changed."""
    run(n_trials=8, journal=journal)
    journal.write_bytes(change(journal.read_bytes()))
    return journal


def line(number: int, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def changed(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        lines[number] = change(lines[number])
        return b"".join(lines)

    return changed


def newer(header: bytes) -> bytes:
    from hidim.lines import seal

    event = json.loads(header)
    del event["crc"]
    return seal(event | {"format": 99})


def locked(journal: Path) -> hidim.Result:
    settings = hidim.Optimizer(SPACE, budget=12).settings()
    with Journal(written(journal), SPACE, settings):
        return run(journal=journal)


def foreign(journal: Path) -> hidim.Result:
    journal.write_text("x,y\n1,2\n")
    try:
        return run(journal=journal)
    finally:
        assert journal.read_text() == "x,y\n1,2\n"


def processes(journal: Path) -> hidim.Result:
    with ProcessPoolExecutor(1) as pool:
        return run(lambda params: 0.0, executor=pool)


#: What is done, with what it is done, and what a person would want to know was kept.
CASES: dict[str, tuple[Callable[[Path], hidim.Result], str]] = {
    "objective is no function": (lambda j: run(3.0), "nothing was evaluated"),
    "objective's arguments are not the space's": (lambda j: run(lambda x, y: 0.0), "nothing was evaluated"),
    "n_trials = 0": (lambda j: run(n_trials=0), "nothing was evaluated"),
    "workers = 0": (lambda j: run(workers=0), "nothing was evaluated"),
    "timeout = -1": (lambda j: run(timeout=-1.0), "nothing was evaluated"),
    "unknown method": (lambda j: run(method="rembp"), "nothing was evaluated"),
    "space is a plain dict": (lambda j: run(space={"x": Float(0, 1)}), "nothing was evaluated"),
    "steps that miss high": (lambda j: run(space=Space(x=Float(0, 1, step=0.3))), "nothing was evaluated"),
    "bounds of a coordinate are swapped": (
        lambda j: run(space=Space(w=Vector(3, low=(0, 2, 0)))),
        "nothing was evaluated",
    ),
    "labels are one list": (lambda j: run(space=Space(c=Choice(["a", "b"]))), "nothing was evaluated"),
    "callback is no function": (lambda j: run(callbacks=[3]), "nothing was evaluated"),
    "lambda sent to processes": (processes, "nothing was evaluated"),
    "objective raises sometimes": (
        lambda j: run(sometimes(ValueError("no license"))),
        "all trials, with reasons",
    ),
    "objective returns NaN sometimes": (lambda j: run(sometimes(float("nan"))), "all trials, with reasons"),
    "objective returns infinity": (lambda j: run(sometimes(float("inf"))), "all trials, with reasons"),
    "objective returns None": (lambda j: run(sometimes(None)), "all trials, with reasons"),
    "objective returns a text": (lambda j: run(sometimes("0.3")), "all trials, with reasons"),
    "objective returns a negative variance": (
        lambda j: run(sometimes((0.3, -1.0))),
        "all trials, with reasons",
    ),
    "objective always raises": (lambda j: run(always), "the journal, if one is given"),
    "objective hangs": (lambda j: run(slow, n_trials=2, timeout=0.2), "the journal, if one is given"),
    "callback raises": (lambda j: run(callbacks=lambda t, h: 1 / 0), "all trials; the error is logged once"),
    "journal in a missing folder": (
        lambda j: run(journal=j.parent / "no" / "run.jsonl"),
        "nothing was evaluated",
    ),
    "journal is another kind of file": (foreign, "the file, untouched"),
    "journal in use": (locked, "the journal, untouched"),
    "journal of another space": (lambda j: run(space=OTHER, journal=written(j)), "the journal, untouched"),
    "journal of the other direction": (
        lambda j: run(maximize=True, journal=written(j)),
        "the journal, untouched",
    ),
    "journal of a newer hidim": (lambda j: run(journal=written(j, line(0, newer))), "the journal, untouched"),
    "journal with a torn last line": (
        lambda j: run(journal=written(j, lambda data: data[:-9])),
        "all but the torn value, which is evaluated again",
    ),
    "journal with a damaged value": (
        lambda j: run(journal=written(j, line(4, lambda text: text.replace(b"value", b"valve")))),
        "all but that value, which is evaluated again",
    ),
    "journal with a damaged header": (
        lambda j: run(journal=written(j, line(0, lambda text: text[-2::-1] + b"\n"))),
        "all trials",
    ),
}


def message(case: Callable[[Path], hidim.Result], folder: Path) -> str:
    """What a person gets to see: the error, or how the run ended, with the warnings before it."""
    warnings: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: warnings.append(record.getMessage().partition("\n")[0])
    logger = logging.getLogger("hidim")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        result = case(folder / "run.jsonl")
        text = "; ".join([*dict.fromkeys(warnings), repr(result.history)])
    except HidimError as error:
        text = f"{type(error).__name__}: {error}"
    finally:
        logger.removeHandler(handler)
    text = text.replace(f"{folder}/", "").replace("|", "\\|")
    return re.sub(r"\s+", " ", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for name, (case, kept) in CASES.items():
        with TemporaryDirectory() as folder:
            rows.append([name, message(case, Path(folder)), kept])
    table = render(
        ["input", "message, or warnings and how the run ended", "what is kept"], rows, left=3, markdown=True
    )
    text = f"# Bad input\n\n`python benchmarks/bad_input.py`, hidim {hidim.__version__}\n\n{table}\n"
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
