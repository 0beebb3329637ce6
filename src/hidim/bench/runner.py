"""Methods × problems × seeds in parallel processes; one JSON line per finished run.

Every worker computes on one thread. A line is appended as soon as its run ends, so a killed sweep keeps what
is done, and running the same command again does the rest. A run that raises is recorded with its error and
the values that it had, and is tried again by the next command; the last line of a run is the one that counts.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import platform
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hidim._types import Params
from hidim._version import __version__
from hidim.bench.base import Crash, Problem
from hidim.bench.peers import Peer, check_method, make_peer
from hidim.bench.problems import problem
from hidim.errors import HistoryError
from hidim.run.orphans import end_with_parent

Record = dict[str, Any]

PACKAGES = ("numpy", "scipy", "cmaes", "optuna", "torch", "botorch", "gpytorch", "cma", "smac")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """One run: a method on a problem from a seed, for so many evaluations."""

    problem: str
    method: str
    seed: int
    evaluations: int


def plan(
    problems: Iterable[str], methods: Iterable[str], seeds: Iterable[int], evaluations: int
) -> list[Job]:
    """All runs, seed by seed so that an early stop still compares everything; names are checked here."""
    names = [problem(name).name for name in problems]
    methods = list(methods)
    for method in methods:
        check_method(method)
    return [Job(name, method, seed, evaluations) for seed, name, method in product(seeds, names, methods)]


def execute(job: Job) -> Record:
    """Run one job in this process; an exception becomes the record's `error`.

    `values` holds every value in order, `ask_seconds` the method's own time for each: that inside `ask` and
    `tell`. Neither the objective nor the making of the method, with its imports, is counted. On a noisy
    problem the method is told values with noise, the same for every method; `values` are those without, and
    `recommended` is that of the configuration which the method recommends in the end. `best_branch` says
    whether the labels of the best configuration are right, where that is known.
    """
    values: list[float | None] = []
    seconds: list[float] = []
    error = recommended = best_branch = None
    best = math.inf
    task = problem(job.problem)
    noise = task.noise * np.random.default_rng([job.seed, job.evaluations]).standard_normal(job.evaluations)
    try:
        peer = make_peer(job.method, task, job.seed, job.evaluations)
        for added in noise:
            params, value, own = step(peer, task, added)
            values.append(value)
            seconds.append(own)
            if value is not None and value < best:
                best, best_branch = value, task.is_best_branch(params)
        if task.noise:
            place = peer.recommend()
            observed = np.array(values, dtype=float) + noise
            recommended = values[int(np.nanargmin(observed)) if place is None else place]
    except Exception:
        error = traceback.format_exc()
    return vars(job) | {
        "optimum": task.optimum,
        "values": values,
        "recommended": recommended,
        "best_branch": best_branch,
        "own_seconds": sum(seconds),
        "ask_seconds": [round(second, 6) for second in seconds],
        "error": error,
        "versions": versions(),
        "platform": f"{platform.platform()} {platform.machine()}, {os.cpu_count()} cores",
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def step(peer: Peer, task: Problem, noise: float = 0.0) -> tuple[Params, float | None, float]:
    """One evaluation: where, its value, None if it crashed, and the seconds that the method itself took."""
    start = time.perf_counter()
    params = peer.ask()
    asked = time.perf_counter()
    value = _value(task, params)
    valued = time.perf_counter()
    if value is None:
        peer.fail(params)
    else:
        peer.tell(params, value + noise)
    return params, value, asked - start + time.perf_counter() - valued


def _value(task: Problem, params: Params) -> float | None:
    try:
        return task.value(params)
    except Crash:
        return None


def sweep(jobs: Iterable[Job], out: Path, workers: int = 1) -> list[Record]:
    """Run the jobs that `out` does not hold yet, appending each record as it comes; give the new records."""
    done = {key(record) for record in read_records(out) if not record["error"]} if out.exists() else set()
    jobs = list(jobs)
    todo = [job for job in jobs if key(vars(job)) not in done]
    if len(todo) < len(jobs):
        print(f"{len(jobs) - len(todo)} of {len(jobs)} runs are in {out} already", file=sys.stderr)
    _mend(out)
    records = []
    with one_thread(), out.open("a", encoding="utf-8") as lines:
        pool = spawn_pool(workers)
        try:
            futures = {pool.submit(execute, job): job for job in todo}
            for future in as_completed(futures):
                failure = future.exception()  # only a dead worker: `execute` catches everything else
                record = vars(futures[future]) | _lost(failure) if failure else future.result()
                lines.write(json.dumps(record) + "\n")
                lines.flush()
                records.append(record)
                print(f"[{len(records)}/{len(todo)}] {describe(record)}", file=sys.stderr, flush=True)
        finally:
            pool.shutdown(cancel_futures=True)  # after Ctrl-C the queue would be worked off otherwise
    return records


def describe(record: Record) -> str:
    """One line on a finished run."""
    run = f"{record['problem']}  {record['method']}  seed {record['seed']}"
    if record["error"]:
        return f"{run}: {record['error'].strip().splitlines()[-1]}"
    return f"{run}: regret {_regret(record):.3g}, {record['own_seconds']:.1f} s"


def _regret(record: Record) -> float:
    if record["recommended"] is None:
        return float(np.nanmin(np.array(record["values"], dtype=float)) - record["optimum"])
    return float(record["recommended"] - record["optimum"])


def key(record: Record) -> tuple[Any, ...]:
    """What identifies a run."""
    return record["problem"], record["method"], record["seed"], record["evaluations"]


def read_records(path: Path) -> list[Record]:
    """The last record of every run in a results file; a torn last line, left by a kill, is passed over."""
    *lines, _torn = path.read_text(encoding="utf-8").split("\n")
    records = {}
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            records[key(record)] = record
        except (ValueError, KeyError, TypeError) as error:
            raise HistoryError(f"{path}:{number} is not a benchmark record: delete that line") from error
    return list(records.values())


def versions() -> dict[str, str]:
    """The versions of Python, hidim and those of the compared packages that are installed."""
    found = {"python": platform.python_version(), "hidim": __version__}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes started inside compute on one thread: BLAS and OpenMP read these variables when they load."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def spawn_pool(workers: int) -> ProcessPoolExecutor:
    """Worker processes that are spawned: forked ones would inherit this process's BLAS, with its threads.

    They end with this process, however that ends.
    """
    return ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=end_with_parent
    )


def _lost(failure: BaseException) -> Record:
    return {"optimum": None, "values": [], "own_seconds": 0.0, "ask_seconds": [], "error": repr(failure)}


def _mend(path: Path) -> None:
    """Cut off a torn last line, so that the next record starts on a line of its own."""
    if path.exists():
        content = path.read_bytes()
        os.truncate(path, content.rfind(b"\n") + 1)
