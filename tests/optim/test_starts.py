from __future__ import annotations

import numpy as np
import pytest

from hidim.optim.starts import SOBOL_LIMIT, coordinate_masks, latin_hypercube, perturbed, sobol


@pytest.mark.parametrize("dim", [1, 7, SOBOL_LIMIT + 1])
def test_a_sequence_begins_the_same_however_many_points_are_drawn(dim):
    many = sobol(dim, 9, 3)
    assert many.shape == (9, dim)
    assert many.min() >= 0.0
    assert many.max() < 1.0
    np.testing.assert_array_equal(sobol(dim, 4, 3), many[:4])
    np.testing.assert_array_equal(sobol(dim, 3, 3, skip=5), many[5:8])
    assert not np.array_equal(sobol(dim, 4, 4), many[:4])


def test_sobol_points_fill_every_stratum():
    points = sobol(5, 64, 0)
    for column in points.T:
        assert len(set(np.floor(64 * column).astype(int))) == 64


def test_a_latin_hypercube_visits_every_stratum_of_every_column_once():
    points = latin_hypercube(6, 11, np.random.default_rng(0))
    assert points.shape == (11, 6)
    for column in points.T:
        assert sorted(np.floor(11 * column).astype(int)) == list(range(11))


def test_perturbed_points_differ_from_a_centre_in_the_moved_coordinates_only():
    centres = np.random.default_rng(1).random((3, 50))
    points, moved = perturbed(np.random.default_rng(2), centres, 200, most=5)
    assert points.min() >= 0.0
    assert points.max() <= 1.0
    for point, mask in zip(points, moved, strict=True):
        assert mask.any()
        assert any(np.array_equal(point[~mask], centre[~mask]) for centre in centres)
    # Between 1 and 5 on average 3, of which the certain one may be among those drawn.
    assert 2.0 < moved.sum(axis=1).mean() < 5.0


def test_every_mask_has_a_coordinate():
    masks = coordinate_masks(np.random.default_rng(0), 300, 1000, np.ones(300, dtype=np.intp))
    assert masks.any(axis=1).all()
    assert masks.shape == (300, 1000)
