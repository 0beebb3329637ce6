"""Weights of a layer: the value depends on them alone, and training helps."""

from __future__ import annotations

import gzip
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hidim.bench.problems import NAMED, problem

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, on images of ten kinds of noise."""
    for name in ("fc3", "layer-100", "layer-200", "layer-500"):
        monkeypatch.setitem(NAMED, name, NAMED["jenatton"])  # importing the scripts adds their problems
    for name in ("fc3", "real_tasks", "neural_layer"):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 256, (10, 28, 28))
    for part, count in (("train", 5000), ("t10k", 2000)):
        labels = rng.integers(0, 10, count).astype(np.uint8)
        images = (0.7 * kinds[labels] + 0.3 * rng.integers(0, 256, (count, 28, 28))).astype(np.uint8)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            file = tmp_path / f"{part}-{kind}-ubyte.gz"
            file.write_bytes(gzip.compress(head + array.tobytes(), compresslevel=1))
    monkeypatch.setenv("FASHION_MNIST", str(tmp_path))
    return module


def test_the_value_is_the_test_loss_for_given_weights(layer: ModuleType) -> None:
    task = problem("layer-100")
    weights = np.random.default_rng(1).uniform(-1, 1, 100)
    assert set(task.space()) == {"w"}
    value = task.value({"w": weights})
    assert value == task.value({"w": weights})
    assert value != task.value({"w": -weights})
    assert task.value({"w": np.zeros(100)}) == pytest.approx(np.log(10), abs=0.02)  # nothing gets through
    assert layer.trained(10, seed=0) < 0.5 * np.log(10)
