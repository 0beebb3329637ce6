"""Bad input: a HidimError that names the thing and the mend, and a history that stays as it was."""

from __future__ import annotations

import copy
import pickle
from functools import cache

import numpy as np
import pytest

from hidim import Choice, Float, HidimError, Int, Optimizer, Space, Vector
from hidim.errors import HistoryError, MethodError, ParameterError, SpaceError, TrialError
from hidim.gp.outcome import OUTCOMES
from hidim.methods import RandomSearch, configured
from saved import tampered

SPACE = Space(x=Float(0, 1), n=Int(1, 8), w=Vector(2), model=Choice("none", svm=Space(C=Float(0.1, 1))))
SPACE_OF_TWO = Space(x=Float(0, 1), y=Float(0, 1))
GOOD = {"x": 0.5, "n": 2, "w": [0.1, 0.2], "model": "none"}

RNG = np.random.default_rng(0)


def nested(depth):
    space = Space(x=Float(0, 1))
    for place in range(depth):
        space = Space({f"c{place}": Choice("no", {"yes": space})})
    return space


def nested_data(depth):
    data = {"x": {"type": "float", "low": 0, "high": 1}}
    for _ in range(depth):
        data = {"c": {"type": "choice", "options": [{"label": "yes", "space": data}]}}
    return data


BUILD = {
    "contradictory bounds": (lambda: Float(2, 1), SpaceError, "low must be less than high"),
    "empty bounds": (lambda: Float(2, 1), SpaceError, "empty"),
    "contradictory integers": (lambda: Int(5, 2), SpaceError, "swap the bounds"),
    "log bounds of zero": (lambda: Float(0, 1, log=True), SpaceError, "raise low or drop log=True"),
    "negative log bounds": (lambda: Int(-3, 9, log=True), SpaceError, "raise low or drop log=True"),
    "bounds of a wrong type": (lambda: Float("0", 1), SpaceError, "low must be a number, not '0'"),
    "no labels": (lambda: Choice(), SpaceError, "give at least one label"),
    "space of a wrong type": (
        lambda: Optimizer({"x": Float(0, 1)}),
        SpaceError,
        r"wrap it as Space\(\{...\}\)",
    ),
    "empty space": (lambda: Optimizer(Space()), SpaceError, "empty: give it at least one parameter"),
    "a vector beyond all places": (lambda: Vector(10**30), SpaceError, r"dim must be at most 2\*\*53"),
    "an integer beyond all floats": (lambda: Int(0, 10**400), SpaceError, "high must be finite"),
    "an integer that cannot be written": (lambda: Int(0, 10**5000), SpaceError, "high must be finite"),
    "a label that cannot be written": (lambda: Choice(10**5000), SpaceError, "write it as a string"),
    "choices in choices in choices": (lambda: nested(400), SpaceError, "nested more than 64 deep, at 'c0'"),
    "the same from data": (
        lambda: Space.from_dict(nested_data(240)),
        SpaceError,
        "nested more than 64 deep, at 'c'",
    ),
    "the same from text": (lambda: Space.from_json('{"a": ' * 9999), SpaceError, "nested too deeply"),
    "shared on one side only": (
        lambda: Space(m=Choice(a=Space(x=Float(0, 1, shared=True)), b=Space(x=Float(0, 1)))),
        SpaceError,
        "'x' is shared at 'm=a/x' and not at 'm=b/x': say shared=True at both, or at none",
    ),
    "a seed for a generator": (lambda: SPACE.sample(0), ParameterError, r"default_rng\(0\), 5\), not 0"),
    "a negative count": (lambda: SPACE.sample(RNG, -1), ParameterError, "integer of at least 0, not -1"),
    "misspelt method": (lambda: Optimizer(SPACE, "sobl"), MethodError, "'sobl': did you mean 'sobol'"),
    "unknown method": (lambda: Optimizer(SPACE, "zzz"), MethodError, "'zzz': choose one of .*gp.*random"),
    "method of a wrong type": (lambda: Optimizer(SPACE, 3), MethodError, "unknown method 3: choose one of"),
    "a class for a method": (
        lambda: Optimizer(SPACE, RandomSearch),
        MethodError,
        r"not the class: method=RandomSearch\(\)",
    ),
    "unhashable method": (lambda: Optimizer(SPACE, ["gp"]), MethodError, r"unknown method \['gp'\]"),
    "negative seed": (
        lambda: Optimizer(SPACE, seed=-1),
        MethodError,
        "seed must be an integer of at least 0, or None, not -1",
    ),
    "fractional seed": (lambda: Optimizer(SPACE, seed=0.5), MethodError, "seed must be an integer"),
    "budget of zero": (
        lambda: Optimizer(SPACE, budget=0),
        MethodError,
        "budget must be a positive integer or None",
    ),
    "budget of a wrong type": (
        lambda: Optimizer(SPACE, budget="9"),
        MethodError,
        "budget must be .* not '9'",
    ),
    "design of no points": (lambda: configured("gp", initial=0), MethodError, "initial"),
    "design of more points than there are": (
        lambda: configured("gp", initial=10**400),
        MethodError,
        r"initial must be at most 2\*\*53",
    ),
    "unknown outcome": (
        lambda: configured("gp", outcome="logg"),
        MethodError,
        "'logg'",
    ),
    "unknown length-scales": (
        lambda: configured("gp", lengthscales="iso"),
        MethodError,
        "'iso'",
    ),
    "unknown inference": (
        lambda: configured("gp", inference="mcmc"),
        MethodError,
        "'mcmc'",
    ),
}


