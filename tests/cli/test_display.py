"""What a person sees while a run goes on."""

from __future__ import annotations

import io
import math
import time
from types import SimpleNamespace

from rich.console import Console

from hidim.cli.display import Live, sparkline
from hidim.programs.program import Running
from hidim.programs.tuning import Plan
from hidim.run.progress import Standing


def drawn(live: Live) -> str:
    console = Console(record=True, width=100, file=io.StringIO())
    console.print(live._picture())
    return console.export_text()


def test_how_far_how_good_and_what_is_running():
    running = {57: Running(time.monotonic() - 12, "./simulate --alpha 0.31 [bold]\x1b[31m" + "x" * 200)}
    program = SimpleNamespace(running=running)
    live = Live("space.toml → ./simulate", program, Plan(trials=100))
    live.close()
    assert "no value yet" in drawn(live)
    for done in range(1, 57):
        live.show(Standing(done, 100, 3, 1 / done, 7.2, 592.8))
    text = drawn(live)
    assert "56/100 trials · 1 running · 3 failed" in text
    assert "best 0.0178571" in text
    assert "own time 7.2 s (1 %)" in text
    assert "#57" in text
    assert r"--alpha 0.31 [bold]\x1b[31mxxx" in text  # no mark-up of somebody else's, and no colours
    assert all(len(line) <= 100 for line in text.splitlines())


def test_a_run_without_a_number_of_trials():
    live = Live("s", SimpleNamespace(running={}), Plan(trials=None, seconds=60))
    live.close()
    live.show(Standing(5, math.inf, 0, 1.0, 1.0, 1.0))
    assert "5 trials" in drawn(live)


def test_sparklines():
    assert sparkline([]) == ""
    assert sparkline([1.0, 1.0]) == "▁▁"
    assert sparkline([math.nan, 2.0, 1.0]) == "█▁"
    assert len(sparkline(list(range(1000)), width=40)) == 40
    assert sparkline([1e308, -1e308])
