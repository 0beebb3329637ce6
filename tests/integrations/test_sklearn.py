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
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, LeaveOneOut, RandomizedSearchCV, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hidim import Choice, Float, Int, Space, TrialState, Vector
from hidim.errors import HistoryError, MethodError, ParameterError, SpaceError
from hidim.integrations.sklearn import SearchCV

X, Y = load_iris(return_X_y=True)
UNIT = {"x": Float(0, 1)}


class Bump(ClassifierMixin, BaseEstimator):
    """Scores best at x = 0.3; cannot be fitted from `fails_from` on, nor on data that hold a -1."""

    def __init__(self, x=0.0, fails_from=np.inf, other=None):
        self.x = x
        self.fails_from = fails_from
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


def fitted(estimator=None, space=UNIT, **settings):
    return SearchCV(estimator or Bump(), space, **{"cv": 2, "random_state": 0, **settings}).fit(X, Y)


def column(search, name):
    return [params[name] for params in search.cv_results_["params"]]


def not_for_searches(search):
    if isinstance(search.estimator, Ridge):
        return {"check_supervised_y_2d": "the warning is not raised under scikit-learn's own searches either"}
    return {}


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(
    [
        SearchCV(Ridge(), {"alpha": Float(0.1, 10, log=True)}, n_trials=2, cv=2, error_score="raise"),
        SearchCV(
            LogisticRegression(), {"C": Float(0.1, 10, log=True)}, n_trials=2, cv=2, error_score="raise"
        ),
    ],
    expected_failed_checks=not_for_searches,
)
def test_scikit_learns_own_checks(estimator, check):
    """What is asserted stands in the checks, which raise."""
    check(estimator)


def test_it_leaves_behind_what_a_randomized_search_does():
    settings = {"cv": 3, "random_state": 0, "return_train_score": True}
    model, space = KNeighborsClassifier(), {"n_neighbors": stats.randint(1, 20)}
    ours = SearchCV(model, space, n_trials=3, **settings).fit(X, Y)
    theirs = RandomizedSearchCV(model, space, n_iter=3, **settings).fit(X, Y)
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    left = [vars(search).keys() - search.get_params(deep=False).keys() for search in (ours, theirs)]
    assert left[0] == left[1] | {"optimizer_"}
    assert ours.score(X, Y) == np.mean(ours.predict(X) == Y)
    assert ours.predict_proba(X).shape == (150, 3)


def test_the_optimizer_is_told_the_mean_test_scores():
    search = fitted(n_trials=12)
    assert [trial.params for trial in search.optimizer_.history] == search.cv_results_["params"]
    assert [trial.value for trial in search.optimizer_.history] == list(search.cv_results_["mean_test_score"])
    assert search.best_index_ == search.optimizer_.best.number
    assert search.best_params_["x"] == pytest.approx(0.3, abs=0.05)


def test_an_integer_gives_the_same_search_again_and_a_random_state_another():
    state = np.random.RandomState(3)
    runs = [column(fitted(n_trials=8, random_state=seed), "x") for seed in (3, 3, 4, state, state)]
    assert runs[0] == runs[1] == runs[3]
    assert len(set(map(tuple, runs))) == 3


def test_parameters_are_kept_as_given_and_cloned():
    space, objects = Space(x=Float(0, 1), other=Choice("a", "b")), {"other": {"a": Ridge()}}
    search = SearchCV(Bump(), space, objects=objects, batch=2)
    assert search.space is space
    assert search.objects is objects
    twin = clone(search).set_params(estimator__fails_from=2.0, n_trials=3)
    assert (twin.space, twin.batch, twin.n_trials, twin.estimator.fails_from) == (space, 2, 3, 2.0)
    assert search.estimator.fails_from == np.inf


def test_a_transformer_transforms_and_groups_reach_the_splitter():
    search = SearchCV(PCA(), {"n_components": Int(1, 3)}, n_trials=3, cv=GroupKFold(3), random_state=0)
    assert search.fit(X, groups=np.arange(150) % 3).transform(X).shape == (150, 3)


def test_metadata_is_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        tree = DecisionTreeClassifier().set_fit_request(sample_weight=True)
        search = SearchCV(tree.set_score_request(sample_weight=True), {"max_depth": Int(2, 3)}, n_trials=1)
        search.fit(X, Y, sample_weight=(Y > 0).astype(float))
    assert set(search.predict(X)) == {1, 2}