@pytest.mark.parametrize("case", BUILD)
def test_refused_when_built(case):
    build, error, message = BUILD[case]
    assert issubclass(error, HidimError)
    with pytest.raises(error, match=message):
        build()


def with_(**changes):
    return {k: v for k, v in (GOOD | changes).items() if v is not ...}


USE = {
    "ask(0)": (lambda o: o.ask(0), TrialError, r"ask\(n\) wants a positive integer, not 0"),
    "ask(-2)": (lambda o: o.ask(-2), TrialError, "not -2"),
    "ask(1.5)": (lambda o: o.ask(1.5), TrialError, "not 1.5"),
    "ask(True)": (lambda o: o.ask(True), TrialError, "not True"),
    "unknown parameter": (
        lambda o: o.add(with_(nn=3), 1.0),
        ParameterError,
        "'nn' is unknown; did you mean 'n'",
    ),
    "missing parameter": (
        lambda o: o.add(with_(x=...), 1.0),
        ParameterError,
        "'x' is missing; give a number",
    ),
    "misspelt instead of missing": (
        lambda o: o.add({**with_(x=...), "xx": 0.5}, 1.0),
        ParameterError,
        "'x' is missing, and there is 'xx'; give a number",
    ),
    "inactive parameter": (
        lambda o: o.add(with_(C=0.5), 1.0),
        ParameterError,
        "'C' = 0.5 is inactive.*set model='svm'",
    ),
    "missing branch": (
        lambda o: o.add(with_(model="svm"), 1.0),
        ParameterError,
        "'C' is missing.*model='svm'",
    ),
    "out of bounds": (
        lambda o: o.add(with_(x=1.5), 1.0),
        ParameterError,
        "'x' = 1.5 is above its upper bound 1",
    ),
    "wrong label": (lambda o: o.add(with_(model="tree"), 1.0), ParameterError, "give one of 'none', 'svm'"),
    "wrong shape": (
        lambda o: o.add(with_(w=[1.0]), 1.0),
        ParameterError,
        r"'w'.*shape \(1,\) instead of \(2,\)",
    ),
    "params of a wrong type": (lambda o: o.add([0.5], 1.0), ParameterError, "dict from name to value"),
    "added without a value": (lambda o: o.add(GOOD, None), TrialError, "value must be a number, not None"),
    "added as text": (lambda o: o.add(GOOD, "good"), TrialError, "value must be a number, not 'good'"),
    "told twice": (lambda o: o.tell(0, 2.0), TrialError, "trial 0 was told already .*1.5.*told once"),
    "told after failing": (
        lambda o: o.tell(1, 2.0),
        TrialError,
        "trial 1 was told already .*failed: crashed",
    ),
    "failed twice": (lambda o: o.fail(1), TrialError, "trial 1 was told already"),
    "unknown number": (
        lambda o: o.tell(99, 2.0),
        TrialError,
        r"trial 99 was not asked for.*use add\(params, value\)",
    ),
    "negative number": (lambda o: o.tell(-1, 2.0), TrialError, "trial -1 was not asked for"),
    "no trial": (lambda o: o.tell("2", 2.0), TrialError, r"its number, not '2'; use add\(params, value\)"),
    "a truth value for a trial": (lambda o: o.tell(True, 2.0), TrialError, "wants a trial or its number"),
    "another optimizer's trial": (
        lambda o: o.tell(Optimizer(SPACE, "random", seed=8).ask(3)[2], 2.0),
        TrialError,
        r"trial 2 .*belongs to another optimizer .*use add\(params, value\).*tell by number",
    ),
    "no value": (lambda o: o.tell(2, None), TrialError, r"not None; use fail\(trial\)"),
    "text": (lambda o: o.tell(2, "good"), TrialError, "value must be a number, not 'good'"),
    "a number as text": (lambda o: o.tell(2, "0.5"), TrialError, "value must be a number, not '0.5'"),
    "a truth value": (lambda o: o.tell(2, True), TrialError, "value must be a number, not True"),
    "numpy's truth value": (lambda o: o.tell(2, np.True_), TrialError, "value must be a number"),
    "complex": (lambda o: o.tell(2, 1j), TrialError, "value must be a number, not 1j"),
    "an array": (lambda o: o.tell(2, np.array([1.0, 2.0])), TrialError, "value must be a number"),
    "a list": (lambda o: o.tell(2, [1.0]), TrialError, r"value must be a number, not \[1.0\]"),
}


