"""Compressing a neural network, as Add-Tree does (§5.2): SVD or pruning for each of two layers, and how much.

    python benchmarks/fc3.py train --data FOLDER --network fc3.npz
    python benchmarks/fc3.py run --network fc3.npz --methods random,smac --out fc3.jsonl

`FOLDER` holds the files of Fashion-MNIST, as in Debian's package `dataset-fashion-mnist`; the paper takes
MNIST. `train` trains FC3, a 784-1000-1000-10 network with ReLUs, for a minute or two, and keeps it in a file
with the first 50 test images; `run` is `hidim bench run` on this problem. Training again gives the same
network, but other machines round otherwise: to compare results, carry the file there.

The objective is 0.01 · mean ‖g(x) − f(x)‖² + size of g / size of f, where f is the network, g the compressed
one, and x one of the 50 images. Outputs are those before the softmax. Sizes are numbers of weights, without
biases: r (m + n) for an m × n layer compressed by SVD to rank r, the nonzero ones for a pruned layer; the
last layer is never compressed. A pruning threshold is the fraction of a layer's weights that is set to zero,
the smallest absolute values first: the paper gives only the range, [0, 1], and this is what the authors' code
for their other networks does (§5.3). The optimum is not known, so regret is the value itself.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hidim._settings import split_names
from hidim._types import Array, Indices, Params
from hidim.bench.base import TreeProblem
from hidim.bench.problems import NAMED, Named
from hidim.bench.runner import plan, sweep
from hidim.errors import HidimError
from hidim.space import Choice, Float, Int, Space

WIDTHS = (784, 1000, 1000, 10)
SAMPLES = 50
GAMMA = 0.01
EPOCHS, BATCH, RATE, MOMENTUM = 4, 250, 0.1, 0.9  # the rate falls linearly to zero

#: The ways to compress a layer: the name and the range of the parameter of each.
METHODS: dict[str, tuple[str, Int | Float]] = {
    "svd": ("rank", Int(10, 500)),
    "prune": ("threshold", Float(0.0, 1.0)),
}

Step: TypeAlias = tuple[str, float]  # a method and its parameter
Single: TypeAlias = NDArray[np.float32]
Bytes: TypeAlias = NDArray[np.uint8]
Real = TypeVar("Real", Array, Single)


@dataclass(frozen=True)
class Layer:
    """A linear layer: weights of shape (m, n) and biases of shape (n,). It maps (…, m) to (…, n)."""

    weights: Array
    biases: Array

    @cached_property
    def factors(self) -> tuple[Array, Array]:
        """Of shapes (m, k) and (k, n), with k = min(m, n): the leading r of each give the best rank r."""
        left, values, right = np.linalg.svd(self.weights, full_matrices=False)
        return left * values, right

    @cached_property
    def places(self) -> Indices:
        """The place of every weight in the order of absolute values, of shape (m, n)."""
        order = np.argsort(np.abs(self.weights), axis=None, kind="stable")
        return np.argsort(order).reshape(self.weights.shape)

    def __call__(self, x: Array) -> Array:
        return x @ self.weights + self.biases

    def compressed(self, method: str, parameter: float, x: Array) -> tuple[Array, int]:
        """What the layer makes of x when it is compressed, and how many weights it then has."""
        if method == "svd":
            rank, (left, right) = int(parameter), self.factors
            return x @ left[:, :rank] @ right[:rank] + self.biases, rank * sum(self.weights.shape)
        kept = np.where(self.places < round(parameter * self.weights.size), 0.0, self.weights)
        return x @ kept + self.biases, int(np.count_nonzero(kept))


@dataclass(frozen=True)
class Network:
    """Three layers with ReLUs between them, and the inputs, of shape (50, 784), to compare outputs at."""

    first: Layer
    second: Layer
    last: Layer
    samples: Array

    @cached_property
    def outputs(self) -> Array:
        """Of shape (50, 10)."""
        return self.last(relu(self.second(relu(self.first(self.samples)))))

    @property
    def size(self) -> int:
        return sum(layer.weights.size for layer in (self.first, self.second, self.last))

    def objective(self, first: Step, second: Step) -> float:
        """The paper's equation (17) for the compressed network."""
        hidden, one = self.first.compressed(*first, self.samples)
        hidden, two = self.second.compressed(*second, relu(hidden))
        away = self.last(relu(hidden)) - self.outputs
        ratio = (one + two + self.last.weights.size) / self.size
        return float(GAMMA * np.mean(np.sum(away**2, axis=1)) + ratio)


def relu(x: Real) -> Real:
    return np.maximum(x, 0)


@dataclass(frozen=True)
class FC3(TreeProblem):
    """The compression of FC3, whose file comes from the environment, as sweeps are processes.

    The tree is the paper's, of depth 3: the second layer's parameters are others in every branch.
    """

    name: str = "fc3"
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        nodes = {}
        for first, (name, span) in METHODS.items():
            leaves = {second: Space({f"{first}-{second}-{n}": s}) for second, (n, s) in METHODS.items()}
            nodes[first] = Space({f"first-{name}": span, f"{first}-second": Choice(leaves)})
        return Space({"first": Choice(nodes)})

    def value(self, params: Params) -> float:
        return network(file()).objective(*steps(params))


