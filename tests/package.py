"""Builds wheel and sdist, and tries the wheel where nothing else is installed. Run by `make package`."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: What somebody does first, with the core alone.
TRIED = """
import hidim, importlib.util
assert importlib.util.find_spec("matplotlib") is None, "this is no clean environment"
space = hidim.Space(x=hidim.Float(-1, 1), kind=hidim.Choice("a", b=hidim.Space(n=hidim.Int(1, 9))))
result = hidim.minimize(lambda p: p["x"] ** 2 + p.get("n", 5), space, n_trials=12, seed=0, progress=False)
assert result.best.value < 5
print(f"minimize: {result.best.value:.3g}, from {hidim.__file__}")
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"error: {' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout.strip()


def built(source: Path, target: Path, *kinds: str) -> None:
    run(
        sys.executable, "-m", "hatchling", "build", "-d", target, *(f"-t{kind}" for kind in kinds), cwd=source
    )


def contents(wheel: Path) -> dict[str, int]:
    """Names and checksums of what a wheel installs."""
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        built(ROOT, place / "dist", "sdist", "wheel")
        (sdist,), (wheel,) = (place / "dist").glob("*.tar.gz"), (place / "dist").glob("*.whl")
        with tarfile.open(sdist) as archive:
            archive.extractall(place / "source", filter="data")
        built(*(place / "source").iterdir(), place / "again", "wheel")
        (again,) = (place / "again").glob("*.whl")
        if contents(wheel) != contents(again):
            differing = sorted(set(contents(wheel).items()) ^ set(contents(again).items()))
            sys.exit(f"error: the wheel of the sdist is another one: {differing}")
        missing = {str(p.relative_to(ROOT / "src")) for p in (ROOT / "src/hidim").rglob("*.py")} - {
            *contents(wheel)
        }
        if missing or "hidim/py.typed" not in contents(wheel):
            sys.exit(f"error: the wheel lacks {sorted(missing) or 'hidim/py.typed'}")
        sizes = f"{wheel.stat().st_size / 1e3:.0f} and {sdist.stat().st_size / 1e3:.0f} kB"
        print(f"{wheel.name} and {sdist.name}: {sizes}")

        fresh, away = place / "fresh", place / "away"
        away.mkdir()
        venv.create(fresh)  # pip works from outside, and compiles nothing beforehand, for time
        pip = (sys.executable, "-m", "pip", "--python", fresh / "bin/python", "--disable-pip-version-check")
        run(*pip, "install", "--quiet", "--no-compile", wheel, cwd=away)
        print(run(fresh / "bin/hidim", "--version", cwd=away))
        assert "usage: hidim" in run(fresh / "bin/python", "-m", "hidim", "--help", cwd=away)
        print(run(fresh / "bin/python", "-c", TRIED, cwd=away))
    return 0


if __name__ == "__main__":
    sys.exit(main())
