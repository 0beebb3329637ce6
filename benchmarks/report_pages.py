"""Five reports, what they weigh, how long a browser takes for them, and what they look like.

python benchmarks/report_pages.py --table benchmarks/results/report.md --picture docs/img/report.png
"""

from __future__ import annotations

import argparse
import math
import pickle
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

import hidim
from hidim import Choice, Float, Int, Result, Space, Vector
from hidim.trial import History, Trial

BROWSER = [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
]

HOW = (
    "Written: by the clock, with what models are asked. Drawn: by the page's own script; loaded: from the "
    "beginning of its loading to the end of that, the median of five loads from disk by headless Chromium."
)


def twenty() -> Result:
    """Settings of a made-up training run: five of twenty matter."""
    space = Space(
        learning_rate=Float(1e-5, 1.0, log=True),
        weight_decay=Float(1e-7, 1e-1, log=True),
        batch_size=Int(8, 512, log=True),
        layers=Int(1, 12),
        activation=Choice("relu", "gelu", "tanh", "silu"),
        **{f"dropout_{i}": Float(0.0, 0.9) for i in range(8)},
        **{f"scale_{i}": Float(0.1, 10.0, log=True) for i in range(7)},
    )

    def objective(p: dict[str, Any]) -> float:
        rate = math.log10(p["learning_rate"] / 3e-3)
        size = math.log2(p["batch_size"] / 64)
        loss = 0.08 + 0.09 * rate**2 + 0.006 * (p["layers"] - 6) ** 2 + 0.02 * (size + rate) ** 2
        loss += {"relu": 0.03, "gelu": 0.0, "tanh": 0.12, "silu": 0.01}[p["activation"]]
        return loss + 0.15 * (p["dropout_0"] - 0.2) ** 2 + 0.01 * math.log10(p["scale_3"]) ** 2

    return hidim.minimize(objective, space, 160, seed=0)


def many() -> Result:
    """A vector of 500 weights, of which six matter."""
    which = np.array([3, 41, 97, 230, 301, 444])
    target = np.array([0.3, -0.5, 0.7, 0.1, -0.2, 0.6])

    def objective(p: dict[str, Any]) -> float:
        gap = p["w"][which] - target
        return float(np.sum(np.arange(6, 0, -1) * gap**2) + 2.0 * gap[0] * gap[1])

    return hidim.minimize(objective, Space(w=Vector(500, low=-1.0)), 200, seed=0)


def conditional() -> Result:
    """Three optimisers and an augmentation, each with settings of its own."""
    rate = Float(1e-4, 1.0, log=True, shared=True)
    space = Space(
        width=Int(16, 256, log=True),
        optimizer=Choice(
            sgd=Space(rate=rate, momentum=Float(0.0, 1.0)),
            adam=Space(rate=rate, beta=Float(0.8, 1.0)),
            lbfgs=Space(memory=Int(1, 50, log=True)),
        ),
        augment=Choice("none", mixup=Space(strength=Float(0.0, 1.0)), cutout=Space(size=Int(1, 16))),
    )

    def objective(p: dict[str, Any]) -> float:
        error = 0.1 + 0.02 * math.log2(p["width"] / 96) ** 2
        match p["optimizer"]:
            case "sgd":
                error += 0.06 + 0.08 * (p["momentum"] - 0.9) ** 2
            case "adam":
                error += 4.0 * (p["beta"] - 0.95) ** 2
            case _:
                error += 0.15 + 0.01 * abs(math.log2(p["memory"] / 10))
        if "rate" in p:
            if p["rate"] * p["width"] > 5.0:
                raise FloatingPointError(f"diverged: loss is nan after {int(100 / p['rate'])} steps")
            error += 0.05 * math.log10(p["rate"] / 3e-3) ** 2
        match p["augment"]:
            case "none":
                return error + 0.05
            case "mixup":
                return error + 0.08 * (p["strength"] - 0.4) ** 2
        return error + 0.03 + 0.001 * abs(p["size"] - 4)

    return hidim.minimize(objective, space, 90, method="addtree", seed=0)


