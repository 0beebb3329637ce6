"""The picture of docs/results.md: the tree of a conditional space after forty trials.

python benchmarks/branches.py --out docs/img/tree.png
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import hidim
from hidim import Choice, Float, Int, Space, plot

RATE = Float(1e-4, 1.0, log=True, shared=True)
SPACE = Space(
    width=Int(16, 256, log=True),
    optimizer=Choice(
        sgd=Space(rate=RATE, momentum=Float(0.0, 1.0)),
        adam=Space(rate=RATE, beta=Float(0.8, 1.0)),
        lbfgs=Space(memory=Int(1, 50, log=True)),
    ),
    augment=Choice("none", mixup=Space(strength=Float(0.0, 1.0))),
)


def objective(p: dict[str, Any]) -> float:
    """A made-up validation error: best with Adam, a rate near 0.003 and some mixup; large rates diverge."""
    error = 0.1 + 0.02 * math.log2(p["width"] / 96) ** 2
    match p["optimizer"]:
        case "sgd":
            error += 0.06 + 0.08 * (p["momentum"] - 0.9) ** 2
        case "adam":
            error += 4.0 * (p["beta"] - 0.95) ** 2
        case _:
            error += 0.15 + 0.01 * abs(math.log2(p["memory"] / 10))
    if "rate" in p:
        if p["rate"] * p["width"] > 5.0:
            raise FloatingPointError("diverged")
        error += 0.05 * math.log10(p["rate"] / 3e-3) ** 2
    return error + (0.05 if p["augment"] == "none" else 0.08 * (p["strength"] - 0.4) ** 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="docs/img/tree.png")
    options = parser.parse_args()
    result = hidim.minimize(objective, SPACE, 40, method="addtree", seed=0)
    print(result.explain())
    plot.tree(SPACE, result.history, path=options.out)


if __name__ == "__main__":
    main()
