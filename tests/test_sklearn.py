from __future__ import annotations

import subprocess
import sys

import joblib
import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, RandomizedSearchCV, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hidim import Choice, Float, Int, Space, TrialState, Vector
from hidim.errors import MethodError, SpaceError
from hidim.sklearn import SearchCV

X, Y = load_iris(return_X_y=True)
UNIT = {"x": Float(0, 1)}


class Bump(ClassifierMixin, BaseEstimator):
    """Scores best at x = 0.3; cannot be fitted from `fails_from` on, nor on data marked as bad."""

    def __init__(self, x=0.0, fails_from=np.inf, weights=None, other=None):
        self.x = x
        self.fails_from = fails_from
        self.weights = weights
        self.other = other

    def fit(self, X, y=None):
        if self.x >= self.fails_from:
            raise ArithmeticError(f"x is {self.x}")
        if np.any(X == -1.0):
            raise ValueError("bad data")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))

    def score(self, X, y=None):
        return -((self.x - 0.3) ** 2)


def scores(search):
    return search.cv_results_["mean_test_score"]


# -- a citizen of scikit-learn -----------------------------------------------------------------------------


def not_for_searches(search):
    if isinstance(search.estimator, Ridge):
        return {"check_supervised_y_2d": "the warning is not raised under scikit-learn's own searches either"}
    return {}


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(
    [
        SearchCV(Ridge(), {"alpha": Float(0.1, 10, log=True)}, n_iter=2, cv=2, error_score="raise"),
        SearchCV(LogisticRegression(), {"C": Float(0.1, 10, log=True)}, n_iter=2, cv=2, error_score="raise"),
    ],
    expected_failed_checks=not_for_searches,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_it_leaves_behind_what_a_randomized_search_does():
    settings = {"n_iter": 3, "cv": 3, "random_state": 0, "return_train_score": True}
    ours = SearchCV(LogisticRegression(max_iter=500), {"C": stats.loguniform(0.1, 1)}, **settings).fit(X, Y)
    theirs = RandomizedSearchCV(LogisticRegression(max_iter=500), {"C": stats.loguniform(0.1, 1)}, **settings)
    theirs.fit(X, Y)
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    assert vars(ours).keys() - ours.get_params(deep=False).keys() - {"optimizer_"} == (
        vars(theirs).keys() - theirs.get_params(deep=False).keys()
    )
    assert ours.predict(X).shape == (150,)
    assert ours.predict_proba(X).shape == (150, 3)
    assert ours.score(X, Y) == accuracy_score(Y, ours.predict(X))


def test_the_optimizer_is_told_the_mean_test_scores():
    search = SearchCV(Bump(), UNIT, n_iter=12, cv=2, random_state=0).fit(X, Y)
    assert [trial.params for trial in search.optimizer_.history] == search.cv_results_["params"]
    assert [trial.value for trial in search.optimizer_.history] == scores(search).tolist()
    assert search.best_index_ == search.optimizer_.best.number
    assert search.best_params_["x"] == pytest.approx(0.3, abs=0.05)


def test_the_same_integer_gives_the_same_search():
    first, second, other = (
        SearchCV(Bump(), UNIT, n_iter=8, cv=2, random_state=seed).fit(X, Y).cv_results_["params"]
        for seed in (3, 3, 4)
    )
    assert first == second != other


def test_a_random_state_moves_on_from_fit_to_fit():
    search = SearchCV(Bump(), UNIT, n_iter=3, method="random", cv=2)
    search.set_params(random_state=np.random.RandomState(0))
    assert search.fit(X, Y).best_params_ != search.fit(X, Y).best_params_


def test_parameters_are_kept_as_given_and_cloned():
    space, objects = Space(x=Float(0, 1), other=Choice("a", "b")), {"other": {"a": Ridge()}}
    search = SearchCV(Bump(), space, objects=objects, batch=2)
    assert search.space is space
    assert search.objects is objects
    twin = clone(search).set_params(estimator__fails_from=2.0, n_iter=3)
    assert (twin.space, twin.batch, twin.n_iter, twin.estimator.fails_from) == (space, 2, 3, 2.0)
    assert search.estimator.fails_from == np.inf
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_a_transformer_transforms_and_groups_reach_the_splitter():
    search = SearchCV(PCA(), {"n_components": Int(1, 3)}, n_iter=3, cv=GroupKFold(3), random_state=0)
    assert search.fit(X, groups=np.arange(150) % 3).transform(X).shape == (150, 3)


def test_metadata_is_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = LogisticRegression(max_iter=500).set_fit_request(sample_weight=True)
        estimator.set_score_request(sample_weight=True)
        search = SearchCV(estimator, {"C": Float(0.1, 1)}, n_iter=1, cv=2)
        search.fit(X, Y, sample_weight=(Y > 0).astype(float))
    assert 0 not in search.predict(X)


# -- spaces ------------------------------------------------------------------------------------------------


def test_spaces_of_a_randomized_search_are_understood():
    space = {
        "a": stats.uniform(1, 2),
        "b": stats.loguniform(1e-3, 10),
        "c": stats.randint(1, 5),
        "d": ["l1", "l2", None],
        "e": Vector(3),
    }
    search = SearchCV(Bump(), space, n_iter=1, cv=2)
    with pytest.raises(ValueError, match="Invalid parameter 'a' for estimator Bump"):
        search.fit(X, Y)
    assert search.optimizer_.space == Space(
        a=Float(1, 3), b=Float(1e-3, 10, log=True), c=Int(1, 4), d=Choice("l1", "l2", None), e=Vector(3)
    )


@pytest.mark.parametrize(
    "values",
    [
        [(10,), (20, 10)],
        [1, 2.5, True + 2],
        [np.inf, None, "sqrt"],
        [StandardScaler(), MinMaxScaler()],
        np.logspace(-1, 1, 3),
        range(2, 5),
    ],
)
def test_listed_values_reach_the_estimator_as_they_are(values):
    search = SearchCV(Bump(), {"other": values}, n_iter=len(values), cv=2, random_state=0).fit(X, Y)
    got = [params["other"] for params in search.cv_results_["params"]]
    assert sorted(map(repr, got)) == sorted(map(repr, values))
    assert type(search.best_estimator_.other) is type(search.best_params_["other"])


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"x": stats.norm()}, "the parameter 'x' cannot be .*Float.*scipy.stats"),
        ({"x": stats.uniform}, "the parameter 'x' cannot be .*frozen"),
        ({"x": 3}, "the parameter 'x' cannot be 3"),
        ({"x": "rbf"}, "the parameter 'x' cannot be 'rbf'"),
        ({"x": stats.loguniform(1, 10, loc=-5)}, "the parameter 'x': .*low > 0"),
        ({"x": stats.uniform([0, 1], 1)}, "the parameter 'x': .*must be a number"),
        ({"x": []}, "the parameter 'x': .*no options"),
        ({"x": [1, 2, 1.0]}, "the parameter 'x': .*equal; drop"),
        ([{"x": [1]}, {"x": [2]}], "not list; .*options of a Choice"),
        ({}, "empty"),
    ],
)
def test_what_cannot_be_translated_is_named(space, message):
    with pytest.raises(SpaceError, match=message):
        SearchCV(Bump(), space).fit(X, Y)


