"""The cylindrical kernel, and predictions when its centre was observed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from differences import assert_gradient
from hidim import Space, Vector
from hidim.belief.priors import Cylindrical
from hidim.frame import Ground
from hidim.gp.densities import Horseshoe, SpikeAndSlab
from hidim.gp.kernels import Cylinder, Hamming, Matern, Scaled, SquaredExponential
from hidim.gp.model import Model
from hidim.gp.posterior import Posterior

CENTRE = np.array([0.5, 0.4, 0.6, 0.5])
REACH = 2.4


def model(*, warped: bool = True, edge: bool = False, labels: bool = False, form=None) -> Model:
    kernel = Cylinder(
        np.arange(4),
        CENTRE,
        REACH,
        degree=3,
        form=form or Matern(2.5),
        warped=warped,
        others=Hamming([4], [3]) if labels else None,
        edge=edge,
    )
    return Model(Scaled(kernel))


def theta_of(found: Model, rng) -> np.ndarray:
    theta = np.clip(found.start + 0.2 * rng.standard_normal(found.size), *found.bounds)
    theta[-1] = np.log(1e-3)
    return theta


def points(rng, count: int, central: int = 0) -> np.ndarray:
    x = rng.random((count, 5))
    x[:central, :4] = CENTRE
    x[:, 4] = (np.floor(3 * x[:, 4]) + 0.5) / 3
    return x


class Dense:
    """The formulas of the paper, entry by entry, from the numbers in θ."""

    def __init__(self, *, warped: bool, labels: bool, theta: np.ndarray) -> None:
        values = list(theta)
        self.amplitude = np.exp(values.pop(0))
        self.alpha, self.beta = (np.exp([values.pop(0), values.pop(0)])) if warped else (1.0, 1.0)
        self.scale = np.exp(values.pop(0))
        self.label = np.exp(values.pop(0) + values.pop(0)) if labels else 0.0
        self.noise = np.exp(values.pop())
        self.c = np.exp(values) / np.exp(values).sum()

    def radius(self, r: float) -> float:
        return (1 - (1 - (r / REACH) ** self.alpha) ** self.beta) / self.scale

    def k(self, r, a, label, other_r, other_a, other_label) -> float:
        t = np.sqrt(5) * abs(self.radius(r) - self.radius(other_r))
        matern = (1 + t + t * t / 3) * np.exp(-t)
        angle = sum(c * (a @ other_a) ** p for p, c in enumerate(self.c))
        return self.amplitude * matern * angle * np.exp(-self.label * (label != other_label))

    def cylinder(self, x, towards=None) -> list:
        away = 2 * (x[:4] - CENTRE)
        r = np.linalg.norm(away)
        return [r, away / r if r > 0 else towards, x[4]]

    def gram(self, left, right) -> np.ndarray:
        return np.array([[self.k(*a, *b) for b in right] for a in left])


@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("warped", [False, True])
@pytest.mark.parametrize("central", [0, 1, 3])
def test_predictions_are_those_of_the_dense_formulas(edge, labels, warped, central):
    """Data at the centre take the direction of the query; the edge counts for the variance alone."""
    rng = np.random.default_rng(central)
    found = model(warped=warped, edge=edge, labels=labels)
    theta, x, y = theta_of(found, rng), points(rng, 14, central), rng.standard_normal(14)
    posterior, dense = (
        Posterior(found, theta, x, y),
        Dense(warped=warped, labels=labels, theta=theta),
    )
    u = points(rng, 6)
    prediction = posterior.predict(u)
    for row, query in enumerate(u):
        here = dense.cylinder(query)
        seen = [dense.cylinder(point, towards=here[1]) for point in x]
        k, own = dense.gram(seen, [here])[:, 0], dense.gram(seen, seen) + dense.noise * np.eye(14)
        assert np.linalg.eigvalsh(own).min() > 0.9 * dense.noise
        mean = posterior.mean + k @ np.linalg.solve(own, y - posterior.mean)
        if edge:
            seen.append([REACH, here[1], here[2]])
            k, own = dense.gram(seen, [here])[:, 0], dense.gram(seen, seen) + dense.noise * np.eye(15)
        variance = dense.amplitude - k @ np.linalg.solve(own, k)
        assert abs(prediction.mean[row] - mean) < 1e-10
        assert abs(prediction.variance[row] - variance) < 1e-10


def test_the_kernel_is_that_of_the_dense_formulas():
    rng = np.random.default_rng(0)
    found = model(labels=True)
    theta, x = theta_of(found, rng), points(rng, 9)
    dense = Dense(warped=True, labels=True, theta=theta)
    rows = [dense.cylinder(point) for point in x]
    np.testing.assert_allclose(found.kernel.gram(theta[:-1], x).value, dense.gram(rows, rows), atol=1e-12)


def test_the_centre_has_in_common_with_others_what_random_directions_have():
    """By a million of them: the closed-form moments of the cosine."""
    rng = np.random.default_rng(0)
    found = model(form=SquaredExponential())
    theta, x = theta_of(found, rng), points(rng, 2, central=1)
    dense = Dense(warped=True, labels=False, theta=theta)
    directions = rng.standard_normal((200_000, 4))
    cosine = directions @ (x[1, :4] - CENTRE) / np.linalg.norm(directions, axis=1)
    cosine /= np.linalg.norm(x[1, :4] - CENTRE)
    angle = np.mean(sum(c * cosine**p for p, c in enumerate(dense.c)))
    gap = dense.radius(0.0) - dense.radius(2 * np.linalg.norm(x[1, :4] - CENTRE))
    gram = found.kernel.gram(theta[:-1], x).value
    assert gram[0, 1] == pytest.approx(dense.amplitude * np.exp(-0.5 * gap**2) * angle, rel=0.01)
    assert gram[0, 0] == pytest.approx(dense.amplitude)


@pytest.mark.parametrize("central", [1, 6])
def test_a_gram_matrix_with_the_centre_is_positive_semidefinite(central):
    rng = np.random.default_rng(central)
    found = model(labels=True)
    low, high = found.bounds
    for _ in range(200):
        theta = rng.uniform(low, high)
        value = found.kernel.gram(theta[:-1], points(rng, 12, central)).value
        assert np.linalg.eigvalsh(value).min() > -1e-9 * value[0, 0]


@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize("central", [0, 1, 2])
def test_gradients_of_predictions(edge, central):
    rng = np.random.default_rng(3)
    found = model(edge=edge, labels=True)
    posterior = Posterior(found, theta_of(found, rng), points(rng, 9, central), rng.standard_normal(9))
    u, a, b = points(rng, 4), rng.standard_normal(4), rng.standard_normal(4)

    def total(numbers: np.ndarray) -> float:
        prediction = posterior.predict(np.column_stack([numbers, u[:, 4]]))
        return float(a @ prediction.mean + b @ prediction.variance)

    closed = posterior.predict(u).to_inputs(a, b)[:, :4]
    assert_gradient(closed, total, u[:, :4])


def test_the_centre_is_known_wherever_one_comes_from():
    """Close to an observed centre the prediction is its value, in every direction."""
    rng = np.random.default_rng(0)
    found = model()
    theta, x, y = theta_of(found, rng), points(rng, 12, central=1), rng.standard_normal(12)
    theta[-1] = np.log(1e-8)
    directions = rng.standard_normal((20, 4))
    u = np.column_stack([CENTRE + 1e-6 * directions, np.full(20, 0.5)])
    prediction = Posterior(found, theta, x, y).predict(u)
    np.testing.assert_allclose(prediction.mean, y[0], atol=1e-2)
    assert prediction.variance.max() < 1e-3 * np.exp(theta[0])


def test_a_query_at_the_centre_has_a_finite_answer():
    rng = np.random.default_rng(0)
    for central in (0, 1):
        found = model(labels=True)
        posterior = Posterior(found, theta_of(found, rng), points(rng, 9, central), rng.standard_normal(9))
        prediction = posterior.predict(points(rng, 2, central=1))
        assert np.isfinite(prediction.mean).all()
        assert np.isfinite(prediction.to_inputs(np.ones(2), np.ones(2))).all()


def test_the_edge_only_ever_lowers_the_variance():
    rng = np.random.default_rng(2)
    x, y, u = points(rng, 12, central=1), rng.standard_normal(12), points(rng, 30)
    theta = theta_of(model(), rng)
    plain, edge = (Posterior(model(edge=edge), theta, x, y).predict(u) for edge in (False, True))
    np.testing.assert_allclose(edge.mean, plain.mean, rtol=1e-12)
    assert np.all(edge.variance <= plain.variance + 1e-12)
    assert edge.variance.mean() < 0.95 * plain.variance.mean()


def test_the_warp_spreads_out_what_is_near_the_centre():
    """Concave for all parameters within the bounds: the paper's supplement has the signs reversed."""
    warped = model()
    low, high = warped.bounds
    rng = np.random.default_rng(0)
    radii = np.linspace(0.0, 1.0, 50)
    for _ in range(50):
        dense = Dense(warped=True, labels=False, theta=rng.uniform(low, high))
        moved = np.array([dense.radius(REACH * r) for r in radii]) * dense.scale
        assert np.all(np.diff(moved, 2) < 1e-9)
        assert np.all(np.diff(moved) > -1e-12)


