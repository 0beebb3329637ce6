"""TuRBO-1 (Eriksson et al. 2019), one suggestion at a time, on GPyTorch and BoTorch's sampling.

Numbers are those of the authors' program: limits and starts of the hyperparameters, fifty steps of Adam for
every fit, successes and failures after which the region grows and shrinks.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from hidim._optional import require
from hidim._types import Array

#: The edge of the trust region at first, at the most, and that below which a new one is begun.
LENGTH, LONGEST, SHORTEST = 0.8, 1.6, 0.5**7

#: Successes in a row after which the edge is doubled; halved it is after as many failures as dimensions.
SUCCESSES = 3

#: Of the fits: steps of Adam, and their rate.
STEPS, RATE = 50, 0.1

#: Candidates of which one is drawn, for every dimension, at least (as in BoTorch's tutorial: the authors have
#: no such limit) and at the most; coordinates moved in each.
EACH, LEAST, MOST, MOVED = 100, 2000, 5000, 20


class TuRBO:
    """A box around the best point, whose edges follow the length-scales; in it, Thompson sampling.

    Args:
        dim: of the unit cube.
        initial: points of the design with which every trust region begins. The paper takes twice the
            dimension, which small budgets do not allow.
        device: of torch; the GPU by default, if there is one.
    """

    def __init__(self, dim: int, seed: int, initial: int, device: str | None = None) -> None:
        self._torch = torch = require("torch", "bench")
        for module in ("generation", "models"):  # here, so that no ask pays for imports
            require(f"botorch.{module}", "bench")
        warnings.filterwarnings("ignore", module=r"botorch|gpytorch|linear_operator")
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self._dim, self._seed, self._initial = dim, seed, initial
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._failures_allowed = max(4, dim)
        self._begin()

    def _begin(self) -> None:
        """A new trust region, which forgets what was seen before."""
        design = self._torch.quasirandom.SobolEngine(self._dim, scramble=True, seed=self._seed)
        self._seed += 1
        self._design: Array = design.draw(self._initial, dtype=self._torch.double).numpy()
        self._points: list[Array] = []
        self._values: list[float] = []
        self._length, self._successes, self._failures = LENGTH, 0, 0

    def ask(self) -> Array:
        if len(self._points) < self._initial:
            planned: Array = self._design[len(self._points)]
            return planned
        return self._drawn()

    def tell(self, point: Array, value: float) -> None:
        if len(self._points) >= self._initial:
            self._adapt(value)
        self._points.append(point)
        self._values.append(value)
        if self._length < SHORTEST:
            self._begin()

    def _adapt(self, value: float) -> None:
        best = min(self._values)
        better = value < best - 1e-3 * abs(best)
        self._successes, self._failures = (self._successes + 1, 0) if better else (0, self._failures + 1)
        if self._successes == SUCCESSES:
            self._length, self._successes = min(2.0 * self._length, LONGEST), 0
        elif self._failures == self._failures_allowed:
            self._length, self._failures = 0.5 * self._length, 0

    def _model(self) -> tuple[Any, Any]:
        """A Gaussian process of what this region has seen, and its best point."""
        from botorch.models import SingleTaskGP
        from gpytorch.constraints import Interval
        from gpytorch.kernels import MaternKernel, ScaleKernel
        from gpytorch.likelihoods import GaussianLikelihood
        from gpytorch.mlls import ExactMarginalLogLikelihood

        tensor = {"dtype": self._torch.double, "device": self._device}
        x = self._torch.tensor(np.array(self._points), **tensor)
        rewards = -self._torch.tensor(self._values, **tensor)[:, None]
        rewards = (rewards - rewards.mean()) / rewards.std().clamp_min(1e-12)
        matern = MaternKernel(nu=2.5, ard_num_dims=self._dim, lengthscale_constraint=Interval(0.005, 2.0))
        kernel = ScaleKernel(matern, outputscale_constraint=Interval(0.05, 20.0))
        noise = GaussianLikelihood(noise_constraint=Interval(5e-4, 0.2))
        model = SingleTaskGP(x, rewards, covar_module=kernel, likelihood=noise, outcome_transform=None)
        model = model.to(**tensor)
        matern.lengthscale, kernel.outputscale, noise.noise = 0.5, 1.0, 0.005
        objective = ExactMarginalLogLikelihood(noise, model)
        climber = self._torch.optim.Adam(model.parameters(), lr=RATE)
        model.train()
        for _ in range(STEPS):
            climber.zero_grad()
            loss = -objective(model(x), model.train_targets)
            loss.backward()
            climber.step()
        model.eval()
        return model, x[rewards.argmax()]

    def _drawn(self) -> Array:
        from botorch.generation import MaxPosteriorSampling

        torch, dim = self._torch, self._dim
        model, centre = self._model()
        weights = model.covar_module.base_kernel.lengthscale.squeeze(0).detach()
        weights = weights / weights.mean()
        weights = weights / torch.exp(torch.log(weights).mean())
        low = torch.clamp(centre - 0.5 * self._length * weights, 0.0, 1.0)
        high = torch.clamp(centre + 0.5 * self._length * weights, 0.0, 1.0)
        count = min(MOST, max(LEAST, EACH * dim))
        sobol = torch.quasirandom.SobolEngine(dim, scramble=True, seed=int(torch.randint(2**31, ())))
        drawn = low + (high - low) * sobol.draw(count, dtype=torch.double).to(centre)
        moved = torch.rand(count, dim, device=self._device) < min(MOVED / dim, 1.0)
        still = (moved.sum(dim=1) == 0).nonzero().squeeze(1)
        moved[still, torch.randint(dim, (len(still),), device=self._device)] = True
        candidates = torch.where(moved, drawn, centre)
        with torch.no_grad():
            chosen = MaxPosteriorSampling(model=model, replacement=False)(candidates, num_samples=1)
        suggestion: Array = chosen[0].cpu().numpy()
        return suggestion


def initial_points(dim: int, budget: int) -> int:
    """Twice the dimension, or a quarter of the budget if that is less."""
    return max(4, min(2 * dim, math.ceil(budget / 4)))
