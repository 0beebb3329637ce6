"""Everything that can be benchmarked, behind one ask/tell interface.

`make_peer("optuna-gp", problem, seed=0, budget=200)` gives an object with `ask`, `tell` and `add`. Peers run
with their own defaults; what BoTorch leaves to its user follows its tutorials (see `BoTorch`). `hidim:gp` is
hidim's method `gp`, and so on for every method, with settings in brackets (see `naming`). Other packages are
imported when a peer is made, not before.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hidim._optional import check, require
from hidim._types import Array, Params
from hidim.bench.base import BoxProblem, Problem
from hidim.bench.naming import PREFIX, named_method
from hidim.bench.turbo import TuRBO, initial_points
from hidim.errors import MethodError


class Peer(ABC):
    """One run of one optimiser, minimising.

    `ask` gives the next configuration, `tell` its value, in turn. `add` enters a finished evaluation that was
    not asked for; `hidim bench latency` fills a history with it.
    """

    @abstractmethod
    def ask(self) -> Params: ...

    @abstractmethod
    def tell(self, params: Params, value: float) -> None: ...

    @abstractmethod
    def fail(self, params: Params) -> None:
        """Say that the configuration asked for has no value."""

    def add(self, params: Params, value: float) -> None:
        raise MethodError(f"{type(self).__name__} cannot take evaluations that it did not ask for")

    def recommend(self) -> int | None:
        """The number of the evaluation to be taken after a noisy run; None: that with the best value told."""
        return None


class Random(Peer):
    """Uniform random search."""

    def __init__(self, problem: Problem, seed: int, budget: int) -> None:
        self._problem, self._rng = problem, np.random.default_rng(seed)

    def ask(self) -> Params:
        return self._problem.draw(self)

    def vector(self, name: str, dim: int) -> Array:
        return self._rng.random(dim)

    def real(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        if log:
            return float(np.clip(np.exp(self._rng.uniform(np.log(low), np.log(high))), low, high))
        return float(self._rng.uniform(low, high))

    def integer(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        if log:
            return int(np.clip(np.rint(self.real(name, low - 0.5, high + 0.5, log=True)), low, high))
        return int(self._rng.integers(low, high + 1))

    def label(self, name: str, options: tuple[str, ...]) -> str:
        return options[self._rng.integers(len(options))]

    def tell(self, params: Params, value: float) -> None: ...

    def fail(self, params: Params) -> None: ...

    def add(self, params: Params, value: float) -> None: ...


class Optuna(Peer):
    """An Optuna study with one of its samplers, at its defaults but for `settings`, over floats x0, x1, …"""

    def __init__(self, sampler: str, problem: Problem, seed: int, **settings: Any) -> None:
        optuna = require("optuna", "bench")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.filterwarnings("ignore", module=r"optuna|botorch|gpytorch|linear_operator")
        if sampler == "GPSampler":
            require("torch", "bench")  # here, so that no ask pays for the import
        self._optuna, self._problem = optuna, problem
        made = getattr(optuna.samplers, sampler)(seed=seed, **settings)
        self._study = optuna.create_study(sampler=made)
        self._trial: Any = None

    def ask(self) -> Params:
        self._trial = self._study.ask()
        return self._problem.draw(self)

    def vector(self, name: str, dim: int) -> Array:
        return np.array([self._trial.suggest_float(f"{name}{i}", 0.0, 1.0) for i in range(dim)])

    def real(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        return float(self._trial.suggest_float(name, low, high, log=log))

    def integer(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        return int(self._trial.suggest_int(name, low, high, log=log))

    def label(self, name: str, options: tuple[str, ...]) -> str:
        return str(self._trial.suggest_categorical(name, options))

    def tell(self, params: Params, value: float) -> None:
        self._study.tell(self._trial, value)

    def fail(self, params: Params) -> None:
        self._study.tell(self._trial, state=self._optuna.trial.TrialState.FAIL)

    def add(self, params: Params, value: float) -> None:
        given = Given(params, self._optuna.distributions)
        self._problem.draw(given)
        trial = self._optuna.trial.create_trial(
            params=given.chosen, distributions=given.distributions, value=value
        )
        self._study.add_trial(trial)


class Given:
    """Chooses what a configuration has, and keeps it as Optuna does, with the distributions."""

    def __init__(self, params: Params, kinds: Any) -> None:
        self._params, self._kinds = params, kinds
        self.chosen: dict[str, Any] = {}
        self.distributions: dict[str, Any] = {}

    def _keep(self, name: str, value: Any, kind: Any) -> None:
        self.chosen[name], self.distributions[name] = value, kind

    def vector(self, name: str, dim: int) -> Array:
        for place, number in enumerate(self._params[name]):
            self._keep(f"{name}{place}", float(number), self._kinds.FloatDistribution(0.0, 1.0))
        return np.asarray(self._params[name])

    def real(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        self._keep(name, self._params[name], self._kinds.FloatDistribution(low, high, log=log))
        return float(self._params[name])

    def integer(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        self._keep(name, self._params[name], self._kinds.IntDistribution(low, high, log=log))
        return int(self._params[name])

    def label(self, name: str, options: tuple[str, ...]) -> str:
        self._keep(name, self._params[name], self._kinds.CategoricalDistribution(options))
        return str(self._params[name])


class BoTorch(Peer):
    """BoTorch as its tutorials use it: 10 Sobol points, then SingleTaskGP with its default priors and LogEI.

    Every suggestion fits the model anew by `fit_gpytorch_mll` (outcomes standardised, double precision) and
    maximises LogEI by `optimize_acqf` with 10 restarts from 512 raw samples, on the GPU if there is one. With
    `noisy` it is the acquisition function that BoTorch means for noise, qLogNEI over all points evaluated,
    and the point with the best posterior mean is recommended.
    """

    INITIAL = 10

    def __init__(self, problem: Problem, seed: int, budget: int, *, noisy: bool = False) -> None:
        self._noisy = noisy
        self._torch = torch = require("torch", "bench")
        for module in ("acquisition", "fit", "models", "optim"):  # here, so that no ask pays for imports
            require(f"botorch.{module}", "bench")
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        warnings.filterwarnings("ignore", module=r"botorch|gpytorch|linear_operator")
        dim = _box(problem, "botorch").dim
        self._kind = {"dtype": torch.double, "device": "cuda" if torch.cuda.is_available() else "cpu"}
        design = torch.quasirandom.SobolEngine(dim, scramble=True, seed=seed)
        self._design: Array = design.draw(self.INITIAL, dtype=torch.double).numpy()
        self._bounds = torch.tensor([[0.0] * dim, [1.0] * dim], **self._kind)
        self._points: list[Array] = []
        self._values: list[float] = []

    def ask(self) -> Params:
        if len(self._points) < self.INITIAL:
            return {"x": self._design[len(self._points)]}
        return {"x": self._suggest()}

    def _suggest(self) -> Array:
        from botorch.acquisition import LogExpectedImprovement
        from botorch.acquisition.logei import qLogNoisyExpectedImprovement
        from botorch.optim import optimize_acqf

        model, points, rewards = self._fitted()
        if self._noisy:
            acquisition = qLogNoisyExpectedImprovement(model, points)
        else:
            acquisition = LogExpectedImprovement(model, best_f=rewards.max())
        best, _ = optimize_acqf(acquisition, self._bounds, q=1, num_restarts=10, raw_samples=512)
        suggestion: Array = best[0].clamp(0.0, 1.0).cpu().numpy()
        return suggestion

    def _fitted(self) -> tuple[Any, Any, Any]:
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Standardize
        from gpytorch.mlls import ExactMarginalLogLikelihood

        points = self._torch.tensor(np.array(self._points), **self._kind)
        rewards = -self._torch.tensor(self._values, **self._kind)[:, None]  # BoTorch maximises
        model = SingleTaskGP(points, rewards, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model, points, rewards

    def recommend(self) -> int | None:
        if not self._noisy:
            return None
        model, points, _ = self._fitted()
        return int(model.posterior(points).mean.argmax())

    def fail(self, params: Params) -> None:
        # BoTorch has no failed trials; the worst value so far is what its users mostly tell it.
        self.add(params, max(self._values, default=0.0))

    def tell(self, params: Params, value: float) -> None:
        self.add(params, value)

    def add(self, params: Params, value: float) -> None:
        self._points.append(params["x"])
        self._values.append(value)


class Turbo(Peer):
    """TuRBO-1 with its authors' numbers, but for a design of a quarter of the budget at the most."""

    def __init__(self, problem: Problem, seed: int, budget: int) -> None:
        dim = _box(problem, "turbo").dim
        self._inner = TuRBO(dim, seed, initial_points(dim, budget))
        self._values: list[float] = []

    def ask(self) -> Params:
        return {"x": self._inner.ask()}

    def tell(self, params: Params, value: float) -> None:
        self._values.append(value)
        self._inner.tell(params["x"], value)

    def fail(self, params: Params) -> None:
        self._inner.tell(params["x"], max(self._values, default=0.0))  # as `BoTorch` does


