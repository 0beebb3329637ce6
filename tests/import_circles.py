"""Reports files of src/ that import each other in a circle; that is an error. Run by `make lint`.

Imports count wherever they stand: at the top, in functions and under `if TYPE_CHECKING`. To import `a.b` is
not to import the `__init__` of `a`, unless a name is taken from it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path


def circles(root: Path) -> list[list[str]]:
    """Groups of modules under `root`, as large as can be, whose imports lead from each to all others."""
    files = {_name(path, root): path for path in sorted(root.rglob("*.py"))}
    graph = {name: set(_imported(name, path, files)) - {name} for name, path in files.items()}
    reached = {name: _reached(name, graph) for name in graph}
    groups = {tuple(sorted(b for b in reached[a] if a in reached[b])) for a in graph}
    return sorted(list(group) for group in groups if len(group) > 1)


def _name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(name: str, path: Path, files: Mapping[str, Path]) -> Iterator[str]:
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            targets = (f"{source}.{alias.name}" for alias in node.names)
            yield from (t if t in files else source for t in targets if t in files or source in files)


def _reached(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    """`start`, and all modules to which its imports lead."""
    found, stack = {start}, [start]
    while stack:
        fresh = graph[stack.pop()] - found
        found |= fresh
        stack.extend(fresh)
    return found


def main(root: Path) -> int:
    found = circles(root)
    for circle in found:
        print(f"error: imports go round in a circle among {', '.join(circle)}; let them point one way")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[1] / "src"))
