"""A space in a file, and what is said of one that is wrong: the line and the mend."""

from __future__ import annotations

import json

import pytest

from hidim import Choice, Float, Int, Space, Vector
from hidim.errors import SpaceError
from hidim.programs import read_space
from hidim.programs.spacefile import check_values

WHOLE = """
tol = 1e-3
[lr]
type = "float"
low = 1e-5
high = 1e-1
log = true

[width]
type = "float"
low = 0
high = 1
step = 0.25

[layers]
type = "int"
low = 2
high = 8
step = 2

[w]
type = "vector"
dim = 3
low = [0, 1, 2]
high = 4

[size]
type = "choice"
options = [16, 32.5, true, "big one", ["a", 1]]
ordered = true

[model]
type = "choice"
[model.options.svm.C]
type = "float"
low = 1e-3
high = 1e3
log = true
[model.options.svm]
loss = "hinge"
[model.options.svm.kernel]
type = "choice"
options.rbf.gamma = {type = "float", low = 0, high = 1}
options.linear = {}
[model.options."none at all"]
"""


OPTION = '[m]\ntype = "choice"\n[m.options.a.C]\ntype = "float"\nlow = -1\nhigh = 2\n{}\n'


def written(tmp_path, text, name="space.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_all_kinds_of_parameters(tmp_path):
    space = read_space(written(tmp_path, WHOLE))
    kernel = Choice({"rbf": Space(gamma=Float(0, 1)), "linear": None})
    svm = Space(C=Float(1e-3, 1e3, log=True), loss="hinge", kernel=kernel)
    wanted = Space(
        tol=1e-3,
        lr=Float(1e-5, 1e-1, log=True),
        width=Float(0, 1, step=0.25),
        layers=Int(2, 8, step=2),
        w=Vector(3, low=(0, 1, 2), high=4),
        size=Choice(16, 32.5, True, "big one", ("a", 1), ordered=True),
        model=Choice({"svm": svm, "none at all": None}),
    )
    assert space.to_dict() == wanted.to_dict()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[x]\ntype = "float"\nlow = 0\nhgih = 1\n', 4, "did you mean 'high'?"),
        ('[x]\ntype = "flaot"\nlow = 0\n', 2, "did you mean 'float'?"),
        ("x = [0, 1]\n", 1, "write a table [x]"),
        ("\nlow = 3\n", 2, "write a table [low]"),
        ('[n]\ntype = "int"\nlow = 8\nhigh = 20\nstep = 8\n', 3, "set high=16 or high=24"),
        ("[y]\nlow = 1\n", 1, "has no type"),
        ('\n\n[x]\ntype = "float"\nlow = 2\nhigh = 1\n', 5, "low must be less than high"),
        (OPTION.format("log = true"), 5, "low > 0"),
        ('[m]\ntype = "choice"\n[m.a.C]\ntype = "int"\n', 3, "[m.options.a]"),
        ('[m]\ntype = "choice"\noptions = []\n', 3, "no options"),
        (OPTION.format('[C]\ntype = "int"\nlow = 0\nhigh = 1'), 7, "rename one"),
        ('[x]\ntype = "int"\nlow = 0.5\nhigh = 3\n', 3, "must be an integer"),
        ('[x]\ntype = "float"\nlow = 0\nhigh = "a"\n', 4, "must be a number"),
        ('[x]\ntype = "float"\nlow = 1\nhigh = 2\nlog = "yes"\n', 5, "true or false"),
        ('[m]\ntype = "choice"\n[m.options.a]\ntype = "int"\nlow = 0\n', 4, "stands in [m.options.a.NAME]"),
        ('# low = 3\n[x]\ntype = "float"\nlow = 2\nhigh = 1\n', 4, "low must be less than high"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, line, words):
    path = written(tmp_path, text)
    with pytest.raises(SpaceError) as caught:
        read_space(path)
    assert f"{path}, line {line}: " in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[x\n", "line 1"),
        ("", "no parameter"),
        ("\ufeff\n", "no parameter"),
        ("[" * 5000, "not TOML"),
        ('[m]\ntype = "choice"\noptions = ["a"]\n[m.options.b.x]\n', "one list or in tables"),
    ],
)
def test_what_is_no_space_at_all(tmp_path, text, words):
    with pytest.raises(SpaceError, match=words):
        read_space(written(tmp_path, text))


def test_a_file_that_is_missing_or_no_text(tmp_path):
    with pytest.raises(SpaceError, match="hidim init"):
        read_space(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpaceError, match="UTF-8"):
        read_space(tmp_path / "binary.toml")
    with pytest.raises(SpaceError, match="directory"):
        read_space(tmp_path)


def test_json_and_configspace(tmp_path):
    space = Space(x=Float(0, 1), c=Choice({"a": Space(y=Int(1, 3)), "b": None}))
    path = written(tmp_path, space.to_json(), "space.json")
    assert read_space(path).to_dict() == space.to_dict()
    from hidim.integrations.configspace import to_configspace

    known = to_configspace(space)
    known.to_json(tmp_path / "cs.json")
    known.to_yaml(tmp_path / "cs.yaml")
    for name in ("cs.json", "cs.yaml"):
        assert set(read_space(tmp_path / name)) == {"x", "c"}
    with pytest.raises(SpaceError, match="line 1"):
        read_space(written(tmp_path, "{,}", "broken.json"))
    with pytest.raises(SpaceError, match="ConfigSpace cannot read it"):
        read_space(written(tmp_path, json.dumps({"hyperparameters": [3]}), "odd.json"))


def test_names_that_stand_for_something_else_are_refused():
    with pytest.raises(SpaceError, match="rename it"):
        check_values(Space({"@trial": Float(0, 1)}))


def test_null_characters_are_refused():
    with pytest.raises(SpaceError, match="null character"):
        check_values(Space(c=Choice("a\0b", "c")))
