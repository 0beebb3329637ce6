"""What every embedding keeps, and what is peculiar to each."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from hidim._limits import COORDINATES_HANDED_OUT
from hidim.embed import EMBEDDINGS, Bins, CountSketch, Gaussian, LazyVector, Uniform
from hidim.embed.counter import normals, words
from hidim.embed.lazy import CHUNK, handed_out
from hidim.embed.permutation import permuted
from hidim.errors import MethodError

everyone = pytest.mark.parametrize("embedding", EMBEDDINGS.values(), ids=EMBEDDINGS)


@everyone
def test_a_row_does_not_depend_on_which_others_are_asked_for(embedding):
    whole = embedding.rows(np.arange(embedding.high))
    assert whole.shape == (embedding.high, embedding.low)
    order = np.random.default_rng(0).permutation(embedding.high)[:20]
    assert np.array_equal(embedding.rows(order), whole[order])
    assert embedding.rows(np.array([], dtype=np.int64)).shape == (0, embedding.low)


@everyone
def test_points_of_the_box_are_lifted_into_the_cube(embedding):
    rng = np.random.default_rng(0)
    y = embedding.radius * rng.uniform(-1, 1, size=(30, embedding.low))
    x = embedding.lift(y, np.arange(embedding.high))
    assert x.shape == (30, embedding.high)
    assert np.abs(x).max() <= 1.0
    small = y * 0.99 / np.abs(y @ embedding.rows(np.arange(embedding.high)).T).max(axis=1, keepdims=True)
    x = embedding.lift(small, np.arange(embedding.high))
    assert np.allclose(x, small @ embedding.rows(np.arange(embedding.high)).T)


@everyone
def test_another_seed_is_another_matrix(embedding):
    other = type(embedding)(embedding.high, embedding.low, seed=embedding.seed + 1)
    rows = np.arange(embedding.high)
    assert not np.array_equal(embedding.rows(rows), other.rows(rows))


@pytest.mark.parametrize("kind", [Gaussian, CountSketch])
@pytest.mark.parametrize(("high", "low"), [(5, 6), (5, 0)])
def test_a_search_space_larger_than_the_space_is_refused(kind, high, low):
    with pytest.raises(MethodError, match="from 1 to high"):
        kind(high, low)


def test_gaussian_entries_are_standard_normal_and_independent():
    rows = Gaussian(high=20_000, low=3, seed=4).rows(np.arange(20_000))
    assert stats.kstest(rows.ravel(), "norm").pvalue > 1e-3
    assert np.abs(np.corrcoef(rows, rowvar=False) - np.eye(3)).max() < 0.03
    assert abs(np.corrcoef(rows[:-1, 0], rows[1:, 0])[0, 1]) < 0.03


def test_bits_of_different_seeds_are_unrelated():
    left, right = (words(seed, np.arange(10_000)) for seed in (0, 1))
    agreeing = np.bitwise_count(~(left ^ right)).mean()
    assert agreeing == pytest.approx(32, abs=0.2)


def test_far_places_cost_no_more_than_near_ones():
    assert np.isfinite(normals(0, np.array([10**15, 2**62]))).all()


@pytest.mark.parametrize(
    ("settings", "radius"),
    [({}, 2.0), ({"box": "theorem", "failure": 0.5}, 8.0), ({"box": "log"}, 1.5 * math.log(4))],
)
def test_the_boxes_of_the_paper_and_of_its_authors(settings, radius):
    assert Gaussian(high=100, low=4, **settings).radius == pytest.approx(radius)


@pytest.mark.parametrize("settings", [{"box": "cube"}, {"failure": 0.0}, {"seed": -1}])
def test_bad_settings_are_named(settings):
    with pytest.raises(MethodError):
        Gaussian(high=10, low=2, **settings)


def test_a_count_sketch_has_one_sign_in_every_row_and_fills_its_bins_evenly():
    rows = CountSketch(high=8000, low=8, seed=0).rows(np.arange(8000))
    assert np.array_equal(np.abs(rows).sum(axis=1), np.ones(8000))
    assert stats.chisquare(np.abs(rows).sum(axis=0)).pvalue > 1e-3
    assert abs(rows.sum()) < 400


@pytest.mark.parametrize(
    ("splits", "seeds", "sizes"), [(0, 200, [2, 3]), (1, 200, [1, 2]), (2, 1000, [1])], ids=["8", "16", "20"]
)
def test_bins_are_equally_full_and_split_until_every_coordinate_is_alone(splits, seeds, sizes):
    for seed in range(seeds):
        bins = Bins(high=20, low=8, seed=seed)
        for _ in range(splits):
            bins = bins.grown()
        filled = np.abs(bins.rows(np.arange(20))).sum(axis=0)
        assert len(filled) == min(8 * 2**splits, 20)
        assert sorted(set(filled)) == sizes


#: Permutations of coordinates.
DRAWN = 200


@pytest.mark.parametrize("high", [7, 100])
def test_who_shares_a_bin_is_drawn_at_random(high):
    """Of two coordinates, whichever they are, and of a coordinate and a bin."""
    ways = np.array(
        [np.abs(Bins(high, 4, seed=seed).rows(np.arange(high))[:6]).argmax(axis=1) for seed in range(DRAWN)]
    )
    for own in ways.T:
        expected = np.diff(np.ceil(np.arange(5) * high / 4)) * DRAWN / high
        assert stats.chisquare(np.bincount(own, minlength=4), expected).pvalue > 1e-4
    together = (ways[:, :1] == ways[:, 1:]).mean(axis=0)
    share = np.sum(expected * (expected * high / DRAWN - 1)) / (DRAWN * (high - 1))
    np.testing.assert_allclose(together, share, atol=4.0 * np.sqrt(share * (1 - share) / DRAWN))


def test_a_billion_places_are_permuted():
    places = np.random.default_rng(0).choice(10**9, 10**5, replace=False)
    found = permuted(5, places, 10**9)
    assert len(np.unique(found)) == 10**5
    assert 0 <= found.min() < found.max() < 10**9
    assert stats.kstest(found / 1e9, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("kind", [Bins, CountSketch])
def test_what_has_grown_reaches_all_that_the_old_one_did(kind):
    sketch, rng = kind(high=500, low=3, seed=2), np.random.default_rng(0)
    y, places = rng.uniform(-1, 1, size=(10, 3)), np.arange(500)
    before = sketch.lift(y, places)
    for _ in range(3):
        y, sketch = sketch.grown().carry(y), sketch.grown()
        assert np.array_equal(sketch.lift(y, places), before)
    assert np.all(np.abs(sketch.rows(places)).sum(axis=0) > 0)


@everyone
def test_a_lazy_vector_is_its_dense_self(embedding):
    y = np.random.default_rng(0).uniform(-1, 1, size=embedding.low)
    x = LazyVector(embedding, y, -3.0, 5.0)
    dense = np.asarray(x)
    assert dense.shape == (len(x),)
    assert dense.min() >= -3.0
    assert dense.max() <= 5.0
    assert [x[0], x[-1]] == [dense[0], dense[-1]]
    assert np.array_equal(x[[3, 1, 3]], dense[[3, 1, 3]])
    assert np.array_equal(x.chunk(10, 20), dense[10:20])
    assert np.array_equal(x[::7], dense[::7])
    assert list(x) == dense.tolist()


def test_a_lazy_vector_has_bounds():
    x = LazyVector(Gaussian(high=10**9, low=2), np.zeros(2))
    assert x[10**9 - 1] == 0.0
    for index in (10**9, -(10**9) - 1):
        with pytest.raises(IndexError, match="1000000000 coordinates"):
            x[index]


def test_dense_and_lazy_agree_in_a_million_dimensions():
    embedding = Gaussian(high=10**6, low=4, seed=3)
    y = np.random.default_rng(0).uniform(-2, 2, size=4)
    x = LazyVector(embedding, y)
    places = np.random.default_rng(1).integers(10**6, size=50)
    assert np.array_equal(np.asarray(x)[places], x[places])


@pytest.mark.parametrize(
    "embedding",
    [Gaussian(10**6, 2, seed=3), CountSketch(10**6, 8, seed=3, doublings=2), Uniform(10**6, 1, seed=3)],
    ids=["gaussian", "count-sketch", "uniform"],
)
def test_however_a_million_coordinates_are_looked_at_they_are_the_same_bits(embedding):
    rng = np.random.default_rng(0)
    x = LazyVector(embedding, rng.uniform(-1, 1, size=embedding.low), -0.3, 1.7)
    dense = np.asarray(x)
    assert dense.dtype == np.float64
    assert [x[int(i)] for i in (0, CHUNK - 1, CHUNK, -1)] == dense[[0, CHUNK - 1, CHUNK, -1]].tolist()
    places = rng.integers(-(10**6), 10**6, size=100)
    assert np.array_equal(x[places], dense[places])
    assert np.array_equal(x[places.tolist()], dense[places])
    for part in (slice(CHUNK - 3, CHUNK + 3), slice(-5, None), slice(10, 4, -1), slice(None, None, 99_991)):
        assert np.array_equal(x[part], dense[part])
    assert np.array_equal(x.chunk(2 * CHUNK - 7, 2 * CHUNK + 7), dense[2 * CHUNK - 7 : 2 * CHUNK + 7])
    assert list(x) == dense.tolist()


@everyone
def test_a_part_of_a_lazy_vector_is_that_part_of_all_columns(embedding):
    y = np.random.default_rng(0).uniform(-1, 1, size=embedding.low)
    whole, part = LazyVector(embedding, y), LazyVector(embedding, y, start=7, size=20)
    assert len(part) == 20
    assert np.array_equal(np.asarray(part), np.asarray(whole)[7:27])
    assert part[-1] == whole[26]
    with pytest.raises(IndexError, match="20 coordinates"):
        part[20]


@everyone
def test_clipped_coordinates_are_the_bounds_themselves(embedding):
    x = LazyVector(embedding, np.full(embedding.low, 1e6), 0.1, 0.7)
    dense = np.asarray(x)
    assert set(dense[(dense < 0.2) | (dense > 0.6)]) <= {0.1, 0.7}
    assert {dense.min(), dense.max()} == {0.1, 0.7}


@pytest.mark.parametrize(
    "apply",
    [
        np.sin,
        np.negative,
        lambda x: np.add(x, 1.0),
        lambda x: x + 1.0,
        lambda x: 2.0 * x,
        lambda x: np.ones(len(x)) - x,
        lambda x: x @ x,
        lambda x: x < 0.0,
    ],
    ids=["sin", "negative", "add", "plus", "times", "minus", "matmul", "less"],
)
def test_arithmetic_with_a_lazy_vector_is_refused(apply):
    x = LazyVector(Gaussian(high=50, low=2), np.ones(2))
    with pytest.raises(TypeError):
        apply(x)


def test_a_mask_picks_coordinates_and_must_be_as_long_as_the_vector():
    x = LazyVector(Gaussian(high=50, low=2, seed=1), np.array([0.3, -0.2]))
    mask = np.asarray(x) > 0.0
    assert np.array_equal(x[mask], np.asarray(x)[mask])
    assert x[np.zeros(50, dtype=bool)].shape == (0,)
    with pytest.raises(IndexError, match=r"mask must have shape \(50,\)"):
        x[mask[:-1]]


@pytest.mark.parametrize("index", [50, -51, [0, 50], np.array([-51]), np.int64(50)], ids=repr)
def test_an_index_out_of_range_is_refused(index):
    with pytest.raises(IndexError, match="50 coordinates"):
        LazyVector(Gaussian(high=50, low=2), np.ones(2))[index]


def test_no_index_gives_no_coordinates():
    x = LazyVector(Gaussian(high=50, low=2), np.ones(2))
    assert x[[]].shape == x[5:5].shape == x[60:].shape == (0,)


@pytest.mark.parametrize("index", [1.5, [0.9], np.array([1.0, 2.5])], ids=repr)
def test_an_index_that_is_no_integer_is_refused(index):
    with pytest.raises((IndexError, TypeError)):
        LazyVector(Gaussian(high=50, low=2), np.ones(2))[index]


def test_a_table_of_indices_gives_a_table_or_an_error():
    x = LazyVector(Gaussian(high=50, low=2), np.ones(2))
    table = np.array([[1, 2], [3, 4]])
    try:
        found = x[table]
    except IndexError:
        return
    assert np.array_equal(found, np.asarray(x)[table])


def test_lazy_vectors_are_equal_if_they_stand_for_the_same():
    embedding, y = Gaussian(high=10**9, low=2, seed=1), np.array([0.1, 0.2])
    x = LazyVector(embedding, y)
    assert x == LazyVector(Gaussian(high=10**9, low=2, seed=1), y.copy())
    assert hash(x) == hash(LazyVector(embedding, y.copy()))
    for other in (
        LazyVector(embedding, y + 1e-16 + 1e-12),
        LazyVector(Gaussian(high=10**9, low=2, seed=2), y),
        LazyVector(embedding, y, high=2.0),
        LazyVector(embedding, y, start=1),
        LazyVector(embedding, y, size=5),
        "x",
    ):
        assert x != other


def test_a_lazy_vector_is_compared_with_an_array_by_its_coordinates():
    x = LazyVector(Gaussian(high=50, low=2, seed=1), np.array([0.1, 0.2]))
    dense = np.asarray(x)
    assert x == dense
    assert dense == x
    dense[7] = np.nextafter(dense[7], 2.0)
    assert x != dense
    assert x != dense[:-1]


def test_only_what_is_too_long_stays_lazy_for_objectives():
    y, most = np.ones(1), COORDINATES_HANDED_OUT
    short, long = (LazyVector(CountSketch(high, 1), y) for high in (most, most + 1))
    assert isinstance(handed_out(short), np.ndarray)
    assert handed_out(long) is long
    assert handed_out("label") == "label"


def test_uniform_vectors_fill_the_cube_evenly():
    x = Uniform(high=20_000, low=1, seed=5).unit(np.ones((1, 1)), np.arange(20_000))[0]
    assert stats.kstest(x, "uniform").pvalue > 1e-3
