"""The choice of a classifier: what a configuration becomes, its value, and what becomes of failures."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hidim._types import Array, Params
from hidim.bench.base import Crash
from hidim.bench.peers import Random
from hidim.bench.problems import NAMED, problem
from hidim.errors import HidimError
from hidim.space import Choice, Space

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "cash.py"

PLAIN = {"scaler": "none", "reduction": "none", "classifier": "knn"}
NEAREST = PLAIN | {"knn-n_neighbors": 1, "knn-weights": "uniform", "knn-metric": "euclidean"}


@pytest.fixture
def cash(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name in ("credit", "digits"):  # importing the script adds its problems
        monkeypatch.setitem(NAMED, f"cash-{name}", NAMED["jenatton"])
    spec = importlib.util.spec_from_file_location("cash", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cash", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def credit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with forty credits of four columns, the first of which says nearly all."""
    rows = np.random.default_rng(0).normal(size=(40, 4))
    bad = rows[:, :1] + 0.1 * rows[:, 1:2] > 0.0
    np.savetxt(
        tmp_path / "german-credit.csv",
        np.hstack([rows, bad]),
        delimiter=",",
        header="a,b,c,d,Class",
        comments="",
    )
    monkeypatch.setenv("CASH_DATA", str(tmp_path))
    return tmp_path


def drawn(classifier: str) -> Params:
    """A random configuration of that classifier behind both preprocessors."""
    draws = Random(problem("cash-digits"), 0, 1)
    chosen = (classifier, "quantile", "pca")
    return next(
        params
        for params in iter(draws.ask, None)
        if (params["classifier"], params["scaler"], params["reduction"]) == chosen
    )


def names(space: Space) -> list[str]:
    """Those of all parameters, whether or not they exist together."""
    found = list(space)
    for parameter in space.values():
        if isinstance(parameter, Choice):
            found += [name for option in parameter.options for name in names(option.space)]
    return found


def test_five_classifiers_whose_parameters_have_names_of_their_own(cash: ModuleType) -> None:
    space = problem("cash-credit").space()
    assert space["classifier"].labels == ("svm", "forest", "boosting", "knn", "mlp")
    assert max(Counter(names(space)).values()) == 1


@pytest.mark.parametrize("classifier", ["svm", "forest", "boosting", "knn", "mlp"])
def test_pipeline_takes_what_was_drawn(classifier: str, cash: ModuleType) -> None:
    pytest.importorskip("sklearn")
    params = drawn(classifier)
    scaler, reduction, last = (step for _, step in cash.pipeline(params).steps)
    assert type(scaler).__name__ == "QuantileTransformer"
    assert reduction.n_components == params["pca-n_components"]
    assert reduction.whiten is (params["pca-whiten"] == "on")
    found: dict[str, Any] = last.get_params()
    if classifier == "mlp":
        assert found["hidden_layer_sizes"] == (params.pop("mlp-width"),) * params.pop("mlp-layers")
    own = {name.split("-")[-1]: value for name, value in params.items() if name.startswith(classifier)}
    assert own
    assert {name: found[name] for name in own} == {n: None if v == "none" else v for n, v in own.items()}


def test_without_preprocessors_the_classifier_stands_alone(cash: ModuleType) -> None:
    pytest.importorskip("sklearn")
    assert len(cash.pipeline(NEAREST).steps) == 1


@pytest.mark.parametrize("classifier", ["forest", "mlp"])  # those that draw random numbers
def test_value_is_the_same_twice(classifier: str, cash: ModuleType, credit: Path) -> None:
    pytest.importorskip("sklearn")
    task, params = problem("cash-credit"), drawn(classifier)
    assert 0.0 <= task.value(params) == task.value(params) <= 1.0


def test_value_is_the_balanced_error(cash: ModuleType) -> None:
    pytest.importorskip("sklearn")
    rows, classes = np.arange(40.0)[:, None], np.repeat([0, 1], [30, 10])
    assert cash.loss(cash.pipeline(NEAREST), rows, classes) < 0.1
    majority = cash.pipeline(NEAREST | {"knn-n_neighbors": 26})  # of some 20 and 7
    assert cash.loss(majority, rows, classes) == pytest.approx(0.5)


def test_failures_of_scikit_learn_are_crashes(cash: ModuleType) -> None:
    pytest.importorskip("sklearn")
    rows: Array = np.arange(12.0)[:, None]
    with pytest.raises(Crash, match="n_neighbors"):
        cash.loss(cash.pipeline(NEAREST | {"knn-n_neighbors": 50}), rows, np.arange(12) % 2)


def test_the_folder_must_be_given_and_hold_the_file(
    cash: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CASH_DATA", raising=False)
    with pytest.raises(HidimError, match="CASH_DATA"):
        cash.data("credit")
    monkeypatch.setenv("CASH_DATA", str(tmp_path))
    with pytest.raises(HidimError, match="convert"):
        cash.data("credit")
