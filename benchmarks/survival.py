"""Does a run survive being killed? Proved by trying, a few hundred times.

- **parallel**: a journalled run over threads, the next one over processes, is killed (SIGKILL) at random
  moments and resumed until it is done, again and again. Some kills strike within a write: a random part of a
  line is written, and that was it. Every value that a callback was told of goes to a second file; after every
  kill, the journal must have it. Workers that outlive their driver must not keep the journal locked.
- **sequential**: the same with one worker. In the end, the trials must be those of a run that nobody killed.
- **Dask** (with `--dask`): one of four worker processes of a cluster is killed in the middle of a run.
"""

from __future__ import annotations

import argparse
import datetime
import json
import logging
import math
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

N_TRIALS = 60
SEEDS = 5  # of sequential runs: their undisturbed counterparts are needed too
RESULTS = Path(__file__).parent / "results" / "survival.md"


# -- the run that is killed --------------------------------------------------------------------------------


def value(x: float, y: float, n: int) -> float:
    if x < 0.08:
        raise ValueError("too small")
    return math.sin(9 * x) * math.cos(7 * y) + (x - 0.3) ** 2 + 0.1 * abs(n - 4)


def quick(x: float, y: float, n: int) -> float:
    time.sleep(0.001)
    return value(x, y, n)


def unique(x: float, y: float, n: int) -> float:
    """No two evaluations give the same: a value that was lost and evaluated again would be noticed."""
    time.sleep(random.Random(os.urandom(8)).uniform(0.0, 0.02))
    return value(x, y, n) + 1e-9 * int.from_bytes(os.urandom(4), "big") / 2**32


def forks() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(4, mp_context=get_context("fork"))