@pytest.fixture
def optimizer() -> Optimizer:
    """One trial complete, one failed, one running."""
    made = Optimizer(SPACE, "random", seed=0)
    made.ask(3)
    made.tell(0, 1.5)
    made.fail(1, "crashed")
    return made


@pytest.mark.parametrize("case", USE)
def test_refused_in_use_and_nothing_is_lost(case, optimizer):
    use, error, message = USE[case]
    before = copy.deepcopy(list(optimizer.history))
    with pytest.raises(error, match=message) as caught:
        use(optimizer)
    assert isinstance(caught.value, HidimError)
    assert list(optimizer.history) == before
    optimizer.tell(2, 2.0)
    assert [t.value for t in optimizer.history] == [1.5, None, 2.0]
    assert optimizer.ask().number == 3


def test_an_integer_beyond_all_floats_is_infinite_and_so_a_failed_trial_or_refused(optimizer):
    try:
        optimizer.tell(2, 10**400)
    except HidimError:
        assert optimizer.history[2].state == "running"
    else:
        assert optimizer.history[2].state == "failed"


def damage(*path, value=...):
    """The events of a saved history with one entry replaced, or removed."""

    def apply(events):
        inner = events
        for key in path[:-1]:
            inner = inner[key]
        if value is ...:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value

    return apply


#: Events: the run, three asks, the value of trial 0 and the failure of trial 1.
RUN, ASK, TELL = 0, 1, 4

