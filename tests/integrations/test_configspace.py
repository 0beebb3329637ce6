from __future__ import annotations

import sys

import pytest

from hidim.errors import MissingDependencyError, SpaceError
from hidim.integrations.configspace import from_configspace, to_configspace
from hidim.space import Choice, Float, Int, Space, Vector
from space.corpus import CORPUS

cs = pytest.importorskip("ConfigSpace")


def by_name(space: Space) -> Space:
    """ConfigSpace sorts by name."""

    def tidy(parameter):
        if not isinstance(parameter, Choice):
            return parameter
        options = {o.label: by_name(o.space) for o in parameter.options}
        return Choice(options, shared=parameter.shared, ordered=parameter.ordered)

    return Space({name: tidy(space[name]) for name in sorted(space)})


@pytest.mark.parametrize("name", ["flat", "mixed", "pipeline", "tree", "deep sharing"])
def test_there_and_back(name):
    space = CORPUS[name]
    back = from_configspace(to_configspace(space))
    assert by_name(back) == by_name(space)


def test_samples_of_configspace_are_configurations():
    space = CORPUS["pipeline"]
    for configuration in to_configspace(space, seed=1).sample_configuration(50):
        assert set(space.validate(dict(configuration))) == set(configuration)


def test_import():
    model = cs.Categorical("model", ["svm", "forest", "bayes"])
    C, trees, depth = (
        cs.Float("C", (1e-3, 1e3), log=True),
        cs.Integer("trees", (1, 9)),
        cs.Constant("depth", 3),
    )
    known = cs.ConfigurationSpace()
    known.add(model, C, trees, depth)
    known.add(cs.EqualsCondition(C, model, "svm"), cs.InCondition(trees, model, ["svm", "forest"]))
    shared = Int(1, 9, shared=True)
    assert by_name(from_configspace(known)) == Space(
        depth=Choice(3),
        model=Choice(
            {
                "svm": Space(C=Float(1e-3, 1e3, log=True), trees=shared),
                "forest": Space(trees=shared),
                "bayes": None,
            }
        ),
    )


def with_condition(make):
    known = cs.ConfigurationSpace()
    a, b, n = cs.Categorical("a", ["p", "q"]), cs.Categorical("b", ["p", "q"]), cs.Integer("n", (1, 9))
    x = cs.Float("x", (0, 1))
    known.add(a, b, n, x)
    known.add(make(x, a, b, n))
    return known


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda x, a, b, n: cs.AndConjunction(
                cs.EqualsCondition(x, a, "p"), cs.EqualsCondition(x, b, "p")
            ),
            "cannot say the condition .* nested in an option of another",
        ),
        (lambda x, a, b, n: cs.NotEqualsCondition(x, a, "p"), "cannot say the condition"),
        (lambda x, a, b, n: cs.GreaterThanCondition(x, n, 3), "cannot say the condition"),
        (lambda x, a, b, n: cs.EqualsCondition(x, n, 3), "'x' depends on 'n', which has no labels"),
        (lambda x, a, b, n: cs.ForbiddenEqualsClause(x, 0.25), "hidim has no forbidden clauses"),
        (
            lambda x, a, b, n: cs.OrConjunction(cs.EqualsCondition(x, a, "p"), cs.EqualsCondition(x, b, "p")),
            "the name 'x' stands for two parameters that can be active together",
        ),
    ],
)
def test_conditions_that_hidim_cannot_say(make, message):
    with pytest.raises(SpaceError, match=message):
        from_configspace(with_condition(make))


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ("Categorical('a', ['p', 'q'], weights=[1, 2])", "'a' has weights"),
        ("Float('a', (0, 1), distribution=cs.Normal(0.5, 1))", "'a' is a NormalFloatHyperparameter"),
    ],
)
def test_parameters_that_hidim_cannot_say(known, message):
    configspace = cs.ConfigurationSpace()
    configspace.add(eval(f"cs.{known}"))
    with pytest.raises(SpaceError, match=message):
        from_configspace(configspace)


def test_what_configspace_cannot_say():
    with pytest.raises(SpaceError, match="no vectors; replace 'w' by one Float per coordinate"):
        to_configspace(Space(w=Vector(3)))
    with pytest.raises(SpaceError, match="'gamma' stands for two"):
        to_configspace(CORPUS["classifier"])
    with pytest.raises(SpaceError, match="no numbers in steps; make 'x' an ordered Choice of its values"):
        to_configspace(Space(x=Float(0, 1, step=0.1)))


def test_an_ordered_choice_is_ordinal_and_may_hold_tuples():
    space = Space(s=Choice("s", (64, 64), m=Space(x=Float(0, 1)), ordered=True), t=Choice((1, 2), (3,)))
    known = to_configspace(space, seed=0)
    assert isinstance(known["s"], cs.OrdinalHyperparameter)
    assert from_configspace(known) == space
    assert all(space.validate(dict(drawn)) for drawn in known.sample_configuration(20))


def test_one_integer_is_a_constant():
    assert to_configspace(Space(n=Int(3, 3)))["n"] == cs.Constant("n", 3)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ConfigSpace", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'hidim\[configspace\]'"):
        to_configspace(Space(x=Float(0, 1)))
