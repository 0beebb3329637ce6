"""What the README, the pages and the docstrings show runs, and prints what they say."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hidim
from hidim.methods import METHODS, PARTS

ROOT = Path(__file__).parents[1]

#: A fence of any language, and what is inside; only those at the beginning of a line are drawn as such.
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: What is not run: output (`text`, compared if it follows a block), other people's code (`py`), commands.
UNRUN = {"", "text", "py", "sh", "toml", "console"}

NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?(e[+-]?\d+)?")


def all_pages() -> list[str]:
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [str(page.relative_to(ROOT)) for page in found if "```python" in page.read_text(encoding="utf-8")]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def masked(output: str) -> list[str]:
    """Lines without their numbers, whose last digits depend on the machine."""
    return [" ".join(NUMBER.sub("#", line).split()) for line in output.strip().splitlines()]


# Peers are not installed where the tests run, and importing __main__ would start the command line.
MODULES = [m.name for m in pkgutil.walk_packages(hidim.__path__, "hidim.") if "__main__" not in m.name]


@pytest.fixture
def _registries():
    """What a page registers is gone after it."""
    registries = (METHODS, *PARTS.values())
    before = [dict(registry) for registry in registries]
    yield
    for registry, known in zip(registries, before, strict=True):
        registry.clear()
        registry.update(known)


@pytest.mark.usefixtures("_registries")
@pytest.mark.parametrize("page", all_pages())
def test_python_blocks_of_a_page_run_and_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed, end = "", -1
    for fence in FENCE.finditer(text_of(page)):
        language, block = fence.groups()
        follows = not text_of(page)[end : fence.start()].strip()
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block, page, "exec"), names)
            printed, end = out.getvalue(), fence.end()
        elif language == "text" and end >= 0 and follows:
            assert masked(printed) == masked(block)
    assert "hidim" in names


def test_the_commands_of_the_tutorial_about_a_program_run(tmp_path):
    (tmp_path / "solver.py").write_text(text_of("examples/solver.py"), encoding="utf-8")
    (tmp_path / "python").symlink_to(sys.executable)
    hidim_line = f'#!/bin/sh\nexec "{sys.executable}" -m hidim "$@"\n'
    (tmp_path / "hidim").write_text(hidim_line)
    (tmp_path / "hidim").chmod(0o755)
    blocks = [fence[2] for fence in FENCE.finditer(text_of("docs/tutorials/program.md")) if fence[1] == "sh"]
    assert len(blocks) == 5
    shorter = "\n".join(blocks).replace("--trials 40", "--trials 3")
    path = os.pathsep.join([str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["/bin/sh", "-ec", shorter],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 parameters" in done.stdout
    assert "3 trials" in done.stdout
    assert (tmp_path / "hidim-report.html").stat().st_size > 10_000


def test_the_space_file_of_the_page_about_the_command_line_is_sound(tmp_path):
    from hidim.programs import read_space

    block = next(f[2] for f in FENCE.finditer(text_of("docs/command-line.md")) if f[1] == "toml")
    (tmp_path / "space.toml").write_text(block)
    assert {"learning_rate", "weights", "model"} <= set(read_space(tmp_path / "space.toml"))


def test_every_block_of_every_page_is_run_or_of_a_kind_that_is_not():
    for page in (ROOT / "docs").rglob("*.md"):
        languages = [fence[1] for fence in FENCE.finditer(page.read_text(encoding="utf-8"))]
        assert set(languages) <= UNRUN | {"python", "pycon"}, page
        opened = re.findall(r"^\s*```(?:python|pycon)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(opened) == sum(language in ("python", "pycon") for language in languages), page
        assert "py" not in languages or page.name == "coming-from.md"
        assert "pycon" not in languages or page.name == "spaces.md"


def test_the_method_of_the_page_about_adding_one_keeps_the_contract(tmp_path):
    page = text_of("docs/add-a-method.md")
    blocks = [fence[2] for fence in FENCE.finditer(page) if fence[1] == "python"]
    (tmp_path / "stroll.py").write_text("\n".join(blocks[:2]), encoding="utf-8")
    kept = "doubled or same_seed or used_up_before"
    suite = ["tests/contracts/test_methods.py", "-p", "no:cacheprovider", "-k", f"stroll and ({kept})"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "stroll", *suite],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d passed", done.stdout)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_links_between_files_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text_of(page)):
        assert ((ROOT / page).parent / link).exists(), link


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
