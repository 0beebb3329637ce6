"""How an objective is called, and that nothing it does takes its worker down."""

from __future__ import annotations

import functools
import math
import pickle
import signal
import threading
import time

import pytest

from hidim import Choice, Float, Space, minimize
from hidim.errors import MethodError
from hidim.run.evaluate import Call, in_words, takes_keywords

SPACE = Space(a=Float(0, 1), b=Float(0, 1))
TREE = Space(
    a=Float(0, 1),
    model=Choice("none", svm=Space(C=Float(0, 1))),
    sampler=Choice(x=Space(step=Float(0, 1)), y=Space(step=Float(1, 2))),
)


class Model:
    def __call__(self, params):
        return params["a"]

    def by_name(self, a, b):
        return a + b

    @classmethod
    def of_class(cls, a, b):
        return a + b


def scaled(a, b, scale):
    return scale * (a + b)


def of_dict(params, scale):
    return scale * params["a"]


def positional(a, b, /):
    return a + b


KEYWORDS = {
    "function": (lambda a, b: a + b, True),
    "order does not matter": (lambda b, a: a + b, True),
    "keywords only": (lambda *, a, b: a + b, True),
    "any keywords": (lambda **all: all["a"], True),
    "one name and any keywords": (lambda a, **rest: a + rest["b"], True),
    "a further argument with a default": (lambda a, b, scale=2.0: scale * a, True),
    "method": (Model().by_name, True),
    "class method": (Model.of_class, True),
    "partial of keywords": (functools.partial(scaled, scale=2.0), True),
    "dict": (lambda params: params["a"], False),
    "dict by another name": (lambda a: a["a"], False),
    "dict and a default": (lambda params, verbose=False: params["a"], False),
    "any positions": (lambda *all: all[0]["a"], False),
    "callable object": (Model(), False),
    "partial of a dict": (functools.partial(of_dict, scale=2.0), False),
    "built-in function without a signature": (max, False),
    "built-in function": (len, False),
}


@pytest.mark.parametrize("case", KEYWORDS)
def test_a_dict_or_keywords_as_the_signature_wants_it(case):
    objective, keywords = KEYWORDS[case]
    assert takes_keywords(objective, SPACE) is keywords
    if objective is not max:
        result = minimize(objective, SPACE, n_trials=2, method="random")
        assert math.isfinite(result.best.value)


MISMATCHED = {
    "an unknown name": lambda a, c: a,
    "a name too few": lambda a, b=0.0, *, c: a,
    "positions only": positional,
    "no arguments": lambda: 0.0,
    "an unbound argument of a partial": functools.partial(scaled, a=0.5, b=0.5),
}


@pytest.mark.parametrize("case", MISMATCHED)
def test_names_that_do_not_match_are_told_with_both_sides(case):
    with pytest.raises(MethodError, match="the space has the parameters a, b: let it take one dict"):
        takes_keywords(MISMATCHED[case], SPACE)


def test_two_of_three_names_are_not_enough():
    with pytest.raises(MethodError, match=r"takes \(a, b\), and the space has the parameters a, b, c"):
        takes_keywords(lambda a, b: a, Space(a=Float(0, 1), b=Float(0, 1), c=Float(0, 1)))


def test_what_cannot_be_called_is_no_objective():
    with pytest.raises(MethodError, match="the objective must be a function, not 3"):
        takes_keywords(3, SPACE)


def test_conditional_parameters_need_a_default():
    with pytest.raises(MethodError, match="must have a default for C, as in C=None"):
        takes_keywords(lambda a, model, C, sampler, step: a, TREE)


def test_parameters_that_every_configuration_has_need_no_default():
    def objective(a, model, sampler, step, C=None):
        assert (C is None) == (model == "none")
        return a + step

    assert takes_keywords(objective, TREE)
    result = minimize(objective, TREE, n_trials=8, method="random")
    assert len(result.history.complete) == 8


def test_a_call_times_the_objective():
    report = Call(lambda p: time.sleep(0.03) or p["a"], keywords=False)({"a": 0.5})
    assert (report.value, report.variance, report.reason) == (0.5, None, None)
    assert 0.03 <= report.seconds < 5


def test_a_call_does_not_take_an_interrupt_for_a_failure():
    def objective(params):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Call(objective, keywords=False)({})


def test_a_call_travels_by_pickle():
    call = Call(functools.partial(scaled, scale=2.0), keywords=True, timeout=3.0)
    assert pickle.loads(pickle.dumps(call))({"a": 0.25, "b": 0.25}).value == 1.0


def test_the_alarm_interrupts_an_objective_that_catches_everything_it_should():
    def objective(params):
        for _ in range(100):
            try:
                time.sleep(0.1)
            except Exception:
                return 0.0
        return 1.0

    report = Call(objective, keywords=False, timeout=0.05)({})
    assert report.reason == "timed out after 0.05 s"
    assert report.seconds < 5


def test_the_alarm_leaves_no_trace():
    before = signal.getsignal(signal.SIGALRM)
    Call(lambda p: 1.0, keywords=False, timeout=9.0)({})
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_value_that_comes_too_late_is_no_value():
    reports = []
    call = Call(lambda p: time.sleep(0.05) or 1.0, keywords=False, timeout=0.01)
    thread = threading.Thread(target=lambda: reports.append(call({})))  # where no alarm can ring
    thread.start()
    thread.join()
    assert reports[0].reason == "timed out after 0.01 s"
    assert reports[0].value is None


def test_errors_without_words_still_have_a_name():
    class Speechless(Exception):
        def __str__(self):
            raise ValueError

    assert in_words(Speechless()) == "Speechless"
