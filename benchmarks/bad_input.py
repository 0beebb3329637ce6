"""What hidim says to bad input, and what it keeps: every line of the tables is tried.

Then journals are made by hand, with intact checksums and wrong content: every field of every event is left
out, and replaced by this and that. Each is read by `minimize`, `Optimizer.load` and `Result.from_journal`,
and what is not refused is gone on with. Whatever is not a `HidimError` is counted.

python benchmarks/bad_input.py --out benchmarks/results/bad-input.md
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import hidim
from hidim import Choice, Float, HidimError, Int, Space, Vector
from hidim.bench.tables import render
from hidim.lines import unseal
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


def nested(depth: int) -> Space:
    space = Space(x=Float(0, 1))
    for place in range(depth):
        space = Space({f"c{place}": Choice("no", {"yes": space})})
    return space


def told(values: list[float], variance: float | None = None, space: Space = SPACE) -> hidim.Result:
    """The result of a run with these values, explained."""
    optimizer = hidim.Optimizer(space, "gp(initial=4)", budget=len(values))
    for value in values:
        optimizer.tell(optimizer.ask(), value, variance=variance)
    result = optimizer.result("all are told")
    result.explain()
    return result


def drawn(journal: Path) -> hidim.Result:
    space = Space({r"$\frac$": Float(0, 1), "a\n\x00": Choice("$x_{$", "b")})
    result = told([float(value) for value in range(9)], space=space)
    result.plot(journal.with_suffix(".svg"))
    repr(space)
    return result


def sampled(journal: Path) -> hidim.Result:
    return SPACE.sample(0)


ONE_SIDE = {"a": Space(x=Float(0, 1, shared=True)), "b": Space(x=Float(0, 1))}

EXTREMES: dict[str, tuple[Callable[[Path], hidim.Result], str]] = {
    "timeout = 9.3e9": (lambda j: run(timeout=9.3e9), "all trials"),
    "timeout = 9.3e9 in processes": (
        lambda j: run(timeout=9.3e9, executor=lambda: ProcessPoolExecutor(1)),
        "all trials",
    ),
    "Vector(10**30)": (lambda j: run(space=Space(w=Vector(10**30))), "nothing was evaluated"),
    "400 nested choices": (lambda j: run(space=nested(400)), "nothing was evaluated"),
    "Int(0, 10**400)": (lambda j: run(space=Space(n=Int(0, 10**400))), "nothing was evaluated"),
    "Choice(10**5000)": (lambda j: run(space=Space(n=Choice(10**5000))), "nothing was evaluated"),
    "shared=True on one side only": (lambda j: run(space=Space(m=Choice(ONE_SIDE))), "nothing was evaluated"),
    "Space.sample(0)": (sampled, "nothing was evaluated"),
    "values of ±1.7e308": (lambda j: told([1.7e308, -1.7e308] * 5), "all trials, explained"),
    "values of ±1.7e308 in a picture": (lambda j: told([1.7e308, -1.7e308] * 5).plot(), "all trials"),
    "values of 1e-310 with variances of 0": (
        lambda j: told([1e-310 * value for value in range(10)], 0.0),
        "all trials, explained",
    ),
    "values of 1e-310 with variances of 1e-320": (
        lambda j: told([1e-310 * value for value in range(10)], 1e-320),
        "all trials",
    ),
    "names with formulas and control characters": (drawn, "all trials, explained and drawn"),
    "journal is /dev/full": (lambda j: run(journal="/dev/full"), "nothing was evaluated"),
    "journal is a folder": (lambda j: run(journal=j.parent), "nothing was evaluated"),
    "journal with a name of 300 letters": (lambda j: run(journal="n" * 300), "nothing was evaluated"),
    "journal deleted during the run": (
        lambda j: run(journal=j, callbacks=lambda t, h: j.unlink() if t.number == 4 else None),
        "all trials; the journal is written anew",
    ),
    "journal cut during the run": (
        lambda j: run(journal=j, callbacks=lambda t, h: os.truncate(j, 9) if t.number == 4 else None),
        "all trials so far, in the file that is named",
    ),
}

#: What stands in the place of a field; of tables also what stands in the place of their entries.
INSTEAD: tuple[object, ...] = (..., None, "zzz", [1], {"a": [{}]}, -1, True, 10**400, float("nan"))


def replaced(table: dict, path: tuple[str, ...], value: object) -> dict:
    """The table with the entry at that path replaced, or left out."""
    head, *rest = path
    if rest:
        return table | {head: replaced(table[head], tuple(rest), value)}
    return {key: entry for key, entry in (table | {head: value}).items() if entry is not ...}


def paths(table: dict, depth: int = 2) -> Iterator[tuple[str, ...]]:
    for key, value in table.items():
        yield (key,)
        if isinstance(value, dict) and depth > 1:
            yield from ((key, *rest) for rest in paths(value, depth - 1))


def sealed(event: dict) -> bytes:
    """A line with its checksum, whatever is in it."""
    body = json.dumps(event)[:-1]
    return f'{body}, "crc": "{zlib.crc32(body.encode()):08x}"}}\n'.encode()


def by_hand(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Journals with intact checksums and wrong content, by what is wrong."""
    path = folder / "sound.jsonl"
    run(sometimes(ValueError("no license")), n_trials=8, method="gp(initial=4)", journal=path)
    rows = path.read_bytes().splitlines(keepends=True)
    known = [unseal(row) for row in rows]
    for kind in ("run", "ask", "tell", "fail"):
        place = max(number for number, event in enumerate(known) if event["event"] == kind)
        for where in paths(known[place], depth=3):
            for value in INSTEAD:
                changed = sealed(replaced(known[place], where, value))
                name = f"{kind}: {'.'.join(where)} " + ("left out" if value is ... else f"= {value!r:.20}")
                yield name, b"".join([*rows[:place], changed, *rows[place + 1 :]])
    bodies = (b"[" * 9999, b'{"event": "ask", "id": ' + b"9" * 5000, b'{"event": "\xff"', b"{}{}", b'{"a": 1')
    for body in bodies:
        line = body + f', "crc": "{zlib.crc32(body):08x}"}}\n'.encode()
        yield f"a line of {body[:12]!r}…", b"".join([rows[0], line, *rows[1:]])