def failing() -> Result:
    """A noisy throughput to be maximised; a quarter of the trials fail, of three reasons."""
    space = Space(
        threads=Int(1, 64, log=True),
        memory_gb=Float(0.5, 64.0, log=True),
        cache=Choice("none", "lru", "<script>alert(1)</script>", None, 0.5, ("two", 2)),
        batch=Int(1, 1000, log=True),
    )
    rng = np.random.default_rng(0)

    def objective(p: dict[str, Any]) -> float:
        if p["threads"] * p["batch"] > 900.0 * p["memory_gb"]:
            raise MemoryError(f"killed: out of memory at {p['memory_gb'] * 1.02:.1f} GB")
        if rng.random() < 0.12:
            raise ConnectionError("the server closed the connection")
        if p["cache"] is None and p["threads"] > 24:
            raise RuntimeError("<b>lock</b> held\n  by serve.py, line 12")
        if p["threads"] > 48:
            raise TimeoutError(f"no answer after {30 + rng.random():.2f} s")
        speed = (
            900.0
            / (1.0 + 0.3 * math.log2(p["threads"] / 12) ** 2)
            / (1.0 + 0.1 * math.log10(p["batch"] / 80) ** 2)
        )
        return speed * {"none": 0.6, "lru": 1.0}.get(str(p["cache"]), 0.8) + rng.normal(0.0, 25.0)

    return hidim.minimize(objective, space, 120, maximize=True, noisy=True, seed=1)


def _kept(folder: Path, name: str, make: Any) -> Result:
    """A run, made once: looking at pages should not take minutes."""
    path = folder / f"{name}.pickle"
    if not path.exists():
        path.write_bytes(pickle.dumps(make()))
    found: Result = pickle.loads(path.read_bytes())
    return found


def largest() -> Result:
    """5,000 trials of 500 parameters, as wide as pages get."""
    space = Space({f"parameter_{i}": Float(0.0, 1.0) for i in range(500)})
    points = np.random.default_rng(0).random((5000, 500))
    values = ((points[:, :4] - 0.3) ** 2).sum(axis=1)
    trials = [
        Trial(dict(zip(space, point.tolist(), strict=True)), i).completed(float(value), rank=i)
        for i, (point, value) in enumerate(zip(points, values, strict=True))
    ]
    return Result(trials[int(np.argmin(values))], History(trials), space)


RUNS = {"twenty": twenty, "many": many, "conditional": conditional, "failing": failing, "largest": largest}


def _shoot(page: Path, picture: Path, width: int, theme: str, height: int) -> None:
    size = [f"--window-size={width},{height}", f"--screenshot={picture}"]
    line = [*BROWSER, *size, "--virtual-time-budget=4000", f"{page.as_uri()}#theme={theme}"]
    subprocess.run(line, check=True, capture_output=True)


def _times(page: Path) -> dict[str, float]:
    """Milliseconds by the browser's clock, the median of five, and the height of the page."""
    found: dict[str, list[float]] = {}
    line = [*BROWSER, "--window-size=1280,900", "--dump-dom", page.as_uri()]
    for _ in range(5):
        dom = subprocess.run(line, check=True, capture_output=True, text=True).stdout
        head = dom[: dom.index("<head")]
        assert "data-errors" not in head, head
        for name, value in re.findall(r'data-(drawn|loaded|height)="(\d+)"', head):
            found.setdefault(name, []).append(float(value))
    return {name: float(np.median(values)) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="build/report")
    parser.add_argument("--table")
    parser.add_argument("--picture", help="where to put the top of the first page")
    parser.add_argument("--runs", nargs="*", default=list(RUNS))
    options = parser.parse_args()
    folder = Path(options.out).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "| run | trials | parameters | written in, s | size, kB | drawn in, ms | loaded after, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in options.runs:
        result, page = _kept(folder, name, RUNS[name]), folder / f"{name}.html"
        begin = time.perf_counter()
        result.report(page, title=f"A run of {result.space.dim} parameters")
        seconds = time.perf_counter() - begin
        seen = _times(page)
        size = f"{page.stat().st_size / 1e3:.0f}"
        row = [name, len(result.history), result.space.dim, f"{seconds:.1f}", size]
        row += [f"{seen[key]:.0f}" for key in ("drawn", "loaded")]
        lines.append(f"| {' | '.join(map(str, row))} |")
        print(lines[-1], flush=True)
        for theme in ("light", "dark"):
            _shoot(page, folder / f"{name}-{theme}.png", 1280, theme, int(seen["height"]))
        _shoot(page, folder / f"{name}-phone.png", 400, "light", int(2.2 * seen["height"]))
    if options.picture:
        _shoot(folder / f"{options.runs[0]}.html", Path(options.picture).resolve(), 1280, "light", 1466)
    told = f"`python benchmarks/report_pages.py`, on a machine with other work. {HOW}"
    text = "\n".join(["# Report pages", "", told, "", *lines, ""])
    if options.table:
        Path(options.table).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
