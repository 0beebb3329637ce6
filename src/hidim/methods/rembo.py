"""REMBO: Bayesian optimisation through random embeddings (Wang et al. 2013, 2016).

If only d_e of D parameters, or of their linear combinations, matter, then a random subspace of d ≥ d_e
dimensions holds an optimum (theorem 2). So y is searched in a small box, and f is evaluated at clip(A y):

    1  A ∈ R^{D×d} with entries N(0, 1)                            embed/gaussian.py
    2  y in [−√d, √d]^d                                            theorem 3 and the text after it
    3  for t = 1, 2, …
    4      y_{t+1} = argmax EI(y), by the better of DIRECT and CMA-ES
    5      observe f(clip(A y_{t+1}))                              the paper's line 5 forgets the clip
    6      length-scale by Algorithm 3                             methods/schedule.py

A box may hold no optimum: k runs with embeddings of their own are interleaved, and trial t belongs to run
t mod k (§3.1). The centre of the space is a point of all embeddings; it is evaluated first and every run
knows it. A run knows nothing else of the others, nor of trials that did not come from its embedding.
"""

from __future__ import annotations

import logging
import math
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from hidim._types import Array
from hidim.acquisition import Acquisition, ExpectedImprovement, LogExpectedImprovement
from hidim.embed import Embedding, Gaussian, Zonotope
from hidim.embed.gaussian import Box
from hidim.errors import MethodError, NumericalError
from hidim.gp import linalg
from hidim.gp.kernels import Kernel, Through
from hidim.gp.maps import Map
from hidim.gp.model import Model, noise_parameter
from hidim.gp.outcome import GENTLE, OUTCOMES, evidence
from hidim.gp.posterior import Posterior, factorise
from hidim.gp.psi import Warped
from hidim.methods.base import Method, Observations, Suggestion, Task, at_least
from hidim.methods.embedded import (
    Unprojected,
    belongs,
    clipped,
    high_dimensional,
    is_due_to,
    isotropic,
    suggested,
)
from hidim.methods.feasibility import learn_feasibility
from hidim.methods.noise import is_noisy
from hidim.methods.schedule import Schedule
from hidim.optim.base import Objective, Score
from hidim.optim.cmaes import CMAES
from hidim.optim.direct import Direct
from hidim.optim.lbfgs import ascend
from hidim.optim.multistart import Multistart
from hidim.space import Space
from hidim.space.columns import Kind
from hidim.trial import History, Trial, TrialState

logger = logging.getLogger("hidim")

KernelName = Literal["auto", "low", "high", "categorical", "warped"]
MapName = Literal["clip", "zonotope"]
Search = Literal["auto", "direct+cma-es", "multistart"]

#: log σ² of the noise: next to none, or that of standardised values with noise.
EXACT, NOISY = math.log(1e-10), math.log(0.05)

#: Dimensions in which some hundred rectangles of DIRECT cover a box.
COVERED = 3

#: The largest space in which a kernel can look at all columns.
LARGEST = 100_000


class Run(NamedTuple):
    """One of the interleaved runs.

    Args:
        history: its trials.
        asked: how many suggestions it has made.
        seen: points (n, d) and losses (n,), points of failed and of running trials.
    """

    history: History
    asked: int
    seen: Observations


