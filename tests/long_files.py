"""Reports long files of src/: over 450 lines is a warning, over 600 an error. Run by `make lint`."""

from __future__ import annotations

import sys
from pathlib import Path

SMELL, ERROR = 450, 600


def long_files(root: Path) -> list[tuple[int, Path]]:
    """(lines, path) of every Python file under `root` with more than SMELL lines, longest first."""
    counts = ((len(path.read_text(encoding="utf-8").splitlines()), path) for path in root.rglob("*.py"))
    return sorted((entry for entry in counts if entry[0] > SMELL), reverse=True)


def main(root: Path) -> int:
    found = long_files(root)
    for lines, path in found:
        kind = "error" if lines > ERROR else "warning"
        print(f"{kind}: {path.relative_to(root.parent)} has {lines} lines; aim for 80 to 300, split it")
    return int(any(lines > ERROR for lines, _ in found))


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[1] / "src"))
