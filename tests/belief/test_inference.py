"""What an inference finds in a history, and what it leaves there."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from hidim import Optimizer, Space, Vector
from hidim.belief.inference import Fitted, Inference, Peak, Slices, Study
from hidim.belief.inference.peak import CALLS, PART, best_outcome, new_fit
from hidim.belief.priors import Flat, MainEffects, Prior, tag
from hidim.errors import MethodError
from hidim.frame import Cube, Ground
from hidim.gp.fit import fit
from hidim.gp.kernels import Groups, Scaled, Term
from hidim.gp.kernels.algebra import ABSENT
from hidim.gp.model import Model
from hidim.gp.outcome import evidence
from hidim.gp.posterior import factorise
from hidim.gp.slice import sample
from hidim.gp.untied import untied
from hidim.methods import Task, configured
from hidim.trial import History, Trial

SPACE = Space(x=Vector(4, 0, 1))


def study(prior: Prior, *metas: dict, values=None, by="Peak") -> Study:
    """Of a history with a complete trial for every meta."""
    rng, task = np.random.default_rng(0), Task(SPACE)
    trials = []
    for number, meta in enumerate(metas):
        x = rng.random(4)
        value = float(np.sum(x**2)) if values is None else values[number]
        trials.append(Trial({"x": x}, number, meta=meta).completed(value, number))
    history = History(trials)
    return Study(prior, by, Cube().scene(task, history, len(history), rng), noisy=False)


def fit_of(prior: Prior, structure=None, **rest) -> dict:
    known = {"by": "Peak", "prior": tag(prior, SPACE.dim, structure), "outcome": "identity"}
    return {"fit": known | ({"structure": structure} if structure else {}) | rest}


# -- what is remembered --------------------------------------------------------------------------------------


def test_the_last_fit_of_the_prior_is_found_behind_trials_without_one():
    flat = Flat()
    older, newer = fit_of(flat, n=2), fit_of(flat, n=3)
    assert study(flat, older, newer, {"way": "design"}, {}).last() == newer["fit"]


@pytest.mark.parametrize(
    "meta",
    [
        fit_of(Flat("ard"), n=2),
        {"fit": {"n": 2, "thetas": [[0.0] * 7], "outcome": "identity"}},
        {"fit": fit_of(Flat())["fit"] | {"prior": tag(Flat(), 5)}},
        {"fit": fit_of(Flat())["fit"] | {"outcome": "of tomorrow"}},
        {"fit": fit_of(Flat())["fit"] | {"structure": [[0, 1], [2, 3]]}},
        {"fit": fit_of(Flat())["fit"] | {"by": "Slices"}},
    ],
    ids=["another prior", "no prior", "dimension", "unknown outcome", "structure", "another inference"],
)
def test_a_fit_of_another_model_is_none_even_if_it_has_the_same_size(meta):
    assert study(Flat(), meta).last() is None


def test_the_last_fit_of_the_prior_is_found_behind_those_of_others():
    flat = Flat()
    inside = {"fit": fit_of(flat, n=3)["fit"] | {"by": "Peak, window 0.25"}}
    of_both = study(flat, fit_of(flat, n=2), inside)
    assert of_both.last() == fit_of(flat, n=2)["fit"]
    assert study(flat, fit_of(flat, n=2), inside, by="Peak, window 0.25").last() == inside["fit"]


@pytest.mark.parametrize(("n", "size", "known"), [(1, 7, True), (9, 7, False), (1, 5, False)])
def test_a_fit_that_cannot_be_of_these_trials_is_made_anew(n, size, known):
    fitted = Peak().known(study(Flat(), fit_of(Flat(), n=n, cold=n, thetas=[[0.0] * size])))
    assert (fitted is not None) == known


@pytest.mark.parametrize("second", ["rembo", "rembo(inference=slice, draws=2)"])
def test_a_run_may_go_on_with_another_inference(second):
    first = configured("rembo", low=2, runs=1, initial=2, inference="map")
    optimizer = Optimizer(SPACE, first, seed=0)
    for _ in range(5):
        trial = optimizer.ask()
        optimizer.tell(trial, float(np.sum(trial.params["x"])))
    other = Optimizer(SPACE, configured(second, low=2, runs=1, initial=2), seed=0)
    other._restore(list(optimizer.history))
    assert "fit" in other.ask().meta


# -- learnt structure ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs(Prior):
    """A sum over groups of columns, which are learnt."""

    @property
    def abilities(self):
        return frozenset({"additive"})

    def model(self, ground, *, noisy=False, structure=None):
        groups = structure or [list(range(ground.dim))]
        return Model(Scaled(Groups([Term(columns) for columns in groups], lengthscales="isotropic")))

    def inputs(self, ground, points):
        return points

    def refusal(self, frame):
        return None


@dataclass(frozen=True)
class Either(Inference):
    """Takes the more probable of two structures once, and leaves the rest to another inference."""

    inner: Inference = field(default_factory=Peak)

    def fitted(self, study, rng):
        if self.inner.known(study) is not None:
            return self.inner.fitted(study, rng)
        x, y = study.seen.x, study.seen.y
        models = {json.dumps(s): study.model(s) for s in ([[0, 1], [2, 3]], [[0, 2], [1, 3]])}
        best = max(models, key=lambda s: models[s].log_density(x, y)(models[s].start))
        return new_fit(study, models[best].start[None], "identity", len(y), json.loads(best))

    def known(self, study):
        return self.inner.known(study)


def test_structure_is_learnt_from_the_history_and_kept_in_it():
    method = configured("gp", initial=12, prior=Pairs(), inference=Either())

    def run(count: int) -> Optimizer:
        optimizer = Optimizer(SPACE, method, seed=0)
        for _ in range(count):
            trial = optimizer.ask()
            a, b, c, d = trial.params["x"]
            optimizer.tell(trial, float(np.sin(9 * a * c) + np.cos(9 * b * d)))
        return optimizer

    optimizer = run(16)
    fits = [trial.meta["fit"] for trial in optimizer.history if "fit" in trial.meta]
    assert len(fits) > 1
    assert all(fit["structure"] == [[0, 2], [1, 3]] for fit in fits)
    task = Task(SPACE, seed=0)
    again = method.suggest(task, optimizer.history, 16)
    np.testing.assert_array_equal(again.params["x"], optimizer.ask().params["x"])


# -- slices --------------------------------------------------------------------------------------------------


def test_a_warm_chain_goes_on_where_the_last_one_ended():
    slices = Slices(outcome="identity", growth=0.0, draws=3, thinning=1, warm=True, burn_in=20)
    metas = [{} for _ in range(11)]
    begun = slices.fitted(study(Flat(), *metas, by="Slices"), np.random.default_rng(0))
    metas[-1] = {"fit": begun.memory}
    going = study(Flat(), *metas, {}, by="Slices")
    found = slices.fitted(going, np.random.default_rng(1))
    seen, model = going.seen, going.model()
    expected = sample(
        model,
        seen.x,
        (seen.y - seen.y.mean()) / seen.y.std(),
        begun.thetas[-1],
        np.random.default_rng(1),
        count=3,
        burn_in=0,
    )
    np.testing.assert_allclose(found.thetas, expected, atol=1e-4)
    assert found.is_new
    assert slices.fitted(going, np.random.default_rng(1)).memory == found.memory


def test_the_density_alone_is_that_with_its_gradient():
    case = study(Flat(), *[{} for _ in range(12)])
    model, x, y = case.model(), case.seen.x, case.seen.y
    for variances in (None, np.full(12, 0.1)):
        value, _ = model.negative_log_posterior(model.start, x, y, variances)
        assert model.log_density(x, y, variances)(model.start) == pytest.approx(-value, rel=1e-12)


# -- length-scales -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lengthscales", ["hierarchical", "isotropic", "ard"])
def test_a_stretched_posterior_is_that_of_longer_length_scales(lengthscales):
    case = study(Flat(lengthscales), *[{} for _ in range(12)])
    model = case.model()
    known = case.posterior(Fitted(model.start[None], "identity", 12, {}, is_new=True), 0)
    longer = known.stretched(2.0)
    shrunk = replace(case, scene=replace(case.scene, seen=case.seen._replace(x=0.5 * case.seen.x)))
    twin = shrunk.posterior(Fitted(model.start[None], "identity", 12, {}, is_new=True), 0)
    u = np.random.default_rng(5).random((6, 4))
    np.testing.assert_allclose(longer.predict(u).mean, twin.predict(0.5 * u).mean, atol=1e-9)
    np.testing.assert_allclose(longer.predict(u).variance, twin.predict(0.5 * u).variance, atol=1e-9)
    np.testing.assert_allclose(known.stretched(1.0).predict(u).mean, known.predict(u).mean, atol=1e-9)


def test_a_model_without_length_scales_cannot_be_stretched():
    model = Model(Scaled(Groups([Term(())])))
    with pytest.raises(MethodError, match="no length-scales"):
        model.stretched(model.start, 2.0)


# -- transforms of losses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inference", [Peak(outcome="reluctant"), Slices(outcome="reluctant", draws=1)], ids=str
)
def test_losses_are_transformed_with_reluctance_only_if_they_span_orders_of_magnitude(inference):
    rng, by = np.random.default_rng(3), type(inference).__name__
    points = np.random.default_rng(0).random((40, 4))  # those of `study`
    mild = np.sum(points**2, axis=1) ** 1.5
    wild = np.exp(12.0 * mild)
    found = {}
    for name, values in (("mild", mild), ("wild", wild)):
        case = study(Flat("isotropic"), *({} for _ in range(40)), values=values.tolist(), by=by)
        found[name] = inference.fitted(case, rng).outcome
    assert found["mild"] == "identity"
    assert found["wild"] != "identity"


def test_noise_is_no_excuse_for_a_transform_that_spreads_out_what_is_crowded():
    points = np.random.default_rng(0)
    crowded = [abs(float(np.sum(points.random(4) ** 2)) - 1.0) ** 3 for _ in range(80)]
    case = study(Flat(), *({} for _ in crowded), values=crowded)
    model, x, y = case.model(), case.seen.x, case.seen.y

    def favourite(theta):
        scores = evidence(factorise(model, theta, x), y)
        return max(scores, key=scores.__getitem__)

    blurred, sharp = (np.append(model.start[:-1], math.log(noise)) for noise in (0.5, 1e-4))
    assert favourite(blurred) != favourite(sharp)
    assert best_outcome(case, model, blurred, "auto") == favourite(sharp)


# -- long histories ------------------------------------------------------------------------------------------


def fitted_rows(monkeypatch, n: int) -> tuple[list[int], Study, Fitted]:
    """Of how many trials each likelihood of the first fit after `n` was."""
    rows: list[int] = []
    original = Model.negative_log_posterior

    def counted(self, theta, x, *rest):
        rows.append(len(x))
        return original(self, theta, x, *rest)

    monkeypatch.setattr(Model, "negative_log_posterior", counted)
    case = study(Flat(), *({} for _ in range(n)))
    fitted = Peak().fitted(case, np.random.default_rng(0))
    return rows, case, fitted


def test_hyperparameters_are_fitted_to_a_part_of_a_long_history_and_predictions_know_all_of_it(monkeypatch):
    rows, case, fitted = fitted_rows(monkeypatch, 1000)
    assert set(rows) == {PART // 3, PART}
    assert len(rows) < 7 * CALLS  # as many climbs
    assert fitted.n == 1000
    assert len(case.posteriors(fitted)[0].y) == 1000


def test_shorter_histories_are_fitted_as_a_whole(monkeypatch):
    assert set(fitted_rows(monkeypatch, 60)[0]) == {60}


def test_what_a_part_says_of_length_scales_is_about_what_all_trials_say(monkeypatch):
    case = study(Flat("isotropic"), *({} for _ in range(400)))
    of_part = Peak(outcome="identity").fitted(case, np.random.default_rng(0)).thetas[0]
    monkeypatch.setattr("hidim.belief.inference.peak.PART", 400)
    of_all = Peak(outcome="identity").fitted(case, np.random.default_rng(0)).thetas[0]
    assert not np.array_equal(of_part, of_all)
    np.testing.assert_allclose(of_part[:-1], of_all[:-1], atol=0.7)


# -- columns that differ -------------------------------------------------------------------------------------


WIDE = Ground(Space(x=Vector(40, 0, 1)))


@pytest.mark.parametrize("prior", [Flat(), MainEffects()], ids=str)
def test_a_climb_that_nothing_holds_leads_to_a_peak_at_which_few_columns_matter(prior):
    model, held = prior.model(WIDE), prior.held(WIDE, 60)
    x = np.random.default_rng(1).random((60, 40))
    y = np.sin(6 * x[:, 3]) * np.cos(5 * x[:, 17])
    y = (y - y.mean()) / y.std()
    start = model.put(model.start, held)
    apart = untied(model, x, y, start, held, 40)
    scales = apart[model.holds("log_lengthscale")] + apart[model.holds("log_lengthscale_deviation")]
    assert set(np.argsort(scales)[:2]) == {3, 17}
    usual, found = (fit(model, x, y, [theta], held=model.holding(held)).loss for theta in (start, apart))
    assert found < usual - 20.0


def test_main_effects_are_held_until_there_are_two_trials_for_every_column_then_fitted_from_scratch():
    prior, x = MainEffects(), np.random.default_rng(0).random((8, 4))
    values = np.sin(4 * x).sum(axis=1).tolist()  # those of the points of `study`
    early = Peak().fitted(study(prior, *({} for _ in values[1:]), values=values), np.random.default_rng(0))
    metas = [{} for _ in values[1:-1]] + [{"fit": early.memory}]
    late = Peak().fitted(study(prior, *metas, {}, values=values), np.random.default_rng(0))
    amplitude = study(prior).model().holds("log_effect_amplitude")
    assert (early.n, early.thetas[0][amplitude]) == (7, ABSENT)
    assert (late.n, late.memory["cold"]) == (8, 8)
    assert late.thetas[0][amplitude] > -5.0


@pytest.mark.parametrize(("few", "count"), [(True, 1), (False, 2)], ids=["few matter", "all matter"])
def test_a_simpler_model_stands_beside_the_peak_unless_data_clearly_speak_against_it(few, count):
    space, rng = Space(x=Vector(12, 0, 1)), np.random.default_rng(0)
    points = rng.random((80, 12))
    losses = np.sin(4 * points[:, 3]) * np.cos(4 * points[:, 8]) if few else np.cos(2 * points.sum(axis=1))
    told = [
        Trial({"x": x}, n).completed(float(y), n) for n, (x, y) in enumerate(zip(points, losses, strict=True))
    ]
    history = History(told)
    scene = Cube().scene(Task(space), history, len(history), rng)
    prior = MainEffects()
    case = Study(prior, "Peak", scene, noisy=False)
    fitted = Peak().fitted(case, rng)
    assert len(fitted.thetas) == count
    model = case.model()
    for theta in fitted.thetas[1:]:
        assert not theta[model.holds("log_lengthscale_deviation")].any()
        assert theta[model.holds("log_effect_amplitude")] == ABSENT
    asked = {Peak().fitted(case, np.random.default_rng(seed)).rows for seed in range(6)}
    assert asked == {(row,) for row in range(count)}