def child(options: argparse.Namespace) -> None:
    """One life of a run; ends with its result on stdout, unless it is killed before."""
    from hidim import Float, Int, Space, minimize

    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    if options.strike:
        strike_within_a_write(options.strike)
    acknowledged = os.open(options.acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def acknowledge(trial, history):
        line = json.dumps([trial.number, trial.value, trial.reason]) + "\n"
        os.write(acknowledged, line.encode())
        os.fsync(acknowledged)

    print("ready", flush=True)
    result = minimize(
        quick if options.child == "sequential" else unique,
        Space(x=Float(0, 1), y=Float(0, 1), n=Int(1, 9)),
        N_TRIALS,
        method="gp",
        seed=options.seed,
        noisy=False,
        executor=forks if options.child == "processes" else None,
        workers=None if options.child == "processes" else options.workers,
        callbacks=acknowledge,
        journal=options.journal,
        progress=False,
    )
    trials = [[t.number, t.params, t.value, t.reason] for t in result.history]
    print(json.dumps({"best": result.best.value, "stopped": result.stopped, "trials": trials}), flush=True)


def strike_within_a_write(number: int) -> None:
    """Let the journal's write of this number be its last, and only a part of it."""
    from hidim.run import journal

    class Doomed(journal.FileIO):
        writes = 0

        def write(self, data):
            Doomed.writes += 1
            if Doomed.writes == number:
                super().write(data[: random.randrange(len(data))])
                os.kill(os.getpid(), signal.SIGKILL)
            return super().write(data)

    journal.FileIO = Doomed


# -- the one who kills -------------------------------------------------------------------------------------


@dataclass
class Run:
    """A run, from its first life to its end."""

    kind: str
    seed: int
    folder: Path
    workers: int
    orphans: list[int] = field(default_factory=list)  # process groups whose leaders were killed

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    @property
    def acknowledged(self) -> Path:
        return self.folder / "acknowledged.jsonl"

    def live(self, rng: random.Random, counts: Counter[str]) -> dict | None:
        """One life; its result if it was not killed. Workers of the life before are still around."""
        strike = rng.randrange(1, 45) if rng.random() < 0.5 else 0
        command = [sys.executable, __file__, "--child", self.kind, "--seed", str(self.seed)]
        command += ["--journal", str(self.journal), "--acknowledged", str(self.acknowledged)]
        command += ["--strike", str(strike), "--workers", str(self.workers)]
        out, err = self.folder / "out", self.folder / "err"  # pipes would be held open by orphaned workers
        with out.open("w") as stdout, err.open("w") as stderr:
            process = subprocess.Popen(command, stdout=stdout, stderr=stderr, start_new_session=True)
        while process.poll() is None and not out.stat().st_size:
            time.sleep(0.005)
        try:
            process.wait(60 if strike else rng.uniform(0.0, 1.2))
        except subprocess.TimeoutExpired:
            process.kill()
        self.bury()
        self.orphans.append(process.pid)
        if process.wait() == 0:
            return json.loads(out.read_text().splitlines()[-1])
        assert process.returncode == -signal.SIGKILL, f"exit {process.returncode}: {err.read_text()}"
        counts["kills"] += 1
        counts["within a write"] += bool(strike)
        return None

    def bury(self) -> None:
        for group in self.orphans:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        self.orphans.clear()

    def check(self, counts: Counter[str]) -> None:
        """Every acknowledged value is in the journal, as it was, and nothing is in there twice."""
        from hidim.lines import unseal

        data = self.journal.read_bytes() if self.journal.exists() else b""
        lines = data.splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            counts["torn lines"] += 1
            lines.pop()
        events = [unseal(line) for line in lines]
        assert None not in events, "a whole line is damaged"
        asked = [event["id"] for event in events if event["event"] == "ask"]
        told = [event for event in events if event["event"] in ("tell", "fail")]
        assert asked == list(range(len(asked))), "an ask is missing or doubled"
        assert len({event["id"] for event in told}) == len(told), "a trial was told twice"
        kept = {event["id"]: (event.get("value"), event.get("reason")) for event in told}
        rows = self.acknowledged.read_text().splitlines(keepends=True) if self.acknowledged.exists() else []
        for number, value, reason in (json.loads(row) for row in rows if row.endswith("\n")):
            counts["checks of acknowledged values"] += 1
            assert kept.get(number) == (value, reason), (
                f"trial {number} was {value}, and is {kept.get(number)}"
            )
        self.known = kept
        self.unfinished = len(asked) - len(told)

    def check_end(self, result: dict) -> None:
        trials = result["trials"]
        assert len(trials) == N_TRIALS
        assert result["stopped"] == f"all {N_TRIALS} trials are done"
        assert {number: (v, reason) for number, _, v, reason in trials} == self.known
        assert result["best"] == min(v for _, _, v, _ in trials if v is not None)


def undisturbed(seed: int, folder: Path) -> list:
    command = [sys.executable, __file__, "--child", "sequential", "--seed", str(seed), "--workers", "1"]
    files = ["--journal", str(folder / f"{seed}.jsonl"), "--acknowledged", str(folder / f"{seed}.ack")]
    out = subprocess.run([*command, *files], capture_output=True, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])["trials"]


def campaign(sequential: bool, rounds: int, workers: int, seed: int) -> Counter[str]:
    """Kill runs until `rounds` kills are done and the last run has ended."""
    rng, counts, references = random.Random(seed), Counter[str](), {}
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        while counts["kills"] < rounds:
            number = counts["runs"]
            folder = Path(name) / str(number)
            folder.mkdir()
            kind = "sequential" if sequential else ("threads", "processes")[number % 2]
            run = Run(kind, seed + number % SEEDS, folder, 1 if sequential else workers)
            result = None
            try:
                while result is None:
                    result = run.live(rng, counts)
                    run.check(counts)
                    counts["trials evaluated again"] += run.unfinished if result is None else 0
            finally:
                run.bury()
            run.check_end(result)
            counts["runs"] += 1
            counts["trials"] += N_TRIALS
            if sequential:
                if run.seed not in references:
                    references[run.seed] = undisturbed(run.seed, Path(name))
                assert result["trials"] == references[run.seed], "not the trials of an undisturbed run"
            if sys.stderr.isatty() or number % 20 == 0:
                print(f"{kind}: {counts['kills']} of {rounds} kills, {number + 1} runs", file=sys.stderr)
    counts["minutes"] = round((time.monotonic() - start) / 60)
    return counts


# -- a cluster ---------------------------------------------------------------------------------------------


