from __future__ import annotations

import pytest

from long_files import main


@pytest.mark.parametrize(("lines", "status", "word"), [(450, 0, ""), (451, 0, "warning"), (601, 1, "error")])
def test_long_files_are_reported(tmp_path, capsys, lines, status, word):
    root = tmp_path / "src"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n" * lines)
    assert main(root) == status
    assert capsys.readouterr().out == (
        f"{word}: src/a.py has {lines} lines; aim for 80 to 300, split it\n" if word else ""
    )