def test_spaces_of_a_randomized_search_are_understood():
    a, b, c = stats.uniform(1, 2), stats.loguniform(1e-3, 10), stats.randint(1, 5)
    search = SearchCV(Bump(), {"a": a, "b": b, "c": c, "d": ["l1", None], "e": Vector(3)})
    with pytest.raises(ValueError, match="Invalid parameter 'a' for estimator Bump"):
        search.fit(X, Y)
    assert search.optimizer_.space == Space(
        a=Float(1, 3), b=Float(1e-3, 10, log=True), c=Int(1, 4), d=Choice("l1", None), e=Vector(3)
    )


TUPLES, ODD, SCALERS = [(10,), (20, 10)], [np.inf, None, "sqrt"], [StandardScaler(), MinMaxScaler()]


@pytest.mark.parametrize("values", [TUPLES, ODD, SCALERS, [1, 2.5, False], np.logspace(-1, 1, 3), range(3)])
def test_listed_values_reach_the_estimator_as_they_are(values):
    search = fitted(space={"other": values}, n_trials=len(values))
    assert sorted(map(repr, column(search, "other"))) == sorted(map(repr, values))
    assert type(search.best_estimator_.other) is type(search.best_params_["other"])


def test_tuples_are_labels_and_all_kinds_of_parameters_are_passed_on():
    space = {"x": Float(0, 1, step=0.25), "other": TUPLES}
    search = fitted(space=space, n_trials=10)
    assert search.optimizer_.space == Space(x=Float(0, 1, step=0.25), other=Choice(*TUPLES))
    assert {t.params["other"] for t in search.optimizer_.history} == set(TUPLES)
    assert set(column(search, "x")) == {0.0, 0.25, 0.5, 0.75, 1.0}
    assert fitted(space={"other": [(10,)]}, n_trials=1).best_params_ == {"other": (10,)}


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"x": stats.norm()}, "the parameter 'x' cannot be .*Float.*scipy.stats"),
        ({"x": stats.uniform}, "the parameter 'x' cannot be .*frozen"),
        ({"x": StandardScaler()}, r"the parameter 'x' cannot be StandardScaler\(\)"),
        ({"x": (1e-3, 1e3, "log-uniform")}, r"a range.*: write Float\(0\.001, 1000, log=True\) for"),
        ({"x": (1, 5, "uniform")}, r": write Int\(1, 5\) for a range"),
        (
            {"x": (1e-3, 1e3)},
            r"'x': .* write Float\(0\.001, 1000, log=True\) for a range, or Choice\(0.001, 10",
        ),
        (
            {"x": (np.float64(0.1), np.int64(5))},
            r"Float\(0.1, 5\) for a range, or Choice\(0.1, 5\) .*list\)$",
        ),
        ({"x": stats.loguniform(1, 10, loc=-5)}, "the parameter 'x': .*low > 0"),
        ({"x": stats.uniform([0, 1], 1)}, "the parameter 'x': .*must be a number"),
        ({"x": []}, "the parameter 'x': .*no options"),
        ({"x": [1, 2, 1.0]}, "the parameter 'x': .*equal; drop"),
        ([{"x": [1]}, {"x": [2]}], "not list; .*options of a Choice"),
        ({}, "empty"),
        (UNIT, "objects has the key 'other', which is no Choice"),
        ({"other": Int(1, 2)}, "objects has the key 'other', which is no Choice"),
        ({"other": [1]}, r"objects\['other'\] has the key 'c', but"),
        ({"other": Choice("a")}, r"objects\['other'\] has the key 'c', but the labels are \['a'\]"),
    ],
)
def test_what_a_space_cannot_be_is_named(space, message):
    objects = {"other": {"c": 1}} if "objects" in message else None
    with pytest.raises(SpaceError, match=message):
        fitted(space=space, objects=objects)


def test_values_that_are_fixed_reach_the_estimator():
    search = fitted(
        SVC(), {"C": Float(0.1, 10), "kernel": "poly", "degree": np.int64(2), "coef0": 1.0}, n_trials=2
    )
    assert search.optimizer_.space.columns.names == ("C",)
    assert [search.best_params_[name] for name in ("kernel", "degree", "coef0")] == ["poly", 2, 1.0]
    assert column(fitted(space=Space(x=0.1, other=Choice(True, False)), n_trials=2), "x") == [0.1, 0.1]


OWN = Space(clf=Choice(svm=Space({"clf__C": Float(0.1, 1)}), tree=Space({"clf__max_depth": Int(1, 3)})))


