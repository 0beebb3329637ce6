"""The nodes of a conditional space: what exists together, and which ways lead through the tree."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from hidim.belief.priors.grouping import mixable
from hidim.space import Choice, Float, Int, Space, Vector
from hidim.space.columns import Kind
from hidim.space.nodes import count_paths, every_path, everywhere, tree
from strategies import spaces

SPACE = Space(
    lr=Float(0, 1),
    loss=Choice("l1", "l2"),
    model=Choice(
        svm=Space(C=Float(0, 1), alpha=Float(0, 1, shared=True), beta=Int(1, 9, shared=True)),
        tree=Space(
            depth=Int(1, 9),
            alpha=Float(0, 1, shared=True),
            beta=Int(1, 9, shared=True),
            pruned=Choice("no", yes=Space(cost=Vector(3, 0, 1))),
        ),
        none=None,
    ),
    prepared=Choice("no", pca=Space(rank=Int(1, 4))),
)


def names(node):
    return [vertex.name for vertex in node.vertices]


def test_a_node_holds_the_numbers_and_plain_labels_of_one_option():
    root = tree(SPACE)
    assert names(root) == ["lr", "loss"]
    assert [fork.vertex.name for fork in root.forks] == ["model", "prepared"]
    assert root.numbers.tolist() == [0]
    assert root.labels.tolist() == [1]
    svm, grown, none = root.forks[0].options
    assert names(svm) == ["C"]
    assert names(grown) == ["depth"]
    assert names(none) == []
    assert none.gate == (2, 2)


def test_parameters_shared_by_the_same_options_are_one_node():
    svm, grown, _ = tree(SPACE).forks[0].options
    assert svm.beside == grown.beside
    assert names(svm.beside[0]) == ["alpha", "beta"]


def test_paths_take_one_option_of_every_fork():
    root = tree(SPACE)
    titles = [{node.title for node in path} for path in every_path(root)]
    assert len(titles) == count_paths(root) == (1 + 2 + 1) * 2
    assert {"", "model=svm", "alpha & beta", "prepared=pca"} in titles
    assert not any({"model=svm", "model=none"} <= path for path in titles)


@settings(max_examples=30)
@given(spaces())
def test_every_column_of_a_configuration_belongs_to_one_node_or_fork_of_its_path(space):
    root = tree(space)
    ways = {
        frozenset(np.concatenate([node.columns for node in path]).tolist())
        | {fork.vertex.start for node in path for fork in node.forks}
        for path in every_path(root)
    }
    for point in space.snap(np.random.default_rng(0).random((8, space.dim))):
        assert frozenset(np.flatnonzero(~np.isnan(point)).tolist()) in ways
    columns = np.concatenate([node.columns for node in everywhere(root)])
    assert len(set(columns.tolist())) == len(columns)


def test_ordered_choices_are_numbers_unless_they_are_forks():
    space = Space(
        a=Choice("s", "m", ordered=True),
        b=Choice("p", "q"),
        c=Choice("u", v=Space(y=Float(0, 1)), ordered=True),
        x=Float(0, 1, step=0.5),
    )
    root = tree(space)
    assert root.numbers.tolist() == [0, 4]
    assert root.labels.tolist() == [1]
    assert [fork.vertex.name for fork in root.forks] == ["c"]
    assert space.columns.kind.tolist() == [
        Kind.INTEGER,
        Kind.LABEL,
        Kind.INTEGER,
        Kind.CONTINUOUS,
        Kind.INTEGER,
    ]
    assert mixable(space).tolist() == [0, 4]


def test_titles_show_tuples():
    space = Space(layers=Choice((64, 64), {(128,): Space(x=Float(0, 1))}))
    assert space.columns.names == ("layers", "layers=(128,)/x")
    assert [node.title for node in everywhere(tree(space))] == ["", "layers=(64, 64)", "layers=(128,)"]
