"""When not to embed: 14 parameters of a forest that classifies pixels (REMBO, appendix D).

    python benchmarks/pixel_forest.py --seeds 10 --jobs 2 --out results/pixel-forest.jsonl
    python benchmarks/pixel_forest.py plot results/pixel-forest.jsonl --out ../docs/img/pixel-forest.png

A stand-in for the paper's body parts, from scikit-learn's handwritten digits, three times as large: which
digit does a pixel belong to? A feature is the difference of two pixels at offsets u and v from it. Offsets
are drawn from two normal distributions with two means, two variances and a correlation each; four more
are the depth of trees, the pixels that a node needs to be split, the offsets that a tree has to choose from,
and whether it sees a sample drawn with replacement. As in the paper there are as many trees as a budget
allows, here of features instead of minutes, so that the error is the same each time. It is that of 2,000
pixels of other images.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from real_tasks import Task, main
from scipy.ndimage import zoom
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from hidim._types import Array, Params
from hidim.bench.base import Problem, Suggest
from hidim.bench.problems import NAMED, Named
from hidim.space import Choice, Float, Int, Space

#: How many times as large the images are, and the pixels that a forest learns from and is judged by.
LARGER, TRAIN, TEST = 3, 2000, 2000

#: Features of all trees together, and trees at the most.
FEATURES, TREES = 128, 16

#: Largest means and variances of offsets, in pixels. Means are the paper's, for images a tenth as wide;
#: offsets that scatter as little as there tell these digits apart hardly better than chance.
FAR, WIDEST = 5.0, 20.0


class Pixels(NamedTuple):
    """Of which image (n,), where in it (n, 2), and which digit that is (n,)."""

    image: Array
    place: Array
    digit: Array


@cache
def images() -> tuple[Array, Pixels, Pixels]:
    """Images (m, s, s), and pixels of digits of one half and of the other."""
    digits = load_digits()
    large = np.stack([zoom(image / 16.0, LARGER, order=1) for image in digits.images])
    rng, half = np.random.default_rng(0), len(large) // 2
    found = np.argwhere(large > 0.5)
    of_half = [found[found[:, 0] < half], found[found[:, 0] >= half]]
    chosen = [
        pixels[rng.choice(len(pixels), count, replace=False)]
        for pixels, count in zip(of_half, (TRAIN, TEST), strict=True)
    ]
    train, test = (Pixels(p[:, 0], p[:, 1:], digits.target[p[:, 0]]) for p in chosen)
    return large, train, test


def features(pixels: Pixels, offsets: Array) -> Array:
    """Differences (n, m) of the pixels at offsets (2, m, 2); outside of an image there is nothing."""
    large = images()[0]
    size = large.shape[1]

    def at(offset: Array) -> Array:
        place = pixels.place[:, None] + offset[None]
        inside = np.all((place >= 0) & (place < size), axis=2)
        row, column = np.moveaxis(np.clip(place, 0, size - 1), 2, 0)
        return np.asarray(np.where(inside, large[pixels.image[:, None], row, column], 0.0))

    return at(offsets[0]) - at(offsets[1])


@dataclass(frozen=True)
class PixelForest(Problem):
    """The error of a forest as a function of its 14 parameters."""

    name: str = "pixel-forest"
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        offsets = {
            f"{offset}_{what}": Float(*edges)
            for offset in "uv"
            for what, edges in {
                "mean_1": (-FAR, FAR),
                "mean_2": (-FAR, FAR),
                "variance_1": (0.01, WIDEST),
                "variance_2": (0.01, WIDEST),
                "correlation": (-0.95, 0.95),
            }.items()
        }
        return Space(
            **offsets,
            depth=Int(1, 60, log=True),
            least=Int(2, 100),
            offsets=Int(1, FEATURES, log=True),
            bootstrap=Choice(True, False),
        )

    def draw(self, suggest: Suggest) -> Params:
        raise NotImplementedError("peers are not run on this problem")

    def value(self, params: Params) -> float:
        _, train, test = images()
        rng = np.random.default_rng(1)  # the same draws for all: the error is a function
        count = int(params["offsets"])
        votes = np.zeros((TEST, 10))
        for _ in range(min(FEATURES // count, TREES)):
            offsets = np.stack([_drawn(params, offset, count, rng) for offset in "uv"])
            seen = rng.integers(TRAIN, size=TRAIN) if params["bootstrap"] else np.arange(TRAIN)
            tree = DecisionTreeClassifier(
                criterion="entropy",
                max_depth=int(params["depth"]),
                min_samples_split=int(params["least"]),
                random_state=0,
            ).fit(features(train, offsets)[seen], train.digit[seen])
            votes[:, tree.classes_] += tree.predict_proba(features(test, offsets))
        return float(np.mean(np.argmax(votes, axis=1) != test.digit))


def _drawn(params: Params, offset: str, count: int, rng: np.random.Generator) -> Array:
    """Offsets (count, 2) in whole pixels."""
    first, second = (math.sqrt(params[f"{offset}_variance_{axis}"]) for axis in (1, 2))
    correlation = params[f"{offset}_correlation"]
    normal = rng.standard_normal((count, 2))
    turned = correlation * normal[:, 0] + math.sqrt(1.0 - correlation**2) * normal[:, 1]
    mean = np.array([params[f"{offset}_mean_{axis}"] for axis in (1, 2)])
    return np.rint(mean + np.column_stack([first * normal[:, 0], second * turned])).astype(np.intp)


NAMED["pixel-forest"] = Named(PixelForest, "REMBO: a forest that classifies pixels")

TASKS = {
    "pixel-forest": Task(
        "hidim:gp,hidim:auto,hidim:rembo(low=3, runs=4, kernel=high),"
        "hidim:rembo(low=3, runs=1, kernel=high),hidim:random",
        "error of pixels",
        100,
    )
}

if __name__ == "__main__":
    sys.exit(main(TASKS, __doc__, "pixel-forest.jsonl"))