class PyCMA(Peer):
    """CMA-ES of the package `cma`, bounded to the cube, from its centre with step 0.25."""

    def __init__(self, problem: Problem, seed: int, budget: int) -> None:
        cma = require("cma", "bench")
        dim = _box(problem, "pycma").dim
        # pycma reads seed 0 as "take the clock"; maxfevals only informs its termination, not its steps.
        options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9, "maxfevals": budget}
        self._strategy = cma.CMAEvolutionStrategy(np.full(dim, 0.5), 0.25, options)
        self._waiting: list[Array] = []
        self._told: list[tuple[Array, float]] = []

    def ask(self) -> Params:
        if not self._waiting:
            self._waiting = list(self._strategy.ask())
        return {"x": self._waiting.pop(0)}

    def tell(self, params: Params, value: float) -> None:
        self._told.append((params["x"], value))
        self._turn()

    def fail(self, params: Params) -> None:
        self._turn()

    def _turn(self) -> None:
        """Hand a finished generation to the strategy; a generation that failed as a whole is asked anew."""
        if not self._waiting and self._told:
            self._strategy.tell(*map(list, zip(*self._told, strict=True)))
            self._told = []


class SMAC(Peer):
    """SMAC's facade for hyperparameters with its defaults: a random forest over a ConfigSpace."""

    def __init__(self, problem: Problem, seed: int, budget: int) -> None:
        smac = require("smac", "bench")
        self._problem, self._words = problem, require("smac.runhistory", "bench")
        with TemporaryDirectory() as folder:  # files are written here, and not afterwards
            scenario = smac.Scenario(
                _without_vectors(problem),
                output_directory=Path(folder),
                deterministic=True,
                n_trials=budget,
                seed=seed,
            )
            self._facade = smac.HyperparameterOptimizationFacade(scenario, logging_level=False)
        self._asked: Any = None
        self._worst: float | None = None
        self._crashed: list[Any] = []

    def ask(self) -> Params:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # means of empty slices, and the like
            self._asked = self._facade.ask()
        return self._problem.draw(self)

    def vector(self, name: str, dim: int) -> Array:
        return np.array([self._asked.config[f"{name}{i}"] for i in range(dim)])

    def real(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        return float(self._asked.config[name])

    def integer(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        return int(self._asked.config[name])

    def label(self, name: str, options: tuple[str, ...]) -> str:
        return str(self._asked.config[name])

    def tell(self, params: Params, value: float) -> None:
        self._worst = value if self._worst is None else max(self._worst, value)
        self._facade.tell(self._asked, self._words.TrialValue(cost=value), save=False)
        self._tell_crashes()

    def fail(self, params: Params) -> None:
        self._crashed.append(self._asked)
        self._tell_crashes()

    def _tell_crashes(self) -> None:
        """Crashed runs need a finite cost: the worst value so far, for which those before any value wait."""
        if self._worst is None:
            return
        for asked in self._crashed:
            value = self._words.TrialValue(cost=self._worst, status=self._words.StatusType.CRASHED)
            self._facade.tell(asked, value, save=False)
        self._crashed = []


class Hidim(Peer):
    """A method of hidim, `name` as in `hidim:gp` or `hidim:rembo(low=3)`, through its own `Optimizer`."""

    def __init__(self, name: str, problem: Problem, seed: int, budget: int) -> None:
        from hidim.optimizer import Optimizer

        self._optimizer = Optimizer(problem.space(), method=named_method(name), seed=seed, budget=budget)
        self._trial: Any = None

    def ask(self) -> Params:
        self._trial = self._optimizer.ask()
        params: Params = self._trial.params
        return params

    def tell(self, params: Params, value: float) -> None:
        self._optimizer.tell(self._trial, value)

    def fail(self, params: Params) -> None:
        self._optimizer.fail(self._trial, "crashed")

    def recommend(self) -> int | None:
        best: int = self._optimizer.best.number
        return best

    def add(self, params: Params, value: float) -> None:
        self._optimizer.add(params, value)


PEERS: dict[str, Callable[[Problem, int, int], Peer]] = {
    "random": Random,
    "optuna-tpe": lambda problem, seed, _: Optuna("TPESampler", problem, seed),
    "optuna-tpe-group": lambda problem, seed, _: Optuna(
        "TPESampler", problem, seed, multivariate=True, group=True
    ),
    "optuna-gp": lambda problem, seed, _: Optuna("GPSampler", problem, seed),
    "optuna-cmaes": lambda problem, seed, _: Optuna("CmaEsSampler", problem, seed),
    "botorch": BoTorch,
    "botorch-noisy": lambda problem, seed, budget: BoTorch(problem, seed, budget, noisy=True),
    "turbo": Turbo,
    "pycma": PyCMA,
    "smac": SMAC,
}


#: What a peer needs, so that a sweep says at once that it is not there.
PACKAGES = {"optuna": "optuna", "botorch": "botorch", "turbo": "botorch", "pycma": "cma", "smac": "smac"}


def check_method(name: str) -> None:
    """Raise an error unless `name` is an installed peer, or a method of hidim with settings it can take."""
    if name in PEERS:
        package = PACKAGES.get(name.partition("-")[0])
        if package is not None:
            check(package, "bench")
        return
    if not name.startswith(PREFIX):
        raise MethodError(f"no method {name!r}: choose from {', '.join(PEERS)} and hidim:<method>")
    named_method(name)


def make_peer(name: str, problem: Problem, seed: int, budget: int) -> Peer:
    """A fresh run of the method `name` on `problem`, which will be given `budget` evaluations."""
    check_method(name)
    if name in PEERS:
        return PEERS[name](problem, seed, budget)
    return Hidim(name, problem, seed, budget)


def _box(problem: Problem, peer: str) -> BoxProblem:
    if not isinstance(problem, BoxProblem):
        raise MethodError(f"{peer} cannot run {problem.name!r}: it has more than real numbers")
    return problem


def _without_vectors(problem: Problem) -> Any:
    """The problem's space as a `ConfigurationSpace`; coordinates of a box are floats x0, x1, …"""
    from hidim.integrations.configspace import to_configspace
    from hidim.space import Float, Space

    if isinstance(problem, BoxProblem):
        return to_configspace(Space({f"x{i}": Float(0.0, 1.0) for i in range(problem.dim)}))
    return to_configspace(problem.space())
