"""Peers that need no extra package; the others where they are installed."""

from __future__ import annotations

import numpy as np
import pytest

from hidim import _optional
from hidim.bench.peers import PEERS, check_method, make_peer
from hidim.bench.problems import problem
from hidim.errors import MethodError, MissingDependencyError

PACKAGES = {"random": "numpy", "botorch": "botorch", "pycma": "cma", "smac": "smac"}


@pytest.mark.parametrize("name", ["random", "optuna-tpe", "optuna-cmaes", "pycma", "smac"])
def test_suggestions_stay_in_the_cube_and_repeat_with_the_seed(name: str) -> None:
    pytest.importorskip(PACKAGES.get(name, "optuna"))
    task = problem("levy-5")

    def run() -> list[list[float]]:
        peer = make_peer(name, task, seed=3, budget=12)
        asked = []
        for _ in range(12):
            params = peer.ask()
            peer.tell(params, task.value(params))
            asked.append(list(params["x"]))
        return asked

    points = np.array(run())
    assert points.shape == (12, 5)
    assert points.min() >= 0
    assert points.max() <= 1
    np.testing.assert_array_equal(points, run())


@pytest.mark.parametrize("name", ["random", "optuna-tpe", "smac"])
def test_conditional_configurations_are_whole(name: str) -> None:
    pytest.importorskip(PACKAGES.get(name, "optuna"))
    tree = problem("jenatton")
    peer = make_peer(name, tree, seed=0, budget=8)
    for _ in range(8):
        params = peer.ask()
        assert len(params) == 4
        peer.tell(params, tree.value(params))


@pytest.mark.parametrize("name", ["random", "optuna-tpe", "smac"])
def test_labels_are_chosen_and_crashes_passed_over(name: str) -> None:
    pytest.importorskip(PACKAGES.get(name, "optuna"))
    task = problem("discrete-47")
    peer = make_peer(name, task, seed=0, budget=10)
    asked = []
    for number in range(10):
        params = peer.ask()
        task.space().validate(params)
        asked.append(tuple(params.values()))
        if number in (0, 1, 5):
            peer.fail(params)
        else:
            peer.tell(params, task.value(params))
    assert len(set(asked)) == 10


def test_evaluations_of_a_tree_can_be_given_to_optuna() -> None:
    pytest.importorskip("optuna")
    tree = problem("training")
    peer = make_peer("optuna-tpe", tree, seed=0, budget=40)
    given = tree.space().sample(np.random.default_rng(0), 30)
    for params in given:
        peer.add(params, tree.value(params))
    known = peer._study.trials
    assert [trial.params for trial in known] == given
    assert [trial.value for trial in known] == [tree.value(params) for params in given]
    params = peer.ask()  # with the same distributions, or Optuna would refuse
    peer.tell(params, tree.value(params))
    tree.space().validate(params)


def test_box_only_peer_refuses_a_tree() -> None:
    pytest.importorskip("cma")
    with pytest.raises(MethodError, match="jenatton"):
        make_peer("pycma", problem("jenatton"), seed=0, budget=8)


def test_unknown_method_is_refused_with_the_known_ones(monkeypatch) -> None:
    with pytest.raises(MethodError, match="optuna-gp"):
        check_method("bogus")
    monkeypatch.setattr(_optional, "find_spec", lambda package: package)  # as if all were installed
    for name in PEERS:
        check_method(name)


def test_a_peer_that_is_not_installed_is_refused_before_anything_runs(monkeypatch) -> None:
    monkeypatch.setattr(_optional, "find_spec", lambda package: None)
    for name in set(PEERS) - {"random"}:
        with pytest.raises(MissingDependencyError, match=r"hidim\[bench\]"):
            check_method(name)
    check_method("random")
