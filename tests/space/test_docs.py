"""The examples of the user page and of the docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import hidim.space

PAGE = Path(__file__).parents[2] / "docs" / "spaces.md"
MODULES = [f"hidim.space.{module.name}" for module in pkgutil.iter_modules(hidim.space.__path__)]


def test_user_page():
    blocks = re.findall(r"```pycon\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "spaces.md", str(PAGE), 0)
    assert len(examples.examples) > 15
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