def test_a_vector_is_passed_as_an_array():
    search = SearchCV(Bump(), {"weights": Vector(3, -1, 1)}, n_iter=3, cv=2, random_state=0).fit(X, Y)
    assert search.best_estimator_.weights.shape == (3,)
    assert [w.shape for w in search.cv_results_["param_weights"]] == [(3,)] * 3


@pytest.mark.parametrize("n_iter", [6, 50])
def test_a_finite_space_is_searched_to_its_last_configuration(n_iter):
    search = SearchCV(Bump(), {"x": [0.1, 0.2, 0.4], "other": ["a", "b"]}, n_iter=n_iter, cv=2)
    if n_iter > 6:
        with pytest.warns(UserWarning, match="6 configurations, fewer than n_iter=50"):
            search.fit(X, Y)
    else:
        search.fit(X, Y)
    assert len({tuple(params.values()) for params in search.cv_results_["params"]}) == 6


# -- conditional spaces and objects ------------------------------------------------------------------------


@pytest.fixture
def models():
    return {"knn": KNeighborsClassifier(), "tree": DecisionTreeClassifier(random_state=0)}


@pytest.fixture
def either(models):
    space = Space(
        {
            "scale": Choice("passthrough", "standard"),
            "clf": Choice(
                knn=Space({"clf__n_neighbors": Int(1, 20)}),
                tree=Space({"clf__max_depth": Int(1, 5), "clf__ccp_alpha": Float(1e-4, 1e-1, log=True)}),
            ),
        }
    )
    pipeline = Pipeline([("scale", MinMaxScaler()), ("clf", LogisticRegression())])
    objects = {"scale": {"standard": StandardScaler()}, "clf": models}
    return SearchCV(pipeline, space, objects=objects, n_iter=12, cv=2, random_state=0)


