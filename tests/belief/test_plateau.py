"""When a search looks elsewhere: on a plateau, and when it has settled."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hidim import Choice, Float, Optimizer, Space, Vector
from hidim.acquisition.beta import Fixed
from hidim.acquisition.utility import Bold, GroupBounds, Improvement, Moment
from hidim.belief.plateau import plateau
from hidim.errors import MethodError
from hidim.frame import Ground
from hidim.frame.settled import MANY, TRIALS, is_settled
from hidim.methods import configured
from hidim.task import Task
from hidim.trial import History, Trial


def history(values, sign=1.0, way="all"):
    trials = [Trial({}, number=i, meta={"way": way}) for i in range(len(values))]
    told = zip(trials, values, strict=True)
    return History([trial.completed(sign * value, rank=i) for i, (trial, value) in enumerate(told)])


@pytest.mark.parametrize(
    ("values", "ties"),
    [
        ([], 0),
        ([1.0], 0),
        ([3.0, 1.0, 2.0], 0),
        ([3.0, 1.0, 1.0], 0),
        ([3.0, 1.0, 1.0, 1.0], 2),
        ([1.0] * 30, 29),
        ([1.0, 1.0, 1.0, 0.5], 0),
        ([1.0, 1.0, 1.0, *range(2, 11)], 0),
        ([2.0, 2.0, 2.0, 1.0, 1.0], 0),
    ],
)
def test_a_plateau_is_several_late_ties_with_the_best_value(values, ties):
    assert plateau(seen(values, np.random.default_rng(0).random((len(values), 3)))) == ties


def seen(values, points, space=None):
    """What a plateau is judged by: points (n, d) of a space, of real numbers by default, and their losses."""
    ground = Ground(space or Space(w=Vector(points.shape[1], low=0.0, high=1.0)))
    return SimpleNamespace(
        ground=ground, seen=SimpleNamespace(x=points, y=np.array(values, dtype=np.float64))
    )


def test_ties_of_numbers_that_do_not_matter_are_no_plateau():
    points = np.tile(np.random.default_rng(1).random(8), (6, 1))
    points[np.arange(6), np.arange(6)] = 0.5  # each has one column moved, and two from each other
    assert plateau(seen([1.0] * 6, points)) == 0
    switches = Space({f"s{i}": Choice("on", "off") for i in range(8)})
    assert plateau(seen([1.0] * 6, points, switches)) == 5
    fixed = np.column_stack([points, np.full((6, 12), 0.5)])  # what does not vary says nothing
    constants = {f"c{i}": Choice("one") for i in range(12)}
    assert plateau(seen([1.0] * 6, fixed, Space(w=Vector(8, low=0.0, high=1.0), **constants))) == 0
    points[3:] = np.random.default_rng(2).random((3, 8))
    assert plateau(seen([1.0] * 6, points)) == 3


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_run_has_settled_when_the_last_trials_gain_next_to_nothing_of_what_was_gained(sign):
    begin, late = list(np.linspace(10.0, 1.0, TRIALS)), np.linspace(1.0, 0.0, TRIALS)
    assert not is_settled(history([*begin, *late], sign), 2, maximize=sign < 0)
    assert is_settled(history([*begin, *(1.0 - 1e-5 * (1.0 - late))], sign), 2, maximize=sign < 0)
    # the same in any units
    tiny = [1e-9 * value for value in (*begin, *(1.0 - 1e-5 * (1.0 - late)))]
    assert is_settled(history(tiny, sign), 2, maximize=sign < 0)


def test_only_suggestions_of_a_model_can_settle():
    values = [*np.linspace(10.0, 1.0, TRIALS), *[2.0] * TRIALS]
    assert is_settled(history(values), 2, maximize=False)
    assert not is_settled(history(values, way="design"), 2, maximize=False)
    unknown = History([Trial({}, number=i).completed(v, rank=i) for i, v in enumerate(values)])
    assert not is_settled(unknown, 2, maximize=False)
    for entered in ("added", "given"):  # a thousand old results are no search that gains nothing
        assert not is_settled(history(values, way=entered), 2, maximize=False)


@pytest.mark.parametrize("others", [TRIALS, 3 * TRIALS])
def test_a_run_whose_first_value_is_that_of_a_suggestion_is_judged_when_there_is_one_before(others):
    """As when all of its design failed, and what was suggested in windows is left out."""
    ways = ["all"] * TRIALS + ["design"] * others
    trials = [Trial({}, i, meta={"way": way}).completed(1.0, rank=i) for i, way in enumerate(ways)]
    assert not is_settled(History(trials), 2, maximize=False)
    late = Trial({}, len(ways), meta={"way": "all"}).completed(1.0, rank=len(ways))
    assert is_settled(History([*trials, late]), 2, maximize=False)


def test_a_gain_too_large_for_a_number_is_a_gain():
    values = [1.7e308] * TRIALS + [1e308] * (TRIALS - 1) + [-1.7e308]
    assert not is_settled(history(values), 2, maximize=False)


def test_penalties_at_the_beginning_do_not_belittle_what_is_gained_later():
    values = [*[1e9] * (TRIALS // 2), *[10.0] * (TRIALS - TRIALS // 2), *np.linspace(9.0, 8.0, TRIALS)]
    assert not is_settled(history(values), 2, maximize=False)


def test_more_parameters_want_more_trials_before_a_run_has_settled():
    values = [*np.linspace(10.0, 1.0, 20), *[2.0] * 20]
    assert is_settled(history(values), 20, maximize=False)
    assert not is_settled(history(values), 21, maximize=False)


def test_no_more_than_thirty_trials_are_waited_for_in_hundreds_of_dimensions():
    values = [*np.linspace(10.0, 1.0, MANY), *[1.0 - 1e-6] * MANY]
    assert is_settled(history(values), 500, maximize=False)
    assert not is_settled(history(values[:-1]), 500, maximize=False)


def waves(params):
    """Many basins; the best is at .7, .7."""
    x = 10.0 * (np.array([params["x"], params["y"]]) - 0.7)
    return float(20.0 + np.sum(x**2 - 10.0 * np.cos(2.0 * np.pi * x)))


def basin(trial):
    return round(10 * trial.params["x"]), round(10 * trial.params["y"])


def test_a_settled_run_looks_into_other_basins():
    space, far, elsewhere = Space(x=Float(0, 1), y=Float(0, 1)), {}, []
    for method in ("gp", "gp(restless=0)"):
        far[method] = 0
        for seed in range(2):
            opt = Optimizer(space, method, seed=seed)
            for _ in range(45):
                trial = opt.ask()
                if trial.meta.get("way") == "far":
                    far[method] += 1
                    elsewhere.append(basin(trial) != basin(opt.best))
                opt.tell(trial, waves(trial.params))
    assert far["gp(restless=0)"] == 0 < far["gp"]
    assert np.mean(elsewhere) > 0.7


@pytest.mark.parametrize(("calm", "trials", "looks"), [(1, 60, True), (6, 60, False), (6, 200, True)])
def test_the_calmer_a_run_has_to_be_the_later_it_looks_into_other_basins(calm, trials, looks):
    space = Space(x=Float(0, 1), y=Float(0, 1))
    known = sorted(space.sample(np.random.default_rng(0), trials), key=waves)  # nothing is gained since
    past = [
        Trial(params, i, meta={"way": "all"}).completed(waves(params), rank=i)
        for i, params in enumerate(known)
    ]
    method = configured("gp", restless=1, bold=0, calm=calm)
    task = Task(space, seed=0, noisy=False)
    ways = [method.suggest(task, History(past), trials + turn).meta["way"] for turn in range(8)]
    assert ("far" in ways) == looks


def test_a_long_run_of_the_default_may_begin_with_a_configuration_of_the_user():
    """Half of the suggestions stand in windows, and 90 of the others are all that there were."""
    space = Space(x=Float(0, 1), y=Float(0, 1))
    inside = {"way": "all", "around": 0, "within": 0.1}
    metas = [{"way": "given"}, *[{"way": "design"}] * 9, *[{"way": "all"}] * 89, *[inside] * 81]
    points = space.sample(np.random.default_rng(0), len(metas))
    told = enumerate(zip(points, metas, strict=True))
    past = History([Trial(p, i, meta=meta).completed(waves(p), rank=i) for i, (p, meta) in told])
    suggestions = [configured("mixed").suggest(Task(space, seed=seed), past, 180) for seed in range(2)]
    assert all(set(one.params) == {"x", "y"} for one in suggestions)


def test_the_end_of_a_planned_run_refines_what_was_found():
    """Without a plan some of the last suggestions are bold, and some of a settled run look elsewhere."""
    space, ends = Space(x=Float(0, 1), y=Float(0, 1)), {}
    for budget in (50, None):
        late = []
        for seed in range(2):
            opt = Optimizer(space, "gp", seed=seed, budget=budget)
            for _ in range(50):
                trial = opt.ask()
                opt.tell(trial, waves(trial.params))
            late += [trial.meta for trial in opt.history[-5:]]
        ends[budget] = [meta["bold"] or meta["way"] == "far" for meta in late]
    assert not any(ends[50])
    assert any(ends[None])


def test_beyond_the_plan_nothing_is_known_of_how_much_is_to_come():
    opt = Optimizer(Space(x=Float(0, 1), y=Float(0, 1)), "gp(bold=1)", seed=0, budget=20)
    for _ in range(22):
        trial = opt.ask()
        opt.tell(trial, waves(trial.params))
    assert [trial.meta["bold"] for trial in opt.history[-6:]] == [True, True, False, False, True, True]


def test_looking_elsewhere_does_not_forget_the_transform_of_the_basin():
    """Two series of fits stand side by side, so that neither is fitted anew at every turn."""
    opt = Optimizer(Space(x=Float(0, 1), y=Float(0, 1)), "gp", seed=0)
    for _ in range(70):
        trial = opt.ask()
        opt.tell(trial, waves(trial.params))
    fits = [trial.meta["fit"] for trial in opt.history if "fit" in trial.meta]
    apart = [fit for fit in fits if fit["by"].endswith("apart")]
    assert apart
    assert len(apart) < 12
    assert not any(fit["outcome"].startswith("log-gap") for fit in apart)
    first = next(place for place, fit in enumerate(fits) if fit in apart)
    ahead = [fit["n"] for fit in fits[first:] if fit not in apart]
    assert len(ahead) < 12  # by growth, and not at every turn


def test_bounds_are_wider_the_longer_a_plateau_is():
    belief = SimpleNamespace(dim=2, widest=2, groups=(np.arange(2),))

    def width(ties):
        moment = Moment(elsewhere=ties > 0, ties=ties)
        return GroupBounds(Fixed(4.0)).decided(moment, np.random.default_rng(0)).roots(belief)[0]

    assert width(0) == 2.0
    assert 2.0 < width(2) < width(6) < width(10)
    assert width(100_000) == 8.0


@pytest.mark.parametrize(
    "utility", [Bold(bold=0.0), Improvement(plateau=0.1), Improvement(logarithm=False, plateau=0.1)]
)
def test_the_margin_grows_with_the_ties_up_to_a_limit(utility):
    belief = SimpleNamespace(y=np.array([0.0, 1.0]))

    def margin(ties):
        decision = utility.decided(Moment(elsewhere=ties > 0, ties=ties), np.random.default_rng(0))
        return -decision.acquisition(belief, 0).best

    noisy = Moment(noisy=True, elsewhere=True, ties=9, margin=None)
    assert noisy.demand == 0.0  # noisy values that are equal are so by chance
    assert margin(0) == 0.0
    assert 0.0 < margin(2) < margin(6) < margin(10) < 1.0
    assert margin(100_000) == margin(50) < 1.0


def test_a_margin_that_would_have_no_effect_is_refused():
    with pytest.raises(MethodError, match="set margin="):
        configured("rembo", plateau=0.5)