def third_of_a_second(x: float, y: float, n: int) -> float:
    time.sleep(0.3)
    return value(max(x, 0.1), y, n) + 1e-9 * int.from_bytes(os.urandom(4), "big") / 2**32


def cluster(workers: int) -> dict[str, object]:
    """A run of 40 trials over Dask, of whose worker processes one is killed after ten of them."""
    from distributed import Client, LocalCluster

    from hidim import Float, Int, Space, minimize

    told: list[tuple[int, float]] = []
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as dask,
        Client(dask) as client,
        tempfile.TemporaryDirectory() as folder,
    ):

        def kill_one(trial, history):
            told.append((trial.number, trial.value))
            if len(told) == 10:
                busy = next(address for address, keys in client.processing().items() if keys)
                os.kill(client.run(os.getpid, workers=[busy])[busy], signal.SIGKILL)

        start = time.monotonic()
        result = minimize(
            third_of_a_second,
            Space(x=Float(0, 1), y=Float(0, 1), n=Int(1, 9)),
            40,
            method="gp",
            executor=client.get_executor(),
            workers=workers,
            callbacks=kill_one,
            journal=Path(folder) / "journal.jsonl",
            progress=False,
        )
        seconds = time.monotonic() - start
    assert len(result.history.complete) == 40
    assert sorted(told) == [(t.number, t.value) for t in result.history]
    return {
        "trials complete": len(result.history.complete),
        "worker processes killed": 1,
        "values lost": 0,
        "seconds": f"{seconds:.1f} (at least {40 * 0.3 / workers:.1f} with all workers alive)",
    }


# -- the report --------------------------------------------------------------------------------------------

ROWS = ("kills", "within a write", "torn lines", "runs", "trials", "trials evaluated again")


def report(counted: dict[str, Counter[str]], dask: dict[str, object] | None) -> str:
    head = ["| | " + " | ".join(counted) + " |", "|---|" + "---:|" * len(counted)]
    table = [f"| {row} | " + " | ".join(f"{c[row]:,}" for c in counted.values()) + " |" for row in ROWS]
    key = "checks of acknowledged values"
    table.append(f"| {key} | " + " | ".join(f"{c[key]:,}" for c in counted.values()) + " |")
    for row in ("acknowledged values lost", "trials told twice"):
        table.append(f"| {row} | " + " | ".join("0" for _ in counted) + " |")
    last = ["yes, to the bit" if name == "sequential" else "–" for name in counted]
    table.append("| the trials of an undisturbed run | " + " | ".join(last) + " |")
    table.append("| minutes | " + " | ".join(str(c["minutes"]) for c in counted.values()) + " |")
    text = "\n".join([*head, *table]) if counted else ""
    if dask is not None:
        rows = "\n".join(f"| {name} | {number} |" for name, number in dask.items())
        text += f"\n\nDask, `LocalCluster` of four processes:\n\n| | |\n|---|---:|\n{rows}"
    return text


def document(table: str, about: str = __doc__, script: str = __file__) -> str:
    from importlib.metadata import PackageNotFoundError, version

    import hidim

    names = [f"hidim {hidim.__version__}", f"Python {platform.python_version()}"]
    for package in ("numpy", "scipy", "distributed"):
        try:
            names.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    title, text = about.split("\n\n", 1)
    command = f"python benchmarks/{Path(script).name} {' '.join(sys.argv[1:])}"
    made = f"{', '.join(names)}; {machine}; {datetime.date.today().isoformat()}."
    return f"# {title}\n\n{text}\n```sh\n{command}\n```\n\n{table}\n\n{made}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500, help="kills of each kind; 0: none")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dask", action="store_true", help="kill a worker of a cluster too")
    parser.add_argument("--write", action="store_true", help=f"write the table to results/{RESULTS.name}")
    for name in ("--child", "--journal", "--acknowledged"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--strike", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    kinds = {"parallel": False, "sequential": True} if options.rounds else {}
    counted = {
        kind: campaign(alone, options.rounds, options.workers, options.seed) for kind, alone in kinds.items()
    }
    table = report(counted, cluster(4) if options.dask else None)
    print(table)
    if options.write:
        RESULTS.write_text(document(table), encoding="utf-8")


if __name__ == "__main__":
    main()