def test_the_priors_are_those_of_the_authors():
    """Limits and log densities, up to a constant, as the released code has them."""
    space = Space(x=Vector(25, -1, 1))
    found = {p.name: p for p in Cylindrical().model(Ground(space)).parameters}
    reach = 5.0  # √25: in units of half the cube
    scale = found["log_lengthscale"]
    assert scale.low + math.log(reach) == pytest.approx(-6.0)  # log ℓ² ≥ −12
    assert scale.high + math.log(reach) == pytest.approx(0.5 * math.log(2 * reach))
    assert (found["log_alpha"].low, found["log_alpha"].high) == (-math.log(2), 0.0)
    assert (found["log_beta"].low, found["log_beta"].high) == (0.0, math.log(2))

    def difference(name: str, one: float, other: float) -> float:
        prior = found[name].prior
        return prior(np.array([one]))[0] - prior(np.array([other]))[0]

    assert difference("log_weight", 2.0, 0.0) == pytest.approx(-0.5)  # N(0, 2²)
    assert difference("log_amplitude", 3.0, -3.0) == difference("log_lengthscale", -2.0, -1.0) == 0.0
    noise = [math.log(math.log(1 + 2 * (0.1 / v) ** 2)) for v in (1e-3, 0.5)]
    assert difference("log_noise", math.log(1e-3), math.log(0.5)) == pytest.approx(noise[0] - noise[1])
    spike = [2 * norm.pdf(v, scale=0.1) + 1 / math.log(2) for v in (0.0, 0.4)]
    for name in ("log_alpha", "log_beta"):
        assert difference(name, 0.0, 0.4) == pytest.approx(math.log(spike[0] / spike[1]))