def journals() -> tuple[Counter[str], list[str]]:
    """How many hand-made journals were refused and gone on with, and every error that is not hidim's own."""
    counts, raw = Counter[str](), []
    logging.getLogger("hidim").setLevel(logging.CRITICAL)
    with TemporaryDirectory() as folder:
        for name, data in by_hand(Path(folder)):
            counts["journals"] += 1
            for reader, read in READERS.items():
                path = Path(folder) / "run.jsonl"
                path.write_bytes(data)
                try:
                    read(path)
                    counts["gone on with"] += 1
                except HidimError:
                    counts["refused"] += 1
                except Exception as error:
                    counts["raw errors"] += 1
                    raw.append(f"{name}, {reader}: {error!r}")
    return counts, raw


READERS: dict[str, Callable[[Path], object]] = {
    "minimize": lambda path: run(n_trials=9, method="gp(initial=4)", journal=path),
    "Optimizer.load": lambda path: hidim.Optimizer.load(path).ask(),
    "Result.from_journal": hidim.Result.from_journal,
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
    except Exception as error:
        text = f"RAW {error!r}"
    finally:
        logger.removeHandler(handler)
    text = text.replace(f"{folder}/", "").replace(str(folder), "folder").replace("|", "\\|")
    text = text.replace("n" * 300, "n…n")
    return re.sub(r"\s+", " ", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for name, (case, kept) in (CASES | EXTREMES).items():
        with TemporaryDirectory() as folder:
            rows.append([name, message(case, Path(folder)), kept])
    table = render(
        ["input", "message, or warnings and how the run ended", "what is kept"], rows, left=3, markdown=True
    )
    counts, raw = journals()
    text = f"# Bad input\n\n`python benchmarks/bad_input.py`, hidim {hidim.__version__}\n\n{table}\n"
    text += (
        f"\n## Journals made by hand\n\n{counts['journals']} journals with intact checksums and wrong "
        f"content, each read in {len(READERS)} ways: {counts['refused']} times refused by a `HidimError`, "
        f"{counts['gone on with']} times gone on with, {counts['raw errors']} raw errors.\n"
    )
    text += "".join(f"\n- {error}" for error in raw)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
