"""Files that earlier versions wrote; those here are of format 1, one for every method and kind of setting."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hidim import Optimizer, Result, minimize
from hidim.acquisition.utility import Bold
from hidim.belief.priors import Embedded
from hidim.errors import HistoryError
from hidim.lines import unseal
from hidim.methods import configured, make_method
from hidim.methods.gp import GP
from hidim.methods.recipe import Recipe
from hidim.search import Paths, Ways

HERE = Path(__file__).parent
NEXT = json.loads((HERE / "next_of_1.json").read_text())

#: On the machine that wrote these files suggestions are the same to the bit; on others rounding differs, and
#: a search may carry it on.
CLOSE = 1e-4

#: What the settings of each file mean today.
METHODS = {
    "gp": "gp(initial=4)",
    "gp-settings": configured(
        "gp(initial=4, lengthscales=ard, twins=False, outcome=identity, growth=0.3, raw=30, refined=2)",
        bold=0.1,
        margin=0.2,
        exact="ei",
        noisy="ei",
    ),
    "gp-slice": configured("gp(initial=4, inference=slice, draws=2)", exact="ucb", noisy="ucb"),
    "addtree": "addtree(initial=4)",
    "addtree-settings": "addtree(initial=4, form=matern, warped=False, spread=0.3, keep=7)",
    "addtree-paper": None,
    "leaves": None,
    "rembo": "rembo(low=2, runs=2, initial=2, every=7)",
    "rembo-zonotope": "rembo(low=2, runs=1, initial=2, map=zonotope, utility=ei)",
    "rembo-direct": configured(
        "rembo(low=2, runs=1, initial=2, kernel=categorical, outcome=identity)",
        maximiser="direct+cma-es",
        evaluations=20,
    ),
    "baxus": "baxus(low=2, least=3, patience=0.0, most=256, initial=3)",
    "random": "random",
    "sobol": "sobol",
    "auto": "auto",
    "noisy": "gp",
}


def test_there_is_a_file_for_every_case():
    assert {path.stem for path in HERE.glob("*.json")} - {"next_of_1"} == METHODS.keys()


def as_it_was(method: Recipe) -> Recipe:
    """With the settings that have come later as they were before."""
    if method.name == "baxus":
        method = replace(method, prior=GP.prior, inference=GP.inference, search=GP.search)
    search, old = method.search, {"first": 0.1, "thorough": False, "wide": False}
    if isinstance(method.prior, Embedded):
        once = method.utility.exact if isinstance(method.utility, Bold) else method.utility
        method = replace(
            method,
            frame=replace(method.frame, inside=False, lows=(4,)),
            prior=replace(method.prior, warp_from=None),
            utility=once,
        )
    if isinstance(method.utility, Bold):
        method = replace(method, utility=replace(method.utility, restless=0.0, last=0.0, fair=0.0))
    if isinstance(search, Ways):
        return replace(method, search=replace(search, **old))
    if isinstance(search, Paths):
        return replace(method, search=replace(search, ways=replace(search.ways, **old)))
    return method


@pytest.mark.parametrize("name", METHODS)
def test_a_history_of_format_1_goes_on_as_it_would_have(name):
    optimizer = Optimizer.load(HERE / f"{name}.json")
    if METHODS[name] is not None:
        today = make_method(METHODS[name])
        if isinstance(today, Recipe):
            today = as_it_was(today)
        assert optimizer.method == today
    assert len(optimizer.history) == (60 if name == "noisy" else 13)
    found = list(optimizer.ask().params.values())
    if name == "auto":  # it has another method now, which goes on all the same
        assert optimizer.history[-1].meta["model"] in range(5)
        return
    for value, expected in zip(found, NEXT[f"{name}.json"], strict=True):
        if isinstance(expected, list):
            np.testing.assert_allclose(value[:5], expected, atol=CLOSE)
        else:
            assert value == (expected if isinstance(expected, str) else pytest.approx(expected, rel=CLOSE))


def test_a_probe_that_named_its_twin_by_number_shows_noise_all_the_same():
    optimizer = Optimizer.load(HERE / "noisy.json")
    (probe,) = (trial for trial in optimizer.history if "probe" in trial.meta)
    raw = json.loads((HERE / "noisy.json").read_text())["trials"]
    assert probe.meta["probe"] == raw[raw[probe.number]["meta"]["probe"]]["value"]
    assert optimizer.noisy


def objective(params) -> float:
    return float(np.sum([np.sum(np.square(v[:3])) for v in params.values() if isinstance(v, np.ndarray)]))


@pytest.mark.parametrize("name", ["gp", "addtree", "rembo", "own"])
def test_a_journal_of_format_1_is_taken_up_and_goes_on_in_format_2(name, tmp_path):
    path = tmp_path / "run.jsonl"
    shutil.copy(HERE / f"{name}.jsonl", path)
    before = Result.from_journal(path)
    assert len(before.history) == 8
    method = "random" if name == "own" else Optimizer.load(path).method
    found = minimize(objective, before.space, 11, method=method, seed=1, journal=path).history
    assert list(found[:8]) == list(before.history)
    events = [unseal(line) for line in path.read_bytes().splitlines()]
    assert [event["format"] for event in events if event["event"] == "run"] == [1, 2]
    assert list(Result.from_journal(path).history) == list(found)


def test_a_method_of_somebodys_own_is_said_to_be_unknown(caplog):
    with pytest.raises(HistoryError, match="'Mine' that this hidim cannot make again"):
        Optimizer.load(HERE / "own.jsonl")
    Result.from_journal(HERE / "own.jsonl")
    assert "judged by the default method" in caplog.text
