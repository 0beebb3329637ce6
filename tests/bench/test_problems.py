"""Optima, the papers' check values, and what the variants keep."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from hidim.bench.base import BoxProblem, Crash
from hidim.bench.peers import Random
from hidim.bench.problems import EXAMPLES, FAMILIES, MAX_SHIFT, mirror, problem
from hidim.errors import HidimError

VARIANTS = ("", "-shifted", "-rotated", "-shifted-rotated")
NAMES = [f"{family}-20{variant}" for family in FAMILIES for variant in VARIANTS]


def box(name: str) -> BoxProblem:
    found = problem(name)
    assert isinstance(found, BoxProblem)
    return found


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rosenbrock-20", 8608.36),
        ("rosenbrock-100", 8608.36),
        ("levy-20", 2.351),
        ("levy-100", 9.619),
    ],
)
def test_centre_has_the_value_of_the_bock_paper(name: str, value: float) -> None:
    centre = box(name).evaluate(np.full(box(name).dim, 0.5))
    assert centre == pytest.approx(value, rel=2e-4)


@pytest.mark.parametrize(
    ("name", "optimum"),
    [
        ("branin-25", 0.397887),
        ("hartmann6-100", -3.322368),
        ("additive-50", -60.69),
        ("rpp-50", -60.69),
        ("rpp-100", -118.36),
        ("gaussian-50", -1.0),
        ("ackley-30", 0.0),
        ("jenatton", 0.1),
    ],
)
def test_optimum_is_the_published_one(name: str, optimum: float) -> None:
    assert problem(name).optimum == pytest.approx(optimum, abs=5e-3 if optimum < -50 else 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_optimum_is_reached_at_the_minimiser_and_nowhere_undercut(name: str) -> None:
    task = box(name)
    rng = np.random.default_rng(0)
    assert task.minimiser.min() >= 0
    assert task.minimiser.max() <= 1
    assert task.evaluate(task.minimiser) == pytest.approx(task.optimum, abs=1e-10)
    near = mirror(task.minimiser + 0.01 * rng.standard_normal((100, task.dim)))
    starts = [*rng.random((100, task.dim)), *near]
    values = [task.evaluate(start) for start in starts]
    local = minimize(
        task.evaluate,
        starts[int(np.argmin(values))],
        method="L-BFGS-B",
        bounds=[(0, 1)] * task.dim,
        options={"maxfun": 500},
    )
    assert min(*values, local.fun) >= task.optimum - 1e-9


@pytest.mark.parametrize("name", ["branin-25", "levy-20", "rep-hartmann6-20"])
def test_shift_moves_active_coordinates_by_at_most_a_quarter(name: str) -> None:
    moved = box(f"{name}-shifted").minimiser - box(name).minimiser
    active = {"branin-25": 2, "levy-20": 20, "rep-hartmann6-20": 18}[name]
    assert np.count_nonzero(moved) == active
    assert 0.01 < np.abs(moved).max() <= MAX_SHIFT


def test_embedded_problem_ignores_idle_coordinates() -> None:
    task, rng = box("branin-25"), np.random.default_rng(0)
    point = task.minimiser.copy()
    moved = [i for i in range(task.dim) if task.evaluate(_changed(point, i)) != task.evaluate(point)]
    assert len(moved) == 2
    rotated = box("branin-25-rotated")
    point = rng.random(25)
    assert all(rotated.evaluate(_changed(point, i)) != rotated.evaluate(point) for i in range(25))


def _changed(point: np.ndarray, place: int) -> np.ndarray:
    other = point.copy()
    other[place] = 1 - 0.9 * other[place]
    return other


def test_mirror_folds_at_both_walls() -> None:
    np.testing.assert_allclose(mirror(np.array([-0.2, 0.3, 1.3, 2.1, -1.5])), [0.2, 0.3, 0.7, 0.1, 0.5])


def test_spellings_of_one_name_are_one_problem() -> None:
    one, other = box("branin-rotated-25"), box("branin-25-rotated")
    assert one.name == other.name == "branin-25-rotated"
    assert one.evaluate(np.full(25, 0.3)) == other.evaluate(np.full(25, 0.3))
    assert box("levy-20-rotated-shifted").name == "levy-20-shifted-rotated"


def test_names_mean_the_same_function_for_ever() -> None:
    point = np.linspace(0, 1, 20)
    found = [box(name).evaluate(point) for name in ("levy-20-shifted", "rosenbrock-20-rotated", "branin-20")]
    np.testing.assert_allclose(found, [321.15662923778217, 709522.29055476, 19.03863981992482], rtol=1e-9)


@pytest.mark.parametrize(
    "name", ["", "levy", "levy-0", "levy-20-30", "nope-20", "levy-20-bent", "gaussian-21"]
)
def test_unknown_names_are_refused_by_name(name: str) -> None:
    with pytest.raises(HidimError, match=f"'{name}'"):
        problem(name)


def test_examples_can_be_built() -> None:
    assert [problem(name).name for name in EXAMPLES] == list(EXAMPLES)


class Fixed:
    """Suggests the labels that it was given, and the middle of every interval."""

    def __init__(self, *labels: str) -> None:
        self.labels = list(labels)

    def vector(self, name: str, dim: int) -> np.ndarray:
        raise AssertionError(name, dim)

    def real(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        return low if name.startswith("r") else (low + high) / 2

    def label(self, name: str, options: tuple[str, ...]) -> str:
        assert name[0] == "x"
        assert options == ("0", "1")
        return self.labels.pop(0)


@pytest.mark.parametrize(
    ("labels", "names", "best"),
    [
        ("00", {"x1", "x2", "r8", "x4"}, 0.1),
        ("01", {"x1", "x2", "r8", "x5"}, 0.2),
        ("10", {"x1", "x3", "r9", "x6"}, 0.3),
        ("11", {"x1", "x3", "r9", "x7"}, 0.4),
    ],
)
def test_jenatton_leaves(labels: str, names: set[str], best: float) -> None:
    tree = problem("jenatton")
    params = tree.draw(Fixed(*labels))
    assert set(params) == names
    assert tree.value(params) == pytest.approx(best)


def test_spaces_agree_with_what_is_drawn() -> None:
    rng = np.random.default_rng(0)
    tree, cube = problem("jenatton"), problem("levy-7")
    for seed in range(10):
        drawn = Random(tree, seed, 1).ask()
        tree.space().validate(drawn)
        assert tree.value(tree.space().sample(rng)) >= tree.optimum
    assert cube.space().sample(rng)["x"].shape == (7,)


@pytest.mark.parametrize("variant", ["crashing", "walled"])
@pytest.mark.parametrize("base", ["levy-20-shifted", "branin-25", "hartmann6-6"])
def test_three_tenths_of_the_cube_crash_and_the_minimiser_does_not(base: str, variant: str) -> None:
    task = box(f"{base}-{variant}")
    assert task.evaluate(task.minimiser) == pytest.approx(task.optimum, abs=1e-9)
    crashed = 0
    for point in np.random.default_rng(5).random((1000, task.dim)):
        try:
            task.evaluate(point)
        except Crash:
            crashed += 1
    assert 240 < crashed < 360


def test_the_noise_is_a_tenth_of_the_range() -> None:
    task = box("hartmann6-6-noisy")
    assert task.noise == pytest.approx(0.33, abs=0.01)
    assert problem("hartmann6-6").noise == 0.0
