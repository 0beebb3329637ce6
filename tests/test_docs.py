"""What the README, the pages and the docstrings show runs, and prints what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import hidim

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "docs/conditional.md",
    "docs/cylinder.md",
    "docs/index.md",
    "docs/methods.md",
    "docs/optimizer.md",
    "docs/optuna.md",
    "docs/results.md",
    "docs/runs.md",
    "docs/scikit-learn.md",
]
# Peers are not installed where the tests run, and importing __main__ would start the command line.
MODULES = [m.name for m in pkgutil.walk_packages(hidim.__path__, "hidim.") if "__main__" not in m.name]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert "hidim" in names


def test_the_session_on_the_page_about_spaces_prints_what_it_says():
    page = ROOT / "docs" / "spaces.md"
    blocks = re.findall(r"```pycon\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "spaces.md", str(page), 0)
    assert len(examples.examples) > 15
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_reference_names_everything_public_and_nothing_else():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^::: (\S+)", page, flags=re.MULTILINE)
    public = {f"hidim.{name}" for name in hidim.__all__} - {"hidim.METHODS", "hidim.__version__"}
    assert public - {"hidim.HidimError"} <= set(named)  # which is among the errors
    for path in named:
        module, _, name = path.rpartition(".")
        try:
            importlib.import_module(path)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(module), name), path
