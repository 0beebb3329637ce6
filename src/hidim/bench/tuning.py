"""Stand-ins for the tuning of programs that learn: conditional spaces whose parameters interact.

Every value is the regret against the best configuration, and costs nothing to evaluate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, log10, pi
from typing import TYPE_CHECKING

from hidim._types import Params
from hidim.bench.base import TreeProblem

if TYPE_CHECKING:
    from hidim.space import Space


@dataclass(frozen=True)
class Training(TreeProblem):
    """How a network is trained: rate and decay at the root, and below an optimiser with its own parameters.

    The best rate depends on the optimiser and on its momentum, the best decay on the rate.
    """

    name: str = "training"
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        from hidim.space import Choice, Float, Int, Space

        sgd = Space(momentum=Float(0.0, 0.99), nesterov=Choice("no", "yes"))
        adam = Space(beta1=Float(0.5, 0.99), beta2=Float(0.9, 0.9999))
        rmsprop = Space(alpha=Float(0.8, 0.999), centred=Choice("no", "yes"), warmup=Int(0, 20))
        return Space(
            rate=Float(1e-5, 1.0, log=True),
            decay=Float(1e-7, 1e-2, log=True),
            optimiser=Choice({"sgd": sgd, "adam": adam, "rmsprop": rmsprop}),
        )

    def value(self, params: Params) -> float:
        rate, decay = log10(params["rate"]), log10(params["decay"])
        match params["optimiser"]:
            case "sgd":
                momentum = params["momentum"]
                wanted, offset = -1.0 + 1.5 * log10(1.0 - 0.98 * momentum), 0.05
                extra = 0.3 * (momentum - 0.87) ** 2 + (0.02 if params["nesterov"] == "no" else 0.0)
            case "adam":
                wanted, offset = -2.9 + 1.2 * (params["beta1"] - 0.8), 0.0
                extra = 0.5 * (params["beta1"] - 0.88) ** 2 + 4.0 * (params["beta2"] - 0.97) ** 2
            case _:
                wanted, offset = -3.4 + 0.02 * params["warmup"], 0.08
                extra = (params["alpha"] - 0.93) ** 2 + 1e-4 * (params["warmup"] - 6) ** 2
                extra += 0.01 if params["centred"] == "no" else 0.0
        away = rate - wanted
        return float(offset + extra + 0.15 * away**2 + 0.03 * (decay + 4.5 + 0.5 * away) ** 2)

    def is_best_branch(self, params: Params) -> bool:
        return bool(params["optimiser"] == "adam")


#: How well a classifier does after each preprocessor, at best. With parameters as they come, "none" and
#: "forest" look best.
_PAIRS = {
    ("none", "svm"): 0.16, ("none", "forest"): 0.06, ("none", "neighbours"): 0.22,
    ("scale", "svm"): 0.09, ("scale", "forest"): 0.07, ("scale", "neighbours"): 0.12,
    ("project", "svm"): 0.00, ("project", "forest"): 0.19, ("project", "neighbours"): 0.08,
}  # fmt: skip


@dataclass(frozen=True)
class Pipeline(TreeProblem):
    """A preprocessor and a classifier, each with parameters of its own, some of which interact."""

    name: str = "pipeline"
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        from hidim.space import Choice, Float, Int, Space

        scale = Space(clip=Float(1.0, 10.0))
        project = Space(parts=Int(2, 40), whiten=Choice("no", "yes"))
        svm = Space(C=Float(1e-3, 1e3, log=True), gamma=Float(1e-4, 10.0, log=True))
        forest = Space(depth=Int(2, 30), features=Float(0.05, 1.0), leaf=Int(1, 20))
        neighbours = Space(k=Int(1, 50, log=True), power=Float(1.0, 3.0))
        return Space(
            prepare=Choice({"none": Space(), "scale": scale, "project": project}),
            classify=Choice({"svm": svm, "forest": forest, "neighbours": neighbours}),
        )

    def value(self, params: Params) -> float:
        before, after = params["prepare"], params["classify"]
        total = _PAIRS[before, after]
        width = 1.0
        if before == "scale":
            total += 0.002 * (params["clip"] - 4.0) ** 2
        if before == "project":
            width = params["parts"] / 18.0
            total += 0.08 * (width - 1.0) ** 2 + (0.015 if params["whiten"] == "no" else 0.0)
        if after == "svm":
            cost, gamma = log10(params["C"]), log10(params["gamma"])
            total += 0.03 * (cost + gamma + 0.4) ** 2 + 0.02 * (gamma + 1.3 + 0.5 * (width - 1.0)) ** 2
        elif after == "forest":
            depth, leaf = params["depth"] / 10.0, params["leaf"]
            total += 0.03 * (depth - 1.4) ** 2 + 0.1 * (params["features"] - 0.35) ** 2
            total += 0.0004 * (leaf - 3 * depth + 1) ** 2
        else:
            total += 0.08 * (log10(params["k"]) - 0.9) ** 2 + 0.02 * (params["power"] - 1.2) ** 2
        return total

    def is_best_branch(self, params: Params) -> bool:
        return (params["prepare"], params["classify"], params.get("whiten")) == ("project", "svm", "yes")


#: The best width of every layer.
_WIDTHS = (160, 100, 64, 40)


@dataclass(frozen=True)
class Network(TreeProblem):
    """One to four layers, each with a width and a share that is dropped; the rate is shared.

    Three levels: the kind of network, its depth, what every layer has. The best rate falls with the depth.
    """

    name: str = "network"
    optimum: float = 0.0
    noise: float = 0.0

    def space(self) -> Space:
        from hidim.space import Choice, Float, Int, Space

        def layers(kind: str, count: int) -> Space:
            widths = {f"{kind}_width{i}": Int(8, 512, log=True) for i in range(count)}
            return Space(widths, **{f"{kind}_drop{i}": Float(0.0, 0.6) for i in range(count)})

        def network(kind: str, own: dict[str, Float]) -> Space:
            depths = Choice({str(count): layers(kind, count) for count in range(1, 5)})
            rate = Float(1e-5, 1.0, log=True, shared=True)
            return Space(own | {"rate": rate, f"{kind}_depth": depths})

        dense = network("dense", {"noise": Float(0.0, 0.5)})
        wide = network("skip", {"blend": Float(0.0, 1.0)})
        return Space(kind=Choice({"dense": dense, "skip": wide}))

    def value(self, params: Params) -> float:
        kind = params["kind"]
        depth = int(params[f"{kind}_depth"])
        rate = log10(params["rate"])
        total = {"dense": (0.25, 0.12, 0.05, 0.10), "skip": (0.27, 0.14, 0.03, 0.0)}[kind][depth - 1]
        total += 0.1 * (rate + 2.0 + 0.25 * depth) ** 2
        if kind == "dense":
            total += 0.5 * (params["noise"] - 0.1) ** 2
        else:
            total += 0.3 * (params["blend"] - 0.6 - 0.1 * (rate + 3.0)) ** 2
        for i in range(depth):
            away = log10(params[f"{kind}_width{i}"] / _WIDTHS[i])
            total += 0.06 * away**2 + 0.4 * (params[f"{kind}_drop{i}"] - 0.2 - 0.2 * away) ** 2
            total += 0.004 * (1.0 - cos(3.0 * pi * away))
        return float(total)

    def is_best_branch(self, params: Params) -> bool:
        return (params["kind"], params.get("skip_depth")) == ("skip", "4")
