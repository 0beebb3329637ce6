"""A real program tuned from nothing, in a fresh virtual environment: `python benchmarks/from_nothing.py`.

Install, look at the program's help, tune, kill -9 in the middle, go on, explain, report. What is printed is
the transcript, as Markdown; `benchmarks/results/from-nothing.md` is one of them.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAM = (
    "python solver.py --presolve {presolve} --effort {effort} --reliable {reliable} --age {age} "
    "--pool-age {pool_age} --restart {restart} --cuts {cuts} --symmetry {symmetry}"
)
TUNE = f"hidim tune solver.toml --trials 40 --workers 2 --regex 'work: (\\d+)' -- {PROGRAM}"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(ROOT / "examples" / "solver.py", folder)
        venv.create(folder / "env", with_pip=True)
        environment = {
            **os.environ,
            "PATH": f"{folder / 'env' / 'bin'}:{os.environ['PATH']}",
            "OMP_NUM_THREADS": "1",
        }
        environment.pop("PYTHONPATH", None)

        def shown(line: str, said: str) -> None:
            text = said.replace(str(folder), "…").replace(str(ROOT), "hidim").rstrip()
            print(f"$ {line}\n{text}\n" if text else f"$ {line}\n", flush=True)

        def step(line: str, *, quiet: bool = False) -> None:
            done = subprocess.run(
                line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            said = "" if quiet and done.returncode == 0 else done.stdout + done.stderr
            shown(line.replace(str(ROOT), "hidim"), said)

        print("```console")
        step(f"pip install '{ROOT}[cli]' highspy", quiet=True)
        step("python solver.py")
        step("hidim init solver.toml -- python solver.py")
        step("cat solver.toml")
        step(f"hidim check solver.toml -- {PROGRAM}")
        process = subprocess.Popen(TUNE, shell=True, cwd=folder, env=environment, start_new_session=True)
        journal = folder / "solver.hidim.jsonl"
        while not journal.exists() or journal.read_bytes().count(b'"tell"') < 15:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shown(f"{TUNE} & sleep 20; kill -9 $!", "Killed")
        time.sleep(4)
        step("pgrep -fc '[s]olver.py --presolve'")
        step("hidim show")
        step(TUNE)
        step("hidim best --json")
        step("hidim explain")
        step("hidim report")
        print("```\n")
    version = f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores"
    print(f"`python benchmarks/from_nothing.py`; {version}")


if __name__ == "__main__":
    main()
