"""Programs and values that misbehave, and what `hidim tune` makes of them: `python benchmarks/programs.py`.

Each case is a run of the command line in a folder of its own. The table says what a person sees, and what of
the run is in the journal afterwards. `--overhead` measures what a trial costs beside the program itself.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import hidim

HIDIM = [sys.executable, "-m", "hidim"]
X = '[x]\ntype = "float"\nlow = 0.0\nhigh = 1.0\n'
ECHO = "import sys, json; open('got.jsonl', 'a').write(json.dumps(sys.argv[1:]) + '\\n'); print(0.5)"

#: Labels that would be commands if anybody let them.
LABELS = [
    "two words",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "a\nb",
    "'quoted'",
    '"double"',
    "--rm",
    "-n",
    "*",
    "~",
    "%s",
    "{x}",
    "<b>bold</b>",
    "é 漢字 🎈",
    "",
]


class Seen(NamedTuple):
    """A call of the command line: its exit code, what it said, and how long it took."""

    code: int
    out: str
    err: str
    seconds: float


def call(folder: Path, *arguments: str, timeout: float = 120, **settings: object) -> Seen:
    start = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*HIDIM, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
        check=False,
        **settings,  # type: ignore[call-overload]
    )
    return Seen(done.returncode, done.stdout, done.stderr, time.perf_counter() - start)


def program(folder: Path, text: str, *options: str, trials: int = 4, **settings: object) -> Seen:
    """Tune a Python program of that text, which is handed x."""
    (folder / "space.toml").write_text(X)
    (folder / "p.py").write_text(text)
    command = ["--", sys.executable, "p.py", "{x}"]
    return call(
        folder, "tune", "space.toml", "--trials", str(trials), "--plain", *options, *command, **settings
    )


def kept(folder: Path) -> str:
    """What the journal has."""
    journal = folder / "space.hidim.jsonl"
    if not journal.exists():
        return "no journal"
    events = [json.loads(line)["event"] for line in journal.read_text().splitlines()]
    counts = {kind: events.count(kind) for kind in ("ask", "tell", "fail")}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "no trial"


def words(seen: Seen) -> str:
    """What a person sees of trouble: the error, else the reasons of failures, else the best value."""
    errors = [line for line in seen.err.splitlines() if line.startswith("hidim: ") and "trials ·" not in line]
    reasons = [line.strip() for line in seen.out.splitlines() if " × " in line]
    shown = errors[-1].removeprefix("hidim: ") if errors else "; ".join(reasons) or seen.out.splitlines()[0]
    return shown if len(shown) < 260 else shown[:259] + "…"


# -- cases -------------------------------------------------------------------------------------------------


def labels(folder: Path) -> tuple[str, str]:
    listed = ", ".join(json.dumps(label, ensure_ascii=False) for label in LABELS)
    (folder / "space.toml").write_text(f'[x]\ntype = "choice"\noptions = [{listed}]\n')
    (folder / "p.py").write_text(ECHO)
    n = str(len(LABELS))
    command = ["--", sys.executable, "p.py", "{x}", "--x={x}"]
    seen = call(folder, "tune", "space.toml", "--trials", n, "--method", "random", "--plain", *command)
    got = [json.loads(line) for line in (folder / "got.jsonl").read_text().splitlines()]
    exact = sorted(words[0] for words in got) == sorted(LABELS) and all(w[1] == f"--x={w[0]}" for w in got)
    pwned = (folder / "pwned").exists()
    said = f"{len(got)} of {len(LABELS)} labels handed over, {'all' if exact else 'NOT all'} to the letter"
    return f"exit code {seen.code}; {said}; {'a command RAN' if pwned else 'no command ran'}", kept(folder)


def labels_by_shell(folder: Path) -> tuple[str, str]:
    listed = ", ".join(json.dumps(label, ensure_ascii=False) for label in LABELS)
    (folder / "space.toml").write_text(f'[x]\ntype = "choice"\noptions = [{listed}]\n')
    (folder / "p.py").write_text(ECHO)
    n = str(len(LABELS))
    command = ["--shell", "--", f"{sys.executable} p.py {{x}}"]
    seen = call(folder, "tune", "space.toml", "--trials", n, "--method", "random", "--plain", *command)
    got = [json.loads(line) for line in (folder / "got.jsonl").read_text().splitlines()]
    exact = sorted(words[0] for words in got) == sorted(LABELS)
    pwned = (folder / "pwned").exists()
    said = f"{len(got)} of {len(LABELS)} labels handed over, {'all' if exact else 'NOT all'} to the letter"
    return f"exit code {seen.code}; {said}; {'a command RAN' if pwned else 'no command ran'}", kept(folder)


def of(text: str, *options: str, **settings: object) -> Callable[[Path], tuple[str, str]]:
    def case(folder: Path) -> tuple[str, str]:
        seen = program(folder, text, *options, **settings)  # type: ignore[arg-type]
        return f"exit code {seen.code}, {seen.seconds:.1f} s; {words(seen)}", kept(folder)

    return case


def children(folder: Path) -> tuple[str, str]:
    """A program that leaves children behind: in its session, and in one of their own."""
    text = (
        "import os, subprocess, sys, time\n"
        "subprocess.Popen(['sleep', '321.5'])\n"
        "subprocess.Popen(['sleep', '321.5'], start_new_session=True, stdout=subprocess.DEVNULL)\n"
        "print(float(sys.argv[1]))\n"
    )
    seen = program(folder, text)
    time.sleep(0.3)
    left = subprocess.run(["pgrep", "-fc", "sleep 321.5"], capture_output=True, text=True, check=False)
    return f"exit code {seen.code}, {seen.seconds:.1f} s; {left.stdout.strip()} of 8 children left", kept(
        folder
    )


def ended(number: signal.Signals) -> Callable[[Path], tuple[str, str]]:
    """hidim itself is ended in mid-trial, then the same line is typed again."""

    def case(folder: Path) -> tuple[str, str]:
        (folder / "space.toml").write_text(X)
        (folder / "p.py").write_text(
            "import subprocess, sys, time\nsubprocess.run(['sleep', '0.35'])\nprint(float(sys.argv[1]))\n"
        )
        line = [*HIDIM, "tune", "space.toml", "--trials", "8", "--workers", "2", "--plain"]
        line += ["--", sys.executable, "p.py", "{x}"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen(line, cwd=folder, env=environment, stdout=-1, stderr=-1, text=True)
        journal = folder / "space.hidim.jsonl"
        while not journal.exists() or journal.read_text().count('"tell"') < 3:
            time.sleep(0.02)
        process.send_signal(number)
        process.communicate()
        time.sleep(0.3 if number is not signal.SIGKILL else 1.0)
        left = subprocess.run(["pgrep", "-fc", "p.py 0"], capture_output=True, text=True, check=False)
        told = journal.read_text().count('"tell"')
        done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        again = journal.read_text().count('"tell"')
        numbers = f"exit code {process.returncode}, {left.stdout.strip()} programs left"
        values = f"{told} values before, {again} after the same line again (exit code {done.returncode})"
        return f"{numbers}; {values}", kept(folder)

    return case


def read_only(folder: Path) -> tuple[str, str]:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "space.toml").write_text(X)
    inner.chmod(0o555)
    command = ["--", "/bin/echo", "{x}"]
    line = [*HIDIM, "tune", "inner/space.toml", "--trials", "2", *command]
    if os.getuid() == 0:  # whom no folder refuses
        for part in (folder, *folder.rglob("*")):
            os.chown(part, 65534, 65534)
        line = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *line]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(folder)}
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    inner.chmod(0o755)
    return f"exit code {done.returncode}; {done.stderr.strip().splitlines()[-1]}", "no journal"


def full_disk(folder: Path) -> tuple[str, str]:
    """A journal that cannot grow: by a limit on the size of files, which raises as a full disk does."""

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    text = "import sys; print(float(sys.argv[1]))"
    first = program(folder, text, trials=30, preexec_fn=limited)
    told = (folder / "space.hidim.jsonl").read_text().count('"tell"')
    again = program(folder, text, trials=30)
    after = (folder / "space.hidim.jsonl").read_text().count('"tell"')
    said = f"exit code {first.code}; {words(first)}; {told} values kept"
    return f"{said}; with room again, the same line goes on to {after} (exit code {again.code})", kept(folder)


CASES: dict[str, Callable[[Path], tuple[str, str]]] = {
    f"{len(LABELS)} labels with quotes, `$()`, newlines, leading dashes, …": labels,
    "the same by `--shell`": labels_by_shell,
    "hangs, `--timeout 1s`": of("import time; time.sleep(99)", "--timeout", "1s", trials=2),
    "hangs and heeds no SIGTERM": of(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(99)",
        "--timeout",
        "1s",
        trials=1,
    ),
    "exit code 3, always": of("import sys; sys.exit('no licence')", trials=50),
    "crashes (SIGSEGV) now and then": of(
        "import os, sys\nx = float(sys.argv[1])\nif x > .5: os.kill(os.getpid(), 11)\nprint(x)", trials=12
    ),
    "fails at first, `--retries 2`": of(
        "import os, sys\nn = sys.argv[1]\nif not os.path.exists(n): open(n, 'w'); sys.exit(1)\nprint(1)",
        "--retries",
        "2",
        trials=3,
    ),
    "leaves children behind": children,
    "prints NaN": of("print('nan')", trials=3),
    "prints NaN now and then": of(
        "import sys; x = float(sys.argv[1]); print(x if x < .5 else 'nan')", trials=8
    ),
    "prints nothing": of("", trials=50),
    "prints no number": of("print('done in 3 s')", trials=50),
    "floods standard output, 200 MB": of(
        "import sys\nfor _ in range(200): print('x' * 10**6)\nprint(sys.argv[1])"
    ),
    "floods standard error, 200 MB": of(
        "import sys\nfor _ in range(200): print('x' * 10**6, file=sys.stderr)\nprint(sys.argv[1])"
    ),
    "closes its output and goes on": of(
        "import os, sys, time\nprint(sys.argv[1], flush=True); os.close(1); os.close(2); time.sleep(.2)"
    ),
    "prints bytes that are no text": of(
        "import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\x00\\n' + sys.argv[1].encode())"
    ),
    "reads standard input": of("import sys; sys.stdin.read(); print(sys.argv[1])"),
    "program that does not exist": lambda folder: _line(folder, "no-such-program", "{x}"),
    "parameter that the command does not use": lambda folder: _line(folder, "true"),
    "placeholder with a typo": lambda folder: _line(folder, "echo", "{x}", "{xx}"),
    "`--regex` that matches nothing": of("print(1)", "--regex", "loss=(.*)", trials=50),
    "`--json-field` that is not there": of("print('{\"a\": 1}')", "--json-field", "b", trials=6),
    "`--value-file` that is not written": of("", "--value-file", "out.txt", trials=50),
    "SIGINT (Ctrl-C) in mid-run": ended(signal.SIGINT),
    "SIGTERM in mid-run": ended(signal.SIGTERM),
    "kill -9 in mid-run": ended(signal.SIGKILL),
    "read-only folder": read_only,
    "full disk": full_disk,
}


def _line(folder: Path, *command: str) -> tuple[str, str]:
    (folder / "space.toml").write_text(X)
    seen = call(folder, "tune", "space.toml", "--trials", "2", "--", *command)
    return f"exit code {seen.code}; {words(seen)}", kept(folder)


# -- overhead ----------------------------------------------------------------------------------------------


def overhead(trials: int = 100) -> str:
    """Milliseconds of a trial by `tune` and by hand, of a program that does next to nothing."""
    rows = []
    for title, command in (("/bin/echo", ["/bin/echo"]), ("python", [sys.executable, "-S", "-c", CODE])):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "space.toml").write_text(X)
            by_hand = []
            for _ in range(trials):
                start = time.perf_counter()
                subprocess.run([*command, "0.5"], capture_output=True, check=True)
                by_hand.append(time.perf_counter() - start)
            found = []
            for method in ("random", "auto"):
                options = [
                    "--trials",
                    str(trials),
                    "--quiet",
                    "--method",
                    method,
                    "--journal",
                    f"{method}.jsonl",
                ]
                seen = call(folder, "tune", "space.toml", *options, "--", *command, "{x}", timeout=600)
                result = hidim.Result.from_journal(folder / f"{method}.jsonl")
                took = statistics.median(trial.seconds or 0.0 for trial in result.history)
                found += [took, seen.seconds / trials]
            hand = statistics.median(by_hand)
            cells = [hand, *found]
            rows.append(f"| {title} | " + " | ".join(f"{1000 * cell:.1f}" for cell in cells) + " |")
    head = "| program | by hand | `random`: program | `random`: all | `auto`: program | `auto`: all |"
    return "\n".join([head, "|---|--:|--:|--:|--:|--:|", *rows])


CODE = "import sys; print(float(sys.argv[1]))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--overhead", action="store_true", help="measure the time of a trial")
    parser.add_argument("--only", default="", help="cases whose title has this text")
    options = parser.parse_args()
    if options.overhead:
        print(overhead())
    else:
        print("| case | what is shown | in the journal |\n|---|---|---|")
        for title, case in CASES.items():
            if options.only in title:
                with tempfile.TemporaryDirectory() as name:
                    shown, journal = case(Path(name))
                    shown = " ".join(shown.replace("|", "\\|").replace(name, "…").split())
                    print(f"| {title} | {shown} | {journal} |", flush=True)
    print(
        f"\n`python benchmarks/programs.py{' --overhead' * options.overhead}`; hidim {hidim.__version__}, ",
        end="",
    )
    print(f"Python {platform.python_version()}, {platform.system()}")


if __name__ == "__main__":
    main()
