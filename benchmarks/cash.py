"""Algorithm choice with the parameters of each: five classifiers of scikit-learn behind two preprocessors.

    python benchmarks/cash.py convert --data FOLDER --rdata GermanCredit.RData
    python benchmarks/cash.py survey --data FOLDER
    python benchmarks/cash.py run --data FOLDER --methods random,optuna-tpe,smac --out cash.jsonl

`convert` writes the German credit data as CSV into `FOLDER`, once. The file is in Debian's `r-cran-caret`
(`apt-get download r-cran-caret`, `dpkg -x`); reading it takes `pip install pyreadr pandas`. `survey` tells
how the objective varies over random configurations; `run` is `hidim bench run` on these problems.

There are two data sets: `cash-credit`, 1000 German credits with 61 columns, 300 of which are bad; and
`cash-digits`, the first 800 of scikit-learn's digits, odd or even, with noise on the pixels, since almost
anything tells clean ones apart. The objective is one minus the balanced accuracy, averaged over three
stratified folds that are always the same. Everything random is seeded, and work is limited by numbers of
trees, iterations and epochs, not by time. There is no value if scikit-learn raises.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from hidim._optional import require
from hidim._settings import split_names
from hidim._types import Array, Params
from hidim.bench.base import Crash, TreeProblem
from hidim.bench.peers import Random
from hidim.bench.problems import NAMED, Named
from hidim.bench.runner import plan, sweep
from hidim.bench.tables import render
from hidim.errors import HidimError
from hidim.space import Choice, Float, Int, Space

PREFIX = "cash-"
FOLDS = 3
CREDIT = "german-credit.csv"
DIGITS, GREY = 800, 4.0  # as many of the digits, and the noise of pixels between 0 and 16

DATA = {"credit": "good and bad credits", "digits": "odd and even digits"}

#: What a label stands for in scikit-learn, and what is fixed about it.
PARTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "standard": ("preprocessing", "StandardScaler", {}),
    "quantile": (
        "preprocessing",
        "QuantileTransformer",
        {"n_quantiles": 100, "output_distribution": "normal", "random_state": 0},
    ),
    "pca": ("decomposition", "PCA", {"svd_solver": "full"}),
    "best": ("feature_selection", "SelectPercentile", {}),
    "svm": ("svm", "SVC", {"max_iter": 10_000, "random_state": 0}),
    "forest": ("ensemble", "RandomForestClassifier", {"random_state": 0}),
    "boosting": (
        "ensemble",
        "HistGradientBoostingClassifier",
        {"max_bins": 16, "early_stopping": False, "random_state": 0},
    ),
    "knn": ("neighbors", "KNeighborsClassifier", {"algorithm": "brute"}),
    "mlp": ("neural_network", "MLPClassifier", {"max_iter": 30, "random_state": 0}),
}

#: Labels that are not strings in scikit-learn.
VALUES = {"none": None, "off": False, "on": True}

# The last word of a name is the argument of the part that the first one names.
CLASSIFIERS = {
    "svm": Space(
        {
            "svm-C": Float(1e-3, 1e3, log=True),
            "svm-class_weight": Choice("none", "balanced"),
            "svm-kernel": Choice(
                {
                    "linear": None,
                    "rbf": Space({"svm-rbf-gamma": Float(1e-4, 10.0, log=True)}),
                    "poly": Space(
                        {
                            "svm-poly-gamma": Float(1e-4, 10.0, log=True),
                            "svm-poly-degree": Int(2, 5),
                            "svm-poly-coef0": Float(0.0, 1.0),
                        }
                    ),
                }
            ),
        }
    ),
    "forest": Space(
        {
            "forest-n_estimators": Int(8, 64, log=True),
            "forest-max_features": Float(0.02, 1.0, log=True),
            "forest-min_samples_leaf": Int(1, 50, log=True),
            "forest-criterion": Choice("gini", "entropy"),
            "forest-class_weight": Choice("none", "balanced"),
        }
    ),
    "boosting": Space(
        {
            "boosting-learning_rate": Float(1e-3, 1.0, log=True),
            "boosting-max_iter": Int(8, 64, log=True),
            "boosting-max_leaf_nodes": Int(2, 32, log=True),
            "boosting-min_samples_leaf": Int(1, 50, log=True),
            "boosting-l2_regularization": Float(1e-6, 10.0, log=True),
            "boosting-class_weight": Choice("none", "balanced"),
        }
    ),
    "knn": Space(
        {
            "knn-n_neighbors": Int(1, 100, log=True),
            "knn-weights": Choice("uniform", "distance"),
            "knn-metric": Choice("euclidean", "manhattan", "cosine"),
        }
    ),
    "mlp": Space(
        {
            "mlp-width": Int(4, 64, log=True),
            "mlp-layers": Int(1, 2),
            "mlp-activation": Choice("relu", "tanh", "logistic"),
            "mlp-alpha": Float(1e-6, 10.0, log=True),
            "mlp-solver": Choice(
                {
                    "lbfgs": None,
                    "adam": Space(
                        {
                            "mlp-adam-learning_rate_init": Float(1e-4, 0.1, log=True),
                            "mlp-adam-batch_size": Int(32, 256, log=True),
                        }
                    ),
                }
            ),
        }
    ),
}

SPACE = Space(
    {
        "scaler": Choice("none", "standard", "quantile"),
        "reduction": Choice(
            {
                "none": None,
                "pca": Space({"pca-n_components": Float(0.3, 0.99), "pca-whiten": Choice("off", "on")}),
                "best": Space({"best-percentile": Int(5, 100)}),
            }
        ),
        "classifier": Choice(CLASSIFIERS),
    }
)


def pipeline(params: Params) -> Any:
    """The pipeline of scikit-learn that a configuration stands for, not fitted."""
    labels = (params[name] for name in ("scaler", "reduction", "classifier"))
    parts = [_part(label, params) for label in labels if label != "none"]
    return require("sklearn.pipeline", "sklearn").make_pipeline(*parts)


def _part(label: str, params: Params) -> Any:
    module, kind, fixed = PARTS[label]
    arguments = {
        name.rpartition("-")[2]: VALUES.get(value, value)
        for name, value in params.items()
        if name.startswith(f"{label}-")
    }
    if label == "mlp":
        arguments["hidden_layer_sizes"] = (arguments.pop("width"),) * arguments.pop("layers")
    return getattr(require(f"sklearn.{module}", "sklearn"), kind)(**fixed, **arguments)


@dataclass(frozen=True)
class Cash(TreeProblem):
    """The choice on one data set; the folder comes from the environment, as sweeps are processes."""

    name: str
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        return SPACE

    def value(self, params: Params) -> float:
        return loss(pipeline(params), *data(self.name.removeprefix(PREFIX)))


def loss(model: Any, rows: Array, classes: Array) -> float:
    """One minus the balanced accuracy over the folds, or `Crash`."""
    selection = require("sklearn.model_selection", "sklearn")
    folds = selection.StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # no convergence, constant columns
        try:
            scores = selection.cross_val_score(
                model, rows, classes, scoring="balanced_accuracy", cv=folds, error_score="raise"
            )
        except (ValueError, ArithmeticError) as error:
            raise Crash(str(error).partition("\n")[0]) from error
    return float(1.0 - scores.mean())


@cache
def data(name: str) -> tuple[Array, Array]:
    """The rows, of shape (n, columns), and their classes, 0 or 1."""
    if name == "digits":
        pixels, digits = require("sklearn.datasets", "sklearn").load_digits(return_X_y=True)
        noise = np.random.default_rng(0).normal(0.0, GREY, (DIGITS, pixels.shape[1]))
        return pixels[:DIGITS] + noise, digits[:DIGITS] % 2
    if not os.environ.get("CASH_DATA"):
        raise HidimError("give --data, or set CASH_DATA")
    file = Path(os.environ["CASH_DATA"]) / CREDIT
    if not file.exists():
        raise HidimError(f"there is no {file}; write it by `cash.py convert`")
    table = np.loadtxt(file, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(int)


def convert(rdata: Path, folder: Path) -> None:
    """Write the German credit data as CSV; the last column is 1 for a bad credit."""
    import pyreadr

    table = pyreadr.read_r(rdata)["GermanCredit"]
    table["Class"] = (table["Class"] == "Bad").astype(int)
    columns = [*table.columns.drop("Class"), "Class"]
    folder.mkdir(parents=True, exist_ok=True)
    table[columns].to_csv(folder / CREDIT, index=False)


# At the top level, because every process of a sweep imports this file again.
NAMED.update(
    {
        PREFIX + name: Named(partial(Cash, PREFIX + name), f"five classifiers on {about}")
        for name, about in DATA.items()
    }
)


def survey(problem: Cash, count: int, seed: int) -> str:
    """How the objective varies over random configurations of each classifier, as Markdown."""
    draws, failures = Random(problem, seed, count), Counter[str]()
    found = defaultdict[str, list[tuple[float, float]]](list)
    for _ in range(count):
        params, value, start = draws.ask(), float("nan"), time.process_time()
        try:
            value = problem.value(params)
        except Crash as crash:
            failures[str(crash)] += 1
        for row in ("all", params["classifier"]):
            found[row].append((value, time.process_time() - start))
    rows = []
    for label, pairs in sorted(found.items()):
        values, seconds = np.transpose(pairs)
        quantiles = np.nanquantile(values, [0, 0.1, 0.5, 0.9, 1])
        rows.append([label, str(len(pairs)), *(f"{q:.4f}" for q in quantiles), f"{seconds.mean():.2f}"])
    header = ["classifier", "draws", "least", "10 %", "median", "90 %", "greatest", "CPU s each"]
    crashes = ", ".join(f"{cause} ({n})" for cause, n in failures.most_common()) or "none"
    return f"{problem.name}\n\n{render(header, rows, markdown=True)}\n\nWithout a value: {crashes}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=["convert", "survey", "run"])
    parser.add_argument("--data", type=Path, help=f"folder of {CREDIT} (or CASH_DATA)")
    parser.add_argument("--rdata", type=Path, help="GermanCredit.RData, to convert")
    parser.add_argument("--sets", nargs="+", choices=DATA, default=[*DATA], help="of data")
    parser.add_argument("--methods", type=split_names, default=["hidim:addtree", "random"], help="by commas")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 to N-1")
    parser.add_argument("--evaluations", type=int, default=100, help="per run")
    parser.add_argument("--configurations", type=int, default=100, help="of a survey")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("cash.jsonl"), help="results file, appended to")
    options = parser.parse_args()
    if options.data is not None:
        os.environ["CASH_DATA"] = str(options.data.resolve())
    if options.action == "convert":
        if options.data is None or options.rdata is None:
            parser.error("convert takes --rdata and --data")
        convert(options.rdata, options.data)
        return 0
    for name in options.sets:
        data(name)  # here, rather than in every run
    if options.action == "survey":
        for name in options.sets:
            print(survey(Cash(PREFIX + name), options.configurations, seed=0))
        return 0
    names = [PREFIX + name for name in options.sets]
    jobs = plan(names, options.methods, range(options.seeds), options.evaluations)
    return int(any(record["error"] for record in sweep(jobs, options.out, options.jobs)))


if __name__ == "__main__":
    sys.exit(main())