def steps(params: Params) -> tuple[Step, Step]:
    """What a configuration does to the first and to the second layer."""
    first = params["first"]
    second = params[f"{first}-second"]
    (one, _), (two, _) = METHODS[first], METHODS[second]
    return (first, params[f"first-{one}"]), (second, params[f"{first}-{second}-{two}"])


def file() -> Path:
    """Where the trained network is."""
    if not os.environ.get("FC3_NETWORK"):
        raise HidimError("give --network, or set FC3_NETWORK")
    path = Path(os.environ["FC3_NETWORK"])
    if not path.exists():
        raise HidimError(f"there is no {path}; `fc3.py train` makes it")
    return path


@cache
def network(path: Path) -> Network:
    """The network of a file; once per process, with the orders and singular values that it computes."""
    with np.load(path) as arrays:
        found = {name: array.astype(np.float64) for name, array in arrays.items()}
    first, second, last = (Layer(found[f"weights{i}"], found[f"biases{i}"]) for i in range(3))
    return Network(first, second, last, found["samples"])


# At the top level, because every process of a sweep imports this file again.
NAMED["fc3"] = Named(FC3, "Add-Tree: compressing a network, SVD or pruning for each of two layers")


def make(path: Path, folder: Path) -> float:
    """Train the network on the images of a folder and write its file; gives the accuracy on the test part."""
    weights, biases = train(*load(folder, "train"))
    images, labels = load(folder, "t10k")
    arrays = {f"weights{i}": array for i, array in enumerate(weights)}
    arrays |= {f"biases{i}": array for i, array in enumerate(biases)}
    with path.open("wb") as target:
        np.savez(target, samples=images[:SAMPLES], **arrays)
    outputs = replace(network(path), samples=images.astype(np.float64)).outputs
    return float(np.mean(outputs.argmax(axis=1) == labels))


def train(images: Single, labels: Bytes) -> tuple[list[Single], list[Single]]:
    """The weights and the biases of the layers, by gradient descent with momentum on the cross-entropy."""
    rng = np.random.default_rng(0)
    weights = [rng.uniform(-(m**-0.5), m**-0.5, (m, n)).astype(np.float32) for m, n in pairwise(WIDTHS)]
    biases = [np.zeros(n, np.float32) for n in WIDTHS[1:]]
    moving = [*weights, *biases]
    speeds = [np.zeros_like(array) for array in moving]
    batches = [rows for _ in range(EPOCHS) for rows in rng.permutation(len(images)).reshape(-1, BATCH)]
    for step, rows in enumerate(batches):
        rate = RATE * (1 - step / len(batches))
        downhill = slopes(weights, biases, images[rows], labels[rows])
        for array, speed, slope in zip(moving, speeds, downhill, strict=True):
            speed *= MOMENTUM
            speed -= rate * slope
            array += speed
    return weights, biases


def slopes(weights: list[Single], biases: list[Single], x: Single, labels: Bytes) -> list[Single]:
    """The gradient of the mean cross-entropy with respect to the weights, then to the biases."""
    entering = [x]
    for matrix, shift in zip(weights[:-1], biases[:-1], strict=True):
        entering.append(relu(entering[-1] @ matrix + shift))
    outputs = entering[-1] @ weights[-1] + biases[-1]
    error = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    error /= error.sum(axis=1, keepdims=True)
    error[np.arange(len(x)), labels] -= 1
    errors = [error / len(x)]
    for matrix, hidden in zip(weights[:0:-1], entering[:0:-1], strict=True):
        errors.insert(0, errors[0] @ matrix.T * (hidden > 0))
    return [a.T @ b for a, b in zip(entering, errors, strict=True)] + [b.sum(axis=0) for b in errors]


def load(folder: Path, part: str) -> tuple[Single, Bytes]:
    """Images in [0, 1], of shape (n, 784), and labels, of shape (n,); the part is `train` or `t10k`."""
    images, labels = (read(folder / f"{part}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1"))
    return images.reshape(len(images), -1).astype(np.float32) / 255, labels


def read(path: Path) -> Bytes:
    """An array in the format of MNIST, whose head is 0, 0, a type, the number of axes, and their lengths."""
    content = gzip.decompress(path.read_bytes())
    axes = content[3]
    shape = np.frombuffer(content, ">u4", axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=["train", "run"])
    parser.add_argument("--network", type=Path, help="file of the trained network (or FC3_NETWORK)")
    parser.add_argument("--data", type=Path, help="folder of Fashion-MNIST, to train")
    parser.add_argument("--methods", type=split_names, default=["hidim:addtree", "random"], help="by commas")
    parser.add_argument("--seeds", type=int, default=10, help="seeds 0 to N-1")
    parser.add_argument("--evaluations", type=int, default=80, help="per run")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("fc3.jsonl"), help="results file, appended to")
    options = parser.parse_args()
    if options.network is not None:
        os.environ["FC3_NETWORK"] = str(options.network.resolve())
    if options.action == "train":
        if options.network is None or options.data is None:
            parser.error("train needs --network and --data")
        print(f"test accuracy {make(options.network, options.data):.1%}")
        return 0
    file()  # here, rather than in every run
    jobs = plan(["fc3"], options.methods, range(options.seeds), options.evaluations)
    return int(any(record["error"] for record in sweep(jobs, options.out, options.jobs)))


if __name__ == "__main__":
    sys.exit(main())
