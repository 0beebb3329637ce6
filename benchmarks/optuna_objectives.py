"""Objectives as users of Optuna write them: `trial.suggest_*` where a number is needed, no tree declared.

The minimum of every one is known (`OPTIMA`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hidim.bench.conditional import Jenatton, shifted_jenatton
from hidim.bench.functions import hartmann6 as make_hartmann6

JENATTON, SHIFTED, HARTMANN6 = Jenatton(), shifted_jenatton(), make_hartmann6()

OPTIMA = {
    "jenatton": JENATTON.optimum,
    "jenatton_shifted": SHIFTED.optimum,
    "network": 0.0,
    "hartmann6": HARTMANN6.optimum,
    "labels": 0.0,
}


def jenatton(trial: Any) -> float:
    """The synthetic tree function of Add-Tree (§5.1), whose minimisers are the centres of their ranges."""
    return JENATTON.value(_jenatton(trial))


def jenatton_shifted(trial: Any) -> float:
    """The same with minimisers elsewhere."""
    return SHIFTED.value(_jenatton(trial))


def _jenatton(trial: Any) -> dict[str, Any]:
    if trial.suggest_categorical("x1", ["0", "1"]) == "0":
        trial.suggest_float("r8", 0.0, 1.0)
        leaf = "x4" if trial.suggest_categorical("x2", ["0", "1"]) == "0" else "x5"
    else:
        trial.suggest_float("r9", 0.0, 1.0)
        leaf = "x6" if trial.suggest_categorical("x3", ["0", "1"]) == "0" else "x7"
    trial.suggest_float(leaf, -1.0, 1.0)
    return dict(trial.params)


def network(trial: Any) -> float:
    """A stand-in for the error of a neural network with one to four layers, 7 to 17 parameters at a time.

    The value is 1 − exp(−v), where v is the sum of

    - depth: 0.06, 0.03, 0, 0.02 for one to four layers;
    - size: 0.002 (Σ wᵢ − 18)², with widths wᵢ = log₂ of the units of layer i;
    - the mean over the layers i = 0, 1, … of
      0.02 (wᵢ − 7 + i)², widths that fall from layer to layer,
      0.5 (dropoutᵢ − 0.1 (wᵢ − 3))², more dropout in wide layers, and
      0.04 for an activation that does not fit, 0.015 for gelu: relu fits, but tanh in the last layer;
    - rate: 0.05 (e − e*)², where e = log₁₀ of the learning rate, divided by 1 − momentum with sgd, and
      e* = −1.5 − 0.25 layers with sgd, −2.25 − 0.25 layers otherwise;
    - 0.02 (log₁₀ weight decay + 4 + (log₁₀ learning rate + 3.25) / 2)²: both rates trade off;
    - 0.02 for adam, 0.03 for rmsprop, and 0.3 (momentum − 0.9)² for sgd.

    The minimum is 0: sgd, three layers of 128, 64 and 32 units with dropout 0.4, 0.3 and 0.2, relu, relu and
    tanh, momentum 0.9, learning rate 10^−3.25, weight decay 10^−4.
    """
    layers = trial.suggest_int("n_layers", 1, 4)
    v = (0.06, 0.03, 0.0, 0.02)[layers - 1]
    size = 0.0
    for i in range(layers):
        width = math.log2(trial.suggest_int(f"units_{i}", 8, 512, log=True))
        dropout = trial.suggest_float(f"dropout_{i}", 0.0, 0.6)
        activation = trial.suggest_categorical(f"activation_{i}", ["relu", "tanh", "gelu"])
        fits = "tanh" if i == layers - 1 else "relu"
        layer = 0.02 * (width - 7 + i) ** 2 + 0.5 * (dropout - 0.1 * (width - 3)) ** 2
        layer += {fits: 0.0, "gelu": 0.015}.get(activation, 0.04)
        v += layer / layers
        size += width
    rate = math.log10(trial.suggest_float("lr", 1e-5, 1e-1, log=True))
    decay = math.log10(trial.suggest_float("weight_decay", 1e-6, 1e-2, log=True))
    optimizer = trial.suggest_categorical("optimizer", ["sgd", "adam", "rmsprop"])
    effective, best = rate, -2.25 - 0.25 * layers
    v += {"sgd": 0.0, "adam": 0.02, "rmsprop": 0.03}[optimizer]
    if optimizer == "sgd":
        momentum = trial.suggest_float("momentum", 0.0, 0.99)
        effective, best = rate - math.log10(1 - momentum), -1.5 - 0.25 * layers
        v += 0.3 * (momentum - 0.9) ** 2
    v += (
        0.002 * (size - 18) ** 2
        + 0.05 * (effective - best) ** 2
        + 0.02 * (decay + 4 + (rate + 3.25) / 2) ** 2
    )
    return 1 - math.exp(-v)


def hartmann6(trial: Any) -> float:
    """Hartmann6 over the unit cube."""
    return HARTMANN6.formula(np.array([trial.suggest_float(f"x{i}", 0.0, 1.0) for i in range(6)]))


def labels(trial: Any) -> float:
    """Integers and labels alone, 3,000 configurations: nothing continuous keeps two suggestions apart."""
    a, b, c = (trial.suggest_int(name, 0, 9) for name in "abc")
    kind = trial.suggest_categorical("kind", ["x", "y", "z"])
    wanted = {"x": (2, 7), "y": (5, 5), "z": (8, 1)}[kind]
    return 0.1 * ((a - wanted[0]) ** 2 + (b - wanted[1]) ** 2 + abs(a - c)) + "zxy".index(kind) * 0.4