@pytest.mark.parametrize(
    ("space", "objects", "written"),
    [
        (OWN, None, "{'clf': {'svm': …, 'tree': …}} with an estimator for every …"),
        (OWN, {"clf": {"svm": SVC()}}, "{'clf': {'tree': …}}"),
        (OWN, {"clf": {"svm": SVC(), "tree": "tree"}}, "{'clf': {'tree': …}}"),
        (Space({"clf": Choice("svm"), "clf__C": Float(0.1, 1)}), None, "{'clf': {'svm': …}}"),
        ({"clf": Choice("passthrough", "svm")}, None, "{'clf': {'svm': …}}"),
    ],
)
def test_labels_in_the_place_of_estimators_are_refused_before_any_fit(space, objects, written):
    search = SearchCV(Pipeline([("clf", SVC())]), space, objects=objects)
    with pytest.raises(SpaceError, match="'clf' is an estimator") as caught:
        search.fit(X, Y)
    assert f"write objects={written}" in str(caught.value)


def test_a_vector_is_passed_as_an_array():
    search = fitted(space={"other": Vector(3, -1, 1)}, n_trials=3)
    assert search.best_estimator_.other.shape == (3,)
    assert [w.shape for w in search.cv_results_["param_other"]] == [(3,)] * 3


def test_a_finite_space_is_searched_to_its_last_configuration():
    with pytest.warns(UserWarning, match="6 configurations, fewer than n_trials=50"):
        search = fitted(space={"x": [0.1, 0.2, 0.4], "other": ["a", "b"]})
    assert len(set(zip(column(search, "x"), column(search, "other"), strict=True))) == 6


def test_an_algorithm_is_chosen_with_its_own_parameters():
    models = {"knn": KNeighborsClassifier(), "tree": DecisionTreeClassifier(random_state=0)}
    before = {label: model.get_params() for label, model in models.items()}
    knn = Space({"clf__n_neighbors": Int(1, 20)})
    tree = Space({"clf__max_depth": Int(1, 5), "clf__ccp_alpha": Float(1e-4, 1e-1, log=True)})
    space = {"clf": Choice(knn=knn, tree=tree), "scale": ["passthrough", "standard"]}
    objects = {"clf": models, "scale": {"standard": StandardScaler()}}
    pipeline = Pipeline([("scale", MinMaxScaler()), ("clf", LogisticRegression())])
    search = fitted(pipeline, space, objects=objects, n_trials=12)

    chosen = [trial.params["clf"] for trial in search.optimizer_.history]
    assert set(chosen) == {"knn", "tree"}
    for params, label in zip(search.cv_results_["params"], chosen, strict=True):
        assert params["clf"] is models[label]
        assert params.keys() == {"scale", "clf"} | (knn if label == "knn" else tree).keys()
        assert params["scale"] == "passthrough" or isinstance(params["scale"], StandardScaler)
    # The columns of inactive parameters are masked, as scikit-learn does for lists of grids.
    mask = search.cv_results_["param_clf__n_neighbors"].mask
    assert mask.tolist() == [label == "tree" for label in chosen]
    assert isinstance(search.best_estimator_["clf"], type(search.best_params_["clf"]))
    for label, model in models.items():  # neither fitted nor changed
        assert model.get_params() == before[label]
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("scoring", [None, ["accuracy", "f1_macro"]])
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_candidate_that_cannot_be_fitted_is_a_failed_trial(batch, scoring):
    settings = {"scoring": scoring, "refit": "accuracy" if scoring else True, "return_train_score": True}
    search = fitted(Bump(fails_from=0.5), method="sobol", n_trials=9, batch=batch, **settings)
    trials, table = search.optimizer_.history, search.cv_results_
    failed = [trial.params["x"] >= 0.5 for trial in trials]
    assert 0 < sum(failed) < 9
    assert [trial.state is TrialState.FAILED for trial in trials] == failed
    for name in scoring or ["score"]:
        for key in (f"mean_test_{name}", f"split1_test_{name}", f"mean_train_{name}"):
            assert np.isnan(table[key]).tolist() == failed
    assert search.best_params_["x"] < 0.5


@pytest.mark.parametrize("values", [[0.9, 0.1, 0.8], [0.1, 0.9, 0.8], [0.8, 0.9, 0.1]])
def test_failures_keep_their_place_and_their_reason_and_are_warned_of_once(values):
    with pytest.warns() as caught:
        search = fitted(Bump(fails_from=0.5), {"x": values}, n_trials=3)
    said = [str(warning.message) for warning in caught]
    assert len(said) == 2
    assert "all fits of 2 of 3 candidates failed; their scores are set to nan" in said[0]
    assert "test scores are non-finite" in said[1]
    history = search.optimizer_.history
    assert column(search, "x") == [trial.params["x"] for trial in history]
    assert np.isfinite(search.cv_results_["mean_test_score"]).tolist() == [t.reason is None for t in history]
    assert {t.reason for t in history if t.params["x"] == 0.8} == {
        "all fits failed; ArithmeticError: x is 0.8"
    }
    assert search.best_params_ == {"x": 0.1}


