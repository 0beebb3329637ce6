from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest

import hidim
from hidim import errors

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_public_names():
    assert hidim.__all__ == [
        "METHODS",
        "Choice",
        "Float",
        "HidimError",
        "History",
        "Insight",
        "Int",
        "Measured",
        "Optimizer",
        "Result",
        "Space",
        "Trial",
        "TrialState",
        "Vector",
        "__version__",
        "minimize",
    ]
    assert dir(hidim) == sorted([*hidim.__all__, "OptunaSampler"])
    for name in hidim.__all__:
        assert getattr(hidim, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Optimiser'"):
        _ = hidim.Optimiser


def test_method_names_are_stable():
    assert {"auto", "gp", "random", "sobol"} <= set(hidim.METHODS)


def test_types_ship():
    assert resources.files("hidim").joinpath("py.typed").is_file()


def test_every_error_derives_from_one_root_and_says_what_it_is():
    found = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert len(found) >= 8
    for error in found:
        assert issubclass(error, hidim.HidimError)
        assert error.__doc__
        assert error.__name__ in errors.__doc__


def test_core_dependencies():
    names = {re.split(r"[<>=!~ \[]", line, maxsplit=1)[0] for line in PROJECT["dependencies"]}
    assert names == {"numpy", "scipy", "threadpoolctl", "cmaes"}


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_hidim_and_describing_a_space_does_not_import_scipy():
    loaded = python(
        "import sys, hidim; hidim.Space(x=hidim.Float(0, 1)); "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'scipy', 'cmaes', 'threadpoolctl'}))"
    )
    assert loaded == "[]"


def test_a_run_needs_no_optional_package():
    optional = ["matplotlib", "ConfigSpace", "sklearn", "optuna", "torch", "cma", "mpmath", "pandas"]
    code = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {optional!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import hidim
space = hidim.Space(x=hidim.Float(0, 1), n=hidim.Int(1, 3), c=hidim.Choice("a", "b"))
print(len(hidim.minimize(lambda p: p["x"], space, n_trials=12).history))
"""
    assert python(code) == "12"


def test_a_missing_optional_package_is_answered_with_the_line_that_installs_it():
    from hidim._optional import require

    with pytest.raises(errors.MissingDependencyError, match=r"'no_such'.*pip install 'hidim\[plot\]'"):
        require("no_such.module", extra="plot")
