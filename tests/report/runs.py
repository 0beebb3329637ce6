"""Runs for reports: made of trials, without a search."""

from __future__ import annotations

import numpy as np

import hidim
from hidim import Choice, Float, Int, Result, Space, Vector
from hidim.trial import History, Trial

SCRIPT = "<script>alert(1)</script>"
ODD = [
    SCRIPT,
    '"onmouseover=alert(2) x="',
    "</script><b>",
    "\u202eright\u202c",
    "👩\u200d🔬",
    "a\x00b\nc",
    "x" * 10_000,
    "\ud800",
]


def run_of(space, value, n=24, *, seed=0, failing=None, running=0, maximize=False, **more) -> Result:
    """Random trials; every `failing`-th fails."""
    points = space.sample(np.random.default_rng(seed), n + running)
    trials = []
    for i, params in enumerate(points[:n]):
        trial = Trial(params, i)
        if failing and i % failing == 1:
            trials.append(trial.failed(f"took {i}.5 s", i, seconds=0.1))
        else:
            trials.append(trial.completed(float(value(params)), i, seconds=0.2))
    trials += [Trial(params, n + i) for i, params in enumerate(points[n:])]
    history = History(trials, maximize=maximize)
    best = min(history.complete, key=lambda trial: trial.loss(maximize=maximize))
    return Result(best, history, space, maximize=maximize, stopped="all trials are done", **more)


def plain(**more) -> Result:
    space = Space(x=Float(-1, 1), rate=Float(1e-4, 1, log=True), n=Int(1, 9), kind=Choice("a", "b"))
    return run_of(space, lambda p: p["x"] ** 2 + 0.1 * (p["kind"] == "b") + 0.01 * p["n"], **more)


def odd() -> Result:
    """Names, labels and reasons that are not meant for pages."""
    choice = Choice(*ODD, None, True, 1.5, ("t", 2))
    space = Space({name: Float(0, 1) for name in ODD} | {"choice": choice})
    run = run_of(space, lambda p: p[SCRIPT] ** 2, 30, failing=5)
    trials = [
        t if t.reason is None else Trial(t.params, t.number).failed(ODD[t.number % len(ODD)], t.number)
        for t in run.history
    ]
    return Result(run.best, History(trials), space, stopped=SCRIPT, method=SCRIPT, chosen=SCRIPT)


def branching() -> Result:
    rate = Float(1e-3, 1, log=True, shared=True)
    odd, svm = Space(rate=rate, beta=Float(0, 1)), Space(rate=rate, C=Float(0, 1))
    space = Space(width=Int(1, 99), model=Choice("none", {SCRIPT: odd, "svm": svm}))
    return run_of(space, lambda p: p.get("C", 0.5) ** 2 + 0.001 * p["width"], 24, failing=6, running=2)


def wide(trials: int = 3, dim: int = 500) -> Result:
    return run_of(Space(w=Vector(dim, low=-1)), lambda p: p["w"][3] ** 2, trials)


def grouped() -> Result:
    """As a method leaves it that has learnt groups."""
    run = run_of(Space(w=Vector(4)), lambda p: p["w"][0] * p["w"][1] + p["w"][3], 12)
    meta = {"fit": {"structure": {"groups": [[0, 1], [2, 3]]}}}
    trials = [Trial(t.params, t.number, meta=meta).completed(t.value, t.number) for t in run.history]
    return Result(run.best, History(trials), run.space)


def embedded() -> Result:
    """Of a billion coordinates, through a random embedding."""
    space = Space(w=Vector(10**9))
    return hidim.minimize(lambda p: p["w"][7] ** 2, space, 6, method="rembo", progress=False)
