"""Lines of benchmarks inside Optuna: what surrounds a run, and the document that a file of them becomes."""

from __future__ import annotations

import json
import os
import platform
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

Record = dict[str, Any]

PACKAGES = ("hidim", "numpy", "scipy", "optuna", "SQLAlchemy", "psycopg", "torch")


def surroundings() -> Record:
    """Versions, machine and time, for the end of a record."""
    versions = {}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"versions": versions, "platform": machine, "finished": finished}


def read(path: Path) -> list[Record]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def document(text: str, table: str, records: list[Record]) -> str:
    """A script's docstring, its table, and what the runs were made with, as Markdown."""
    title, commands, *rest = text.strip().split("\n\n")
    code = "\n".join(line.strip() for line in commands.splitlines())
    versions = {f"{name} {version}" for r in records for name, version in r["versions"].items()}
    machines = {record["platform"] for record in records}
    days = sorted(record["finished"][:10] for record in records)
    made = ", ".join(sorted(versions, key=str.lower)) + "; " + ", ".join(sorted(machines))
    parts = [f"# {title}", f"```sh\n{code}\n```", *rest, table, f"{made}; {days[-1]}."]
    return "\n\n".join(parts)
