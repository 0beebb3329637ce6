"""Same seed, same suggestions: across processes, thread counts, reloads and orders of telling."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from hidim import Optimizer, Space, Vector
from hidim.trial import same_params
from registered import DISTINCT
from saved import reloaded
from space.corpus import CORPUS

# 130 known trials in 40 dimensions: large enough for BLAS to use a second thread, if it were let.
RUN = """
import numpy as np
from hidim import Optimizer, Space, Vector
from space.corpus import CORPUS

rng = np.random.default_rng(0)
large = Optimizer(Space(w=Vector(40)), seed=7)
for w in rng.random((130, 40)):
    large.add({"w": w}, float(np.sum((w - 0.4) ** 2)))
for trial in large.ask(2):
    print([float(v).hex() for v in trial.params["w"]], sorted(trial.meta))

mixed = Optimizer(CORPUS["classifier"], seed=7)
for number in range(12):
    trial = mixed.ask()
    print(trial.params, trial.meta)
    mixed.tell(trial, number % 4 + trial.params.get("C", 0.0))
"""


def printed(threads: int, hash_seed: int) -> str:
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_processes_with_different_numbers_of_threads_agree_to_the_last_bit():
    one = printed(1, hash_seed=1)
    assert one.count("\n") == 14
    assert printed(2, hash_seed=2) == one


SPACES = {"vector": Space(w=Vector(5, -1, 1)), "conditional": CORPUS["classifier"]}


def loss(optimizer: Optimizer, params) -> float:
    return float(np.nansum(np.abs(optimizer.space.encode(params) - 0.35)))


def assert_same(left, right) -> None:
    assert same_params(left.params, right.params)
    assert left.meta == right.meta
    assert left.number == right.number


@pytest.mark.parametrize(
    ("method", "where"),
    [
        *((name, "conditional") for name in DISTINCT),
        *((name, "vector") for name in ("default", "rembo", "baxus")),
    ],
)
def test_a_reload_at_any_point_changes_no_suggestion(method, where):
    kept = Optimizer(SPACES[where], DISTINCT[method], seed=11, budget=20)
    moved = reloaded(kept)
    for number in range(12):
        if number in {0, 1, 9, 10, 11}:
            moved = reloaded(moved)
        trial, twin = kept.ask(), moved.ask()
        assert_same(trial, twin)
        value = loss(kept, trial.params)
        kept.tell(trial, value)
        moved.tell(twin, value)


@pytest.mark.parametrize("method", DISTINCT)
@pytest.mark.parametrize("where", ["conditional"])
def test_trials_told_out_of_order_survive_a_reload(method, where):
    kept = Optimizer(SPACES[where], DISTINCT[method], seed=12)
    rng = np.random.default_rng(0)
    waiting: list[int] = []
    for number in range(12):
        waiting.append(kept.ask().number)
        if number % 3 == 2:  # two of three come back, in any order; some stay away
            for _ in range(2):
                done = waiting.pop(int(rng.integers(len(waiting))))
                if done % 7 == 3:
                    kept.fail(done, "lost")
                else:
                    kept.tell(done, loss(kept, kept.history[done].params))
        if number == 10:
            other = reloaded(kept)
            assert_same(reloaded(kept).ask(), other.ask())
    moved = reloaded(kept)
    for _ in range(2):
        trial, twin = kept.ask(), moved.ask()
        assert_same(trial, twin)
        kept.tell(trial, 0.5)
        moved.tell(twin, 0.5)


def test_the_order_of_telling_is_part_of_the_history():
    """What a reload restores includes the order of finishing, not only the values."""
    optimizer = Optimizer(SPACES["vector"], seed=0)
    batch = optimizer.ask(3)
    for trial in reversed(batch):
        optimizer.tell(trial, 1.0)
    assert [t.number for t in reloaded(optimizer).history.finished] == [2, 1, 0]


@pytest.mark.parametrize("method", DISTINCT)
def test_a_warm_start_survives_a_reload(method):
    kept = Optimizer(SPACES["conditional"], DISTINCT[method], seed=13)
    rng = np.random.default_rng(1)
    for params in kept.space.sample(rng, 14):
        kept.add(params, loss(kept, params))
    moved = reloaded(kept)
    for _ in range(3):
        assert_same(kept.ask(), moved.ask())


def test_a_known_warm_start_gives_the_same_suggestions_in_two_optimizers():
    first, second = (Optimizer(SPACES["vector"], seed=13) for _ in range(2))
    for w in np.random.default_rng(2).uniform(-1, 1, (12, 5)):
        for optimizer in (first, second):
            optimizer.add({"w": w}, float(np.sum(w * w)))
    for a, b in zip(first.ask(3), second.ask(3), strict=True):
        assert_same(a, b)
