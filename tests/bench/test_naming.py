"""Settings in the names of methods."""

from __future__ import annotations

import pytest

from hidim._settings import split_names
from hidim.bench.naming import named_method
from hidim.bench.peers import check_method, make_peer
from hidim.bench.problems import problem
from hidim.bench.runner import Job, execute
from hidim.errors import MethodError
from hidim.methods import METHODS, configured


def test_settings_are_literals_or_words() -> None:
    name = "hidim:rembo(low=3, runs=4,kernel=categorical,utility=ei)"
    assert named_method(name) == configured("rembo", low=3, runs=4, kernel="categorical", utility="ei")
    assert named_method("hidim:rembo(low=None,kernel='high')") == configured("rembo", low=None, kernel="high")
    assert named_method("hidim:rembo()") == named_method("hidim:rembo") == METHODS["rembo"]
    assert named_method("hidim:gp") == METHODS["gp"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("hidim:bogus(low=3)", "hidim:bogus.*unknown method"),
        ("hidim:rembo(law=3)", "'law': did you mean"),
        ("hidim:rembo(colour=3)", "'colour': it has .*low.*runs"),
        ("hidim:rembo(low)", "name=value"),
        ("hidim:rembo(low=)", "name=value"),
        ("hidim:rembo(low=0)", "at least 1"),
        ("hidim:rembo(low=few)", "low"),
        ("hidim:rembo(kernel=round)", "round"),
        ("hidim:rembo(low=3", "hidim:rembo"),
        ("hidim:rembo(schedule=7)", "'schedule'"),
        ("hidim:random(low=3)", "none"),
        ("optuna-tpe(seed=3)", "optuna-tpe"),
    ],
)
def test_bad_settings_are_refused_before_anything_runs(name: str, says: str) -> None:
    with pytest.raises(MethodError, match=says):
        check_method(name)
    with pytest.raises(MethodError, match=says):
        make_peer(name, problem("levy-6"), seed=0, budget=4)


def test_commas_in_brackets_do_not_separate_names() -> None:
    assert split_names("random, hidim:rembo(low=3,runs=4),smac,") == [
        "random",
        "hidim:rembo(low=3,runs=4)",
        "smac",
    ]
    assert split_names("f(a=(1,2),b=3),g") == ["f(a=(1,2),b=3)", "g"]
    assert split_names(" ") == []


def test_the_settings_reach_the_run() -> None:
    one, other = (execute(Job("levy-6", f"hidim:rembo(low={low},runs=1)", 0, 5)) for low in (1, 3))
    assert one["error"] is None
    assert other["error"] is None
    assert one["method"] == "hidim:rembo(low=1,runs=1)"
    assert one["values"] != other["values"]
