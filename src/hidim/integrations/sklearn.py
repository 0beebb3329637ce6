"""Hyper-parameter search for scikit-learn (`pip install 'hidim[sklearn]'`).

`SearchCV` stands where `RandomizedSearchCV` or `GridSearchCV` stood. It only decides which candidates come
next; folds, scores, refit and everything that is there after `fit` are scikit-learn's own.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from hidim._optional import require
from hidim._types import Params
from hidim.errors import HidimError, HistoryError, MethodError, SpaceError
from hidim.integrations.candidates import Callback, Candidates
from hidim.methods import Method
from hidim.optimizer import Optimizer
from hidim.run.journal import recorded_seed
from hidim.space import Choice, Float, Int, Space, Vector
from hidim.space.labels import Label, checked
from hidim.space.parameters import Parameter
from hidim.space.render import meant
from hidim.space.tree import walk
from hidim.trial import Trial

require("sklearn", extra="sklearn")  # first, because the imports below would not say what to install

from joblib import effective_n_jobs  # noqa: E402  (after `require`)
from sklearn.exceptions import FitFailedWarning  # noqa: E402  (after `require`)
from sklearn.model_selection import RandomizedSearchCV, check_cv  # noqa: E402  (after `require`)
from sklearn.model_selection._search import BaseSearchCV  # noqa: E402  (after `require`)
from sklearn.utils import check_random_state  # noqa: E402  (after `require`)

__all__ = ["SearchCV"]

Objects = Mapping[str, Mapping[Label, Any]]

_POSITIVE = RandomizedSearchCV._parameter_constraints["n_iter"]


class SearchCV(BaseSearchCV):  # type: ignore[misc]  # scikit-learn ships no types
    """Cross-validated search in which every candidate is chosen in the light of all scores before it.

    Args:
        estimator: a scikit-learn estimator; it is cloned, never fitted itself.
        space: a `Space`, or a mapping from names of the estimator's parameters ("svc__C" reaches into a
            pipeline) to hidim parameters, to lists of values, to values, or to frozen `uniform`, `loguniform`
            or `randint` distributions of scipy.stats, of which only the range and the scale count.
        n_trials: number of candidates; a smaller finite space is searched to its last candidate.
        method: as for `hidim.Optimizer`.
        objects: what labels stand for, as {name: {label: object}}, where a label itself is not what the
            estimator wants; objects that are estimators are cloned before use.
        random_state: the same integer gives the same candidates, given the same `batch`.
        error_score: NaN makes a candidate that cannot be fitted a failed trial; a number is taken for its
            score; "raise" stops the search.
        refit: as in scikit-learn; with several metrics it must name the one that guides the search.
        noisy: whether the same candidate may score differently, as with an estimator without `random_state`;
            None finds out, at the price of a candidate.
        batch: candidates asked for at a time, more of them being less well chosen; by default as few as keep
            `n_jobs` workers busy, which is one without `n_jobs`.
        start_with: candidates to be scored first, as configurations of the space.
        journal: a file that keeps every candidate with its scores. If it exists, `fit` goes on from it: what
            has been scored is not scored again. It is for the same data, folds and metrics; other data of the
            same size cannot be told from them, as in `cross_val_score(SearchCV(…, journal=…))`.
        callbacks: called after every candidate with its trial and the history.

    All other arguments, and the attributes after `fit`, are those of `RandomizedSearchCV`. One is added:
    `optimizer_`, the `hidim.Optimizer`, whose history tells of every trial and of why it failed.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> space = Space(C=Float(1e-3, 1e3, log=True), gamma=Float(1e-4, 1e1, log=True))
        >>> search = SearchCV(SVC(), space, n_trials=12, cv=3, random_state=0)
        >>> search.fit(*load_iris(return_X_y=True)).best_score_.round(1)
        np.float64(1.0)
        >>> len(search.cv_results_["params"]), sorted(search.best_params_)
        (12, ['C', 'gamma'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSearchCV._parameter_constraints,
        "n_trials": _POSITIVE,
        "objects": [Mapping, None],
        "random_state": ["random_state"],
        "noisy": ["boolean", None],
        "batch": [*_POSITIVE, None],
        "start_with": [Iterable],
        "journal": [str, os.PathLike, None],
        "callbacks": [Iterable, callable],
    }

    def __init__(
        self,
        estimator: Any,
        space: Mapping[str, Any],
        *,
        n_trials: int = 50,
        method: str | Method = "auto",
        objects: Objects | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: int | np.random.RandomState | None = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        noisy: bool | None = False,
        batch: int | None = None,
        start_with: Iterable[Mapping[str, Any]] = (),
        journal: str | os.PathLike[str] | None = None,
        callbacks: Callback | Iterable[Callback] = (),
    ) -> None:
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.n_trials = n_trials
        self.method = method
        self.objects = objects
        self.random_state = random_state
        self.noisy = noisy
        self.batch = batch
        self.start_with = start_with
        self.journal = journal
        self.callbacks = callbacks

    _table: tuple[list[Params], int, list[Params]]

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        space, objects = _read(self.space, self.objects or {})
        _check_objects(space, objects, self.estimator)
        count = int(min(self.n_trials, space.size))
        seed = None
        if self.journal is not None and self.random_state is None:
            seed = recorded_seed(self.journal)
        if seed is None:
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        # Kept from the start: whoever interrupts `fit` still has the scores so far.
        optimizer = self.optimizer_ = Optimizer(
            space, self.method, seed, budget=count, maximize=True, noisy=self.noisy
        )
        if count < self.n_trials:
            warnings.warn(
                f"the space has {count} configurations, fewer than n_trials={self.n_trials}: all are tried",
                stacklevel=2,
            )
        callbacks = [self.callbacks] if callable(self.callbacks) else list(self.callbacks)
        with Candidates.kept(optimizer, count, self.start_with, self.journal, callbacks) as candidates:
            self._search(evaluate_candidates, candidates, objects)

    def _search(
        self, evaluate_candidates: Callable[..., dict[str, Any]], candidates: Candidates, objects: Objects
    ) -> None:
        batch = self.batch or math.ceil(effective_n_jobs(self.n_jobs) / _expected_folds(self.cv))
        folds = _SameFolds(self.cv) if hasattr(self.cv, "split") else None
        results: dict[str, Any] = {}
        # What is not in scikit-learn's table enters it at the end, by number: the candidates of the journal,
        # with the rows that they had; and those of which every fit failed. It refuses to go on after these,
        # for it thinks of a hopeless search, where here it may be one bad candidate.
        known = {t.number: (_candidate(t.params, objects), _rows(t)) for t in candidates.known}
        refused: dict[int, tuple[Params, None]] = {}
        for trials in candidates.batches(batch):
            asked = [_candidate(trial.params, objects) for trial in trials]
            told: list[Params] = [{}] * len(trials)
            try:
                results = evaluate_candidates(asked, cv=folds)
            except ValueError as error:
                if self.error_score == "raise" or not _EVERY_FIT_FAILED.search(str(error)):
                    raise
                refused |= {trial.number: (c, None) for trial, c in zip(trials, asked, strict=True)}
                if len(refused) == candidates.most:
                    raise
                scores, reason = [self.error_score] * len(trials), _reason(error)
            else:
                scores = results[f"mean_test_{self._guide(results)}"][-len(trials) :]
                reason = "the mean test score is not finite: some fits or their scoring failed"
                told = _by_candidate(self._table[1], self._table[2])[-len(trials) :]
                _check_alike(told[0]["folds"], [rows for _, rows in known.values() if rows is not None])
            for trial, score, attributes in zip(trials, scores, told, strict=True):
                candidates.tell(trial, score, reason, attributes)
        if not results:  # all was known: scikit-learn wants to have seen one candidate with its own eyes
            if not self.optimizer_.history.complete:
                raise HidimError(f"no candidate has a score: {self.optimizer_.history.failed[0].reason}")
            results = evaluate_candidates([_candidate(self.optimizer_.best.params, objects)], cv=folds)
            told = _by_candidate(self._table[1], self._table[2])
            _check_alike(told[-1]["folds"], [rows for _, rows in known.values() if rows is not None])
            self._table = ([], self._table[1], self._table[2])
        if refused:
            warnings.warn(
                f"all fits of {len(refused)} of {candidates.most} candidates failed; their scores are set to "
                f"{self.error_score}; optimizer_.history says why, error_score='raise' stops at the first",
                FitFailedWarning,
                stacklevel=3,
            )
        # In place, because `fit` goes on with the very dict that its last evaluation returned.
        absent = known | refused
        results.update(super()._format_results(*_completed(*self._table, absent, self.error_score)))
        del self._table

    def _format_results(
        self, candidate_params: list[Params], n_splits: int, out: list[Params], more_results: Any = None
    ) -> Any:
        self._table = (candidate_params, n_splits, out)
        with warnings.catch_warnings():
            # Of scores that are not finite the final table warns, so that not every batch has to.
            warnings.filterwarnings("ignore", message="One or more of the", category=UserWarning)
            return super()._format_results(candidate_params, n_splits, out, more_results)

    def _check_refit_for_multimetric(self, scores: Any) -> None:
        if not isinstance(self.refit, str) or self.refit not in scores:
            raise MethodError(
                f"several metrics are scored ({', '.join(scores)}), and one of them must guide the search: "
                f"name it, as in refit={next(iter(scores))!r} (it is {self.refit!r} now)"
            )

    def _guide(self, results: Mapping[str, Any]) -> str:
        """The metric that guides the search; what a callable `scoring` returns is known only now."""
        metrics = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
        if metrics == ["score"]:
            return "score"
        self._check_refit_for_multimetric(metrics)
        return str(self.refit)


class _SameFolds:
    """Splits once: a splitter that shuffles at every call would give every batch folds of its own."""

    def __init__(self, cv: Any) -> None:
        self._cv = cv
        self._folds: list[Any] = []

    def split(self, *args: Any, **kwargs: Any) -> list[Any]:
        self._folds = self._folds or list(self._cv.split(*args, **kwargs))
        return self._folds


def _expected_folds(cv: Any) -> int:
    """How many folds there will be; where only the data or a walk through an iterator could tell, 5."""
    try:
        return 5 if isinstance(cv, Iterator) else int(check_cv(cv).get_n_splits())
    except (AttributeError, TypeError, ValueError):
        return 5


# -- candidates that could not be fitted -------------------------------------------------------------------

_EVERY_FIT_FAILED = re.compile(r"All the \d+ fits failed")


def _reason(error: ValueError) -> str:
    """The last line of every traceback that scikit-learn quotes."""
    quoted = str(error).split("-" * 80)[1:]
    return "; ".join(["all fits failed", *(part.strip().splitlines()[-1] for part in quoted)])


def _completed(
    params: list[Params],
    n_splits: int,
    rows: list[Params],
    absent: Mapping[int, tuple[Params, list[Params] | None]],
    error_score: Any,
) -> tuple[list[Params], int, list[Params]]:
    """The arguments of `_format_results` with those that are absent put where they were asked for."""
    row: Params = dict.fromkeys(rows[0], np.nan)  # how long the fits took is lost
    for key in row.keys() & {"test_scores", "train_scores"}:
        scores = rows[0][key]
        row[key] = dict.fromkeys(scores, error_score) if isinstance(scores, dict) else error_score
    params, rows = list(params), list(rows[: len(params) * n_splits])
    for number in sorted(absent):
        candidate, known = absent[number]
        params.insert(number, candidate)
        rows[number * n_splits : number * n_splits] = known or [row] * n_splits
    return params, n_splits, rows


def _check_alike(rows: list[Params], known: list[list[Params]]) -> None:
    """Refuse to go on from scores of other folds or metrics, or of data of another size."""
    for others in known:
        now, before = ((len(r), sorted(r[0]), sorted(_named(r[0]["test_scores"]))) for r in (rows, others))
        if now != before:
            raise HistoryError(
                "the journal is of a search with other folds, metrics or return_train_score: "
                f"{before[0]} folds of {', '.join(before[2])}, now {now[0]} of {', '.join(now[2])}; give "
                "another path"
            )
        sizes, old = ([row.get("n_test_samples") for row in r] for r in (rows, others))
        if sizes != old:
            raise HistoryError(
                f"the journal is of a search in other data: its folds have {old} samples, now {sizes}; give "
                "another path"
            )


def _named(scores: Any) -> list[str]:
    return list(scores) if isinstance(scores, dict) else ["score"]


def _by_candidate(n_splits: int, rows: list[Params]) -> list[Params]:
    """What is to be remembered of every candidate: its rows, one for every fold."""
    return [{"folds": rows[i : i + n_splits]} for i in range(0, len(rows), n_splits)]


def _rows(trial: Trial) -> list[Params] | None:
    """What scikit-learn knew of the folds of a candidate, by the journal; scores that were no number are."""

    def number(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {key: number(inner) for key, inner in entry.items()}
        return float(entry) if entry in ("nan", "inf", "-inf") else entry

    folds = trial.attributes.get("folds")
    return None if folds is None else [number(fold) for fold in folds]


# -- spaces and their objects ------------------------------------------------------------------------------


def _read(space: Any, objects: Objects) -> tuple[Space, Objects]:
    """The `Space` that is meant, and what its labels stand for."""
    if not isinstance(space, Mapping):
        raise SpaceError(
            f"space must be a hidim.Space or a mapping from names to parameters, not {type(space).__name__}; "
            "what were alternatives in a list are options of a Choice"
        )
    listed: dict[str, dict[Label, Any]] = {}
    if not isinstance(space, Space):
        read = {name: _parameter(name, value) for name, value in space.items()}
        space = Space({name: parameter for name, (parameter, _) in read.items()})
        listed = {name: values for name, (_, values) in read.items() if values}
    for name, by_label in objects.items():
        choices = [v.parameter for v in space.vertices if v.name == name and isinstance(v.parameter, Choice)]
        labels = [label for choice in choices for label in choice.labels]
        if not choices:
            raise SpaceError(f"objects has the key {name!r}, which is no Choice of the space; rename it")
        for label in by_label if isinstance(by_label, Mapping) else [by_label]:
            if label not in labels:
                raise SpaceError(f"objects[{name!r}] has the key {label!r}, but the labels are {labels}")
    return space, {**listed, **{name: {**listed.get(name, {}), **objects[name]} for name in objects}}


def _check_objects(space: Space, objects: Objects, estimator: Any) -> None:
    """Refuse labels in the place of estimators, before any candidate fails by them."""
    known, places = estimator.get_params(), list(walk(space))
    for place in places:
        name, given, missing = place.name, objects.get(place.name, {}), []
        own = [other.path for other in places if other.name.startswith(f"{name}__")]
        for label in place.parameter.labels if isinstance(place.parameter, Choice) else ():
            is_step = hasattr(known.get(name), "fit") and label not in (None, "passthrough", "drop", *given)
            has_own = any((name, label) in path or path == place.path[: len(path)] for path in own)
            if (is_step or has_own) and not hasattr(given.get(label, label), "set_params"):
                missing.append(f"{label!r}: …")
        if missing:
            raise SpaceError(
                f"{name!r} is an estimator, and some of its labels stand for none: write "
                f"objects={{{name!r}: {{{', '.join(missing)}}}}} with an estimator for every …"
            )


def _candidate(params: Params, objects: Objects) -> Params:
    return {
        name: objects[name].get(value, value) if name in objects else value for name, value in params.items()
    }


def _parameter(name: str, value: Any) -> tuple[Parameter, dict[Label, Any]]:
    """What `RandomizedSearchCV` takes as a parameter of hidim, and the values behind its labels."""
    if isinstance(value, Float | Int | Vector | Choice):
        return value, {}
    if isinstance(value, str | int | float | np.generic | None):
        value = [value]
    try:
        if isinstance(value, tuple):
            is_range = value[2:3] in (("log-uniform",), ("uniform",))  # as in scikit-optimize
            if mends := meant(value[:2] if is_range else value):
                raise SpaceError(f"{value!r} is a range to some, and values to others{mends} (or a list)")
        if isinstance(value, list | tuple | range | np.ndarray):
            values = {_label(v): v for v in value}
            if len(values) < len(value):
                raise SpaceError("some of its values are equal; drop all but one of them")
            return Choice(dict.fromkeys(values)), values
        # Frozen distributions have no public class, and scipy is not worth importing to look for them.
        match getattr(getattr(value, "dist", None), "name", None):
            case "uniform":
                return Float(*value.support()), {}
            case "loguniform" | "reciprocal":
                low, high = value.support()
                return Float(low, high, log=True), {}
            case "randint":
                return Int(*value.support()), {}
    except SpaceError as error:
        raise SpaceError(f"the parameter {name!r}: {error}") from error
    raise SpaceError(
        f"the parameter {name!r} cannot be {value!r}: give a hidim parameter, such as Float(low, high), "
        "a value, a list of values, or a frozen uniform, loguniform or randint of scipy.stats"
    )


def _label(value: Any) -> Label:
    try:
        return checked(value)
    except SpaceError:
        return repr(value)
