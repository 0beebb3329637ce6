"""Elastic GP's real tasks (§4.2 and §4.3).

    python benchmarks/elastic_tasks.py --data FOLDER --jobs 2 --out elastic-tasks.jsonl
    python benchmarks/elastic_tasks.py plot elastic-tasks.jsonl --out picture.png

`stumps-33`  The thresholds of a cascade of decision stumps on Ionosphere, one for each of its features, which
             are scaled to [0, 1]; the value is 1 − AUC on the training data. After each stump instances are
             weighted anew, as in AdaBoost. Needs Ionosphere.csv: `Ionosphere.rda` of Debian's r-cran-mlbench,
             written by pandas' `to_csv`.
`stumps-24`  The same on GermanCredit.csv, `GermanCredit.RData` of r-cran-caret: seven numbers, the ranks
             of ten ordered categories and seven indicators.
`alloy-9`    Eight elements of the aluminium alloy AA-2050 in mass %, and the temperature of ageing; the value
             is minus the mole fraction of the phase T1 (Al2CuLi), which hardens it, in equilibrium. Needs
             pycalphad, and the COST 507 database that comes with it.
"""

from __future__ import annotations

import csv
import os
import sys
import warnings
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from real_tasks import Task, main

from hidim._types import Array, Params
from hidim.bench.base import Crash, Problem, Suggest
from hidim.bench.problems import NAMED, Named
from hidim.space import Float, Space, Vector

#: Of GermanCredit: numbers, categories whose columns stand in order, and single columns.
NUMBERS = 7
ORDERED = (
    "CheckingAccountStatus",
    "CreditHistory",
    "SavingsAccountBonds",
    "EmploymentDuration",
    "OtherDebtorsGuarantors",
    "Property",
    "OtherInstallmentPlans",
    "Housing",
    "Job",
    "Personal",
)
SINGLE = (
    "Telephone",
    "ForeignWorker",
    "Purpose.NewCar",
    "Purpose.UsedCar",
    "Purpose.Furniture.Equipment",
    "Purpose.Radio.Television",
    "Purpose.Business",
)

#: Mass % of the elements of the alloy, and the temperature in K.
ELEMENTS = {
    "CU": (1.0, 6.0),
    "LI": (0.3, 2.5),
    "MG": (0.05, 2.0),
    "MN": (0.01, 1.0),
    "SI": (0.01, 0.5),
    "FE": (0.01, 0.5),
    "ZN": (0.01, 1.0),
    "ZR": (0.01, 0.3),
}
TEMPERATURE = (380.0, 480.0)
MOLAR = {
    "AL": 26.98154,
    "CU": 63.546,
    "LI": 6.941,
    "MG": 24.305,
    "MN": 54.938,
    "SI": 28.0855,
    "FE": 55.847,
    "ZN": 65.39,
    "ZR": 91.224,
}
WANTED, LEFT_OUT = "ALCULI_T1", ("GAS", "IONIC_LIQUID", "LIQUID")


@dataclass(frozen=True)
class Stumps(Problem):
    """1 − the training AUC of a cascade of stumps as a function of their thresholds."""

    file: str
    size: int
    optimum: float = 0.0
    noise: float = 0.0

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"stumps-{self.size}"

    def space(self) -> Space:
        return Space(x=Vector(self.size, 0.0, 1.0))

    def draw(self, suggest: Suggest) -> Params:
        return {"x": suggest.vector("x", self.size)}

    def value(self, params: Params) -> float:
        x, y = table(self.file, os.environ["ELASTIC_DATA"])
        return 1.0 - area(cascaded(x, y, np.asarray(params["x"], dtype=np.float64)), y)


def cascaded(x: Array, y: Array, thresholds: Array) -> Array:
    """The scores (n,) of a cascade: stump k looks at feature k, and votes the more the less it errs.

    Args:
        x: (n, k), y: (n,) of ±1, thresholds: (k,).
    """
    weights, scores = np.full(len(y), 1.0 / len(y)), np.zeros(len(y))
    for feature, threshold in zip(x.T, thresholds, strict=True):
        answers = np.where(feature > threshold, 1.0, -1.0)
        error = float(np.clip(weights[answers != y].sum(), 1e-6, 1.0 - 1e-6))
        vote = 0.5 * np.log((1.0 - error) / error)
        scores += vote * answers
        weights *= np.exp(-vote * y * answers)
        weights /= weights.sum()
    return scores