DAMAGED = {
    "newer": (damage(RUN, "format", value=99), "format 99.*upgrade hidim"),
    "format of a wrong type": (damage(RUN, "format", value="1"), "format"),
    "format of zero": (damage(RUN, "format", value=0), "format"),
    "no format": (damage(RUN, "format"), "format"),
    "no space": (damage(RUN, "space"), "space"),
    "no method": (damage(RUN, "method"), "method"),
    "no seed": (damage(RUN, "seed"), "seed"),
    "space of a wrong type": (damage(RUN, "space", value=3), None),
    "method of somebody's own": (
        damage(RUN, "method", value={"name": "Mine"}),
        "'Mine' that was not registered",
    ),
    "unknown method": (damage(RUN, "method", "part", value="zzz"), "'zzz', which is not registered"),
    "a part for a method": (damage(RUN, "method", value={"part": "Cube"}), "'Cube' is no method"),
    "method of a wrong type": (damage(RUN, "method", value="gp"), None),
    "unknown setting": (damage(RUN, "method", "zzz", value=3), "zzz.*does not know"),
    "unknown inner setting": (damage(RUN, "method", "prior", "zzz", value=3), "zzz"),
    "unknown part": (damage(RUN, "method", "prior", "part", value="Fourier"), "Fourier.*not registered here"),
    "inner settings of a wrong type": (damage(RUN, "method", "prior", value=3), "prior=3"),
    "seed of a wrong type": (damage(RUN, "seed", value="a"), "seed"),
    "budget of a wrong type": (damage(RUN, "budget", value=-3), "budget"),
    "trial without params": (damage(ASK, "params"), "params"),
    "trial of another space": (damage(ASK, "params", "y", value=3), "'y' is unknown"),
    "trial out of bounds": (damage(ASK, "params", "x", value=7), "'x' = 7 is above"),
    "complete without a value": (damage(TELL, "value", value=None), "trial 0"),
    "value of a wrong type": (damage(TELL, "value", value="low"), "trial 0"),
    "meta of a wrong type": (damage(ASK, "meta", value=3), "trial 0"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_history_is_refused(case, tmp_path):
    change, message = DAMAGED[case]
    made = Optimizer(SPACE, "gp", seed=0)
    made.ask(3)
    made.tell(0, 1.5)
    made.fail(1, "crashed")
    path = tampered(made, tmp_path / "run.json", change)
    with pytest.raises(HistoryError, match=message) as raised:
        Optimizer.load(path)
    assert "run.json" in str(raised.value)


@cache
def fitted(method):
    made = Optimizer(SPACE_OF_TWO, method, seed=0)
    for number in range(8):
        trial = made.ask()
        made.fail(trial, "crashed") if number == 1 else made.tell(trial, float(number))
    return made


def change_fits(field, value):
    def change(events):
        metas = [event.get("meta", {}) for event in events]
        fits = [meta[key] for meta in metas for key in ("fit", "feasible") if field in meta.get(key, {})]
        assert fits
        for fit in fits:
            del fit[field]
            fit.update({} if value is ... else {field: value})

    return change


#: Of another version or model: such fits are not refused, but made anew.
OTHERS = [("outcome", "zzz"), ("theta", [1]), ("place", True)]

WRONG = [None, "zzz", [1], [[1.0], [1.0, 2.0]], -1, True, 2.5, 10**400]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (field, value)
        for field in ("n", "cold", "thetas", "outcome", "theta", "place")
        for value in WRONG
        if (field, value) not in OTHERS
    ],
)
def test_a_fit_that_says_what_no_fit_says_is_refused(field, value, tmp_path):
    path = tampered(fitted("gp(initial=4)"), tmp_path / "run.json", change_fits(field, value))
    with pytest.raises(HistoryError, match=f"f.*: the field '{field}' must be"):
        Optimizer.load(path)


@pytest.mark.parametrize(
    ("method", "field", "value"),
    [
        *(("gp(initial=4)", field, ...) for field in ("by", "n", "cold", "thetas", "outcome")),
        *(("gp(initial=4)", field, ...) for field in ("prior", "theta", "place")),
        *(("gp(initial=4)", field, value) for field, value in OTHERS),
        ("gp(initial=4)", "thetas", [[1e300] * 5]),
        ("gp(initial=4)", "thetas", [[1.0]]),
        ("rembo(low=2, initial=2, runs=1)", "scales", ...),
        ("rembo(low=2, initial=2, runs=1)", "upper", [1.0, 1.0, 1.0]),
    ],
)
def test_a_fit_that_says_too_little_or_is_of_another_model_is_made_anew(method, field, value, tmp_path):
    path = tampered(fitted(method), tmp_path / "run.json", change_fits(field, value))
    assert set(Optimizer.load(path).ask().params) == {"x", "y"}


