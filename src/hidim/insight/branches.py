"""What is known about every branch of a conditional space.

The model is a sum over the nodes of the tree (`hidim.gp.kernels.AddTree`), fitted on all complete trials:

    μ(x) = m + Σ_v δ_v(x) μ_v(x_v)

So every node has a best setting of its own, and the best sums along paths are what can be attained in the
branches (see `hidim.insight.attainable`). And since a random configuration that has node v draws the
parameters of v independently of all others, the variance over such configurations falls into two,

    Var μ = Var μ_v + Var (μ − μ_v)

of which the first comes from v. Where several branches lead through v, its share Var μ_v / Var μ is what they
learn from each other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from hidim._limits import COLUMNS_OF_INSIGHT
from hidim.errors import HidimError
from hidim.insight.attainable import Expected, alone, expectations, has
from hidim.insight.fitting import branching
from hidim.insight.learned import Learned, learn
from hidim.insight.text import counted, missing, rounded
from hidim.space import Space
from hidim.space.nodes import Node, count_paths, everywhere, tree
from hidim.trial import History, Trial, TrialState

#: Random configurations over which variances are taken, and fewest that have a node.
POINTS, FEWEST = 4096, 16
#: Of this many numbers in all, at most.
MOST_NUMBERS = 2_000_000


@dataclass(frozen=True, eq=False)
class Branch:
    """What is known about the configurations that have one node of the tree.

    Args:
        node: the parameters that exist together there, and the forks that follow.
        complete: trials with a value.
        failed: trials without.
        best: the complete trial with the best value, if there is any.
        leads: whether the best trial of all is among them.
        paths: different ways through the tree that the complete trials took.
        ways: all ways through the tree that there are.
        expected: the best value that can be attained there, by the model, if there is one and at least 5 of
            its trials are complete.
        share: of the variation among configurations that have the node, by the model: the part that comes
            from its own parameters; None for nodes that are on a single path, or have no parameters.
    """

    node: Node = field(repr=False)
    complete: int
    failed: int
    best: Trial | None = field(repr=False)
    leads: bool
    paths: int
    ways: int
    expected: Expected | None = None
    share: float | None = None

    @property
    def names(self) -> list[str]:
        """The node's own parameters."""
        return [vertex.name for vertex in self.node.vertices if vertex.parameter.width]

    @property
    def is_leaf(self) -> bool:
        """Whether no decision follows, the node being no shared one."""
        follows = self.node.forks or any(other.forks for other in self.node.beside)
        return not follows and self.node.gate is not None


@dataclass(frozen=True, eq=False, repr=False)
class Branches(Mapping[str, Branch]):
    """Every node of the tree by its title, as "model=svm" or "model=svm/kernel=rbf", parents first.

    The root is "". Parameters that several options share have an entry under their own names.

    Args:
        root: of the tree.
        all: what is known of each node.
        learned: the model, if there is one.
        unknown: if not, why.

    Example:
        >>> from hidim import Choice, Float, Space
        >>> space = Space(model=Choice("none", svm=Space(C=Float(0, 1))))
        >>> points = space.sample(np.random.default_rng(0), 20)
        >>> values = [0.5 if p["model"] == "none" else (p["C"] - 0.3) ** 2 for p in points]
        >>> trials = [Trial(p, i).completed(v, rank=i) for i, (p, v) in enumerate(zip(points, values))]
        >>> known = branches(space, History(trials), maximize=False, best=trials[0])
        >>> [branch.complete for branch in known.values()]
        [20, 5, 15]
        >>> round(known["model=svm"].expected.params["C"], 2)
        0.3
    """

    root: Node
    all: tuple[Branch, ...]
    learned: Learned | None
    unknown: str

    @cached_property
    def _by_title(self) -> dict[str, Branch]:
        return {branch.node.title: branch for branch in self.all}

    def __getitem__(self, title: str) -> Branch:
        if title not in self._by_title:
            raise missing("branch", title, self._by_title)
        return self._by_title[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_title)

    def __len__(self) -> int:
        return len(self._by_title)

    def __str__(self) -> str:
        titles = [branch.node.title or "all" for branch in self.all]
        width = max(map(len, titles))
        return "\n".join(
            f"{title:<{width}}  {expectation(branch, '95 %: ')}; {seen(branch)}"
            for title, branch in zip(titles, self.all, strict=True)
        )

    def __repr__(self) -> str:
        return f"Branches({', '.join(map(repr, self))})"


