"""The page: its assets and its data, put together and written in one step."""

from __future__ import annotations

import base64
import hashlib
import html
import math
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template

from hidim import _files
from hidim.errors import HidimError
from hidim.report.findings import Known
from hidim.report.gather import Run, gather
from hidim.report.limits import LARGEST, Limits
from hidim.report.texts import clipped, embedded, paragraph

#: Scripts in the order in which they run.
SCRIPTS = ("base.js", "chart.js", "curves.js", "lines.js", "table.js", "sections.js", "page.js")
#: Seconds for what models are asked, once and while a run goes on.
PATIENCE, HURRY = 30.0, 5.0


def write_report(
    run: Run,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    command: Sequence[str] | None = None,
    refresh: float | None = None,
    patience: float | None = None,
) -> Path:
    """Write a run as one page of HTML; the old page stays until the new one is whole.

    Args:
        run: a `Result`.
        path: of the file.
        title: of the page.
        command: that was tuned.
        refresh: seconds after which the page loads itself anew, for a run that goes on.
        patience: seconds of the processor for what models are asked; parts that would take longer are left
            out, and the page says so. By default 30, or 5 where the page is refreshed.
    """
    target = _files.place_for(path)
    if refresh is not None and not (math.isfinite(refresh) and refresh > 0.0):
        raise HidimError(f"refresh is a number of seconds above 0, or None, not {refresh!r}")
    if isinstance(command, str):
        command = [command]
    if patience is None:
        patience = PATIENCE if refresh is None else HURRY
    limits = Limits()
    known = Known(run.insight(), limits.slices, patience)
    page = rendered(run, known, limits, title=title, command=command, refresh=refresh)
    while len(page) > LARGEST and limits != limits.smaller():
        limits = limits.smaller()
        page = rendered(run, known, limits, title=title, command=command, refresh=refresh)
    _files.write_whole(target, page)
    return target


def rendered(
    run: Run,
    known: Known,
    limits: Limits,
    *,
    title: str | None,
    command: Sequence[str] | None,
    refresh: float | None,
) -> bytes:
    """The bytes of a page."""
    data = gather(run, known, limits, command=command, refresh=refresh)
    data["title"] = clipped(title, limits.name) if title else ""
    style, script = asset("page.css"), "\n".join(map(asset, SCRIPTS))
    again = f'<meta http-equiv="refresh" content="{refresh:g}">' if refresh else ""
    text = Template(asset("page.html")).substitute(
        title=html.escape(data["title"] or "hidim report"),
        policy=policy(style, script),
        again=f"<noscript>{again}</noscript>" if again else "",
        style=style,
        words=html.escape(paragraph(known.words, limits.words)),
        data=embedded(data),
        script=script,
    )
    return text.encode("utf-8", "backslashreplace")  # half of a pair of surrogates is an escape in JSON, too


def asset(name: str) -> str:
    """A file of the page."""
    return resources.files("hidim.report").joinpath("assets", name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """What a browser may do for the page: run this script, use this style, and nothing else."""
    return (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
