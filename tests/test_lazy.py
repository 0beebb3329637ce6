"""Vectors that are too long to be written down, on their way through space, optimizer, files and results."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest

from hidim import Choice, Float, Int, Optimizer, Result, Space, TrialState, Vector, minimize
from hidim.embed import CountSketch, Gaussian, LazyVector, Uniform
from hidim.errors import HidimError, HistoryError, ParameterError, SpaceError, TrialError
from hidim.lines import seal, unseal
from hidim.methods import configured
from hidim.trial import same_params
from saved import reloaded, tampered

BILLION = Space(x=Vector(10**9, -1, 1))
PLACES = [7, 123_456_789]

#: Every method that goes to a billion columns, soon past its random beginning.
METHODS = {
    "rembo": configured("rembo", low=2, runs=1, initial=3, evaluations=20),
    "baxus": configured("baxus", low=2, patience=0.0, least=3, initial=3),
    "auto": "auto",
    "random": "random",
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def bowl(params) -> float:
    return float(np.sum((params["x"][PLACES] - 0.3) ** 2))


def told(method, count=8, space=BILLION, objective=bowl) -> Optimizer:
    optimizer = Optimizer(space, method, seed=3)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, objective(trial.params))
    return optimizer


# -- spaces ------------------------------------------------------------------------------------------------

#: Every coordinate has a range of its own, and every other one is logarithmic.
OWN = Vector(2000, low=np.linspace(0.1, 1, 2000), high=np.linspace(2, 3, 2000), log=np.arange(2000) % 2 == 0)

WIDE = Space(
    a=Float(1e-3, 1e3, log=True),
    w=Vector(1500, -2, 5),
    n=Int(1, 9),
    short=Vector(3, 0, 7),
    c=Choice("plain", deep=Space(u=OWN, m=Int(1, 64, log=True)), other=Space(u=Vector(1001, -1, 0))),
    z=Vector(1000, -1, 1),
)

EMBEDDINGS = {
    "gaussian": Gaussian(WIDE.dim, 3, seed=2),
    "count-sketch": CountSketch(WIDE.dim, 8, seed=2, doublings=1),
    "uniform": Uniform(WIDE.dim, 1, seed=2),
}


@pytest.mark.parametrize("embedding", EMBEDDINGS.values(), ids=EMBEDDINGS)
def test_a_lazy_point_is_decoded_to_the_same_bits_as_a_dense_one(embedding):
    options = set()
    for y in np.random.default_rng(0).uniform(-1, 1, size=(20, embedding.low)):
        point = LazyVector(embedding, y, 0.0, 1.0)
        lazy, dense = WIDE.decode(point), WIDE.decode(np.asarray(point))
        options.add(lazy["c"])
        assert list(lazy) == list(dense)
        assert same_params(lazy, dense)
        for name, value in lazy.items():
            long = isinstance(dense[name], np.ndarray) and len(dense[name]) > 1000
            assert isinstance(value, LazyVector) == long
            if long:
                assert np.asarray(value).tobytes() == dense[name].tobytes()
                assert value[[0, 17, -1]].tobytes() == dense[name][[0, 17, -1]].tobytes()
                assert list(value) == dense[name].tolist()
            else:
                assert type(value) is type(dense[name])
        np.testing.assert_array_equal(WIDE.encode(WIDE.validate(lazy)), WIDE.encode(dense))
    assert len(options) > 1


def test_vectors_beside_others_look_at_their_own_columns():
    embedding = EMBEDDINGS["gaussian"]
    y = np.array([0.2, -0.1, 0.3])
    point = LazyVector(embedding, y, 0.0, 1.0)
    lazy = WIDE.decode(point)["w"]
    assert (lazy.start, lazy.size, lazy.low, lazy.high) == (1, 1500, -2.0, 5.0)
    np.testing.assert_allclose(lazy[:10], -2.0 + 7.0 * point[1:11])


@pytest.mark.parametrize(
    ("vector", "fault"),
    [
        (LazyVector(Gaussian(9, 2), np.ones(2), 0.0, 1.0), "has 9 coordinates instead of 1500"),
        (LazyVector(Gaussian(1500, 2), np.ones(2), -3.0, 5.0), "out of range"),
        (LazyVector(Gaussian(1500, 2), np.ones(2), -2.0, 6.0), "out of range"),
        (LazyVector(Gaussian(1500, 2), np.ones(3), -2.0, 5.0), ""),
        (LazyVector(Gaussian(1500, 2), np.array([0.1, np.nan]), -2.0, 5.0), ""),
        (LazyVector(Gaussian(1400, 2), np.ones(2), -2.0, 5.0, size=1500), ""),
        (LazyVector(Gaussian(1500, 2), np.ones(2), -2.0, 5.0, start=1, size=1500), ""),
    ],
    ids=["length", "below", "above", "y too long", "y is NaN", "beyond the embedding", "beyond its end"],
)
def test_a_lazy_vector_that_does_not_fit_is_refused(vector, fault):
    with pytest.raises(ParameterError, match=f"'w' = LazyVector.*{fault}.*1500 numbers"):
        Space(w=Vector(1500, -2, 5)).validate({"w": vector})


def test_a_lazy_vector_is_no_number():
    with pytest.raises(ParameterError, match="'a'"):
        Space(a=Float(0, 1)).validate({"a": LazyVector(Gaussian(5, 2), np.ones(2))})


def test_bounds_by_coordinate_of_a_lazy_vector_must_be_the_parameters():
    low, high, log = OWN.range
    fitting = LazyVector(Gaussian(2000, 2), np.ones(2), low, high, log=log)
    assert Space(w=OWN).validate({"w": fitting})["w"] is fitting
    with pytest.raises(
        ParameterError, match=r"'w' = LazyVector.*bounds by coordinate that are not the param"
    ):
        Space(w=OWN).validate({"w": LazyVector(Gaussian(2000, 2), np.ones(2), low + 0.01, high, log=log)})
    with pytest.raises(ParameterError, match=r"'w' = LazyVector.*reaches out of range"):
        Space(w=OWN).validate({"w": LazyVector(Gaussian(2000, 2), np.ones(2), low - 0.01, high, log=log)})
    narrow = LazyVector(Gaussian(2000, 2), np.ones(2), 1.0, 2.0)
    assert Space(w=OWN).validate({"w": narrow})["w"] is narrow


@pytest.mark.parametrize("method", ["rembo", "baxus"])
@pytest.mark.parametrize(
    "vector", [OWN, Vector(10**9, 1e-3, 1e3, log=True)], ids=["own bounds", "billion log"]
)
def test_ranges_that_are_own_or_logarithmic_go_through_files_without_being_written_down(
    method, vector, tmp_path
):
    optimizer = told(METHODS[method], 5, Space(x=vector), lambda p: float(np.log(p["x"][7]) ** 2))
    back = reloaded(optimizer)
    for mine, its in zip(optimizer.history, back.history, strict=True):
        assert same_params(mine.params, its.params)
        assert mine.params["x"][:50].tobytes() == its.params["x"][:50].tobytes()
        assert mine.params["x"].has_range(*vector.range)
    assert same_params(optimizer.ask().params, back.ask().params)
    optimizer.save(tmp_path / "run.jsonl")
    assert max(map(len, (tmp_path / "run.jsonl").read_bytes().splitlines()[1:])) < 3000


def test_lazy_vectors_of_different_ranges_differ():
    made = [
        LazyVector(Gaussian(2000, 2), np.ones(2), *OWN.range[:2], log=log) for log in (OWN.range[2], False)
    ]
    assert made[0] != made[1]
    assert made[0] == pickle.loads(pickle.dumps(made[0]))
    assert repr(made[0]) == "LazyVector(2000 coordinates in [0.1, 3])"


def test_a_narrower_lazy_vector_fits():
    vector = LazyVector(Gaussian(1500, 2), np.ones(2), 0.0, 1.0)
    assert Space(w=Vector(1500, -2, 5)).validate({"w": vector})["w"] is vector


# -- ask and tell ------------------------------------------------------------------------------------------


@every_method
def test_a_billion_coordinates_take_little_memory(method):
    told(method, 1)  # what is imported does not count
    tracemalloc.start()
    optimizer = told(method, 10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6
    assert len(optimizer.history.complete) == 10


@every_method
def test_in_a_billion_dimensions_objectives_get_lazy_vectors(method):
    optimizer = told(method, 6)
    for trial in [*optimizer.history, optimizer.best, optimizer.ask()]:
        x = trial.params["x"]
        assert isinstance(x, LazyVector)
        assert len(x) == 10**9
        assert -1.0 <= min(x[PLACES]) <= max(x[PLACES]) <= 1.0
    assert len({tuple(optimizer.history[n].params["x"][PLACES]) for n in range(6)}) == 6


@pytest.mark.parametrize("method", ["gp", "sobol"])
def test_methods_that_write_points_down_refuse_a_billion_columns_and_name_the_mend(method):
    with pytest.raises(HidimError, match=r"1000000000 columns.*method='baxus'"):
        Optimizer(BILLION, method)


def test_encoding_and_sampling_a_billion_columns_is_refused():
    params = told("rembo", 1).history[0].params
    with pytest.raises(SpaceError, match="1000000000 columns"):
        BILLION.encode(params)
    with pytest.raises(SpaceError, match="1000000000 columns"):
        BILLION.sample(np.random.default_rng(0))


@pytest.mark.parametrize(
    ("dim", "handed", "kept"),
    [
        (1000, np.ndarray, np.ndarray),
        (1001, np.ndarray, LazyVector),
        (10**6, np.ndarray, LazyVector),
        (10**6 + 1, LazyVector, LazyVector),
    ],
)
@pytest.mark.parametrize("method", ["rembo", "baxus"])
def test_objectives_get_arrays_as_long_as_that_makes_sense_and_histories_keep_little(
    method, dim, handed, kept
):
    seen = []

    def objective(params):
        seen.append(params["x"])
        return float(params["x"][0])

    result = minimize(objective, Space(x=Vector(dim)), 2, method=method)
    assert {type(x) for x in seen} == {type(result.best.params["x"])} == {handed}
    assert {type(t.params["x"]) for t in result.history} == {kept}
    assert [x[0] for x in seen] == [t.params["x"][0] for t in result.history]
    assert all(
        np.array_equal(x[[5, -1]], t.params["x"][[5, -1]]) for x, t in zip(seen, result.history, strict=True)
    )
    if kept is LazyVector:
        assert len(pickle.dumps(result.history)) < 5000


def test_dense_and_lazy_objectives_see_the_same_million():
    optimizer = Optimizer(Space(x=Vector(10**6, -3, 4)), METHODS["rembo"], seed=3)
    for _ in range(2):
        trial = optimizer.ask()
        x, kept = trial.params["x"], optimizer.history[-1].params["x"]
        assert isinstance(x, np.ndarray)
        assert kept[[5, 999_999]].tolist() == x[[5, 999_999]].tolist()
        assert np.array_equal(kept.chunk(65_530, 65_545), x[65_530:65_545])
        optimizer.tell(trial.number, float(x[0]))
    assert np.asarray(kept).tobytes() == x.tobytes()


def test_a_trial_that_was_handed_out_can_be_told_and_a_changed_one_cannot():
    optimizer = Optimizer(Space(x=Vector(5000)), "rembo", seed=1)
    first, second = optimizer.ask(), optimizer.ask()
    optimizer.tell(first, 1.0)
    second.params["x"][4321] += 1e-9
    with pytest.raises(TrialError, match="changed since"):
        optimizer.tell(second, 2.0)
    optimizer.tell(second.number, 2.0)
    assert optimizer.history[1].value == 2.0


def test_a_lazy_trial_of_another_optimizer_is_refused():
    mine, other = (Optimizer(BILLION, "rembo", seed=seed) for seed in (1, 2))
    for optimizer in (mine, other):
        optimizer.tell(optimizer.ask(), 0.0)
    foreign = other.ask()
    mine.ask()
    with pytest.raises(TrialError, match="another optimizer"):
        mine.tell(foreign, 1.0)


def test_what_objectives_do_to_a_lazy_vector_does_not_reach_the_history():
    optimizer = Optimizer(BILLION, "baxus", seed=1)
    optimizer.tell(optimizer.ask(), 0.0)
    trial = optimizer.ask()
    before = optimizer.history[1].params["x"][PLACES]
    trial.params["x"].y[:] = 0.0
    np.testing.assert_array_equal(optimizer.history[1].params["x"][PLACES], before)


def test_a_lazy_vector_can_be_entered_again_elsewhere():
    x = told("rembo", 3).best.params["x"]
    optimizer = Optimizer(BILLION, "baxus")
    assert optimizer.add({"x": x}, 0.5).params["x"] == x
    assert optimizer.best.params["x"][7] == x[7]
    assert optimizer.add({"x": x}).params["x"] == x


def test_a_vector_from_elsewhere_can_be_told_of_as_an_array():
    space = Space(x=Vector(5000))
    optimizer = told("rembo", 3, space, lambda p: float(p["x"].sum()))
    trial = optimizer.add({"x": np.full(5000, 0.25)}, -1e9)
    assert isinstance(trial.params["x"], np.ndarray)
    assert optimizer.best.number == trial.number
    assert reloaded(optimizer).ask() == optimizer.ask()


# -- files -------------------------------------------------------------------------------------------------


@every_method
def test_a_saved_history_is_small_and_goes_on_with_the_same_suggestion(method, tmp_path):
    optimizer, path = told(method), tmp_path / "run.json"
    pending = optimizer.ask()
    optimizer.fail(optimizer.ask(), "crash")
    optimizer.save(path)
    assert path.stat().st_size < 1500 * len(optimizer.history)
    loaded = Optimizer.load(path)
    assert list(loaded.history) == list(optimizer.history)
    assert loaded.history[0].params["x"][7] == optimizer.history[0].params["x"][7]
    assert loaded.history[pending.number].state is TrialState.RUNNING
    loaded.tell(pending, 0.1)
    optimizer.tell(pending, 0.1)
    for _ in range(2):
        expected, found = optimizer.ask(), loaded.ask()
        assert found == expected
        assert found.params["x"][PLACES].tobytes() == expected.params["x"][PLACES].tobytes()
        optimizer.tell(expected, bowl(expected.params))
        loaded.tell(found, bowl(found.params))


def damaged(tmp_path, **changes):
    """A saved history in which the vector of trial 2 was changed."""

    def change(events) -> None:
        vector = events[3]["params"]["x"]
        for name, value in changes.items():
            if value is None:
                del vector[name]
            else:
                vector[name] = value

    return tampered(told("rembo", 4), tmp_path / "run.json", change)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"embedding": "fourier"}, "'fourier', which this hidim does not know"),
        ({"embedding": ["gaussian"]}, "which this hidim does not know"),
        ({"y": None}, "y"),
        ({"part": None}, "part"),
        ({"seed": -1}, "seed"),
        ({"box": "round"}, "round"),
        ({"high": 10**8}, ""),
        ({"colour": "red"}, "colour"),
        ({"y": [0.1]}, ""),
        ({"y": "abc"}, ""),
        ({"part": {"low": -5.0, "high": 1.0, "start": 0, "size": 10**9}}, "out of range"),
        ({"part": {"low": -1.0, "high": 1.0, "start": 0, "size": 10}}, "10 coordinates"),
    ],
    ids=str,
)
def test_a_damaged_vector_is_a_clear_error(tmp_path, changes, named):
    path = damaged(tmp_path, **changes)
    with pytest.raises(HistoryError, match=f"run.json.*{named}"):
        Optimizer.load(path)


@every_method
def test_a_journal_of_a_billion_dimensions_is_small_and_resumed_to_the_same_trials(method, tmp_path):
    path, interrupted_at = tmp_path / "run.jsonl", 6
    whole = minimize(bowl, BILLION, 10, method=method, seed=5)
    calls = []

    def interrupting(params):
        calls.append(params)
        if len(calls) == interrupted_at:
            raise KeyboardInterrupt
        return bowl(params)

    minimize(interrupting, BILLION, 10, method=method, seed=5, journal=path)
    half = Result.from_journal(path)
    assert len(half.history.complete) == interrupted_at - 1
    resumed = minimize(interrupting, BILLION, 10, method=method, seed=5, journal=path)
    assert list(resumed.history) == list(whole.history)
    assert len(calls) == 11
    assert path.stat().st_size < 1500 * 10
    found = Result.from_journal(path)
    assert list(found.history) == list(whole.history)
    assert found.best.params["x"][PLACES].tolist() == whole.best.params["x"][PLACES].tolist()


@pytest.mark.parametrize("method", ["rembo", "baxus"])
def test_a_journal_is_small_where_objectives_get_arrays_too(method, tmp_path):
    path, space = tmp_path / "run.jsonl", Space(x=Vector(20_000))
    first = minimize(lambda p: float(p["x"].sum()), space, 3, method=method, journal=path)
    assert path.stat().st_size < 1000 * 3 + 1000
    resumed = minimize(lambda p: float(p["x"].sum()), space, 4, method=method, journal=path)
    assert list(resumed.history[:3]) == list(first.history)
    assert {type(t.params["x"]) for t in resumed.history} == {LazyVector}


def test_an_unknown_embedding_in_a_journal_is_a_clear_error(tmp_path):
    path = tmp_path / "run.jsonl"
    minimize(bowl, BILLION, 2, method="rembo", journal=path)
    lines = path.read_bytes().splitlines(keepends=True)
    event = unseal(lines[3])
    event["params"]["x"]["embedding"] = "fourier"
    path.write_bytes(b"".join([*lines[:3], seal(event), *lines[4:]]))
    for read in (lambda: Result.from_journal(path), lambda: minimize(bowl, BILLION, 3, journal=path)):
        with pytest.raises(HistoryError, match=r"trial 1.*'fourier'"):
            read()


# -- results -----------------------------------------------------------------------------------------------


def test_results_of_a_billion_dimensions_can_be_shown():
    result = minimize(bowl, BILLION, 6, method="rembo")
    assert "LazyVector(1000000000 coordinates in [-1, 1])" in repr(result)
    assert "1000000000 columns" in result.explain()
    assert "1000000000 columns" in repr(result.space)


def test_a_table_of_trials_keeps_lazy_vectors():
    pytest.importorskip("pandas")
    history = told("rembo", 4).history
    table = history.to_pandas()
    assert list(table["x"]) == [t.params["x"] for t in history]
    assert len(table) == 4


def test_lazy_vectors_travel_to_workers():
    x = told("rembo", 2).history[1].params["x"]
    back = pickle.loads(pickle.dumps(x))
    assert back == x
    assert back[PLACES].tobytes() == x[PLACES].tobytes()
    assert len(pickle.dumps(x)) < 1000


@pytest.mark.parametrize(
    "use",
    [
        lambda x: ((x - 0.3) ** 2).sum(),
        lambda x: x.sum(),
        lambda x: 2 * x,
        lambda x: x @ x,
        np.exp,
        lambda x: np.array([1.0, 2.0]) * x,
        lambda x: np.add.reduce(x),
        lambda x: x[x > 0],
        lambda x: 1 / x,
    ],
)
def test_arithmetic_says_what_to_do_instead(use):
    x = LazyVector(Gaussian(high=10**9, low=2, seed=0), np.zeros(2))
    with pytest.raises(TypeError, match=r"no arithmetic: look at .* x\[10:20\]"):
        use(x)
