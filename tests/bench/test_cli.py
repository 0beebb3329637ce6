"""The command line: exit codes, messages, and a whole small sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from hidim._version import __version__
from hidim.cli import main


def test_sweep_table_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    out, picture = str(tmp_path / "r.jsonl"), str(tmp_path / "r.png")
    run = [
        "bench",
        "run",
        "--problems",
        "levy-6",
        "--methods",
        "random",
        "--seeds",
        "1",
        "--evaluations",
        "4",
    ]
    assert main([*run, "--out", out]) == 0
    assert "[1/1] levy-6" in capsys.readouterr().err
    assert main(["bench", "table", out]) == 0
    assert "random" in capsys.readouterr().out
    assert main(["bench", "plot", out, "-o", picture]) == 0
    assert Path(picture).exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["bench", "run", "--problems", "nope-3", "--methods", "random"],
        ["bench", "run", "--problems", "levy-6", "--methods", "nope"],
        ["bench", "table", "nope.jsonl"],
    ],
)
def test_user_errors_are_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("hidim: ")
    assert "nope" in error
    assert error.count("\n") == 1


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"hidim {__version__}\n"


def test_negative_counts_are_refused_by_the_parser() -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["bench", "run", "--seeds", "0"])
