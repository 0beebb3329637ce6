"""Writes botorch_logei.json: BoTorch's posterior and LogEI for a Matérn-5/2 ARD model with fixed parameters.

Run with an interpreter that has BoTorch, from the root of the repository:

    python tests/reference/make_botorch_logei.py
"""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.models import SingleTaskGP
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ZeroMean

AMPLITUDE, LENGTHSCALES, NOISE = 1.7, [0.3, 0.6, 1.2, 0.9, 2.5], 1e-3
BESTS = [-6.0, -2.5, -1.0, 0.0, 2.0]


def main() -> None:
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    rng = np.random.default_rng(20)
    x, u = rng.random((30, 5)), rng.random((20, 5))
    y = np.sin(4.0 * x).sum(axis=1) - 2.0 + 0.05 * rng.standard_normal(30)
    model = SingleTaskGP(
        torch.tensor(x),
        torch.tensor(y)[:, None],
        likelihood=GaussianLikelihood(),
        covar_module=ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=5)),
        mean_module=ZeroMean(),
        outcome_transform=None,
    )
    model.covar_module.outputscale = AMPLITUDE
    model.covar_module.base_kernel.lengthscale = torch.tensor(LENGTHSCALES)
    model.likelihood.noise = NOISE
    model.eval()
    with torch.no_grad():
        posterior = model.posterior(torch.tensor(u))
        scores = {
            str(best): LogExpectedImprovement(model, best, maximize=False)(torch.tensor(u)[:, None]).tolist()
            for best in BESTS
        }
    packages = ("botorch", "gpytorch", "torch", "numpy")
    data = {
        "made_by": "tests/reference/make_botorch_logei.py",
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
        "amplitude": AMPLITUDE,
        "lengthscales": LENGTHSCALES,
        "noise": NOISE,
        "x": x.tolist(),
        "y": y.tolist(),
        "u": u.tolist(),
        "mean": posterior.mean[:, 0].tolist(),
        "variance": posterior.variance[:, 0].tolist(),
        "log_ei": scores,
    }
    Path(__file__).with_name("botorch_logei.json").write_text(
        json.dumps(data, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
