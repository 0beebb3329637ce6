"""Add-Tree: its covariance over any tree, the posteriors of nodes, the search for paths, and its settings."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from differences import assert_gradient
from hidim import Choice, Float, Int, Optimizer, Space
from hidim.acquisition.beta import Adaptation, Fixed, Matching
from hidim.acquisition.utility import GroupBounds
from hidim.belief.inference import Adaptive, Peak
from hidim.belief.priors import Flat, Tree
from hidim.belief.priors.tree import leaves, nodes
from hidim.errors import MethodError
from hidim.frame import Ground
from hidim.gp import linalg
from hidim.gp.kernels import Groups, Scaled, blocks
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior
from hidim.methods import METHODS, Method, Task, configured, make_method
from hidim.search import Paths, ascent
from hidim.search import settings as group_settings
from hidim.search.paths import best_routes
from hidim.search.settings import Axes, Setting
from hidim.space.nodes import count_paths, every_path, everywhere, tree
from strategies import spaces

SPACE = Space(
    lr=Float(0, 1),
    model=Choice(
        svm=Space(C=Float(0, 1), kernel=Choice("rbf", "poly"), alpha=Float(0, 1, shared=True)),
        trees=Space(depth=Int(1, 9), alpha=Float(0, 1, shared=True)),
        none=None,
    ),
    scaled=Choice("no", yes=Space(power=Float(0, 1), offset=Float(0, 1))),
)

#: Shrinking a tree takes minutes.
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)

#: Without parameters at the root.
ROOTLESS = Space(model=Choice({label: Space({f"x{label}": Float(0, 1)}) for label in "abc"}))


def drawn(space: Space, count: int, seed: int = 0) -> np.ndarray:
    return space.snap(np.random.default_rng(seed).random((count, space.dim)))


def posterior(space: Space, count: int = 25, **settings: object) -> Posterior:
    model = Tree(**settings).model(Ground(space))
    x = drawn(space, count)
    y = np.sin(5 * np.nansum(x, axis=1)) + 0.1 * np.arange(count) / count
    return Posterior(model, model.start, x, y)


# -- the covariance ------------------------------------------------------------------------------------------


@settings(max_examples=30, phases=UNSHRUNK)
@given(spaces(depth=3), st.integers(0, 9))
def test_the_covariance_is_positive_semi_definite_over_any_tree(space, seed):
    x, rng = drawn(space, 12, seed), np.random.default_rng(seed)
    for terms in (nodes(space), leaves(space) if count_paths(tree(space)) <= 100 else []):
        if not terms:
            continue
        kernel = Groups(terms, spread=0.3)
        gram = kernel.gram(rng.normal(0.0, 0.5, kernel.size), x).value
        assert np.linalg.eigvalsh(gram).min() > -1e-9 * gram.max()
        np.testing.assert_allclose(gram, gram.T)


def test_covariance_is_the_sum_over_common_nodes():
    configurations = [
        {"lr": 0.1, "model": "svm", "C": 0.3, "kernel": "rbf", "alpha": 0.2, "scaled": "no"},
        {"lr": 0.1, "model": "trees", "depth": 5, "alpha": 0.2, "scaled": "no"},
        {"lr": 0.1, "model": "none", "scaled": "yes", "power": 0.5, "offset": 0.5},
    ]
    x = SPACE.encode_all(configurations)
    kernel = Groups(nodes(SPACE))
    gram = kernel.gram(Model(kernel).start[:-1], x).value
    # lr, svm, alpha, scaled=no against lr, trees, alpha, scaled=no against lr, none, scaled=yes
    np.testing.assert_allclose(gram, [[4, 3, 1], [3, 4, 1], [1, 1, 3]])


def test_gradients_across_branches():
    kernel, x = Groups(nodes(SPACE), spread=0.3), drawn(SPACE, 9)
    rng = np.random.default_rng(1)
    theta = rng.normal(0.0, 0.3, kernel.size)
    g = rng.standard_normal((9, 9))
    g += g.T
    closed = kernel.gram(theta, x).to_parameters(g)
    assert_gradient(closed, lambda t: float(np.vdot(g, kernel.gram(t, x).value)), theta)


def test_one_path_has_nothing_in_common_with_another_if_leaves_are_independent():
    x = drawn(SPACE, 40)
    kernel = Groups(leaves(SPACE))
    gram = kernel.gram(np.zeros(kernel.size), x).value
    paths = list(every_path(tree(SPACE)))
    followed = [next(i for i, path in enumerate(paths) if _on(path, row)) for row in x]
    same = np.equal.outer(followed, followed)
    assert np.all((gram > 0.0) == same)


def _on(path, row):
    return all(node.gate is None or _label(row, *node.gate) for node in path)


def _label(row, column, position):
    return bool(np.floor(row[column] * SPACE.columns.levels[column]) == position)


# -- posteriors ----------------------------------------------------------------------------------------------


def test_posteriors_of_nodes_sum_to_the_joint_posterior():
    joint, queries = posterior(SPACE, spread=0.3), drawn(SPACE, 6, seed=5)
    root = tree(SPACE)
    for query in queries:
        parts, cross = [], np.zeros(len(joint.y))
        for node in everywhere(root):
            alone = np.full(SPACE.dim, np.nan)
            if len(node.columns):
                alone[node.columns] = query[node.columns]
            elif node.gate is not None and _label(query, *node.gate):
                alone[node.gate[0]] = query[node.gate[0]]
            parts.append(joint.predict(alone[None]).mean[0] - joint.mean)
            cross += joint.model.kernel.against(joint.theta[:-1], joint.x)(alone[None]).value[0]
        whole = joint.predict(query[None])
        assert sum(parts) + joint.mean == pytest.approx(whole.mean[0])
        solved = linalg.solve_lower(joint.factor, cross[:, None])
        prior = joint.model.kernel.diagonal(joint.theta[:-1], query[None]).value[0]
        assert prior - float(solved[:, 0] @ solved[:, 0]) == pytest.approx(whole.variance[0], abs=1e-9)


def test_blocks_change_nothing_but_the_work(monkeypatch):
    model = Tree().model(Ground(ROOTLESS))
    x, y = drawn(ROOTLESS, 30), np.random.default_rng(2).standard_normal(30)
    queries = drawn(ROOTLESS, 7, seed=3)
    assert sorted(map(len, blocks(model.kernel, x))) == sorted(np.bincount(np.floor(3 * x[:, 0]).astype(int)))
    by_blocks = model.negative_log_posterior(model.start, x, y), Posterior(model, model.start, x, y)
    predicted = by_blocks[1].predict(queries)
    for module in ("model", "posterior"):
        name = "blocks_of" if module == "model" else "blocks"
        monkeypatch.setattr(f"hidim.gp.{module}.{name}", lambda kernel, x: [np.arange(len(x))])
    dense = model.negative_log_posterior(model.start, x, y), Posterior(model, model.start, x, y)
    expected = dense[1].predict(queries)
    assert by_blocks[0][0] == pytest.approx(dense[0][0])
    np.testing.assert_allclose(by_blocks[0][1], dense[0][1], atol=1e-8)
    np.testing.assert_allclose(predicted.mean, expected.mean)
    np.testing.assert_allclose(predicted.variance, expected.variance)
    ones = np.ones(7)
    np.testing.assert_allclose(predicted.to_inputs(ones, ones), expected.to_inputs(ones, ones), atol=1e-9)


# -- paths ---------------------------------------------------------------------------------------------------


@settings(max_examples=20, phases=UNSHRUNK)
@given(spaces(depth=3), st.integers(0, 99))
def test_the_recursion_finds_the_paths_with_the_largest_sums(space, seed):
    root, rng = tree(space), np.random.default_rng(seed)
    values = {id(node): Setting(np.empty(0), float(rng.standard_normal())) for node in everywhere(root)}
    sums = sorted((sum(values[id(node)].bound for node in path) for path in every_path(root)), reverse=True)
    found = best_routes(root, values, 5)
    np.testing.assert_allclose([path.bound for path in found], sums[:5])


def test_a_composed_point_is_a_configuration_and_no_node_alone_could_do_better():
    known = posterior(SPACE)
    none = np.empty((0, SPACE.dim))
    found = Paths().composed(known, Axes(Ground(SPACE)), tree(SPACE), [2.0], none, np.random.default_rng(0))[
        0
    ]
    assert len(found.points) == 6
    np.testing.assert_array_equal(np.isnan(SPACE.snap(found.points)), np.isnan(found.points))
    bounds = [path.bound for path in found.routes]
    assert bounds == sorted(bounds, reverse=True)
    for point in drawn(SPACE, 200, seed=9):
        mean, variance, _ = known.predict(point[None])
        # The bound of the sum is below the sum of the bounds, on whatever path.
        assert 2.0 * math.sqrt(variance[0]) - (mean[0] - known.mean) <= bounds[0] + 0.05


# -- the method ----------------------------------------------------------------------------------------------


def run(method: Method, count: int, space: Space = SPACE, seed: int = 0) -> Optimizer:
    optimizer = Optimizer(space, method=method, seed=seed)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, value(trial.params))
    return optimizer


def value(params) -> float:
    """Least, 0, for trees of depth 7, alpha .3 and no scaling."""
    offset = {"svm": 0.4, "trees": 0.0, "none": 1.0}[params["model"]]
    return (
        (params["lr"] - 0.6) ** 2
        + offset
        + (params.get("alpha", 0.3) - 0.3) ** 2
        + (params.get("depth", 7) - 7) ** 2 / 20
        + (0.2 if params["scaled"] == "yes" else 0.0)
    )


def test_it_finds_the_best_branch_and_its_settings():
    assert run(METHODS["addtree"], 30).best.value < 1e-3


@pytest.mark.parametrize(
    "method",
    [
        "addtree-paper",
        "leaves",
        "flat",
        "addtree(spread=0.3)",
        "addtree(inference=slice, draws=2, growth=0.5)",
    ],
)
def test_its_variants_and_what_it_is_compared_with_learn_too(method):
    assert run(make_method(method), 20).best.value < 0.4


def test_many_paths_stay_cheap():
    forks = {
        f"c{i}": Choice({label: Space({f"x{i}{label}": Float(0, 1)}) for label in "abc"}) for i in range(9)
    }
    space = Space(forks)  # 3⁹ paths
    optimizer = Optimizer(space, method=configured("addtree", initial=5), seed=0)
    for _ in range(8):
        trial = optimizer.ask()
        optimizer.tell(trial, sum(v == "a" for v in trial.params.values()))
    assert optimizer.best.value <= 2


class Told(NamedTuple):
    """A belief of so many observations, whose information gain grows as their logarithm."""

    observations: int
    noise: float = 1e-4

    @property
    def y(self):
        return range(self.observations)

    def information(self):
        return 0.5 * math.log1p(1.0 / self.noise) * (1.0 + math.log(self.observations))


def test_adaptation_shortens_length_scales_and_raises_the_bound():
    adaptation, known = Adaptation(lengthscale=0.5, power=0.1), posterior(SPACE)
    model = known.model
    theta = np.where(model.holds("log_lengthscale_deviation"), 0.3, model.start)
    longest = adaptation.longest(known, 4)
    assert longest == pytest.approx(math.log(0.5 * 2.0 / (1.0 + 25 / 20) ** 0.1))
    short = model.shortened(theta, longest)
    level = short[model.holds("log_lengthscale")][0]
    assert np.all(level + short[model.holds("log_lengthscale_deviation")] <= longest + 1e-12)
    assert adaptation.root(known, 4) > adaptation.root(known, 2) > 1.0


@pytest.mark.parametrize("dim", [1, 2, 3, 20])
def test_length_scales_shrink_slowly_enough_for_no_regret(dim):
    """Proposition 11: g(t)^d has to grow slower than t^¼."""
    late, early = (dim * Adaptation().log_growth(Told(t), dim) for t in (10**9, 10**5))
    assert 0.0 < late - early < 0.25 * math.log(10**4)


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("t", [1, 50, 10**4])
def test_matched_regret_is_the_reference(dim, t):
    """(t β_t I_t)^½ = c t^reference, wherever that leaves more than the least bound."""
    matching, belief = Matching(norm=2.0, reference=0.9), Told(t)
    root, single = matching.root(belief, dim), 0.5 * math.log1p(1.0 / belief.noise)
    least = Adaptation(norm=2.0, power=0.0).root(belief, dim)
    reference = 2.0 * math.sqrt(single) * t**0.9
    assert root == pytest.approx(max(reference / math.sqrt(t * belief.information()), least), rel=1e-6)
    assert matching.longest(belief, dim) <= Adaptation(power=0.0).longest(belief, dim)


def test_addtree_can_match_a_reference_regret():
    inference = Adaptive(Peak(outcome="identity"), Matching())
    method = configured("addtree-paper", inference=inference, utility=GroupBounds(Matching()))
    optimizer = Optimizer(SPACE, method=method, seed=0)
    for _ in range(14):
        trial = optimizer.ask()
        optimizer.tell(trial, float(len(trial.params)) + trial.params["lr"])
    assert optimizer.history[-1].meta["way"] != "design"


def test_information_gain_is_that_of_the_definition():
    known = posterior(SPACE)
    gram = known.model.kernel.gram(known.theta[:-1], known.x).value
    information = 0.5 * np.linalg.slogdet(np.eye(25) + gram / known.noise)[1]
    flat = Adaptation(power=0.0, norm=1.0, delta=0.1)
    expected = 1.0 + 4.0 * math.sqrt(known.noise * (information + 1.0 + math.log(10.0)))
    assert flat.root(known, 3) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: configured("addtree", prior="forest"), "leaves, main-effects, pursuit, restricted, tree"),
        (lambda: Tree(form="cubic"), "matern12, se"),
        (lambda: configured("addtree-paper", prior="leaves"), "needs a prior that is a sum over groups"),
        (lambda: configured("leaves", utility="group-bounds"), "'group-bounds' needs a prior that is a sum"),
        (lambda: configured("addtree", utility="group-bounds", search="ascent"), "search='paths'"),
        (lambda: configured("addtree", frame="subspaces"), "use frame='cube'"),
        (lambda: configured("addtree", utility="vertices"), "unknown utility 'vertices'"),
        (lambda: Adaptation(delta=1.5), "probability"),
        (lambda: configured("addtree", initial=0), "initial"),
        (lambda: configured("addtree-paper", prior=Flat()), "prior='tree'"),
        (lambda: Paths(keep=0), "keep"),
        (lambda: configured("addtree", prior=3), "prior=3"),
        (lambda: Tree(warped="no"), "True or False"),
        (lambda: Adaptive(adaptation={"power": 1.0}), "Adapting"),
    ],
)
def test_settings_that_cannot_be_are_refused(make, message):
    with pytest.raises(MethodError, match=message):
        make()


def test_independent_leaves_have_a_limit():
    forks = {f"c{i}": Choice("no", yes=Space({f"x{i}": Float(0, 1)})) for i in range(11)}
    with pytest.raises(MethodError, match="2048 paths"):
        leaves(Space(forks))


def test_recipes_are_methods_by_name():
    assert make_method("leaves").prior == Tree(by="paths")
    assert isinstance(make_method("addtree-paper").utility, GroupBounds)


def test_a_space_without_choices_is_one_node():
    space = Space(x=Float(0, 1), y=Float(0, 1))
    assert len(nodes(space)) == 1
    assert isinstance(Tree().model(Ground(space)).kernel, Scaled)
    optimizer = Optimizer(space, method=METHODS["addtree"], seed=0)
    for _ in range(25):
        trial = optimizer.ask()
        optimizer.tell(trial, (trial.params["x"] - 0.3) ** 2 + (trial.params["y"] - 0.8) ** 2)
    assert optimizer.best.value < 1e-4


def test_suggestions_do_not_depend_on_the_memo():
    optimizer = run(METHODS["addtree"], 15)
    fresh = Task(SPACE, seed=0)
    expected = METHODS["addtree"].suggest(fresh, optimizer.history, 15).params
    assert optimizer.ask().params == expected


def test_paths_are_candidates_for_every_acquisition(monkeypatch):
    found, original = [], ascent.best_points
    monkeypatch.setattr(ascent, "best_points", lambda *a: found.append(original(*a)) or found[-1])
    for utility in ("log-ei", "ei", "ucb"):
        run(configured("addtree", utility=utility, climb=1), 12)
        assert len(found) == 2  # of 12 trials, ten are those of the design
        assert all(len(points) > 0 for points in found)
        found.clear()


def test_a_bound_for_many_columns_is_finite():
    assert math.isfinite(Adaptation().root(posterior(SPACE), 10**6))


def test_many_nodes_are_scored_in_parts(monkeypatch):
    known, root, none = posterior(SPACE), tree(SPACE), np.empty((0, SPACE.dim))
    whole = Paths().composed(known, Axes(Ground(SPACE)), root, [1.0, 2.0], none, np.random.default_rng(0))
    monkeypatch.setattr(group_settings, "MOST_NUMBERS", 1)
    parts = Paths().composed(known, Axes(Ground(SPACE)), root, [1.0, 2.0], none, np.random.default_rng(0))
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one.points, other.points, atol=1e-6)


def test_unusual_settings_survive_a_file(tmp_path):
    inference = Adaptive(Peak(outcome="identity"), Adaptation(power=0.05))
    method = configured("addtree", inference=inference, utility=GroupBounds(Fixed(3.0)), search=Paths(keep=7))
    Optimizer(SPACE, method=method).save(tmp_path / "run.json")
    assert Optimizer.load(tmp_path / "run.json").method == method
