from __future__ import annotations

import pytest

from hidim.errors import SpaceError
from hidim.space import Choice, Float, Int, Space, Vector
from hidim.space.tree import always_active, always_named, walk

X = Float(0, 1)
SHARED = Float(0, 1, shared=True)


def test_name_used_above_and_below():
    with pytest.raises(SpaceError, match="'C' and 'model=svm/C'; rename one of them"):
        Space(C=X, model=Choice(svm=Space(C=X)))


def test_name_of_a_choice_used_inside_it():
    with pytest.raises(SpaceError, match="'model' and 'model=svm/model'"):
        Space(model=Choice(svm=Space(model=X)))


def test_name_used_under_sibling_choices():
    with pytest.raises(SpaceError, match="can be active together: 'a=p/x' and 'b=q/deep=r/x'"):
        Space(a=Choice(p=Space(x=X)), b=Choice(q=Space(deep=Choice(r=Space(x=X)))))


def test_sharing_does_not_mend_a_clash():
    with pytest.raises(
        SpaceError, match=r"rename one of them \(shared=True joins parameters of exclusive options"
    ):
        Space(a=Choice(p=Space(x=SHARED)), b=Choice(q=Space(x=SHARED)))


def test_shared_definitions_must_agree():
    with pytest.raises(
        SpaceError, match=r"'x' has two definitions: 'a=p/x' is Float.*'a=q/x' is Float.*make them"
    ):
        Space(a=Choice(p=Space(x=SHARED), q=Space(x=Float(0, 2, shared=True))))


def test_same_name_in_exclusive_options_is_two_parameters():
    space = Space(a=Choice(p=Space(x=X), q=Space(x=Int(0, 3))))
    assert [vertex.title for vertex in space.vertices] == ["a", "a=p/x", "a=q/x"]


def test_both_must_be_marked_shared():
    with pytest.raises(SpaceError, match="'x' is shared at 'a=q/x' and not at 'a=p/x'"):
        Space(a=Choice(p=Space(x=X), q=Space(x=SHARED)))


def test_shared_parameters_have_one_set_of_columns():
    w = Vector(5, shared=True)
    space = Space(a=Choice(p=Space(w=w), q=Space(y=X, w=w), r=None))
    assert [(v.title, v.start) for v in space.vertices] == [("a", 0), ("w", 1), ("a=q/y", 6)]
    assert space.roots[0].branches[0][0] is space.roots[0].branches[1][1]


def test_a_shared_choice_brings_its_parameters_along():
    kernel = Choice("linear", rbf=Space(gamma=X), shared=True)
    space = Space(model=Choice(svm=Space(kernel=kernel), gp=Space(kernel=kernel, noise=X)))
    assert [v.title for v in space.vertices] == ["model", "kernel", "kernel=rbf/gamma", "model=gp/noise"]


def test_columns_are_dealt_depth_first():
    space = Space(a=X, b=Choice(p=Space(c=Choice(q=Space(d=X))), r=Space(e=Vector(3))), f=X)
    assert [(v.name, v.start) for v in space.vertices] == [
        ("a", 0),
        ("b", 1),
        ("c", 2),
        ("d", 3),
        ("e", 4),
        ("f", 7),
    ]
    assert space.vertices[4].columns == slice(4, 7)


def test_what_all_options_share_is_always_active():
    space = Space(a=Choice(p=Space(x=SHARED, y=X), q=Space(b=Choice(r=Space(x=SHARED)))))
    assert {v.title for v in always_active(space.roots)} == {"a", "x"}
    assert Space(a=Choice(only=Space(x=X))).is_conditional is False
    assert space.is_conditional is True


def test_a_name_under_every_option_is_always_there_even_if_it_stands_for_two_parameters():
    space = Space(a=Choice(p=Space(x=X, y=X), q=Space(b=Choice(r=Space(x=X)))), c=Choice("s", t=Space(z=X)))
    assert always_named(space.roots) == {"a", "c", "x"}
    assert {v.title for v in always_active(space.roots)} == {"a", "c"}


def test_walk_visits_places():
    space = Space(a=Choice(p=Space(x=SHARED), q=Space(x=SHARED)))
    assert [str(place) for place in walk(space)] == ["a", "a=p/x", "a=q/x"]


def test_sixty_levels_are_no_limit():
    space = Space(x=X)
    for level in range(60):
        space = Space({f"c{level}": Choice("stop", go=space)})
    assert space.dim == 61
    assert len(space.decode([1.0] * 61)) == 61