def test_an_algorithm_is_chosen_with_its_own_parameters(either, models):
    search = either.fit(X, Y)
    table = search.cv_results_
    chosen = [trial.params["clf"] for trial in search.optimizer_.history]
    assert set(chosen) == {"knn", "tree"}
    for params, label in zip(table["params"], chosen, strict=True):
        assert params["clf"] is models[label]
        assert ("clf__n_neighbors" in params) == (label == "knn")
        assert ("clf__max_depth" in params) == (label == "tree")
        assert params["scale"] == "passthrough" or isinstance(params["scale"], StandardScaler)
    # The columns of inactive parameters are masked, as scikit-learn does for lists of grids.
    assert table["param_clf__n_neighbors"].mask.tolist() == [label == "tree" for label in chosen]
    assert isinstance(search.best_estimator_["clf"], type(search.best_params_["clf"]))
    assert search.best_score_ > 0.9


def test_the_given_objects_are_neither_fitted_nor_changed(either, models):
    before = {label: model.get_params() for label, model in models.items()}
    search = either.fit(X, Y)
    assert search.best_estimator_["clf"] not in models.values()
    for label, model in models.items():
        assert model.get_params() == before[label]
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ({"y": {"a": 1}}, "'y', which is no Choice"),
        ({"x": {"a": 1}}, "'x', which is no Choice"),
        ({"other": {"c": 1}}, r"objects\['other'\] has the key 'c', but the labels are \['a', 'b'\]"),
    ],
)
def test_objects_must_fit_the_space(objects, message):
    space = {"x": Float(0, 1), "other": Choice("a", "b")}
    with pytest.raises(SpaceError, match=message):
        SearchCV(Bump(), space, objects=objects).fit(X, Y)


def test_names_reach_into_a_pipeline_and_listed_labels_may_have_objects():
    space = {"bump__x": Float(0, 1), "scaler": ["none", "standard"]}
    pipeline = Pipeline([("scaler", MinMaxScaler()), ("bump", Bump())])
    objects = {"scaler": {"none": "passthrough", "standard": StandardScaler()}}
    search = SearchCV(pipeline, space, objects=objects, n_iter=4, cv=2, random_state=0).fit(X, Y)
    assert {str(params["scaler"]) for params in search.cv_results_["params"]} == {
        "passthrough",
        "StandardScaler()",
    }