def area(scores: Array, y: Array) -> float:
    """The area under the ROC curve: how often a positive has the larger score, ties counted half."""
    good, bad = np.sort(scores[y > 0]), np.sort(scores[y < 0])
    below = np.searchsorted(bad, good, side="left") + np.searchsorted(bad, good, side="right")
    return float(below.sum() / (2.0 * len(good) * len(bad)))


@cache
def table(name: str, folder: str) -> tuple[Array, Array]:
    """Features (n, k), scaled to [0, 1], and classes (n,) of ±1."""
    with Path(folder, f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if name == "Ionosphere":
        x = np.array([[float(row[f"V{k}"]) for k in range(1, 35)] for row in rows])
        y = np.where([row["Class"] == "good" for row in rows], 1.0, -1.0)
    else:
        numbers = list(rows[0])[:NUMBERS]
        ranks = [[c for c in rows[0] if c.startswith(f"{category}.")] for category in ORDERED]
        columns = [[float(row[c]) for row in rows] for c in (*numbers, *SINGLE)]
        columns += [[float(np.argmax([float(row[c]) for c in own])) for row in rows] for own in ranks]
        x, y = np.array(columns).T, np.where([row["Class"] == "Good" for row in rows], 1.0, -1.0)
    x = x[:, np.ptp(x, axis=0) > 0.0]
    return (x - x.min(axis=0)) / np.ptp(x, axis=0), y


@dataclass(frozen=True)
class Alloy(Problem):
    """Minus the fraction of T1 in equilibrium as a function of composition and temperature."""

    name: str = "alloy-9"
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        elements = {element: Float(*limits) for element, limits in ELEMENTS.items()}
        return Space(**elements, T=Float(*TEMPERATURE))

    def draw(self, suggest: Suggest) -> Params:
        limits = {**ELEMENTS, "T": TEMPERATURE}
        return {name: suggest.real(name, low, high) for name, (low, high) in limits.items()}

    def value(self, params: Params) -> float:
        from pycalphad import Workspace
        from pycalphad import variables as v

        mass = {element: float(params[element]) for element in ELEMENTS}
        mass["AL"] = 100.0 - sum(mass.values())
        moles = {element: share / MOLAR[element] for element, share in mass.items()}
        total = sum(moles.values())
        conditions = {v.X(element): moles[element] / total for element in ELEMENTS}
        conditions |= {v.T: float(params["T"]), v.P: 101_325.0, v.N: 1.0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = Workspace(*engine()[:3], conditions, **engine()[3]).eq
        phases, amounts = np.ravel(found.Phase), np.ravel(found.NP)
        if not np.isfinite(amounts[phases != ""]).any():
            raise Crash("no equilibrium was found")
        return -float(np.nansum(amounts[phases == WANTED]))


@cache
def engine() -> tuple[Any, list[str], list[str], dict[str, Any]]:
    """The database, the components, the phases, and what is built of them once."""
    from pycalphad import Database
    from pycalphad import variables as v
    from pycalphad.codegen.phase_record_factory import PhaseRecordFactory
    from pycalphad.core.utils import filter_phases, instantiate_models

    database = Database(str(files("pycalphad") / "tests/databases/COST507.tdb"))
    components = ["AL", *ELEMENTS, "VA"]
    known = filter_phases(database, [v.Species(name) for name in components])
    phases = [phase for phase in known if phase not in LEFT_OUT]
    models = instantiate_models(database, components, phases)
    records = PhaseRecordFactory(database, components, {v.N, v.P, v.T}, models)
    return database, components, phases, {"models": models, "phase_record_factory": records}


NAMED["stumps-33"] = Named(partial(Stumps, "Ionosphere", 33), "Elastic GP: stumps on Ionosphere")
NAMED["stumps-24"] = Named(partial(Stumps, "GermanCredit", 24), "Elastic GP: stumps on German credit")
NAMED["alloy-9"] = Named(Alloy, "Elastic GP: composition of an aluminium alloy")

STUMPS = "hidim:elastic,hidim:gp,hidim:add-gp(size=10),hidim:rembo(low=10),random"
TASKS = {
    "stumps-33": Task(STUMPS, "1 − training AUC", 150, "ELASTIC_DATA"),
    "stumps-24": Task(STUMPS, "1 − training AUC", 150, "ELASTIC_DATA"),
    "alloy-9": Task("hidim:elastic,hidim:gp,random", "− fraction of T1", 60),
}

if __name__ == "__main__":
    sys.exit(main(TASKS, __doc__, "elastic-tasks.jsonl"))
