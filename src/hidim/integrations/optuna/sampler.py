"""The sampler: what Optuna asks of one, answered by a method of hidim."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from hidim.errors import MethodError
from hidim.integrations.optuna.advice import Advice
from hidim.methods import Method, make_method
from hidim.optimizer import Optimizer, is_whole
from hidim.space import Float, Space
from hidim.studies import check_space
from hidim.studies.notes import FAILED, INTERRUPTED

#: Studies that a sampler keeps in mind.
STUDIES = 8


class OptunaSampler(BaseSampler):
    """Suggests the parameters of Optuna's trials by a method of hidim.

    Which parameters exist only under certain choices, or numbers of layers, is found in the trials, and goes
    to the method as a conditional space. A parameter that no finished trial had yet is drawn at random.

    Args:
        method: a name (see `hidim.METHODS`) or a configured method.
        space: the whole space, if it is known, with the names that `trial.suggest_…` uses.
        seed: the same seed and the same values give the same suggestions, trial by trial; None draws one,
            which the study keeps.
        budget: number of trials planned, if known; one too small for a model is told.
        noisy: whether the same configuration may give different values; None: hidim finds out.
        constraints_func: refused, with what to do instead.

    Example:
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=OptunaSampler(seed=0))
        >>> study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=15)
        >>> round(abs(study.best_params["x"]), 1)
        0.0
    """

    def __init__(
        self,
        method: str | Method = "auto",
        space: Space | None = None,
        seed: int | None = None,
        budget: int | None = None,
        *,
        noisy: bool | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
    ) -> None:
        if constraints_func is not None:
            raise MethodError(
                "hidim has no constraints: raise optuna.TrialPruned where one is broken, which the sampler "
                "learns to avoid, or use TPESampler(constraints_func=…)"
            )
        if is_whole(method):
            raise MethodError(
                f"the method comes first, and a seed by its name: OptunaSampler(seed={method!r})"
            )
        if seed is not None and (not is_whole(seed) or seed < 0):
            raise MethodError(f"seed must be an integer of at least 0, or None, not {seed!r}")
        if space is not None and isinstance(space, Space):
            check_space(space)
        # Whatever does not go together is refused now, and not in the first trial.
        Optimizer(Space(x=Float(0, 1)) if space is None else space, method, seed or 0, budget, noisy=noisy)
        self._method, self._space, self._seed = make_method(method), space, seed
        self._budget, self._noisy = budget, noisy
        self._lock = threading.RLock()
        self._studies: dict[tuple[int, int], Advice] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None, "_studies": {}}  # what was read can be read again

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"OptunaSampler(method={self._method.name!r}, seed={self._seed})"

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        with self._lock:
            self._advice(study)  # which refuses several objectives
        return {}  # what stands here would have to be of the kind that is asked for, or Optuna ends the trial

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        return {
            name: self.sample_independent(study, trial, name, each) for name, each in search_space.items()
        }

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        with self._lock:
            return self._advice(study).value(trial, param_name, param_distribution)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        with self._lock:
            self._advice(study).finish(trial)
        if state == TrialState.FAIL and INTERRUPTED not in trial.system_attrs:  # it was seen to fail
            study._storage.set_trial_system_attr(trial._trial_id, FAILED, True)

    def _advice(self, study: Study) -> Advice:
        if len(study.directions) > 1:
            raise MethodError(
                f"the study has {len(study.directions)} objectives, and hidim has methods for one: make them "
                "one number, or use optuna.samplers.NSGAIISampler or TPESampler"
            )
        key = (id(study._storage), study._study_id)  # advice holds the storage, so that its id stays its own
        if key not in self._studies:
            for old in list(self._studies)[: -STUDIES + 1]:
                del self._studies[old]
            self._studies[key] = Advice(
                study, self._method, self._space, self._seed, self._budget, self._noisy
            )
        return self._studies[key]