@pytest.mark.parametrize("text", [b"", b"{", b"not json", b"\xff\xfe\x00", b"3", b"[]", b'{"hello": 1}'])
def test_a_file_that_is_no_history_is_named(text, tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(text)
    with pytest.raises(HistoryError, match=r"run\.json is not a saved history"):
        Optimizer.load(path)


def test_a_torn_history_is_read_as_far_as_it_goes_with_a_warning(optimizer, tmp_path, caplog):
    path = tmp_path / "run.json"
    optimizer.save(path)
    path.write_bytes(path.read_bytes()[:-10])
    assert [t.state for t in Optimizer.load(path).history] == ["complete", "running", "running"]
    assert "torn" in caplog.text


def test_64_choices_in_each_other_are_as_good_as_one(tmp_path):
    space = nested(64)
    assert pickle.loads(pickle.dumps(space)) == copy.deepcopy(space) == space
    assert Space.from_json(space.to_json()) == space
    made = Optimizer(space, "addtree(initial=2)")
    for value in (2.0, 1.0, 3.0):
        made.tell(made.ask(), value)
    made.save(tmp_path / "run.jsonl")
    assert Optimizer.load(tmp_path / "run.jsonl").ask() == made.ask()
    assert "c0" in repr(space)


def test_an_integer_that_cannot_be_written_is_no_value_of_a_parameter(optimizer):
    with pytest.raises(ParameterError, match=r"'x' = an integer of about .* digits is above"):
        optimizer.add(with_(x=10**5000), 1.0)


@pytest.mark.parametrize("seconds", ["1", float("nan"), [1.0]])
def test_seconds_that_could_not_be_saved_are_refused(optimizer, seconds):
    for use in (lambda: optimizer.tell(2, 1.0, seconds=seconds), lambda: optimizer.fail(2, seconds=seconds)):
        with pytest.raises(TrialError, match="number"):
            use()
    assert optimizer.history[2].state == "running"


def test_control_characters_in_names_are_written_as_python_writes_them():
    text = repr(Space({"a\nb\x00": Float(0, 1)}))
    assert "a\\nb\\x00  float" in text
    assert len(text.splitlines()) == 2


def finished(values, variances=None, space=SPACE_OF_TWO):
    made = Optimizer(space, "random")
    for place, value in enumerate(values):
        made.tell(made.ask(), value, variance=None if variances is None else variances[place])
    return made


def test_values_at_the_end_of_all_floats_are_explained():
    size = 1.7e308
    made = finished([size * np.sign(0.5 - t.params["x"]) for t in finished([0.0] * 16).history])
    shares = made.result().importance()
    assert shares["x"] > 0.8
    assert "-1.7e+308" in made.result().explain()
    band = made.result().insight().slices("x")[0]
    assert np.all(np.isfinite([band.low, band.median, band.high]))
    with pytest.raises(HidimError, match=r"values up to 1.7e\+308 cannot be drawn"):
        made.result().plot()


def test_a_variance_counts_for_values_that_are_nearly_nothing():
    """1e-320 is little, and yet a standard deviation of 1e-160: of values of 1e-310, all is noise."""
    y = 1e-310 * np.array([1.0, 2.0, 3.0, 4.0])
    assert np.all(OUTCOMES["identity"].variances(y, np.full(4, 1e-320)) == 1e12)
    assert np.all(OUTCOMES["identity"].variances(y, np.zeros(4)) == 0.0)
    made = finished(1e-310 * np.arange(1.0, 15.0), np.zeros(14))
    assert made.ask().number == 14
    made.result().explain()
