"""Does a run that is interrupted give its result? Proved by trying.

Runs are sent SIGINT or SIGTERM at random moments: `minimize` over threads, over processes, and `hidim
tune`, with one, four and eight workers. What is evaluated takes a millisecond, so that most signals come
while hidim is at work. A round fails if the run ends without a result or with another one than the
journal has, if the journal has a damaged line, or if a value that a callback was told of is not in it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

from survival import document

from hidim import Float, Space, minimize
from hidim.cli import main as main_of_hidim
from hidim.lines import unseal

KINDS = ("threads", "processes", "tune")
WORKERS = (1, 4, 8)
FORK = get_context("fork")
SIGNALS = (signal.SIGINT, signal.SIGTERM)
N_TRIALS = 2000
RESULTS = Path(__file__).parent / "results" / "interrupts.md"

SPACE = '[x]\ntype = "float"\nlow = 0.0\nhigh = 1.0\n'


# -- the run that is interrupted ---------------------------------------------------------------------------


def quick(params: dict) -> float:
    time.sleep(0.001)
    return (params["x"] - 0.3) ** 2 + 1e-9 * random.random()


def life(kind: str, workers: int, folder: Path) -> None:
    """A run in a process of its own; its result on stdout."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), stream.fileno())
    if kind == "tune":
        (folder / "run.toml").write_text(SPACE)
        tune = ["tune", str(folder / "run.toml"), "--journal", str(folder / "run.jsonl"), "--plain"]
        tune += ["--trials", str(N_TRIALS), "--method", "random", "--workers", str(workers)]
        sys.exit(main_of_hidim([*tune, "--", "echo", "{x}"]))
    told = os.open(folder / "told", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    result = minimize(
        quick,
        Space(x=Float(0, 1)),
        N_TRIALS,
        method="random",
        noisy=False,
        executor=(lambda: ProcessPoolExecutor(workers, mp_context=FORK)) if kind == "processes" else None,
        workers=workers,
        callbacks=lambda trial, history: os.write(told, b"%d %r\n" % (trial.number, trial.value)),
        journal=folder / "run.jsonl",
        progress=False,
    )
    values = {trial.number: trial.value for trial in result.history.complete}
    print(json.dumps({"best": result.best.value, "values": values}), flush=True)


# -- the one who interrupts --------------------------------------------------------------------------------


def trials_in(journal: Path) -> dict[int, float]:
    """Values by number, as the journal has them; a line that was not written whole is a fault."""
    lines = journal.read_bytes().splitlines(keepends=True)
    events = [unseal(line) if line.endswith(b"\n") else None for line in lines]
    assert None not in events, "a line is damaged"
    places = {event["id"]: place for place, event in enumerate(e for e in events if e["event"] == "ask")}
    told = [event for event in events if event["event"] == "tell"]
    assert len({event["id"] for event in told}) == len(told), "a trial was told twice"
    return {places[event["id"]]: event["value"] for event in told}


def interrupted(kind: str, workers: int, number: signal.Signals, rng: random.Random) -> str | None:
    """One round; what was wrong with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal, out, err = folder / "run.jsonl", folder / "out", folder / "err"
        process = FORK.Process(target=life, args=(kind, workers, folder))
        process.start()
        try:
            while process.is_alive() and not (journal.exists() and b'"tell"' in journal.read_bytes()):
                time.sleep(0.002)
            time.sleep(rng.uniform(0.01, 0.25))
            group = number is signal.SIGINT and rng.random() < 0.5  # as from a terminal
            (os.killpg if group else os.kill)(process.pid, number)
            process.join(30)
            code, said, wrong = process.exitcode, out.read_text(), err.read_text()
            if code not in ((0,) if kind != "tune" else (0, 128 + number)) or (
                "Traceback" in wrong and not group
            ):
                return f"exit code {code}: {wrong.strip()[-300:]}"
            known = trials_in(journal)
            best = min(known.values())
            if kind == "tune":
                found = re.search(r"^best\D* (\S+) \(trial", said, re.MULTILINE)
                return (
                    None if found and float(found[1]) == best else f"no result: {said[-200:]} {wrong[-200:]}"
                )
            result = json.loads(said.splitlines()[-1])
            told = [line.split() for line in (folder / "told").read_text().splitlines()]
            assert result["best"] == best, "the best value is not that of the journal"
            assert {int(n): v for n, v in result["values"].items()} == known, "not what the journal says"
            assert all(known.get(int(n)) == float(v) for n, v in told), "a value was lost"
        except (AssertionError, IndexError) as error:
            return f"{type(error).__name__}: {error} {err.read_text().strip()[-200:]}"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.join()
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60, help="of each kind, number of workers and signal")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write the table to results/{RESULTS.name}")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    rows = [
        "| | workers | signal | rounds | without a result, or not that of the journal |",
        "|---|--:|---|--:|--:|",
    ]
    faults: Counter[str] = Counter()
    for kind in KINDS:
        for workers in WORKERS:
            for number in SIGNALS:
                wrong = [interrupted(kind, workers, number, rng) for _ in range(options.rounds)]
                failed = [fault for fault in wrong if fault is not None]
                faults.update(failed)
                rows.append(f"| {kind} | {workers} | {number.name} | {len(wrong)} | {len(failed)} |")
                print(rows[-1], *failed[:1], file=sys.stderr, flush=True)
    table = "\n".join([*rows, *(f"\n{count} × {fault}" for fault, count in faults.most_common(5))])
    print(table)
    if options.write:
        RESULTS.write_text(document(table, __doc__, __file__), encoding="utf-8")


if __name__ == "__main__":
    main()
