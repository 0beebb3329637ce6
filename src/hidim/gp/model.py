"""A Gaussian process before it has seen data: kernel, noise and mean, and its log posterior density.

Notation: K = k(X, X) + σ² I + diag(v), where v are variances that observations came with, L its Cholesky
factor, m the mean, α = K⁻¹ (y − m).

    −log p(y | θ) = ½ (y − m)ᵀ α + Σ log L_ii + ½ n log 2π        ∂/∂K = ½ (K⁻¹ − α αᵀ)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hidim._types import Array, Indices, Mask
from hidim.gp import linalg
from hidim.gp.kernels.base import Kernel
from hidim.gp.parameter import Parameter, bounds, log_prior, starts, total
from hidim.gp.priors import Normal


def noise_parameter(*, noisy: bool = False) -> Parameter:
    """log σ² of standardised outcomes: small unless the data say otherwise, or are known to be `noisy`.

    Few noisy data can also be explained by a short length-scale, and more closely.
    """
    usual, spread = (0.01, 2.0) if noisy else (1e-4, 3.0)
    prior = Normal(math.log(usual), spread)
    return Parameter("log_noise", 1, math.log(usual), math.log(1e-8), math.log(2.0), prior)


@dataclass(frozen=True)
class Model:
    """Kernel, noise and mean of a Gaussian process.

    Args:
        kernel: covariance of the function.
        noise: log variance of the observations, the last entry of θ.
        mean_sd: prior standard deviation of a constant mean, fitted in closed form; 0 keeps the mean at 0.
    """

    kernel: Kernel
    noise: Parameter = field(default_factory=noise_parameter)
    mean_sd: float = 1.0

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return (*self.kernel.parameters, self.noise)

    @cached_property
    def size(self) -> int:
        return total(self.parameters)

    @cached_property
    def start(self) -> Array:
        return starts(self.parameters)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        return bounds(self.parameters)

    def holds(self, name: str) -> Mask:
        """Which entries of θ belong to the parameter `name`."""
        return np.concatenate([np.full(p.size, p.name == name) for p in self.parameters])

    def mean(self, inverse_ones: Array, y: Array) -> float:
        """MAP estimate of the constant mean, given K⁻¹ 1 (n,)."""
        if self.mean_sd == 0.0:
            return 0.0
        return float(inverse_ones @ y / (inverse_ones.sum() + self.mean_sd**-2))

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
        n = len(y)
        gram = self.kernel.gram(theta[:-1], x)
        noise = math.exp(theta[-1])
        blocks = blocks or self.kernel.blocks(x)
        ridge = noise if variances is None else noise + variances
        factor = linalg.cholesky_by_blocks(gram.value, blocks, ridge)
        inverse = linalg.inverse_by_blocks(factor, blocks)
        mean = self.mean(inverse.sum(axis=1), y)
        alpha = inverse @ (y - mean)
        value = 0.5 * float((y - mean) @ alpha) + linalg.half_log_determinant(factor)
        value += 0.5 * n * math.log(2.0 * math.pi)
        if mean != 0.0:
            value += 0.5 * (mean / self.mean_sd) ** 2  # the mean is at its optimum: no gradient of its own
        gradient = np.empty_like(theta)
        inverse -= np.outer(alpha, alpha)
        inverse *= 0.5
        gradient[-1] = noise * np.trace(inverse)
        gradient[:-1] = gram.to_parameters(inverse)
        prior, prior_gradient = log_prior(self.parameters, theta)
        return value - prior, gradient - prior_gradient
