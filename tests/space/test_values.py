from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidim.errors import ParameterError
from hidim.space import Choice, Float, Int, Space, Vector
from strategies import configurations, quick, spaces

SPACE = Space(
    lr=Float(0.001, 0.1, log=True),
    layers=Int(1, 8),
    w=Vector(3, low=-1, high=1),
    model=Choice(
        svm=Space(kernel=Choice("linear", rbf=Space(gamma=Float(0, 1)))),
        forest=Space(depth=Int(1, 30)),
    ),
    flag=Choice(True, False),
    level=Choice(1, 2, None),
    drop=Float(0, 0.6, step=0.1),
    width=Int(8, 256, step=8),
    sizes=Choice((64, 64), (1, ("a", None))),
    box=Vector(2, low=(0, 10), high=(1, 20)),
)
GOOD = {
    "lr": 0.01,
    "layers": 2,
    "w": np.zeros(3),
    "model": "svm",
    "kernel": "rbf",
    "gamma": 0.5,
    "flag": True,
    "level": 1,
    "drop": 0.3,
    "width": 64,
    "sizes": (64, 64),
    "box": np.array([0.5, 15.0]),
}


def refused(message, **changes):
    return pytest.param({k: v for k, v in (GOOD | changes).items() if v is not ...}, message, id=message[:40])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        refused("'lr' is missing; give a number in [0.001, 0.1] log", lr=...),
        refused(
            "'gamma' is missing, which is active because model='svm' and kernel='rbf'; give a", gamma=...
        ),
        refused("'model' is missing; give one of 'svm', 'forest'", model=...),
        refused("'layer' is unknown; did you mean 'layers'?", layer=3),
        refused("'zzz' is unknown; the active parameters are lr, layers, w, model, kernel, gamma", zzz=3),
        refused(
            "'depth' = 3 is inactive in this configuration; leave it out, or set model='forest'", depth=3
        ),
        refused("'gamma' = 0.5 is inactive", kernel="linear"),
        refused("'lr' = 0.2 is above its upper bound 0.1; give a number in [0.001, 0.1] log", lr=0.2),
        refused("'lr' = 0.0001 is below its lower bound 0.001", lr=1e-4),
        refused("'lr' = inf is above its upper bound", lr=math.inf),
        refused("'lr' = nan is not a number", lr=math.nan),
        refused("'lr' = '0.01' is of type str", lr="0.01"),
        refused("'lr' = True is of type bool", lr=True),
        refused("'lr' = None is of type NoneType", lr=None),
        refused("'layers' = 2.5 is not an integer; give an integer in [1, 8]", layers=2.5),
        refused("'layers' = 9 is above its upper bound 8", layers=9),
        refused("'layers' = 1000000000000", layers=10**400),
        refused("'layers' = True is of type bool", layers=np.True_),
        refused("'w' = [0. 0.] has shape (2,) instead of (3,); give 3 numbers in [-1, 1]", w=np.zeros(2)),
        refused("'w' = 0.5 has shape () instead", w=0.5),
        refused("'w' = [[1], [1, 2]] is not a flat list of numbers", w=[[1], [1, 2]]),
        refused("'w' = ['a', 'b', 'c'] holds entries of type <U1", w=["a", "b", "c"]),
        refused("'w' = [True, False, True] holds entries of type bool", w=[True, False, True]),
        refused("'w[1]' = nan is out of range; give a number in [-1, 1]", w=[0, math.nan, 0]),
        refused("'w[2]' = 1.5 is out of range", w=[0, 0, 1.5]),
        refused("'model' = 'tree' is none of its labels; give one of 'svm', 'forest'", model="tree"),
        refused("'model' = ['svm'] is none of its labels", model=["svm"]),
        refused("'flag' = 1 is none of its labels; give one of True, False", flag=1),
        refused("'level' = True is none of its labels", level=True),
        refused(
            "'drop' = 0.34 lies between the steps 0.3 and 0.4; give a number in [0, 0.6] in steps of 0.1",
            drop=0.34,
        ),
        refused("'drop' = 0.7 is above its upper bound 0.6", drop=0.7),
        refused(
            "'width' = 12 lies between the steps 8 and 16; give an integer in [8, 256] in steps of 8",
            width=12,
        ),
        refused("'sizes' = [64] is none of its labels; give one of (64, 64), (1, ('a', None))", sizes=[64]),
        refused("'sizes' = (True, ('a', None)) is none of its labels", sizes=(True, ("a", None))),
        refused("'box[1]' = 5.0 is out of range; give a number in [10, 20]", box=[0.5, 5.0]),
        refused(
            "'box' = [1] has shape (1,) instead of (2,); give 2 numbers in [0, 20], each within bounds of",
            box=[1],
        ),
    ],
)
def test_refused(params, message):
    with pytest.raises(ParameterError) as caught:
        SPACE.validate(params)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 250


