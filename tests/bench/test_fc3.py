"""Compressing a network: what the two terms of the objective are, and the tree of choices."""

from __future__ import annotations

import gzip
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hidim.bench.peers import Random
from hidim.bench.problems import NAMED, problem
from hidim.errors import HidimError
from hidim.space import Choice

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fc3.py"
SHAPES = [(12, 20), (20, 16), (16, 3)]
SIZE = 240 + 320 + 48


@pytest.fixture
def fc3(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setitem(NAMED, "fc3", NAMED["jenatton"])  # importing the script adds its problem
    spec = importlib.util.spec_from_file_location("fc3", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fc3", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small random network, as `train` writes it."""
    rng = np.random.default_rng(0)
    arrays = {"samples": rng.random((5, 12), np.float32)}
    for i, (m, n) in enumerate(SHAPES):
        arrays |= {f"weights{i}": rng.standard_normal((m, n)), f"biases{i}": rng.standard_normal(n)}
    np.savez(tmp_path / "fc3.npz", **arrays)
    monkeypatch.setenv("FC3_NETWORK", str(tmp_path / "fc3.npz"))
    return tmp_path / "fc3.npz"


@pytest.fixture
def network(fc3: ModuleType, file: Path) -> Any:
    return fc3.network(file)


def test_nothing_pruned_is_the_network_itself(network: Any) -> None:
    assert network.objective(("prune", 0.0), ("prune", 0.0)) == 1.0


def test_full_rank_loses_nothing_and_has_more_weights(network: Any) -> None:
    value = network.objective(("svd", 12), ("svd", 16))
    assert value == pytest.approx((12 * (12 + 20) + 16 * (20 + 16) + 48) / SIZE, abs=1e-12)
    assert value > 1


def test_all_pruned_leaves_the_biases_and_the_last_layer(network: Any) -> None:
    constant = network.last(np.maximum(network.second.biases, 0))
    loss = np.mean(np.sum((constant - network.outputs) ** 2, axis=1))
    assert network.objective(("svd", 10), ("prune", 1.0)) == pytest.approx(0.01 * loss + (320 + 48) / SIZE)
    assert network.objective(("prune", 1.0), ("prune", 1.0)) == pytest.approx(0.01 * loss + 48 / SIZE)


def test_svd_is_the_best_of_its_rank(network: Any) -> None:
    left, values, right = np.linalg.svd(network.first.weights)
    best = left[:, :10] * values[:10] @ right[:10]
    outputs, count = network.first.compressed("svd", 10, network.samples)
    np.testing.assert_allclose(outputs, network.samples @ best + network.first.biases, atol=1e-12)
    assert count == 10 * (12 + 20)


def test_the_smallest_absolute_values_are_pruned(network: Any) -> None:
    weights = network.first.weights
    kept = np.where(np.abs(weights) < np.quantile(np.abs(weights), 0.25), 0.0, weights)
    outputs, count = network.first.compressed("prune", 0.25, network.samples)
    np.testing.assert_allclose(outputs, network.samples @ kept + network.first.biases, atol=1e-12)
    assert count == 180


def test_a_tree_of_depth_three_without_a_number_at_the_root(fc3: ModuleType) -> None:
    (root,) = problem("fc3").space().values()
    names = []
    for branch in root.options:
        number, second = branch.space.values()
        assert not isinstance(number, Choice)
        names += [*branch.space, *(name for leaf in second.options for name in leaf.space)]
    assert names == [
        *("first-rank", "svd-second", "svd-svd-rank", "svd-prune-threshold"),
        *("first-threshold", "prune-second", "prune-svd-rank", "prune-prune-threshold"),
    ]


def test_every_branch_has_the_value_of_its_steps(fc3: ModuleType, network: Any) -> None:
    task = problem("fc3")
    draws, seen = Random(task, 0, 40), set()
    for params in (draws.ask() for _ in range(40)):
        task.space().validate(params)
        first, second = fc3.steps(params)
        assert [first[0], first[1], second[0], second[1]] == list(params.values())
        assert task.value(params) == network.objective(first, second)
        seen.add((first[0], second[0]))
    assert len(seen) == 4


def test_the_network_must_be_given(fc3: ModuleType, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params = Random(problem("fc3"), 0, 1).ask()
    monkeypatch.setenv("FC3_NETWORK", str(file.with_name("other.npz")))
    with pytest.raises(HidimError, match="train"):
        problem("fc3").value(params)
    monkeypatch.delenv("FC3_NETWORK")
    with pytest.raises(HidimError, match="FC3_NETWORK"):
        problem("fc3").value(params)


def test_slopes_are_the_gradient_of_the_cross_entropy(fc3: ModuleType, network: Any) -> None:
    layers = network.first, network.second, network.last
    weights, biases = [layer.weights for layer in layers], [layer.biases for layer in layers]
    labels = np.array([0, 1, 2, 1, 0], np.uint8)

    def loss() -> float:
        outputs = replace(network).outputs  # a copy, as the network keeps its outputs
        return float(np.mean(np.log(np.exp(outputs).sum(axis=1)) - outputs[range(5), labels]))

    slopes = fc3.slopes(weights, biases, network.samples, labels)
    for array, slope in zip([*weights, *biases], slopes, strict=True):
        at = np.unravel_index(np.argmax(np.abs(slope)), slope.shape)
        before, around = array[at], []
        for step in (1e-6, -1e-6):
            array[at] = before + step
            around.append(loss())
        array[at] = before
        assert slope[at] == pytest.approx((around[0] - around[1]) / 2e-6, rel=1e-5)


def test_files_of_mnist(fc3: ModuleType, tmp_path: Path) -> None:
    content = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, *range(6)])
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(content))
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])))
    images, labels = fc3.load(tmp_path, "t10k")
    np.testing.assert_allclose(images * 255, [[0, 1, 2], [3, 4, 5]])
    assert images.dtype == np.float32
    assert labels.tolist() == [7, 9]