@dataclass(frozen=True)
class Rembo(Method):
    """Random embeddings, for spaces of any size in which few directions matter.

    Args:
        low: d, the dimension of the embeddings. None, for those who do not know how many directions matter:
            4, or D if that is less. Too large is slow, too small finds nothing: try 2 to 10.
        runs: k, the number of interleaved runs. With a fixed budget, each has its k-th part of it.
        kernel: on what the model compares points. "low": y itself; "high": the configuration that y stands
            for, numbers by their distance and labels by whether they differ; "categorical": the same with
            integers compared like labels; "warped": Ψ(y), which knows where the embedding leaves the cube;
            "auto": "low" if all parameters are real numbers, and "high" otherwise.
        map: what y stands for. "clip": clip(A y), as in the paper; "zonotope": the point of the cube whose
            projection on the subspace is y, so that no two y stand for the same and no box has to be chosen
            (see `hidim.embed.Zonotope`); for up to 10,000 columns.
        box: with "clip", the size of the search box: "sqrt", "theorem" or "log" (see `hidim.embed.Gaussian`).
        acquisition: "log-ei", or "ei" as in the paper: the maximiser is the same, but EI underflows.
        search: "direct+cma-es" takes the better of the two, as in the paper, and polishes it by a few steps
            along the gradient; "multistart" climbs from many points at once, and is several times faster;
            "auto" is the former up to three dimensions and the latter beyond, where the rectangles of DIRECT
            no longer cover the box, and in a zonotope, most of whose box lies outside.
        evaluations: of the acquisition function for each of DIRECT and CMA-ES.
        outcome: "auto" chooses a transform of the losses by evidence, as `gp` does, but among smooth ones: a
            squared exponential process cannot follow a cusp at the optimum. "identity" is the paper's.
        initial: random points with which every run begins.
        schedule: of the length-scales, Algorithm 3.
        squared_hamming: compare labels by exp(−h²/2λ²) as printed in the paper. That is no valid covariance,
            and there is a warning; by default it is exp(−h/λ).

    Example:
        >>> from hidim import Optimizer, Space, Vector
        >>> optimizer = Optimizer(Space(x=Vector(10**9, -1, 1)), method=Rembo(low=2), seed=0)
        >>> x = optimizer.ask().params["x"]
        >>> len(x), -1 <= x[123_456_789] <= 1
        (1000000000, True)
    """

    name: ClassVar[str] = "rembo"

    low: int | None = None
    runs: int = 4
    kernel: KernelName = "auto"
    map: MapName = "clip"
    box: Box = "sqrt"
    acquisition: Literal["ei", "log-ei"] = "log-ei"
    search: Search = "auto"
    evaluations: int = 200
    outcome: str = "auto"
    initial: int = 3
    schedule: Schedule = field(default_factory=Schedule)
    squared_hamming: bool = False

    def __post_init__(self) -> None:
        at_least(self, runs=1, initial=1, evaluations=10)
        if self.low is not None:
            at_least(self, low=1)
        allowed = {
            "kernel": get_args(KernelName),
            "map": get_args(MapName),
            "box": get_args(Box),
            "acquisition": ("ei", "log-ei"),
            "search": get_args(Search),
            "outcome": ("auto", *OUTCOMES),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise MethodError(
                    f"{name}={getattr(self, name)!r} is unknown: choose one of {', '.join(values)}"
                )
        if self.map == "zonotope" and self.box != "sqrt":
            raise MethodError(f"box={self.box!r} is for map='clip': the zonotope has a size of its own")
        if self.map == "zonotope" and self.kernel == "warped":
            raise MethodError("kernel='warped' mends what map='clip' does: with map='zonotope', use 'low'")
        if self.squared_hamming:
            warnings.warn(
                "squared_hamming=True is not positive semi-definite: the model may be wrong by more than "
                "its deviations say; it is for comparisons with the paper",
                stacklevel=3,
            )

    def suggest(self, task: Task, history: History, rng: np.random.Generator) -> Suggestion:
        number = len(history) % self.runs
        embedding = self.embedding(task, number)
        run = _run(task, history, embedding)
        meta: dict[str, Any] = {"run": number, "way": "design"}
        anywhere = embedding.sample(rng, 64)
        if len(history) == 0:
            anywhere[0] = 0.0
        if run.asked < self.initial or len(run.seen.y) < 2:
            return suggested(task, history, embedding, anywhere, rng, meta)
        try:
            points, learnt = self._model_based(task, history, embedding, run, anywhere, rng)
        except NumericalError as error:
            logger.warning("trial %d is a random point, because the model failed: %s", len(history), error)
            return suggested(task, history, embedding, anywhere, rng, {**meta, "fallback": str(error)})
        meta = {"run": number, "way": "embedding"} | learnt
        return suggested(task, history, embedding, points, rng, meta, repeat=is_noisy(task, history))

    def embedding(self, task: Task, run: int) -> Gaussian | Zonotope:
        """A of a run; it depends on the seed of the task and on nothing else."""
        dim = task.space.dim
        low = min(self.low or 4, dim)
        seed = int(np.random.SeedSequence([task.seed, run]).generate_state(1, np.uint32)[0])
        return Zonotope(dim, low, seed) if self.map == "zonotope" else Gaussian(dim, low, seed, box=self.box)

    def _model_based(
        self,
        task: Task,
        history: History,
        embedding: Embedding,
        run: Run,
        anywhere: Array,
        rng: np.random.Generator,
    ) -> tuple[Array, dict[str, Any]]:
        """Points (k, d), best first, and what the suggestion has to remember."""
        noisy = is_noisy(task, history)
        model = self._model(task, embedding)
        seen = run.seen
        noise = NOISY if noisy else EXACT
        past = [trial.meta for trial in run.history]
        name = self._outcome(past, noisy)

        def fit(low: Array, upper: Array) -> Array:
            nonlocal name
            name, scales = self._fitted(model, seen, noise, name, low, upper)
            return scales

        scales = self.schedule.current(past, run.asked, model.kernel.size, fit, self._longest(task.space))
        theta = np.append(scales.fitted, noise)
        posterior = Posterior(model, theta, seen.x, OUTCOMES[name](seen.y))
        feasibility = learn_feasibility(model, run.history, seen)
        learnt: dict[str, Any] = {"bold": False, "outcome": name}
        if feasibility is not None:
            posterior = feasibility.discouraged(posterior, seen.failed)
            learnt |= feasibility.meta
        believed = posterior.believing(seen.running)
        objective = self._acquisition(believed, noisy).on(believed)
        if feasibility is not None:
            objective = feasibility.weighted(objective, positive=self.acquisition == "ei")
        best = seen.x[np.argmin(posterior.smoothed[: len(seen.y)] if noisy else seen.y)]
        found = self._maximised(_settled(objective, embedding), embedding, best, rng)
        found = embedding.settle(found[None]).value[0]
        order = np.argsort(-np.nan_to_num(objective(anywhere).value, nan=-np.inf), kind="stable")
        deviation = math.sqrt(float(believed.predict(found[None]).variance[0]))
        learnt["scales"] = self.schedule.noted(scales, deviation).meta()
        return np.vstack([found, anywhere[order]]), learnt

    def _outcome(self, past: list[dict[str, Any]], noisy: bool) -> str:
        """The transform in force. Noisy losses stay as they are, so that means of several runs compare."""
        if noisy or self.outcome != "auto":
            return "identity" if noisy else self.outcome
        return next((meta["outcome"] for meta in reversed(past) if "outcome" in meta), "identity")

    def _fitted(
        self, model: Model, seen: Observations, noise: float, name: str, low: Array, upper: Array
    ) -> tuple[str, Array]:
        """Transform and length-scales: the latter for the old transform, that for them, and once more."""
        scales = self.schedule.best(partial(_likelihood, model, seen, noise, name), low, upper)
        if self.outcome != "auto" or noise == NOISY:
            return name, scales
        factor = factorise(model, np.append(scales, noise), seen.x)
        scores = evidence(factor, seen.y, GENTLE)
        better = max(scores, key=scores.__getitem__)
        if better == name:
            return name, scales
        return better, self.schedule.best(partial(_likelihood, model, seen, noise, better), low, upper)

    def _model(self, task: Task, embedding: Embedding) -> Model:
        models: dict[Any, Model] = task.memo.setdefault("rembo", {})
        key = (self, embedding)
        if key not in models:
            models[key] = Model(self._kernel(task.space, embedding), noise_parameter(), mean_sd=0.0)
        return models[key]

    def _kernel(self, space: Space, embedding: Embedding) -> Kernel:
        kind = self._kind(space)
        if kind == "low":
            return isotropic(embedding.low)
        if space.dim > LARGEST:
            raise MethodError(
                f"kernel={kind!r} looks at all {space.dim} columns, and can do so for at most {LARGEST}: "
                "use kernel='low'"
            )
        if isinstance(embedding, Zonotope):
            lift: Map = Unprojected(embedding)
        else:
            matrix = embedding.rows(np.arange(space.dim))
            if kind == "warped":
                return Through(Warped(matrix), isotropic(embedding.low))
            lift = clipped(matrix)
        return high_dimensional(space, lift, as_labels=kind == "categorical", squared=self.squared_hamming)

    def _kind(self, space: Space) -> str:
        if self.kernel != "auto":
            return self.kernel
        small = space.dim <= LARGEST
        return "high" if small and np.any(space.columns.kind != Kind.CONTINUOUS) else "low"

    def _longest(self, space: Space) -> float:
        """U at the start; distances between configurations grow with √D."""
        longest = self.schedule.longest
        return longest if self._kind(space) in ("low", "warped") else max(longest, space.dim**0.5)

    def _acquisition(self, posterior: Posterior, noisy: bool) -> Acquisition:
        target = float((posterior.smoothed if noisy else posterior.y).min())
        return ExpectedImprovement(target) if self.acquisition == "ei" else LogExpectedImprovement(target)

    def _maximised(
        self, objective: Objective, embedding: Embedding, best: Array, rng: np.random.Generator
    ) -> Array:
        """Line 4."""
        upper = np.full(embedding.low, embedding.radius)
        covered = embedding.low <= COVERED and self.map == "clip"
        if self.search == "multistart" or (self.search == "auto" and not covered):
            starts = best + 0.05 * embedding.radius * rng.standard_normal((16, embedding.low))
            if self.map == "zonotope":  # of its box, most lies outside
                inside = np.vstack([starts, embedding.sample(rng, 256)])
                return Multistart(raw=16)(objective, -upper, upper, rng, inside).point
            return Multistart()(objective, -upper, upper, rng, starts).point
        found = [
            maximiser(objective, -upper, upper, rng, best[None])
            for maximiser in (Direct(self.evaluations), CMAES(self.evaluations))
        ]
        winner = max(found, key=lambda optimum: optimum.value).point
        return np.asarray(ascend(objective, winner[None], -upper, upper, max_calls=20)[0][0])

    def means(self, task: Task, history: History) -> Array | None:
        complete = history.complete
        # Scaled if need be, because squares of losses may be larger than any float.
        largest = max((abs(float(t.value or 0.0)) for t in complete), default=0.0)
        size = largest if largest > 1e100 else 1.0
        sign = (-1.0 if task.maximize else 1.0) / size
        means = {trial.number: sign * float(trial.value or 0.0) for trial in complete}
        for number in range(self.runs):
            embedding = self.embedding(task, number)
            run = _run(task, history, embedding)
            fitted = [t.meta["scales"]["fitted"] for t in run.history if "scales" in t.meta]
            if not fitted or len(run.seen.y) < 2:
                return None
            theta = np.append(fitted[-1], NOISY)
            losses = run.seen.y / size
            model, outcomes = self._model(task, embedding), OUTCOMES["identity"](losses)
            smoothed = Posterior(model, theta, run.seen.x, outcomes).smoothed
            found = losses.mean() + losses.std() * smoothed
            means |= {t.number: float(m) for t, m in zip(run.history.complete, found, strict=True)}
        return np.array([means[t.number] for t in complete])


def _settled(objective: Objective, embedding: Embedding) -> Objective:
    """The objective of points of the box, in terms of points with images of their own."""

    def settled(y: Array) -> Score:
        moved = embedding.settle(y)
        score = objective(moved.value)
        return Score(score.value, lambda g: moved.to_inputs(score.to_inputs(g)))

    return settled


def _run(task: Task, history: History, embedding: Embedding) -> Run:
    """What the history says about the run with that embedding."""
    asked = sum(is_due_to(trial, embedding) for trial in history)
    own = History([trial for trial in history if belongs(trial, embedding) or _is_centre(trial)])
    complete = own.complete
    sign = -1.0 if task.maximize else 1.0
    losses = sign * np.array([float(t.value or 0.0) for t in complete])
    failed = [t for t in own.finished if t.state is TrialState.FAILED]
    x, lost, running = (
        np.array([t.meta["y"] if any(t.meta["y"]) else np.zeros(embedding.low) for t in trials]).reshape(
            -1, embedding.low
        )
        for trials in (complete, failed, own.running)
    )
    return Run(own, asked, Observations(x, losses, lost, running))


def _is_centre(trial: Trial) -> bool:
    """Whether a trial is the centre of the space, a point of all embeddings."""
    return "y" in trial.meta and not any(trial.meta["y"])


def _likelihood(model: Model, seen: Observations, noise: float, outcome: str, scales: Array) -> float:
    """log p(y | ℓ), up to a constant."""
    try:
        factor = factorise(model, np.append(scales, noise), seen.x)
    except NumericalError:
        return -math.inf
    y = OUTCOMES[outcome](seen.y)
    return -0.5 * float(y @ linalg.solve(factor, y)) - linalg.half_log_determinant(factor)