def test_a_candidate_with_one_bad_fold_is_a_failed_trial():
    data = X.copy()
    data[0] = -1.0  # in the training data of one fold only
    search = SearchCV(Bump(), UNIT, n_trials=3, cv=2, refit=False)
    with pytest.warns() as caught:
        search.fit(data, Y)
    assert sum(warning.category is FitFailedWarning for warning in caught) == 3
    assert sum("non-finite" in str(warning.message) for warning in caught) == 1
    assert "not finite" in search.optimizer_.history[0].reason


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_numeric_error_score_is_a_score():
    search = fitted(Bump(fails_from=0.5), method="sobol", n_trials=8, error_score=-7)
    values = [trial.value for trial in search.optimizer_.history]
    assert [value == -7.0 for value in values] == [x >= 0.5 for x in column(search, "x")]
    assert values == search.cv_results_["mean_test_score"].tolist()


@pytest.mark.parametrize(
    ("error_score", "error", "message"),
    [("raise", ArithmeticError, "x is"), (np.nan, ValueError, r"(?s)All the 2 fits failed.*x is")],
)
def test_errors_are_raised_if_so_wished_or_if_everything_fails(error_score, error, message):
    with pytest.raises(error, match=message):
        fitted(Bump(fails_from=0.0), n_trials=3, error_score=error_score)


@pytest.mark.parametrize("settings", [{"n_trials": 0}, {"n_trials": 2.5}, {"batch": 0}, {"method": "sobl"}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(
        ValueError, match=r"The '(n_trials|batch)' parameter of SearchCV|unknown method 'sobl'"
    ):
        fitted(**settings)


def two_metrics(estimator, X, y):
    return {"near": estimator.score(X, y), "far": -estimator.score(X, y)}


@pytest.mark.parametrize("scoring", [two_metrics, {"near": Bump.score, "far": lambda e, X, y: -e.score(X)}])
@pytest.mark.parametrize("guide", ["near", "far"])
def test_refit_names_the_metric_that_guides_the_search(scoring, guide):
    search = fitted(n_trials=8, scoring=scoring, refit=guide)
    guided = search.cv_results_[f"mean_test_{guide}"].tolist()
    assert [trial.value for trial in search.optimizer_.history] == guided
    assert search.best_score_ == max(guided)


@pytest.mark.parametrize("scoring", [two_metrics, ["accuracy", "f1_macro"]])
@pytest.mark.parametrize("refit", [True, False, "recall", lambda results: 0])
def test_several_metrics_need_a_guide(scoring, refit):
    with pytest.raises(MethodError, match=r"must guide the search: name it, as in refit='(near|accuracy)'"):
        fitted(scoring=scoring, refit=refit)


def test_with_one_metric_refit_may_be_left_out_or_choose_the_candidate():
    search = fitted(n_trials=3, refit=False)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert not hasattr(search, "best_estimator_")
    assert fitted(n_trials=3, refit=lambda results: 2).best_estimator_.x == column(search, "x")[2]


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        ({}, [1, 1, 1, 1, 1]),
        ({"n_jobs": 6}, [3, 2]),
        ({"n_jobs": 6, "cv": LeaveOneOut()}, [2, 2, 1]),  # not counted without the data, so taken for 5 folds
        ({"n_jobs": 6, "cv": iter([(range(75), range(75, 150))] * 2)}, [2, 2, 1]),
        ({"batch": 4}, [4, 1]),
    ],
)
def test_batches_are_as_small_as_keeps_the_workers_busy(settings, sizes, capsys):
    with joblib.parallel_config(backend="threading"):
        fitted(n_trials=5, verbose=1, **settings)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("Fitting")]
    assert [int(line[6]) for line in lines] == sizes


def test_every_candidate_meets_the_same_folds():
    # The same tree again and again: only the folds could make its scores differ.
    space, folds = {"ccp_alpha": Float(0, 1e-9)}, ShuffleSplit(2, test_size=0.3)
    table = fitted(DecisionTreeClassifier(random_state=0), space, n_trials=8, cv=folds).cv_results_
    assert len(set(table["split0_test_score"])) == len(set(table["split1_test_score"])) == 1


