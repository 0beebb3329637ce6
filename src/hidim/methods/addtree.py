"""Add-Tree for conditional spaces (Ma and Blaschko, "Additive Tree-Structured Conditional Parameter Spaces in
Bayesian Optimization", 2023).

    surrogate    a sum of kernels, one for each node of the space's tree (gp/kernels/addtree.py)
    acquisition  log expected improvement of whole configurations, or the paper's bounds node by node
    search       the nodes' best settings make candidates for the best paths (methods/paths.py)

What branches have in common, their path up to the fork and shared parameters, is learnt from all trials. A
choice with nothing under any of its options is a label of its node: it may interact with the node's numbers,
which a vertex of its own would rule out. Everything else, from failures to noise, is as in `gp`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

import numpy as np

from hidim._types import Array, Indices
from hidim.errors import MethodError
from hidim.gp import linalg
from hidim.gp.kernels import AddTree as Kernel
from hidim.gp.kernels import Matern, Scaled, SquaredExponential, Term
from hidim.gp.model import Model, noise_parameter
from hidim.gp.posterior import Posterior
from hidim.methods.base import Observations, Task, at_least
from hidim.methods.gp import GaussianProcess
from hidim.methods.paths import PathSearch, log_improvement_bound
from hidim.methods.proposal import Target
from hidim.methods.surrogate import Fitted, Surrogate
from hidim.space import Space
from hidim.space.nodes import Node, count_paths, every_path, everywhere, tree

Structure = Literal["tree", "leaves"]
FORMS = {"matern": Matern(2.5), "se": SquaredExponential()}

#: Independent processes are made for at most this many leaves.
MOST_LEAVES = 1000

#: g(t)^d is at most e to this.
LARGEST_POWER = 50.0

#: Nodes are maximised for each of these κ; the paths with the largest sums are candidates.
KAPPAS = (0.5, 2.0)


@dataclass(frozen=True)
class Adaptation:
    """A-GP-UCB (Berkenkamp et al. 2019): length-scales that shrink and a bound that grows with time.

    θ_t = min(θ_MAP, θ_0/g(t)), β_t^½ = b(t) g(t)^d B_0 + 4 σ (I + 1 + ln 1/δ)^½ (Add-Tree §4.3 and §5), where
    I is the information gain ½ log |1 + K/σ²| and d the largest number of columns of a node. Paper and code
    leave b, g, B_0 and δ open; here g(t) = (1 + t/period)^power and b(t) = 1 + log g(t) (eq. 12 and 13).

    Args:
        lengthscale: θ_0, as a share of the range of a parameter, times √d.
        norm: B_0.
        delta: δ, the probability with which the bounds may fail.
        power: how fast g grows; by Proposition 11, power · d < ¼ is needed for no regret in the end.
        period: after how many trials it has grown to 2^power.
    """

    lengthscale: float = 0.5
    norm: float = 2.0
    delta: float = 0.1
    power: float = 0.1
    period: float = 20.0

    def __post_init__(self) -> None:
        at_least(self, lengthscale=1e-3, norm=0.0, delta=1e-12, power=0.0, period=1e-3)
        if self.delta >= 1.0:
            raise MethodError(f"Adaptation(delta={self.delta!r}): a probability below 1")

    def growth(self, t: int) -> float:
        """g(t)."""
        return float((1.0 + t / self.period) ** self.power)

    def longest(self, t: int, dim: int) -> float:
        """log θ_0/g(t), the longest length-scale at time t."""
        return math.log(self.lengthscale * math.sqrt(dim) / self.growth(t))

    def kappa(self, posterior: Posterior, dim: int) -> float:
        """β_t^½."""
        noise = posterior.noise
        information = linalg.half_log_determinant(posterior.factor)  # I = ½ log |K| − ½ Σ log (σ² + v)
        information -= 0.5 * float(np.log(posterior.noises).sum())
        growth = math.log(self.growth(len(posterior.y)))
        bound = (1.0 + growth) * math.exp(min(dim * growth, LARGEST_POWER)) * self.norm
        return bound + 4.0 * math.sqrt(noise * (max(information, 0.0) + 1.0 - math.log(self.delta)))


@dataclass(frozen=True)
class TreeSurrogate(Surrogate):
    """A process whose covariance is a sum over the nodes of a conditional space.

    Args:
        structure: "tree", or "leaves" for an independent process for every path, which is what Add-Tree is
            compared with; the length-scales are still common to all.
        form: "se" or "matern" (ν = 5/2).
        warped: whether numbers are warped, see `hidim.gp.kernels.AddTree`.
        spread: by how much amplitudes of nodes may differ, see `hidim.gp.kernels.AddTree`.
        adaptive: whether length-scales shrink and the bound of Algorithm 2 grows with time.
        adaptation: how.
    """

    structure: Structure = "tree"
    form: str = "se"
    warped: bool = True
    spread: float = 0.0
    adaptive: bool = False
    adaptation: Adaptation = field(default_factory=Adaptation)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, allowed in (("structure", get_args(Structure)), ("form", tuple(FORMS))):
            if getattr(self, name) not in allowed:
                known = ", ".join(allowed)
                raise MethodError(f"{name}={getattr(self, name)!r} is unknown: choose one of {known}")
        for name in ("warped", "adaptive"):
            if not isinstance(getattr(self, name), bool):
                raise MethodError(f"TreeSurrogate({name}={getattr(self, name)!r}): {name} is True or False")
        if not isinstance(self.adaptation, Adaptation):
            raise MethodError(f"TreeSurrogate(adaptation={self.adaptation!r}): give an Adaptation(…)")
        at_least(self, spread=0.0)

    def model(self, space: Space, *, noisy: bool = False) -> Model:
        terms = leaves(space) if self.structure == "leaves" else nodes(space)
        plain = self.lengthscales if self.lengthscales in ("isotropic", "ard") else "hierarchical"
        kernel = Kernel(
            terms, form=FORMS[self.form], lengthscales=plain, warped=self.warped, spread=self.spread
        )
        return Model(Scaled(kernel), noise_parameter(noisy=noisy))

    def blanked(self, space: Space, points: Array) -> Array:
        return np.where(np.isnan(points), -1.0, points)

    def _refit(
        self,
        model: Model,
        seen: Observations,
        last: Fitted | None,
        number: int,
        noisy: bool,
        gentle: bool,
        rng: np.random.Generator,
    ) -> Fitted:
        fitted = super()._refit(model, seen, last, number, noisy, gentle, rng)
        if not self.adaptive:
            return fitted
        longest = self.adaptation.longest(len(seen.y), widest(model))
        return fitted._replace(thetas=np.stack([shortened(model, t, longest) for t in fitted.thetas]))


def shortened(model: Model, theta: Array, longest: float) -> Array:
    """θ with no log length-scale above `longest`."""
    level, deviation = model.holds("log_lengthscale"), model.holds("log_lengthscale_deviation")
    theta = theta.copy()
    if deviation.any():
        common = theta[level][0]
        theta[deviation] = np.minimum(common + theta[deviation], longest) - common
    else:
        theta[level] = np.minimum(theta[level], longest)
    return theta


def widest(model: Model) -> int:
    """The largest number of columns of a node."""
    scaled = model.kernel
    kernel = scaled.inner if isinstance(scaled, Scaled) else scaled
    return max(1, *(len(term.numbers) for term in kernel.terms)) if isinstance(kernel, Kernel) else 1


def nodes(space: Space) -> list[Term]:
    """A term for every node of the tree that has columns, or a label that leads to it."""
    found = [node for node in everywhere(tree(space)) if len(node.columns) or node.gate is not None]
    terms = [_term(space, node.numbers, node.labels, () if len(node.columns) else (node,)) for node in found]
    return terms or [Term(())]


def leaves(space: Space) -> list[Term]:
    """A term for every path."""
    root = tree(space)
    if (count := count_paths(root)) > MOST_LEAVES:
        raise MethodError(
            f"structure='leaves' makes a process for each of {count} paths, more than {MOST_LEAVES}; "
            "use structure='tree'"
        )
    found = []
    for path in every_path(root):
        numbers, labels = (np.concatenate([getattr(n, kind) for n in path]) for kind in ("numbers", "labels"))
        found.append(_term(space, numbers, labels, path))
    return found


def _term(space: Space, numbers: Indices, labels: Indices, gated: tuple[Node, ...]) -> Term:
    levels = space.columns.levels
    gates = [(*node.gate, int(levels[node.gate[0]])) for node in gated if node.gate is not None]
    return Term(numbers, labels, levels[labels].astype(np.intp), gates)


@dataclass(frozen=True)
class AddTree(GaussianProcess):
    """Bayesian optimisation of conditional spaces with an additive covariance over their tree.

    Args:
        initial, bold, margin: as in `GaussianProcess`.
        surrogate: the model; its settings give the paper's, and independent processes for the leaves.
        proposer: what refines candidates.
        paths: how the best paths are found.
        acquisition: as in `GaussianProcess`, or "nodes" for the paper's Algorithm 2: the sum of the nodes'
            own confidence bounds.
        beta: β of Algorithm 2, unless the surrogate is adaptive and gives it.

    Example:
        >>> AddTree(surrogate=TreeSurrogate(form="se"), acquisition="nodes").beta
        4.0
    """

    name: ClassVar[str] = "addtree"

    acquisitions: ClassVar[tuple[str, ...]] = (*GaussianProcess.acquisitions, "nodes")

    surrogate: TreeSurrogate = field(default_factory=TreeSurrogate)
    paths: PathSearch = field(default_factory=PathSearch)
    beta: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, beta=0.0)
        if not isinstance(self.paths, PathSearch):
            raise MethodError(f"AddTree(paths={self.paths!r}): give a PathSearch(…)")
        if not isinstance(self.surrogate, TreeSurrogate):
            raise MethodError(f"AddTree takes a TreeSurrogate as its surrogate, not {self.surrogate!r}")
        if self.acquisition == "nodes" and not self._is_additive:
            raise MethodError("acquisition='nodes' needs the additive model: TreeSurrogate(structure='tree')")

    @property
    def _is_additive(self) -> bool:
        return self.surrogate.structure == "tree"

    def _points(
        self,
        way: str,
        target: Target,
        believed: list[Posterior],
        task: Task,
        best: Array,
        length: float,
        rng: np.random.Generator,
    ) -> Array:
        if not self._is_additive:
            return super()._points(way, target, believed, task, best, length, rng)
        root, posterior = _root(task), believed[0]
        if self.acquisition == "nodes":
            return self.paths(posterior, task.space, root, [self._kappa(posterior)], best, rng)[0].points
        candidates = []
        found = self.paths(posterior, task.space, root, KAPPAS, best, rng)
        for kappa, (points, paths) in zip(KAPPAS, found, strict=True):
            if target.best is not None:
                bounds = log_improvement_bound(paths, kappa, posterior.mean, target.best)
                points = points[bounds >= target.scores(task.space.snap(points)).max()]
            candidates.append(points)
        return self.proposer.propose(way, target, task.space, best, length, rng, np.vstack(candidates))

    def _kappa(self, posterior: Posterior) -> float:
        if self.surrogate.adaptive:
            return self.surrogate.adaptation.kappa(posterior, widest(posterior.model))
        return math.sqrt(self.beta)


def _root(task: Task) -> Node:
    root: Node | None = task.memo.get("tree")
    if root is None:
        root = task.memo["tree"] = tree(task.space)
    return root
