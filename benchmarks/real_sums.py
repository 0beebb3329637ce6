"""Two tasks with many numbers that act nearly on their own, as RPP-GP-UCB has them (§5.2).

    python benchmarks/real_sums.py --data DNA.csv --jobs 2 --out real-sums.jsonl
    python benchmarks/real_sums.py plot real-sums.jsonl --out picture.png

`cascade-22`  The thresholds of the 22 stages of OpenCV's face detector, each between .2 and 1.2 times the
              shipped one; the value is the share of wrong answers on scikit-image's 100 faces and 100 other
              images. Needs opencv-python-headless < 5 and scikit-image.
`lasso-180`   A penalty for each of the 180 inputs of the DNA data, over three decades; the value is the
              squared error of five-fold cross-validation, as a share of the variance. Needs scikit-learn,
              and the data as text: `DNA.rda` of Debian's r-cran-mlbench, written by pandas' `to_csv`.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from real_tasks import Task, main

from hidim._types import Array, Params
from hidim.bench.base import Problem, Suggest
from hidim.bench.problems import NAMED, Named
from hidim.space import Space, Vector

STAGES, INPUTS = 22, 180

#: Thresholds as multiples of the shipped ones; penalties as multiples of the one that leaves nothing.
LOW, HIGH = 0.2, 1.2
SMALLEST = 1e-3


@dataclass(frozen=True)
class Cascade(Problem):
    """The share of wrong answers of a face detector as a function of its thresholds."""

    name: str = "cascade-22"
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        return Space(x=Vector(STAGES, LOW, HIGH))

    def draw(self, suggest: Suggest) -> Params:
        return {"x": LOW + (HIGH - LOW) * suggest.vector("x", STAGES)}

    def value(self, params: Params) -> float:
        import cv2

        pieces, places, shipped = detector()
        thresholds = np.asarray(params["x"], dtype=np.float64) * shipped
        changed = list(pieces)
        for place, threshold in zip(places, thresholds.tolist(), strict=True):
            changed[place] = f"<stageThreshold>{threshold!r}</stageThreshold>"
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write("".join(changed))
            file.flush()
            classifier = cv2.CascadeClassifier(file.name)
        found = [len(classifier.detectMultiScale(image, 1.1, 0)) > 0 for image in pictures()]
        return float(np.mean(np.array(found) != (np.arange(len(found)) < 100)))


@cache
def detector() -> tuple[list[str], list[int], Array]:
    """The shipped detector in pieces, where its thresholds are, and their values."""
    import cv2

    text = Path(cv2.data.haarcascades, "haarcascade_frontalface_alt.xml").read_text(encoding="utf-8")
    pieces = re.split(r"(<stageThreshold>.*?</stageThreshold>)", text)
    places = [place for place, piece in enumerate(pieces) if piece.startswith("<stageThreshold>")]
    return pieces, places, np.array([float(pieces[place].split(">")[1].split("<")[0]) for place in places])


@cache
def pictures() -> Any:
    """A hundred faces, then a hundred other images."""
    from skimage.data import lfw_subset

    return (255.0 * lfw_subset()).astype(np.uint8)


@dataclass(frozen=True)
class Lasso(Problem):
    """The error of cross-validation of a linear regression as a function of 180 penalties."""

    name: str = "lasso-180"
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        return Space(x=Vector(INPUTS, 0.0, 1.0))

    def draw(self, suggest: Suggest) -> Params:
        return {"x": suggest.vector("x", INPUTS)}

    def value(self, params: Params) -> float:
        from sklearn.linear_model import Lasso as Regression

        x, y = dna(os.environ["DNA_CSV"])
        largest = np.abs(x.T @ y).max() / len(y)
        penalties = largest * SMALLEST ** (1.0 - np.asarray(params["x"], dtype=np.float64))
        scaled = x / penalties  # a unit penalty on the scaled input
        errors = []
        for fold in range(5):
            test = np.arange(len(y)) % 5 == fold
            model = Regression(alpha=1.0, fit_intercept=True, max_iter=200, tol=1e-3)
            model.fit(scaled[~test], y[~test])
            errors.append(np.mean((model.predict(scaled[test]) - y[test]) ** 2))
        return float(np.mean(errors) / np.var(y))


@cache
def dna(path: str) -> tuple[Array, Array]:
    """Standardised inputs (n, 180) and centred classes (n,), in an order of their own."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.replace('"', "").split(",") for line in lines]
    x = np.array([[float(entry) for entry in row[-INPUTS - 1 : -1]] for row in rows])
    y = np.array([{"ei": 1.0, "ie": 2.0, "n": 3.0}[row[-1]] for row in rows])
    order = np.random.default_rng(0).permutation(len(y))
    x, y = x[order], y[order]
    return (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9), y - y.mean()


NAMED["cascade-22"] = Named(Cascade, "RPP-GP-UCB: thresholds of a face detector")
NAMED["lasso-180"] = Named(Lasso, "penalties of a weighted lasso on DNA")

COMMON = "hidim:rpp-gp(size=1),hidim:add-gp(size=1),hidim:gp,optuna-tpe,random"
TASKS = {
    "cascade-22": Task(f"{COMMON},hidim:add-gp(size=5),hidim:rembo(low=5)", "wrong answers", 300),
    "lasso-180": Task(f"{COMMON},hidim:add-gp(size=10),hidim:rembo(low=10)", "error", 300, "DNA_CSV"),
}

if __name__ == "__main__":
    sys.exit(main(TASKS, __doc__, "real-sums.jsonl"))