def test_scikit_learn_is_imported_when_asked_for_and_named_when_missing():
    code = "import sys, hidim.optimizer; print('sklearn' in sys.modules); sys.modules['sklearn'] = None; "
    run = [sys.executable, "-c", code + "import hidim.integrations.sklearn"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False"
    assert (
        "MissingDependencyError: this needs the package 'sklearn': pip install 'hidim[sklearn]'"
        in done.stderr
    )


def test_a_fitted_search_can_be_dumped(tmp_path):
    search = fitted(n_trials=12)
    joblib.dump(search, tmp_path / "search.joblib")
    again = joblib.load(tmp_path / "search.joblib")
    assert again.best_params_ == search.best_params_
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


# -- runs that are kept ------------------------------------------------------------------------------------


def kept(tmp_path, n_trials, **options):
    space = Space(C=Float(1e-3, 1e3, log=True), gamma=Float(1e-4, 1e1, log=True))
    search = SearchCV(
        SVC(), space, n_trials=n_trials, cv=3, journal=tmp_path / "j", random_state=3, **options
    )
    return search.fit(*load_iris(return_X_y=True))


class Counted:
    """Accuracy, and how often it was asked for."""

    def __init__(self):
        self.calls = 0

    def __call__(self, estimator, X, y):
        self.calls += 1
        return estimator.score(X, y)


def test_a_search_goes_on_from_its_journal(tmp_path):
    (tmp_path / "whole").mkdir()
    whole = kept(tmp_path / "whole", 12)
    kept(tmp_path, 7)
    scoring = Counted()
    resumed = kept(tmp_path, 12, scoring=scoring)
    assert scoring.calls == 3 * 5
    assert resumed.cv_results_["params"] == whole.cv_results_["params"]
    for fold in range(3):
        key = f"split{fold}_test_score"
        np.testing.assert_array_equal(resumed.cv_results_[key], whole.cv_results_[key])
    assert resumed.best_params_ == whole.best_params_


def test_a_finished_search_is_known_without_another_candidate(tmp_path):
    first = kept(tmp_path, 6)
    again = kept(tmp_path, 6)
    assert again.cv_results_["params"] == first.cv_results_["params"]
    assert again.best_score_ == first.best_score_
    assert len(again.optimizer_.history) == 6


def test_candidates_that_were_running_when_a_search_died_are_scored_first(tmp_path):
    def dies(trial, history):
        if trial.number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept(tmp_path, 8, callbacks=dies, batch=3)
    resumed = kept(tmp_path, 8)
    assert len(resumed.cv_results_["params"]) == 8
    assert not resumed.optimizer_.history.running
    assert [t.params for t in resumed.optimizer_.history] == resumed.cv_results_["params"]


def test_candidates_that_are_known_to_be_good_come_first_and_callbacks_see_all(tmp_path):
    seen = []
    known = {"C": 10.0, "gamma": 0.1}
    search = kept(tmp_path, 5, start_with=[known], callbacks=lambda trial, history: seen.append(trial.number))
    assert search.cv_results_["params"][0] == known
    assert seen == [0, 1, 2, 3, 4]
    assert len(kept(tmp_path, 5, start_with=[known]).cv_results_["params"]) == 5


@pytest.mark.parametrize("n_trials", [4, 5])
def test_a_journal_of_other_data_is_refused_if_their_number_shows_it(tmp_path, n_trials):
    search = kept(tmp_path, 4).set_params(n_trials=n_trials)
    X, y = load_iris(return_X_y=True)
    with pytest.raises(HistoryError, match=r"other data: .* \[50, 50, 50\] samples, now \[40, 40, 40\]"):
        search.fit(X[::5].repeat(4, axis=0), y[::5].repeat(4))


def test_a_single_configuration_to_start_with_is_no_list_of_them():
    search = SearchCV(SVC(), Space(C=Float(1e-3, 1e3)), n_trials=2, start_with={"C": 1.0})
    with pytest.raises(ParameterError, match=r"write \[\{'C': 1.0\}\]"):
        search.fit(*load_iris(return_X_y=True))


def test_a_journal_of_other_folds_is_refused_and_stays_whole(tmp_path):
    kept(tmp_path, 4)
    space = Space(C=Float(1e-3, 1e3, log=True), gamma=Float(1e-4, 1e1, log=True))
    other = SearchCV(SVC(), space, n_trials=5, cv=5, journal=tmp_path / "j", random_state=3)
    with pytest.raises(HistoryError, match="3 folds of score, now 5"):
        other.fit(*load_iris(return_X_y=True))
    assert len(kept(tmp_path, 5).cv_results_["params"]) == 5
