"""Journals that were cut off or have a wrong bit: what is read of them?

    python benchmarks/damaged.py --out results/damaged.md

A run of 40 trials, some of them failed, is journalled. Copies are cut at random places, or have one bit
flipped, or one byte replaced, and are read by `Optimizer.load`. What comes back must be what was written, but
for what was damaged, which the log says; or a `HistoryError` must say which line is wrong.
"""

from __future__ import annotations

import argparse
import logging
import platform
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import hidim
from hidim import Choice, Float, Int, Optimizer, Space, Trial, minimize
from hidim.bench.tables import render
from hidim.errors import HistoryError
from hidim.trial import TrialState, same_params

SPACE = Space(x=Float(0, 1), n=Int(1, 9), kind=Choice("a", b=Space(y=Float(1e-3, 1, log=True))))


def objective(params: dict) -> float:
    if params["n"] == 9:
        raise ValueError("nine")
    return params["x"] ** 2 + params.get("y", 0.3)


def judged(path: Path, whole: list[Trial]) -> str:
    """What became of a damaged journal."""
    try:
        found = list(Optimizer.load(path).history)
    except HistoryError as error:
        return "refused, with the line" if "line" in str(error) else "refused"
    except Exception as error:
        return f"RAW {type(error).__name__}"
    if found == whole:
        return "read, whole"
    left, lost = {trial.params["x"]: trial for trial in whole}, len(whole)
    for trial in found:
        known = left.pop(trial.params["x"], None)
        if known is None or not same_params(known.params, trial.params):
            return "READ WRONGLY"
        if (trial.value, trial.reason) == (known.value, known.reason):
            lost -= 1
        elif trial.state is not TrialState.RUNNING:
            return "READ WRONGLY"
    return "read, but for one trial or its end" if lost == 1 else "read, up to the cut"


def cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: int(rng.integers(len(data)))]


def flipped(data: bytes, rng: np.random.Generator) -> bytes:
    place, bit = int(rng.integers(len(data))), int(rng.integers(8))
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


def replaced(data: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(data)))
    return data[:place] + rng.bytes(1) + data[place + 1 :]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3000, help="journals of each kind")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    kinds: dict[str, Callable[[bytes, np.random.Generator], bytes]] = {
        "cut off": cut,
        "a bit flipped": flipped,
        "a byte replaced": replaced,
    }
    counts: dict[str, Counter[str]] = {}
    logging.getLogger("hidim").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        minimize(objective, SPACE, n_trials=40, seed=0, method="random", journal=path, progress=False)
        data, whole = path.read_bytes(), list(Optimizer.load(path).history)
        for kind, damaged in kinds.items():
            rng = np.random.default_rng(0)
            counts[kind] = Counter()
            for _ in range(options.rounds):
                path.write_bytes(damaged(data, rng))
                counts[kind][judged(path, whole)] += 1
    ends = sorted({end for counted in counts.values() for end in counted}, key=str.lower)
    rows = [[end, *(f"{counts[kind][end]:,}" for kind in kinds)] for end in ends]
    table = render(["", *kinds], rows, left=1, markdown=True)
    made = f"hidim {hidim.__version__}, Python {platform.python_version()}, numpy {np.__version__}"
    head = f"# Damaged journals\n\n{options.rounds:,} of each kind (`python benchmarks/damaged.py`)."
    text = f"{head}\n\n{table}\n\n{made}.\n"
    print(text)
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