# -- failures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("scoring", [None, ["accuracy", "f1_macro"]])
@pytest.mark.filterwarnings("ignore:One or more of the:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_candidate_that_cannot_be_fitted_is_a_failed_trial(batch, scoring):
    search = SearchCV(
        Bump(fails_from=0.5),
        UNIT,
        method="sobol",
        n_iter=9,
        cv=2,
        random_state=0,
        batch=batch,
        scoring=scoring,
        refit="accuracy" if scoring else True,
        return_train_score=True,
    )
    search.fit(X, Y)
    trials, table = search.optimizer_.history, search.cv_results_
    failed = np.array([trial.params["x"] >= 0.5 for trial in trials])
    assert 0 < failed.sum() < 9
    assert [trial.state is TrialState.FAILED for trial in trials] == failed.tolist()
    assert [params["x"] for params in table["params"]] == [trial.params["x"] for trial in trials]
    for name in scoring or ["score"]:
        for key in (f"mean_test_{name}", f"split1_test_{name}", f"mean_train_{name}"):
            assert np.isnan(table[key]).tolist() == failed.tolist()
    assert np.all(table[f"rank_test_{(scoring or ['score'])[0]}"][failed] == 1 + (~failed).sum())
    assert search.best_params_["x"] < 0.5
    if batch == 1:
        first = next(trial for trial in trials if trial.state is TrialState.FAILED)
        assert first.reason == f"all fits failed; ArithmeticError: x is {first.params['x']}"


def test_failures_before_and_after_everything_that_succeeds_keep_their_place():
    for seed in range(3):  # the three candidates in several orders
        search = SearchCV(Bump(fails_from=0.5), {"x": [0.9, 0.1, 0.8]}, n_iter=3, cv=2, random_state=seed)
        with pytest.warns() as caught:
            search.fit(X, Y)
        said = [str(warning.message) for warning in caught]
        assert len(said) == 2
        assert "all fits of 2 of 3 candidates failed, and their scores are set to nan" in said[0]
        assert "test scores are non-finite" in said[1]
        order = [params["x"] for params in search.cv_results_["params"]]
        assert order == [trial.params["x"] for trial in search.optimizer_.history]
        assert np.isfinite(scores(search)).tolist() == [x == 0.1 for x in order]
        assert search.best_params_ == {"x": 0.1}


def test_a_candidate_with_one_bad_fold_is_a_failed_trial():
    data = X.copy()
    data[0] = -1.0  # in the training data of one fold only
    search = SearchCV(Bump(), UNIT, n_iter=2, cv=2, refit=False)
    with pytest.warns(), pytest.warns(FitFailedWarning, match="1 fits failed out of a total of 2"):
        search.fit(data, Y)
    assert [trial.state for trial in search.optimizer_.history] == [TrialState.FAILED] * 2
    assert "not finite" in search.optimizer_.history[0].reason


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_numeric_error_score_is_a_score():
    search = SearchCV(
        Bump(fails_from=0.5), UNIT, method="sobol", n_iter=8, cv=2, error_score=-7, random_state=0
    ).fit(X, Y)
    values = {trial.params["x"]: trial.value for trial in search.optimizer_.history}
    assert {value == -7.0 for x, value in values.items() if x >= 0.5} == {True}
    assert list(values.values()) == scores(search).tolist()


def test_errors_are_raised_if_so_wished():
    with pytest.raises(ArithmeticError, match="x is"):
        SearchCV(Bump(fails_from=0.0), UNIT, n_iter=3, cv=2, error_score="raise").fit(X, Y)


def test_a_search_in_which_everything_fails_says_so():
    search = SearchCV(Bump(fails_from=0.0), UNIT, n_iter=3, cv=2)
    with pytest.raises(ValueError, match=r"(?s)All the 2 fits failed.*ArithmeticError: x is"):
        search.fit(X, Y)


@pytest.mark.parametrize("settings", [{"n_iter": 0}, {"n_iter": 2.5}, {"batch": 0}, {"random_state": "x"}])
def test_bad_settings_are_refused_by_scikit_learn(settings):
    (name,) = settings
    with pytest.raises(ValueError, match=f"The '{name}' parameter of SearchCV must be"):
        SearchCV(Bump(), UNIT, **settings).fit(X, Y)


def test_an_unknown_method_is_refused():
    with pytest.raises(MethodError, match="unknown method 'sobl': did you mean 'sobol'"):
        SearchCV(Bump(), UNIT, method="sobl").fit(X, Y)


# -- several metrics, and what to refit --------------------------------------------------------------------


def two_metrics(estimator, X, y):
    return {"near": estimator.score(X, y), "far": -estimator.score(X, y)}


@pytest.mark.parametrize(
    "scoring", [two_metrics, {"near": Bump.score, "far": lambda e, X, y: -e.score(X, y)}]
)
@pytest.mark.parametrize("guide", ["near", "far"])
def test_refit_names_the_metric_that_guides_the_search(scoring, guide):
    search = SearchCV(Bump(), UNIT, n_iter=8, cv=2, random_state=0, scoring=scoring, refit=guide).fit(X, Y)
    guided = search.cv_results_[f"mean_test_{guide}"].tolist()
    assert [trial.value for trial in search.optimizer_.history] == guided
    assert search.best_score_ == max(guided)
    assert abs(search.best_params_["x"] - 0.3) < 0.1 or guide == "far"


@pytest.mark.parametrize("scoring", [two_metrics, ["accuracy", "f1_macro"]])
@pytest.mark.parametrize("refit", [True, False, "recall", lambda results: 0])
def test_several_metrics_need_a_guide(scoring, refit):
    search = SearchCV(Bump(), UNIT, n_iter=8, cv=2, scoring=scoring, refit=refit)
    with pytest.raises(MethodError, match=r"must guide the search: name it, as in refit='(near|accuracy)'"):
        search.fit(X, Y)


def test_without_refit_there_is_a_best_candidate_but_no_best_estimator():
    search = SearchCV(Bump(), UNIT, n_iter=3, cv=2, refit=False, random_state=0).fit(X, Y)
    assert search.best_score_ == scores(search).max()
    assert not hasattr(search, "best_estimator_")


def test_a_callable_refit_chooses_the_candidate():
    search = SearchCV(Bump(), UNIT, n_iter=3, cv=2, refit=lambda results: 2, random_state=0).fit(X, Y)
    assert search.best_index_ == 2
    assert search.best_estimator_.x == search.cv_results_["params"][2]["x"]


# -- batches and folds -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_jobs", "batch", "sizes"),
    [(None, None, [1] * 5), (1, None, [1] * 5), (6, None, [3, 2]), (4, None, [2, 2, 1]), (1, 4, [4, 1])],
)
def test_batches_are_as_small_as_keeps_the_workers_busy(n_jobs, batch, sizes, capsys):
    search = SearchCV(Bump(), UNIT, n_iter=5, cv=2, n_jobs=n_jobs, batch=batch, verbose=1, random_state=0)
    with joblib.parallel_config(backend="threading"):
        search.fit(X, Y)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Fitting")]
    assert [int(line.split()[6]) for line in lines] == sizes


def test_every_candidate_meets_the_same_folds():
    # The same tree again and again: only the folds could make its scores differ.
    space = {"ccp_alpha": Float(0, 1e-9)}
    folds = ShuffleSplit(2, test_size=0.3)
    search = SearchCV(DecisionTreeClassifier(random_state=0), space, n_iter=8, cv=folds).fit(X, Y)
    assert len(set(search.cv_results_["split0_test_score"])) == 1
    assert len(set(search.cv_results_["split1_test_score"])) == 1


# -- an optional dependency --------------------------------------------------------------------------------


def python(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_hidim_does_not_import_scikit_learn():
    assert python("import sys, hidim, hidim.optimizer; print('sklearn' in sys.modules)") == "False"


def test_without_scikit_learn_the_import_says_what_to_install():
    code = """
import sys
sys.modules["sklearn"] = None
from hidim.errors import MissingDependencyError
try:
    import hidim.sklearn
except MissingDependencyError as error:
    print(error)
"""
    assert python(code) == "this needs the package 'sklearn': pip install 'hidim[sklearn]'"
