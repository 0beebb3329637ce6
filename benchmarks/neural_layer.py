"""Weights of a layer by Bayesian optimisation, as BOCK does (§4.2): the last layer of a 784-h-10 network.

    python benchmarks/neural_layer.py run --data FOLDER --methods hidim:bock,random --out neural-layer.jsonl
    python benchmarks/neural_layer.py adam --data FOLDER --out neural-layer-adam.json
    python benchmarks/neural_layer.py plot neural-layer.jsonl --adam neural-layer-adam.json --out picture.png

`FOLDER` holds the files of Fashion-MNIST, as in Debian's package `dataset-fashion-mnist`; the paper takes
MNIST.

The parameters are the 10 h weights W₂ in [−1, 1], for h = 10, 20 and 50: 100, 200 and 500 dimensions. For
given W₂ all others, W₁, b₁ and b₂, are trained by Adam from one and the same start on 5,000 images, and the
value is the cross-entropy on 2,000 *test* images: as in the paper, the question is how well such a function
can be optimised, not how well the network generalises. The paper goes on with the W₁ of the evaluation
before; here the value depends on W₂ alone. The action `adam` trains all weights in the same way, W₂ too, from
starts of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from fc3 import Bytes, Single, load, relu, slopes
from real_tasks import COLOURS, curves, draw

from hidim._settings import split_names
from hidim._types import Params
from hidim.bench.base import Problem, Suggest
from hidim.bench.problems import NAMED, Named
from hidim.bench.runner import Record, plan, read_records, sweep
from hidim.errors import HidimError
from hidim.plot.style import finish, heading, label, new_figure, quiet
from hidim.space import Space, Vector

HIDDEN = (10, 20, 50)
TRAIN, TEST = 5_000, 2_000

#: Evaluations that the picture leaves out.
BEGIN = 5

#: Of Adam: passes over the images, images in a step, and what Kingma and Ba recommend, with a larger rate.
EPOCHS, BATCH, RATE, FIRST, SECOND, TINY = 4, 100, 0.01, 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Layer(Problem):
    """The test loss as a function of W₂, of shape (h, 10)."""

    hidden: int
    optimum: float = 0.0
    noise: float = 0.0

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"layer-{10 * self.hidden}"

    def space(self) -> Space:
        return Space(w=Vector(10 * self.hidden, -1.0, 1.0))

    def draw(self, suggest: Suggest) -> Params:
        return {"w": 2.0 * suggest.vector("w", 10 * self.hidden) - 1.0}

    def value(self, params: Params) -> float:
        w = np.asarray(params["w"], dtype=np.float32).reshape(self.hidden, 10)
        return trained(self.hidden, seed=0, last=w)


for size in HIDDEN:  # at the top level, because every process of a sweep imports this file again
    NAMED[f"layer-{10 * size}"] = Named(partial(Layer, size), "BOCK: weights of the last layer of a network")


@cache
def images(folder: str) -> tuple[Single, Bytes, Single, Bytes]:
    """Some to train with and some to test on, with their labels."""
    (x, labels), (seen, answers) = (load(Path(folder), part) for part in ("train", "t10k"))
    return x[:TRAIN], labels[:TRAIN], seen[:TEST], answers[:TEST]


def data() -> str:
    if not os.environ.get("FASHION_MNIST"):
        raise HidimError("give --data, or set FASHION_MNIST")
    return os.environ["FASHION_MNIST"]


def trained(hidden: int, seed: int, last: Single | None = None) -> float:
    """The test loss after training everything but `last`; all, if that is not given."""
    x, labels, seen, answers = images(data())
    rng = np.random.default_rng([hidden, seed])
    start = [rng.uniform(-(m**-0.5), m**-0.5, (m, n)) for m, n in ((784, hidden), (hidden, 10))]
    weights = [array.astype(np.float32) for array in start]
    biases = [np.zeros(n, np.float32) for n in (hidden, 10)]
    if last is not None:
        weights[1] = last
    moving = [*weights, *biases]
    means, squares = ([np.zeros_like(array) for array in moving] for _ in range(2))
    batches = [rows for _ in range(EPOCHS) for rows in rng.permutation(TRAIN).reshape(-1, BATCH)]
    for step, rows in enumerate(batches, start=1):
        for place, slope in enumerate(slopes(weights, biases, x[rows], labels[rows])):
            if place == 1 and last is not None:
                continue
            means[place] += (1 - FIRST) * (slope - means[place])
            squares[place] += (1 - SECOND) * (slope**2 - squares[place])
            size = np.sqrt(squares[place] / (1 - SECOND**step)) + TINY
            moving[place] -= RATE * means[place] / (1 - FIRST**step) / size
    outputs = relu(seen @ weights[0] + biases[0]) @ weights[1] + biases[1]
    outputs -= outputs.max(axis=1, keepdims=True)
    logs = outputs - np.log(np.exp(outputs).sum(axis=1, keepdims=True))
    return float(-logs[np.arange(len(seen)), answers].mean())


def plot(records: list[Record], adam: dict[str, list[float]], path: Path) -> None:
    """The best test loss so far, mean and deviation over the seeds; Adam's as a line across."""
    figure = new_figure(10.5, 3.6)
    axes = figure.subplots(1, len(HIDDEN))
    methods = sorted({record["method"] for record in records})
    for axis, hidden in zip(axes, HIDDEN, strict=True):
        quiet(axis)
        heading(axis, f"{10 * hidden} weights")
        shown = []
        for method, colour in zip(methods, COLOURS, strict=False):
            found = curves(records, f"layer-{10 * hidden}", method)
            draw(axis, found, method, colour, deviation=True)
            shown += [found.mean(axis=0)[BEGIN:]] if len(found) else []
        if shown:  # the centre, where all weights are 0, would take most of the height
            low, high = min(map(np.min, shown)), max(map(np.max, shown))
            axis.set_ylim(low - 0.15 * (high - low), high + 0.1 * (high - low))
        if losses := adam.get(str(hidden)):
            axis.axhline(float(np.mean(losses)), color="#24292f", linestyle="--", linewidth=1, label="Adam")
        label(axis, x="evaluations", y="test loss, best so far" if hidden == HIDDEN[0] else None)
    axes[-1].legend(fontsize=8, frameon=False)
    finish(figure, path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=["run", "adam", "plot"])
    parser.add_argument("results", type=Path, nargs="?", help="of `run`, to be drawn")
    parser.add_argument("--data", type=Path, help="folder of Fashion-MNIST (or FASHION_MNIST)")
    parser.add_argument("--methods", type=split_names, default=["hidim:bock-map", "random"], help="by commas")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 to N-1")
    parser.add_argument("--evaluations", type=int, default=200, help="per run")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--adam", type=Path, help="of `adam`, to be drawn")
    parser.add_argument("--out", type=Path, default=Path("neural-layer.jsonl"))
    options = parser.parse_args()
    if options.data is not None:
        os.environ["FASHION_MNIST"] = str(options.data.resolve())
    if options.action == "plot":
        adam = json.loads(options.adam.read_text(encoding="utf-8")) if options.adam else {}
        plot(read_records(options.results), adam, options.out)
        return 0
    if options.action == "adam":
        losses = {h: [trained(h, seed) for seed in range(options.seeds)] for h in HIDDEN}
        options.out.write_text(json.dumps(losses), encoding="utf-8")
        return 0
    data()  # here, rather than in every run
    names = [f"layer-{10 * hidden}" for hidden in HIDDEN]
    jobs = plan(names, options.methods, range(options.seeds), options.evaluations)
    return int(any(record["error"] for record in sweep(jobs, options.out, options.jobs)))


if __name__ == "__main__":
    sys.exit(main())