def expectation(branch: Branch, title: str = "") -> str:
    """The best value that can be attained in a branch and, after a title, its interval: "0.1 (0.07 to 0.11)".

    A dash where nothing is known.
    """
    expected = branch.expected
    if expected is None:
        return "–"
    value, low, high = rounded(expected.value, expected.low, expected.high)
    return f"{value} ({title}{low} to {high})"


def seen(branch: Branch) -> str:
    """The best value that was seen in a branch, as "best 0.2 of 6 trials"."""
    failed = f", {branch.failed} failed" if branch.failed else ""
    if branch.best is None:
        return f"no value yet{failed}"
    return f"best {branch.best.value:.4g} of {counted(branch.complete, 'trial')}{failed}"


def branches(space: Space, history: History, *, maximize: bool, best: Trial | None) -> Branches:
    """Counts and best values of every node, and what the model of the tree expects, if there can be one.

    Args:
        best: the trial that is called the best of all, if any is complete.
    """
    root = tree(space)
    if not root.forks:
        raise HidimError("the space has no branches: no option of any choice has parameters of its own")
    if space.dim > COLUMNS_OF_INSIGHT:
        raise HidimError(
            f"the space has {space.dim} columns, and branches are told for at most {COLUMNS_OF_INSIGHT}"
        )
    found = _counted(space, root, history, maximize=maximize, best=best)
    try:
        learned = learn(branching(space), history, maximize=maximize)
    except HidimError as error:
        return Branches(root, found, None, str(error))
    expected = expectations(learned, root)
    shares = _shares(learned, found)
    told = (
        replace(branch, expected=e, share=s) for branch, e, s in zip(found, expected, shares, strict=True)
    )
    return Branches(root, tuple(told), learned, "")


def _counted(
    space: Space, root: Node, history: History, *, maximize: bool, best: Trial | None
) -> tuple[Branch, ...]:
    nodes = everywhere(root)
    trials = history.finished
    points = space.encode_all([trial.params for trial in trials]).reshape(-1, space.dim)
    active = np.stack([has(space, node, points) for node in nodes], axis=1)  # (trials, nodes)
    complete = np.array([trial.state is TrialState.COMPLETE for trial in trials], dtype=np.bool_)
    losses = np.full(len(trials), np.inf)
    losses[complete] = history.losses(maximize=maximize)
    ways = _ways(root)
    at_best = None if best is None else space.encode(best.params)[None]
    found = []
    for place, node in enumerate(nodes):
        rows = np.flatnonzero(active[:, place] & complete)
        first = trials[rows[np.argmin(losses[rows])]] if len(rows) else None
        failed = int(np.sum(active[:, place] & ~complete))
        leads = at_best is not None and bool(has(space, node, at_best)[0])
        paths = len(np.unique(active[rows], axis=0))
        found.append(Branch(node, len(rows), failed, first, leads, paths, ways[id(node)]))
    return tuple(found)


def _ways(root: Node) -> dict[int, int]:
    """The number of paths through each node, by its id."""
    ways: dict[int, int] = defaultdict(int)

    def visit(node: Node, others: int) -> None:
        """`others`: the number of ways to decide all that does not lie below `node`."""
        ways[id(node)] += others * count_paths(node)
        groups = [*((other,) for other in node.beside), *(fork.options for fork in node.forks)]
        counts = [sum(map(count_paths, group)) for group in groups]
        for group, own in zip(groups, counts, strict=True):
            for child in group:
                visit(child, others * math.prod(counts) // own)

    visit(root, 1)
    return ways


def _shares(learned: Learned, found: tuple[Branch, ...]) -> list[float | None]:
    """Var μ_v / Var μ of common nodes."""
    space = learned.space
    count = int(np.clip(MOST_NUMBERS // space.dim, POINTS // 8, POINTS))
    points = space.snap(np.random.default_rng(0).random((count, space.dim)))
    means = learned.mean(points)
    shares: list[float | None] = []
    for branch in found:
        rows = np.flatnonzero(has(space, branch.node, points))
        if branch.ways == 1 or not branch.names or len(rows) < FEWEST:
            shares.append(None)
            continue
        own = float(np.var(alone(learned, branch.node, points[rows])))
        whole = float(np.var(means[rows]))
        shares.append(min(own / whole, 1.0) if whole > 0.0 else 0.0)
    return shares