def test_every_way_to_activate_is_told():
    x = Float(0, 1, shared=True)
    space = Space(a=Choice("n", p=Space(x=x), q=Space(b=Choice("m", r=Space(x=x)))))
    with pytest.raises(ParameterError, match="leave it out, or set a='p' or a='q' and b='r'"):
        space.validate({"a": "n", "x": 0.5})


def test_a_configuration_is_a_mapping():
    with pytest.raises(ParameterError, match="is a dict from name to value, not 3"):
        SPACE.validate(3)


def test_values_are_normalised_in_declared_order():
    given_values = {
        "level": None,
        "flag": np.False_,
        "w": [1, 0, -1],
        "gamma": 1,
        "kernel": np.str_("rbf"),
        "model": "svm",
        "layers": np.float64(3.0),
        "lr": Fraction(1, 100),
        "drop": 0.1 + 0.2,
        "width": np.float64(16.0),
        "sizes": [1, ["a", None]],
        "box": (1, 10),
    }
    params = SPACE.validate(given_values)
    assert list(params) == list(GOOD)
    assert {name: type(value) for name, value in params.items()} == {
        "lr": float,
        "layers": int,
        "w": np.ndarray,
        "model": str,
        "kernel": str,
        "gamma": float,
        "flag": bool,
        "level": type(None),
        "drop": float,
        "width": int,
        "sizes": tuple,
        "box": np.ndarray,
    }
    assert (params["drop"], params["sizes"]) == (0.3, (1, ("a", None)))
    assert params["w"].dtype == np.float64


def test_rounding_is_clipped_and_no_more():
    space = Space(x=Float(0, 0.3), n=Int(1, 3), w=Vector(1, 0, 0.3))
    params = space.validate({"x": 0.1 + 0.2, "n": 3, "w": [0.1 + 0.2]})
    assert params["x"] == 0.3
    assert params["w"][0] == 0.3
    with pytest.raises(ParameterError, match="above its upper bound"):
        space.validate({"x": 0.3 + 1e-9, "n": 3, "w": [0]})


def test_the_copy_is_a_copy():
    params = SPACE.validate(GOOD)
    params["w"][0] = 1.0
    assert GOOD["w"][0] == 0.0


def test_active_looks_at_choices_only():
    names = SPACE.active({"model": "svm", "kernel": "linear", "flag": True, "level": 2, "sizes": [64, 64]})
    assert names == ("lr", "layers", "w", "model", "kernel", "flag", "level", "drop", "width", "sizes", "box")
    with pytest.raises(ParameterError, match="'kernel' is missing"):
        SPACE.active({"model": "svm", "flag": True, "level": 2})


@quick
@given(st.data())
def test_what_is_drawn_is_valid(data):
    space = data.draw(spaces())
    params = data.draw(configurations(space))
    assert list(space.validate(params)) == list(params)
    assert space.active(params) == tuple(params)
