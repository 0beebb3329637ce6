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
    np.testing.assert_array_equal(sobol(dim, 3, 3), many[:3])
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
    allowed = np.ones((300, 1000), dtype=np.bool_)
    masks = coordinate_masks(np.random.default_rng(0), allowed, np.ones(300, dtype=np.intp))
    assert masks.any(axis=1).all()
    assert masks.shape == (300, 1000)


def test_coordinates_that_do_not_exist_get_fresh_values_and_are_not_counted():
    centre = np.full((1, 203), np.nan)
    centre[0, :3] = 0.5
    movable = np.ones(203, dtype=np.bool_)
    movable[2] = False
    points, moved = perturbed(np.random.default_rng(0), centre, 200, movable=movable)
    assert moved[:, :2].any(axis=1).all()  # every copy differs where the centre exists
    assert not moved[:, 2].any()
    assert (points[:, 2] == 0.5).all()
    assert moved[:, 3:].all()
    assert np.unique(points[:, 3:]).size > 200 * 190
