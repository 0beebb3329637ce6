from __future__ import annotations

from pathlib import Path

import pytest

from import_circles import main

SRC = Path(__file__).parents[1] / "src"


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / "pack" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    "back",
    [
        "import pack.a",
        "from pack import a",
        "from pack.a import something",
        "from . import a",
        "from .a import something",
        "def late():\n    from pack.a import something",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.a import something",
    ],
)
def test_a_circle_is_reported_wherever_its_imports_stand(tmp_path, capsys, back):
    root = write(
        tmp_path, __init__="", a="from pack.b import c", b="import pack.c", c=back, d="import pack.a"
    )
    assert main(root) == 1
    assert capsys.readouterr().out == (
        "error: imports go round in a circle among pack.a, pack.b, pack.c; let them point one way\n"
    )


def test_a_package_is_imported_by_those_who_take_names_from_it(tmp_path, capsys):
    taken = write(tmp_path / "taken", __init__="from pack.a import x", a="from pack import y")
    assert main(taken) == 1
    assert "among pack, pack.a;" in capsys.readouterr().out
    passed = write(tmp_path / "passed", __init__="from pack.a import x", a="from pack.b import y", b="")
    assert main(passed) == 0


def test_imports_of_other_packages_do_not_matter(tmp_path):
    assert (
        main(write(tmp_path, __init__="", a="import os\nfrom pack.b import x", b="from json import a")) == 0
    )


def test_no_imports_go_round_in_a_circle(capsys):
    assert main(SRC) == 0, capsys.readouterr().out