def test_repeats_of_the_centre_are_one_observation_that_is_surer():
    """Exactly: as if each were a row of its own."""
    rng = np.random.default_rng(0)
    found = model(labels=True)
    theta, x, y = theta_of(found, rng), points(rng, 9, central=4), rng.standard_normal(9)
    variances = rng.uniform(0.0, 0.5, 9)
    posterior = Posterior(found, theta, x, y, variances=variances)
    dense, u = Dense(warped=True, labels=True, theta=theta), points(rng, 5)
    prediction = posterior.predict(u)
    for row, query in enumerate(u):
        here = dense.cylinder(query)
        seen = [dense.cylinder(point, towards=here[1]) for point in x]
        k = dense.gram(seen, [here])[:, 0]
        own = dense.gram(seen, seen) + np.diag(dense.noise + variances)
        mean = posterior.mean + k @ np.linalg.solve(own, y - posterior.mean)
        variance = dense.amplitude - k @ np.linalg.solve(own, k)
        assert prediction.mean[row] == pytest.approx(mean, abs=1e-9)
        assert prediction.variance[row] == pytest.approx(variance, abs=1e-9)


@pytest.mark.parametrize("edge", [False, True])
def test_the_centre_alone_is_known_all_around(edge):
    """Nothing but repeats of the centre has been seen."""
    rng = np.random.default_rng(0)
    found = model(edge=edge)
    posterior = Posterior(found, theta_of(found, rng), points(rng, 3, central=3), np.ones(3))
    u = points(rng, 4)
    u[:, :4] = CENTRE + 1e-6 * rng.standard_normal((4, 4))
    prediction = posterior.predict(u)
    assert prediction.variance.max() < 1e-2
    assert np.isfinite(prediction.to_inputs(np.ones(4), np.ones(4))).all()


def test_a_first_look_counts_the_best_and_some_others():
    rng = np.random.default_rng(0)
    found = model()
    x, y = points(rng, 60, central=1), rng.standard_normal(60)
    variances = rng.uniform(0.0, 0.1, 60)
    posterior = Posterior(found, theta_of(found, rng), x, y, variances=variances)
    coarse = posterior.coarse(20)
    assert len(coarse.y) == len(np.unique(coarse.y)) == 20
    assert set(np.sort(y)[:10]) < set(coarse.y)
    assert coarse.y.max() == y.max()
    for point, value, noise in zip(coarse.x, coarse.y, coarse.noises, strict=True):
        place = int(np.flatnonzero(y == value)[0])
        np.testing.assert_array_equal(point, x[place])
        assert noise == pytest.approx(posterior.noises[place])
    assert posterior.coarse(60) is posterior


@pytest.mark.parametrize("density", [Horseshoe(0.14), SpikeAndSlab(0.1, 0.69)])
def test_gradients_of_densities(density):
    values = np.array([-3.0, -0.4, -0.05, 0.0, 0.3])
    assert_gradient(density(values)[1], lambda v: density(v)[0], values)
