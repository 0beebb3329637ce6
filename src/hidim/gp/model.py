"""A Gaussian process before it has seen data: kernel, noise and mean, and its log posterior density.

Notation: K = k(X, X) + σ² I + diag(v), where v are variances that observations came with, L its Cholesky
factor, m the mean, α = K⁻¹ (y − m).

    −log p(y | θ) = ½ (y − m)ᵀ α + Σ log L_ii + ½ n log 2π        ∂/∂K = ½ (K⁻¹ − α αᵀ)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hidim._types import Array, Indices, Mask
from hidim.errors import MethodError
from hidim.gp import linalg
from hidim.gp.densities import Normal
from hidim.gp.hyperparameter import (
    Hyperparameter,
    bounds,
    log_prior,
    other_starts,
    remembered_log_prior,
    starts,
    total,
)
from hidim.gp.kernels.base import Kernel
from hidim.gp.kernels.blocks import blocks as blocks_of
from hidim.gp.kernels.values import values


def noise_parameter(*, noisy: bool = False) -> Hyperparameter:
    """log σ² of standardised outcomes: small unless the data say otherwise, or are known to be `noisy`.

    Few noisy data can also be explained by a short length-scale, and more closely: so more is expected of
    noisy ones. The numbers are choices that were not varied. The lower limit keeps covariances well
    conditioned, the upper one is twice the variance of everything.
    """
    usual, spread = (0.01, 2.0) if noisy else (1e-4, 3.0)
    prior = Normal(math.log(usual), spread)
    return Hyperparameter("log_noise", 1, math.log(usual), math.log(1e-8), math.log(2.0), prior)


@dataclass(frozen=True)
class Model:
    """Kernel, noise and mean of a Gaussian process.

    Args:
        kernel: covariance of the function.
        noise: log variance of the observations, the last entry of θ.
        mean_sd: prior standard deviation of a constant mean, fitted in closed form; 0 keeps the mean at 0.
    """

    kernel: Kernel
    noise: Hyperparameter = field(default_factory=noise_parameter)
    mean_sd: float = 1.0

    @cached_property
    def parameters(self) -> tuple[Hyperparameter, ...]:
        return (*self.kernel.parameters, self.noise)

    @cached_property
    def size(self) -> int:
        return total(self.parameters)

    @cached_property
    def start(self) -> Array:
        return starts(self.parameters)

    @property
    def starts(self) -> list[Array]:
        """Where fits from scratch start."""
        return [starts(self.parameters), *other_starts(self.parameters)]

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        return bounds(self.parameters)

    def holds(self, name: str) -> Mask:
        """Which entries of θ belong to the parameter `name`."""
        return np.concatenate([np.full(p.size, p.name == name) for p in self.parameters])

    def holding(self, names: Iterable[str]) -> Mask:
        """Which entries of θ belong to one of these parameters."""
        return np.asarray(np.any([np.zeros(self.size, dtype=np.bool_), *map(self.holds, names)], axis=0))

    def put(self, theta: Array, held: Mapping[str, float]) -> Array:
        """θ with the parameters that are held at their values."""
        for name, value in held.items():
            theta = np.where(self.holds(name), value, theta)
        return theta

    def mean(self, inverse_ones: Array, y: Array) -> float:
        """MAP estimate of the constant mean, given K⁻¹ 1 (n,)."""
        if self.mean_sd == 0.0:
            return 0.0
        return float(inverse_ones @ y / (inverse_ones.sum() + self.mean_sd**-2))

    def ridge(self, theta: Array, variances: Array | None) -> float | Array:
        """What is added to the diagonal of the covariance: σ², and v (n,) if there is any."""
        noise = math.exp(theta[-1])
        return noise if variances is None else noise + variances

    def stretched(self, theta: Array, factor: float) -> Array:
        """θ with all length-scales `factor` times as long, as far as their limits allow."""
        level = self.holds("log_lengthscale")
        if not level.any():
            raise MethodError(
                "the model has no length-scales to walk down: use another search than the elastic one"
            )
        low, high = self.bounds
        stretched: Array = np.where(level, np.clip(theta + math.log(factor), low, high), theta)
        return stretched

    def shortened(self, theta: Array, longest: float) -> Array:
        """θ with no log length-scale above `longest`."""
        theta, begin, level = theta.copy(), 0, slice(0, 0)
        for parameter, after in zip(self.parameters, [*self.parameters[1:], None], strict=True):
            own, begin = slice(begin, begin + parameter.size), begin + parameter.size
            if parameter.name == "log_lengthscale":
                level = own
                if after is None or after.name != "log_lengthscale_deviation":
                    theta[own] = np.minimum(theta[own], longest)
            elif parameter.name == "log_lengthscale_deviation":  # from the level before it
                theta[own] = np.minimum(theta[level] + theta[own], longest) - theta[level]
        return theta

    def log_density(self, x: Array, y: Array, variances: Array | None = None) -> Callable[[Array], float]:
        """log p(y | θ) + log p(θ) of θ (size,) alone: one factor and no gradient, for samplers.

        Args:
            x: (n, p); y: (n,); variances: v (n,), none by default.
        """
        covariance, blocks = values(self.kernel, x), blocks_of(self.kernel, x)
        prior = remembered_log_prior(self.parameters)
        constant, right = 0.5 * len(y) * math.log(2.0 * math.pi), np.column_stack([np.ones(len(y)), y])

        def density(theta: Array) -> float:
            gram, ridge = covariance(theta[:-1]), self.ridge(theta, variances)
            factor = linalg.cholesky_by_blocks(gram, blocks, ridge)
            ones, weights = linalg.solve(factor, right).T
            mean = self.mean(ones, y)
            value = 0.5 * float((y - mean) @ (weights - mean * ones)) + constant
            value += linalg.half_log_determinant(factor)
            if mean != 0.0:
                value += 0.5 * (mean / self.mean_sd) ** 2
            return prior(theta) - value

        return density

    def negative_log_posterior(
        self,
        theta: Array,
        x: Array,
        y: Array,
        variances: Array | None = None,
        blocks: Sequence[Indices] | None = None,
    ) -> tuple[float, Array]:
        """−log p(y | θ) − log p(θ) and its gradient, from one `potrf` and one `potri` of every block.

        Args:
            theta: (size,); x: (n, p); y: (n,); variances: v (n,), none by default.
            blocks: the kernel's for x, if they are known already.
        """
        gram = self.kernel.gram(theta[:-1], x)
        noise = math.exp(theta[-1])
        blocks = blocks or blocks_of(self.kernel, x)
        factor = linalg.cholesky_by_blocks(gram.value, blocks, self.ridge(theta, variances))
        inverse = linalg.inverse_by_blocks(factor, blocks)
        mean = self.mean(inverse.sum(axis=1), y)
        alpha = inverse @ (y - mean)
        value = 0.5 * float((y - mean) @ alpha) + linalg.half_log_determinant(factor)
        value += 0.5 * len(y) * math.log(2.0 * math.pi)
        if mean != 0.0:
            value += 0.5 * (mean / self.mean_sd) ** 2  # the mean is at its optimum: no gradient of its own
        gradient = np.empty_like(theta)
        inverse -= np.outer(alpha, alpha)
        inverse *= 0.5
        gradient[-1] = noise * np.trace(inverse)
        gradient[:-1] = gram.to_parameters(inverse)
        prior, prior_gradient = log_prior(self.parameters, theta)
        return value - prior, gradient - prior_gradient
